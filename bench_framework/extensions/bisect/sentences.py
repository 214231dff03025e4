"""The sentences about a search: a line before and after each measurement, and the answer."""

import math
from pathlib import Path

from bench_framework.claims.factory import figures
from bench_framework.extensions.bisect.compute import conclude, steps_left
from bench_framework.extensions.bisect.model import Bisection, SearchStep
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.result.judgement import Comparison
from bench_framework.text.numbers import format_percent
from bench_framework.text.reasons import phrase
from bench_framework.text.write import render
from bench_framework.units import counted


def line_before(search: Bisection, step: SearchStep) -> str:
    """Return the line before a measurement."""
    number = len(search.steps) + 1
    place = f"step {number} of about {number - 1 + steps_left(search)}"
    good, bad, commit = (search.commits[n] for n in (step.lo, step.hi, step.candidate))
    again = f", attempt {step.attempt} with more rounds" if step.attempt > 1 else ""
    if step.kind == "commit":
        left = counted(step.hi - step.lo, "commit")
        return f"{place}: {commit.short} ({commit.subject}), one of {left}{again}"
    what = "both ends" if step.kind == "ends" else "the remaining ends in new rounds"
    return f"{place}: {what}, {good.short} and {bad.short}{again}"


def line_after(search: Bisection, step: SearchStep) -> str:
    """Return the line with the result of a measurement."""
    name = search.commits[step.candidate].short
    if step.kind != "commit":
        differ = "differ" if step.outcome == "differs" else "are not shown to differ"
        where = f" ({search.configuration})" if search.configuration else ""
        return f"the ends {differ}{where}: {change(step).rstrip('.')}"
    if step.outcome == "skipped":
        return f"{name} is skipped: {phrase(step.reason)}"
    if step.outcome == "inconclusive":
        return f"{name}: neither side is shown{f' ({phrase(step.reason)})' if step.reason else ''}"
    good, bad = (search.commits[number].short for number in (step.lo, step.hi))
    text = f"{name} is on the side of {step.outcome}, {good if step.outcome == 'good' else bad}"
    if not step.comparisons:
        return f"{text}: {phrase(step.reason)}"
    # The change that was shown is the one to the other end.
    if step.outcome == "good":
        return f"{text}: {bad} has {_figures(step.comparisons[1])} against {name}"
    return f"{text}: {name} has {_figures(step.comparisons[0])} against {good}"


def change(step: SearchStep) -> str:
    """Return the comparison of two ends in words, else the reason for the outcome."""
    return step.text or phrase(step.reason)


def _figures(c: Comparison) -> str:
    return render("effect", figures(c), math.inf)


def answer(search: Bisection) -> str:
    """Return the sentence that answers the search."""
    end, what = conclude(search), search.find
    good, bad = (search.commits[number].short for number in (end.lo, end.hi))
    match end.status:
        case "found":
            return f"{bad} is the commit with the {what}"
        case "range":
            commits = counted(end.hi - end.lo, "commit")
            return f"the {what} is in one of {commits}, after {good} up to {bad}"
        case "unconfirmed":
            text = f"the search ended at {bad}, but new rounds did not show its {what}"
            return f"{text}: the answer is not known"
        case "unchanged":
            return f"there is no {what} from {good} to {bad}"
    mde = next((c.mde for c in end.evidence.comparisons), None) if end.evidence else None
    most = f"; one of {format_percent(mde, decimals=1)} would have been detected" if mde else ""
    return f"no {what} from {good} to {bad} is shown{most}"


def facts(search: Bisection, results: Path) -> list[tuple[str, str]]:
    """Return the lines below the answer, each with its name. `results` is the folder of all records."""
    end = conclude(search)
    commit, lines = search.commits[end.hi], list[tuple[str, str]]()
    if end.status == "found":
        lines += [("commit", commit.id), ("author", f"{commit.author}, {commit.date[:10]}")]
        lines += [("subject", commit.subject)]
        lines += [("merge", "--into-merges searches its branch")] if len(commit.parents) > 1 else []
    elif end.status == "range":
        among = search.commits[end.lo + 1 : end.hi + 1]
        lines += [("commits", f"{commit.short} {commit.subject}") for commit in among]
    lines.append(("configuration", search.configuration))
    if end.status in {"inconclusive", "unconfirmed"} and search.metric in {WALL, CPU}:
        lines.append(("next", "--metric instructions, which vary less than times from run to run"))
    if end.evidence is not None:
        report = results / end.evidence.record / "report.html"
        lines += [("change", change(end.evidence)), ("report", str(report))]
    skipped = sum(step.outcome == "skipped" for step in search.steps)
    measured = sum(bool(step.comparisons) for step in search.steps)
    commits = counted(len(search.commits) - 1, "commit")
    again = " (--retry-skipped measures them again)" if skipped else ""
    text = f"{counted(measured, 'measurement')}, {skipped} skipped{again}, {commits}"
    return [*((name, text) for name, text in lines if text), ("search", text)]

"""The sentences about a search: a line before and after each measurement, and the answer."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.claims.factory import figures
from bench_framework.extensions.bisect.compute import conclude, steps_left
from bench_framework.extensions.bisect.model import Bisection, SearchStep
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.result.judgement import Comparison
from bench_framework.text.reasons import phrase, phrase_of
from bench_framework.text.write import render

_FIRST: Final = {"ends": ExtensionCode.STEP_OF_ENDS, "commit": ExtensionCode.STEP_OF_COMMIT}


def line_before(search: Bisection, step: SearchStep) -> str:
    """Return the line before a measurement."""
    number = len(search.steps) + 1
    good, bad, commit = (search.commits[n] for n in (step.lo, step.hi, step.candidate))
    ends, one = (good.short, bad.short), (commit.short, commit.subject, step.hi - step.lo)
    names = one if step.kind == "commit" else ends
    code = _FIRST.get(step.kind, ExtensionCode.STEP_OF_NEW_ROUNDS)
    line = phrase_of(code, number, number - 1 + steps_left(search), *names)
    return phrase_of(ExtensionCode.ATTEMPT, line, step.attempt) if step.attempt > 1 else line


def line_after(search: Bisection, step: SearchStep) -> str:
    """Return the line with the result of a measurement."""
    name = search.commits[step.candidate].short
    if step.kind != "commit":
        differ = step.outcome == "differs"
        text = phrase_of(ExtensionCode.ENDS_DIFFER if differ else ExtensionCode.ENDS_NOT_SHOWN)
        where = f" ({search.configuration})" if search.configuration else ""
        return f"{text}{where}: {change(step)}"
    if step.outcome == "skipped":
        return phrase_of(ExtensionCode.COMMIT_SKIPPED, name, phrase(step.reason))
    if step.outcome == "inconclusive":
        cause = f" ({phrase(step.reason)})" if step.reason else ""
        return phrase_of(ExtensionCode.NO_SIDE, name) + cause
    good, bad = (search.commits[number].short for number in (step.lo, step.hi))
    end = good if step.outcome == "good" else bad
    text = phrase_of(ExtensionCode.ON_SIDE, name, step.outcome, end)
    if not step.comparisons:
        return f"{text}: {phrase(step.reason)}"
    # The change that was shown is the one to the other end.
    parts = (name, _figures(step.comparisons[0]), good)
    if step.outcome == "good":
        parts = (bad, _figures(step.comparisons[1]), name)
    return f"{text}: {phrase_of(ExtensionCode.HAS_AGAINST, *parts)}"


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
            return phrase_of(ExtensionCode.IS_COMMIT, bad, what)
        case "range":
            return phrase_of(ExtensionCode.IN_RANGE, what, end.hi - end.lo, good, bad)
        case "unconfirmed":
            return phrase_of(ExtensionCode.UNCONFIRMED, bad, what)
        case "unchanged":
            return phrase_of(ExtensionCode.UNCHANGED, what, good, bad)
    text = phrase_of(ExtensionCode.NOT_SHOWN, what, good, bad)
    first = next(iter(end.evidence.comparisons), None) if end.evidence else None
    if first is None or not first.mde:
        return text
    evidence = replace(figures(first), reason=first.reason)
    if evidence.excludes == ("worse" if search.find == "regression" else "better"):
        return phrase_of(ExtensionCode.ONE_EXCLUDED, text, first.thresholds.margin)
    return phrase_of(ExtensionCode.ONE_DETECTED, text, first.mde)


def facts(search: Bisection, results: Path) -> list[tuple[str, str]]:
    """Return the lines below the answer, each with its name. `results` is the folder of all records."""
    end = conclude(search)
    commit, lines = search.commits[end.hi], list[tuple[str, str]]()
    if end.status == "found":
        lines += [("commit", commit.id), ("author", f"{commit.author}, {commit.date[:10]}")]
        lines += [("subject", commit.subject)]
        branch = ("merge", phrase_of(ExtensionCode.INTO_MERGES))
        lines += [branch] if len(commit.parents) > 1 else []
    elif end.status == "range":
        among = search.commits[end.lo + 1 : end.hi + 1]
        lines += [("commits", f"{commit.short} {commit.subject}") for commit in among]
    lines.append(("configuration", search.configuration))
    if end.status in {"inconclusive", "unconfirmed"} and search.metric in {WALL, CPU}:
        lines.append(("next", phrase_of(ExtensionCode.COUNT_INSTRUCTIONS)))
    if end.evidence is not None:
        report = results / end.evidence.record / "report.html"
        lines += [("change", change(end.evidence)), ("report", str(report))]
    skipped = sum(step.outcome == "skipped" for step in search.steps)
    measured = sum(bool(step.comparisons) for step in search.steps)
    code = ExtensionCode.SOME_SKIPPED if skipped else ExtensionCode.NONE_SKIPPED
    numbers = phrase_of(code, measured, len(search.commits) - 1, skipped)
    return [*((name, text) for name, text in lines if text), ("search", numbers)]

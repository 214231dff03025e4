"""The result of the self-test of a gate, for the terminal."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from bench_framework.model.result.self_test import SelfTest, SuiteSelfTest, TestOutcome, Trial
from bench_framework.report.render.widths import visible
from bench_framework.stats.proportions import CONFIDENCE, at_least, at_most
from bench_framework.text.lines import wrap
from bench_framework.text.numbers import format_clock, format_percent, signed_percent
from bench_framework.units import counted

_GLYPHS: Final[dict[TestOutcome, str]] = {"passed": "✓", "not-judged": "?"}
_FAULTS: Final[dict[TestOutcome, str]] = {
    "missed": "a gate passed a copy that takes longer",
    "false-alarm": "a gate failed equal programs",
    "not-judged": "a gate could not judge",
    "failed": "the gate was not tested",
}
"""The fault of some scenarios of a suite, in words."""
_INDENT: Final = 14


def answer(test: SelfTest) -> str:
    """Return the result as a sentence."""
    share, margin = format_percent(test.share), format_percent(test.margin)
    missed, slower = test.count(test.share, "passed"), len(test.trials_of(test.share))
    match test.outcome:
        case "missed":
            return (
                f"the gate is broken: {missed} of {counted(slower, 'gate')} passed a copy that takes {share} longer "
                f"(it tolerates {margin})"
            )
        case "false-alarm":
            alarms = counted(test.count(0.0, "worse"), "gate")
            return f"the gate is unreliable here: {alarms} failed a program that was compared with itself"
        case "not-judged":
            return "the gate cannot judge here: use a longer budget or a quieter machine"
        case "failed" if test.unseen is not None:
            measured = signed_percent(1 + test.unseen)
            return f"the gate was not tested: {measured} was measured of a copy that takes {share} longer"
        case "failed":
            return "the gate was not tested: something could not be measured"
    return f"the gate passed equal programs and found each copy that takes {share} longer"


def suite_answer(test: SuiteSelfTest) -> str:
    """Return the result of a suite as a sentence."""
    if test.outcome == "passed":
        return "each gate passed equal programs and found each copy that takes longer"
    names = [one.scenario for one in test.tests if one.outcome == test.outcome]
    where = f"{len(names)} of {counted(len(test.tests), 'scenario')} ({', '.join(names)})"
    return f"in {where}, {_FAULTS[test.outcome]}"


def progress(share: float, number: int, least: int) -> str:
    """Return a line for the start of a trial, with its number and that of the planned trials."""
    place = f"{number} of at least {least}" if number <= least else str(number)
    copy = f"a copy that takes {format_percent(share)} longer" if share else "itself"
    return f"self-test: gate {place}, the base against {copy}"


def scenario(name: str, place: int, number: int) -> str:
    """Return a line for the start of the self-test of one of several scenarios."""
    return f"scenario {place} of {number}: {name}"


def terminal(test: SelfTest | SuiteSelfTest, width: int, *, unicode: bool) -> str:
    """Return the terminal page of a gate, or those of a suite with its result."""
    if isinstance(test, SelfTest):
        items = {
            "Result": answer(test),
            "False alarms": _false_alarms(test),
            "Detection": _detection(test),
            "Smallest": _smallest(test),
            "Time": f"{format_clock(test.seconds)} for {counted(len(test.trials), 'gate')}",
        }
        return _page(test.outcome, test.scenario, items, width, unicode=unicode)
    alarms, judged = test.alarms
    items = {
        "Result": suite_answer(test),
        "False alarms": _alarms(alarms, judged, "suite"),
        "Time": format_clock(test.seconds),
    }
    title = counted(len(test.tests), "scenario")
    pages = [terminal(one, width, unicode=unicode) for one in test.tests]
    return "\n\n".join([*pages, _page(test.outcome, title, items, width, unicode=unicode)])


def _page(
    outcome: TestOutcome, title: str, items: Mapping[str, str], width: int, *, unicode: bool
) -> str:
    head = f"Self-test of {title}"
    lines = [f"{_GLYPHS.get(outcome, '✕')} {head}" if unicode else head]
    for name, text in items.items():
        if text:
            lines += wrap(text, max(width, 40), f"  {name:<{_INDENT}}", " " * (_INDENT + 2))
    return "\n".join(visible(line) for line in lines)


def _false_alarms(test: SelfTest) -> str:
    alarms, judged = test.count(0.0, "worse"), test.count(0.0, "passed", "worse")
    return _alarms(alarms, judged, "gate") + _not_judged(test.count(0.0, "not-judged"))


def _alarms(alarms: int, judged: int, what: str) -> str:
    text = f"{alarms} of {counted(judged, what)} of the base against itself"
    if judged:
        bound = format_percent(at_most(alarms, judged), digits=2)
        text += f": at most {bound} (at {format_percent(CONFIDENCE)} confidence)"
    return text


def _detection(test: SelfTest) -> str:
    trials = test.trials_of(test.share)
    detected, judged = test.count(test.share, "worse"), test.count(test.share, "passed", "worse")
    if not trials:
        return ""
    share = format_percent(test.share)
    text = f"{detected} of {counted(judged, 'gate')} of the base against a copy that takes {share} longer"
    if judged:
        text += f": at least {format_percent(at_least(detected, judged), digits=2)}"
    cells = sum(t.configurations for t in trials)
    if cells > len(trials):
        text += f"; {sum(t.worse for t in trials)} of {counted(cells, 'comparison')} failed"
    return text + _measured(trials) + _not_judged(test.count(test.share, "not-judged"))


def _measured(trials: Sequence[Trial]) -> str:
    growths = [trial.growth for trial in trials if trial.growth is not None]
    return f"; measured {signed_percent(1 + statistics.median(growths))}" if growths else ""


def _smallest(test: SelfTest) -> str:
    if test.smallest is None:
        return ""
    measured = _measured(test.trials_of(test.smallest))
    text = f"a copy that takes {format_percent(test.smallest)} longer was found{measured}"
    if test.missed is not None and test.missed < test.share:
        text += f"; one that takes {format_percent(test.missed)} longer was not"
    return text


def _not_judged(count: int) -> str:
    return f"; {counted(count, 'more gate')} could not judge" if count else ""

"""Glyph and words of each verdict (docs/method.md#verdicts), and the size of a plan in words.

Colour is never the only sign.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from bench_framework.model.metrics import METRICS, WALL, WORK_TIMES
from bench_framework.model.verdict import Verdict
from bench_framework.units import THIN_SPACE, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.model.plan.looks import Looks
    from bench_framework.model.plan.plan import Plan
    from bench_framework.model.plan.policies import HostPolicy, MeasurePolicy
    from bench_framework.model.plan.server import Server
    from bench_framework.model.record.contention import Flag

NOISE_FLOOR: Final = f"noise floor (95{THIN_SPACE}% interval)"
"""Name of `NoiseFloor.fraction`."""
NOISE_FLOOR_TITLE: Final = f"Noise floor (95{THIN_SPACE}% interval)"
"""The same as a title."""


_SECONDS: Final = re.compile(r"_(s|ms|us|ns)$")
"""The unit at the end of the name of a declared time."""


@dataclass(frozen=True, slots=True)
class Words:
    """The display of a verdict: glyph, its ASCII form, and the words for time."""

    glyph: str
    ascii: str
    time: str


WORDS: Final[dict[Verdict, Words]] = {
    Verdict.BETTER: Words("▼", "v", "faster"),
    Verdict.BETTER_SIZE_UNCERTAIN: Words("▽", "v?", "faster, size uncertain"),
    Verdict.EQUIVALENT: Words("≡", "~", "equivalent"),
    Verdict.INCONCLUSIVE: Words("·", "?", "inconclusive"),
    Verdict.WORSE_SIZE_UNCERTAIN: Words("△", "^?", "slower, size uncertain"),
    Verdict.WORSE: Words("▲", "^", "slower"),
    Verdict.SINGLE_RUN: Words("·1", ".1", "single run"),
    Verdict.OTHER_OUTPUT: Words("≠", "!=", "other output"),
    Verdict.NOT_COMPARABLE: Words("⊘", "/", "not comparable"),
    Verdict.FAILED: Words("✕", "x", "failed"),
    Verdict.EXCLUDED: Words("–", "-", "excluded"),
}
"""Words of each verdict, in the order of the glossary."""
MEANINGS: Final[dict[Verdict, str]] = {
    Verdict.BETTER: "significant; better by more than {margin} in the whole confidence interval",
    Verdict.BETTER_SIZE_UNCERTAIN: "significant, but the difference may be less than {margin}",
    Verdict.EQUIVALENT: "shown to differ by less than {margin}",
    Verdict.INCONCLUSIVE: "the rounds show neither a difference nor equivalence",
    Verdict.WORSE_SIZE_UNCERTAIN: "significant, but the difference may be less than {margin}",
    Verdict.WORSE: "significant; worse by more than {margin} in the whole confidence interval",
    Verdict.SINGLE_RUN: "only one run: a value without a verdict",
    Verdict.OTHER_OUTPUT: "the output differs from the baseline's, so the two are not compared",
    Verdict.NOT_COMPARABLE: "measured under conditions other than those requested",
    Verdict.FAILED: "did not finish, so there is no verdict",
    Verdict.EXCLUDED: "not in the plan, because of a rule of the scenario or because this machine "
    "cannot run it",
}
"""One line per verdict for the glossary. ``{margin}`` is replaced by the scenario's margin."""


def noun(metric: str | None) -> str:
    """Return the noun of a metric: ``time``, ``CPU time``, ``memory``; of ``wait_ms``, ``wait time``.

    A claim that names no metric is about elapsed time.
    """
    metric = metric or WALL
    if (kind := METRICS.get(metric)) is not None:
        return kind.noun
    return WORK_TIMES.get(metric) or _SECONDS.sub(" time", metric).replace("_", " ")


def least(metric: str) -> str:
    """Return ``least time``, ``smallest binary size`` or ``fewest dependencies``."""
    kind = METRICS.get(metric)
    if kind is not None and kind.countable:
        return f"fewest {noun(metric)}"
    return f"{'smallest' if 'size' in noun(metric) else 'least'} {noun(metric)}"


def glyph(verdict: Verdict) -> str:
    """Return the sign of a verdict, such as ``▼``."""
    return WORDS[verdict].glyph


class MetricWords(NamedTuple):
    """The words around the noun of a metric: ``uses … less memory``, ``n× as much memory as``."""

    verb: str
    less: str
    more: str
    times: str
    """The words between ``n×`` and the noun."""
    joint: str
    """The word between the noun and the reference, after ``n×``."""
    article: str = ""
    """The article before a percentage."""


_TIME = MetricWords("takes", "less", "more", "as much", "as")
_AMOUNT = MetricWords("uses", "less", "more", "as much", "as")
_NUMBER = MetricWords("has", "fewer", "more", "as many", "as")
_SIZE = MetricWords("has", "smaller", "larger", "the", "of", "a ")
_DECLARED = MetricWords("has", "lower", "higher", "the", "of")


def metric_words(metric: str | None) -> MetricWords:
    """Return the words for a metric.

    A metric that a worker or a scenario declares is called lower or higher, because it need not be
    an amount.
    """
    kind = METRICS.get(metric or WALL)
    if metric in WORK_TIMES or (kind is not None and kind.elapsed):
        return _TIME
    if kind is None:
        return _DECLARED
    if kind.judged == "exact" and kind.unit == "bytes":
        return _SIZE
    return _NUMBER if kind.countable else _AMOUNT


def word(verdict: Verdict | None, metric: str | None = None) -> str:
    """Return the words of a verdict on a metric: ``faster`` for wall time, ``less memory``.

    Larger values of a declared metric may be better, so the words of its verdict are better and worse.
    """
    verdict, metric = verdict or Verdict.INCONCLUSIVE, metric or WALL
    if metric == WALL or not verdict.decided:
        return WORDS[verdict].time
    words = metric_words(metric)
    ways = (words.less, words.more) if metric in METRICS else ("better", "worse")
    uncertain = ", size uncertain" if verdict.size_uncertain else ""
    return f"{ways[0] if verdict.better else ways[1]} {noun(metric)}{uncertain}"


def verdict_text(verdict: Verdict, metric: str) -> str:
    """Return glyph and words: ``▼ faster``."""
    return f"{glyph(verdict)} {word(verdict, metric)}"


def change(metric: str) -> tuple[str, str]:
    """Return the words after a factor below and above 1: ``faster`` and ``slower`` for time."""
    words = metric_words(metric)
    return ("faster", "slower") if metric == WALL else (words.less, words.more)


_SIGNS: Final = str.maketrans("\u202f\u2009−×÷–—µ·“”’", '  -x/--u-""\'')
_LONG_SIGNS: Final = str.maketrans(
    {
        "≈": "~=",
        "→": "->",
        "…": "...",
        "∞": "inf",
        "≤": "<=",
        "≥": ">=",
        "θ": "theta",
        "ρ": "rho",
        "⚠": "!",
    }
)


_MARK: Final = re.compile(r"·(?=:|[ \u00a0](?:[−+]|0\b|\d[\d.]*×|inconclusive))")
"""The sign of a verdict before its figure or its meaning. Elsewhere, the same character separates parts of a line."""


def in_ascii(text: str) -> str:
    """Return the text with glyphs and typographic signs replaced by ASCII."""
    text = _MARK.sub("?", text)
    for words in WORDS.values():
        if words.glyph not in {"·", "–"}:
            text = text.replace(words.glyph, words.ascii)
    return text.translate(_SIGNS).translate(_LONG_SIGNS)


def server_starts(server: Server) -> str:
    """Return how often a server is started."""
    return f"started for each {server.restart} of a configuration"


def sessions_of(measure: MeasurePolicy) -> str:
    """Return the number of sessions: ``3 sessions``, ``2 to 6 sessions``."""
    least = "" if measure.sessions_min is None else f"{measure.sessions_min} to "
    return least + counted(measure.sessions, "session")


def requirement(looks: Looks) -> str:
    """Return how many rounds the comparisons need for a verdict."""
    one = looks.family == 1
    these = "this comparison needs" if one else f"these {looks.family} comparisons need"
    return f"{these} at least {counted(looks.needed, 'round')}"


def hosts_of(policy: HostPolicy) -> str:
    """Return the requested hosts, such as ``3 hosts of each kind``."""
    if policy.names:
        return ", ".join(policy.names)
    if policy.labels:
        return f"one host for each of the labels {', '.join(policy.labels)}"
    if policy.per_kind:
        return f"{counted(policy.per_kind, 'host')} of each kind"
    if policy.split_inputs:
        return f"inputs on {counted(policy.split_inputs, 'host')} of one kind"
    return "all hosts" if policy.everyone else f"any {counted(policy.any or 1, 'host')}"


LOADS: Final[Mapping[Flag, str]] = {
    "cpu": "CPU contention",
    "steal": "CPU steal",
    "memory": "memory pressure",
    "swap": "swapping",
    "throttled": "thermal throttling",
}


def plan_size(plan: Plan) -> str:
    """Return the numbers of variants, inputs and configurations, and separately of A/A controls."""
    factors, inputs = [counted(len(plan.variants) // plan.sides, "variant")], len(plan.inputs)
    if plan.revisions is not None:  # each input of the plan is a configuration of the scenario
        factors.append("2 revisions")
        inputs = max(Counter(plan.cells_of(i.id)[0].variant_id for i in plan.inputs).values())
    controls = sum(plan.control_cell(item.id) is not None for item in plan.inputs)
    text = " × ".join((*factors, counted(inputs, "input")))
    text += f", {counted(len(plan.cells) - controls, 'configuration')}"
    if controls:
        text += f" and {counted(controls, 'A/A control')}"
    return f"{text}, {sum(plan.left_out)} left out" if plan.holes else text

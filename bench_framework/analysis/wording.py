"""Claim → sentence, verdict → word and glyph (REPORTS 1.3 and 1.5). Plain Python.

`say` is a function of the claim's fields and of nothing else, so that anyone who has the claim can
make the sentence again. A kind of claim is one function and one line in `SENTENCES`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.analysis import fact_words, metric_words, race_words, reference_words, session_words
from bench_framework.analysis.fact_words import FACT_SENTENCES
from bench_framework.analysis.hypotheses import HYPOTHESIS_SENTENCES
from bench_framework.analysis.profile_words import PROFILE_SENTENCES
from bench_framework.analysis.scope_words import where
from bench_framework.analysis.session_words import IN_SESSION, TENTHS
from bench_framework.analysis.structure_wording import STRUCTURE_SENTENCES, TIMES_FROM
from bench_framework.model import words
from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import (
    LARGEST_RATIO,
    Rounded,
    decimal,
    rounded,
    thresholds,
    up_to_two_digits,
)
from bench_framework.units import MINUS, THIN_SPACE, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from bench_framework.model.judgement import Claim
    from bench_framework.model.policies import Metric

MOST_STATED: Final = 100_000
"""Rounds or runs above which no number is stated."""

FASTEST: Final = "in the fastest third of the rounds"


def noun(metric: Metric | None) -> str:
    """What a metric measures, in words; of elapsed time where a claim names none."""
    return words.noun(metric or WALL)


def say(claim: Claim) -> str:
    """The sentence of a claim, without a full stop.

    Raises:
        KeyError: no wording rule of this kind.
    """
    if IN_SESSION not in claim.values:
        return SENTENCES[claim.kind](claim)
    return session_words.in_session(claim, SENTENCES[claim.kind](replace(claim, scope=())))


def percent_change(
    estimate: float, lo: float, hi: float, margin: float, *, least: int = 2, keep: bool = True
) -> str:
    """``"−1.8 % [−6.5, +3.2]"``: change of a ratio from 1, with its interval; `least`, `keep` as in `rounded`."""
    made = rounded(estimate, lo, min(hi, LARGEST_RATIO), margin=margin, least=least, keep=keep)
    upper = _signed(made, made.hi) if hi <= LARGEST_RATIO else "+∞"
    return f"{_signed(made, made.estimate)}{THIN_SPACE}% [{_signed(made, made.lo)}, {upper}]"


def _signed(made: Rounded, value: Decimal) -> str:
    shift = (value - 1) * 100
    if shift == 0:
        return f"{abs(shift):.{made.decimals - 2}f}"
    return f"{'+' if shift > 0 else MINUS}{abs(shift):.{made.decimals - 2}f}"


def _size(made: Rounded) -> str:
    """``"9.1 % [7.4, 10.7]"``: how much less or more, without a sign."""
    shown = [(1 - v) * 100 if made.hi < 1 else (v - 1) * 100 for v in (made.estimate, made.lo, made.hi)]
    low, high = sorted(shown[1:])
    digits = made.decimals - 2
    return f"{shown[0]:.{digits}f}{THIN_SPACE}% [{low:.{digits}f}, {high:.{digits}f}]"


def _inner(made: Rounded) -> tuple[str, str]:
    """`_size` in two parts: the figure and the interval."""
    figure, bounds = _size(made).split(" [")
    return figure, f"[{bounds}"


def _times(claim: Claim) -> str | None:
    """The sentence on the "n×" scale; `None` where percentages are the scale."""
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    margin, what = claim.margin or 0.0, noun(claim.metric)
    if claim.estimate >= TIMES_FROM:
        made = rounded(claim.estimate, claim.lo, claim.hi, margin=margin, least=1)
        frame = metric_words.frame(claim.metric)
        rest = "as long as" if claim.metric == WALL else f"{frame.times} {what} {frame.joint}"
        verb = "takes" if claim.metric == WALL else frame.verb
        return f"{claim.subject} {verb} {made.estimate}× {rest} {claim.reference} [{made.lo}, {made.hi}]"
    if claim.estimate <= 1 / TIMES_FROM and claim.metric == WALL and claim.lo > 0:
        made = rounded(1 / claim.estimate, 1 / claim.hi, 1 / claim.lo, margin=margin, least=1)
        return (
            f"against {claim.reference}, {claim.subject} is {made.estimate}× as fast [{made.lo}, {made.hi}]"
        )
    return None


def _difference(claim: Claim) -> str:
    """A decided comparison."""
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    margin, what = claim.margin or 0.0, noun(claim.metric)
    made = rounded(claim.estimate, claim.lo, claim.hi, margin=margin)
    verb, less, more = metric_words.frame(claim.metric)[:3]
    way = less if made.hi < 1 else more
    subject, reference, limit = claim.subject, claim.reference, format_percent(margin)
    figure, bounds = _inner(made)
    if claim.verdict in (Verdict.BETTER, Verdict.WORSE):
        return _times(claim) or f"{subject} {verb} {figure} {way} {what} than {reference} {bounds}"
    low, _, high = (decimal(t) for t in thresholds(margin))
    if low < made.lo and made.hi < high:
        return (
            f"{subject} {verb} {figure} {way} {what} than {reference} {bounds}, "
            f"less than the margin of {limit}"
        )  # fmt: skip
    return f"{subject} {verb} {way} {what} than {reference}, perhaps by less than {limit}: {figure} {bounds}"


def _all_rounds(claim: Claim) -> str:
    """What all rounds say, after a sentence that the fastest third of them decided."""
    told = [claim.values.get(name) for name in ("typical", "typical_lo", "typical_hi")]
    ratio, lo, hi = (None if v is None else float(v) for v in told)
    if ratio is None or lo is None or hi is None:
        return ""
    return f"; over all rounds {percent_change(ratio, lo, hi, 0.0, keep=False)}"


def _equivalent(claim: Claim) -> str:
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    margin = claim.margin or 0.0
    aspect = "" if claim.metric == WALL else f" in {noun(claim.metric)}"
    change = percent_change(claim.estimate, claim.lo, claim.hi, margin)
    bounds = "" if claim.lo == claim.hi == 1 else " " + change[change.index("[") :]
    return (
        f"{claim.subject} and {claim.reference} differ by less than {format_percent(margin)}{aspect}{bounds}"
    )


def _undecided(claim: Claim) -> str:
    aspect = "" if claim.metric == WALL else f" in {noun(claim.metric)}"
    parts = [f"The runs do not decide between {claim.subject} and {claim.reference}{aspect}"]
    if claim.estimate is not None and claim.lo is not None and claim.hi is not None:
        bounds, least = (claim.estimate, claim.lo, claim.hi), TENTHS if IN_SESSION in claim.values else 2
        parts[0] += f": {percent_change(*bounds, claim.margin or 0.0, least=least, keep=False)}"
    if reason := claim.values.get("reason"):
        parts.append(str(reason))
    if (mde := claim.values.get("mde")) is not None:
        parts.append(f"a difference of {fact_words.upward(float(mde))} would have been found")
        parts += _needed(claim)
    if likely := claim.values.get("runs_at_estimate"):
        runs = _about(int(likely), "runs per command")
        parts.append(f"this one would be decided by {runs} in 4 of 5 tries, if the estimate held")
    return "; ".join(parts)


def _needed(claim: Claim) -> list[str]:
    limit, needed = format_percent(claim.margin or 0.0), claim.values.get("rounds_needed")
    if needed is None:
        return [f"one of {limit} cannot be found with this method on this machine"]
    if int(needed) <= (claim.rounds or 0):
        return []
    unit = "runs per command" if IN_SESSION in claim.values else "rounds"
    return [f"one of {limit} would need {_about(int(needed), unit)}"]


def _about(count: int, unit: str) -> str:
    if count > MOST_STATED:
        return f"more than {MOST_STATED} {unit}"
    return f"about {int(up_to_two_digits(float(count)))} {unit}"


def _other_output(claim: Claim) -> str:
    what = noun(claim.metric)
    return f"{claim.subject} prints another result than {claim.reference}; its {what} is not compared"


def _refused(claim: Claim) -> str:
    verdict = words.word(claim.verdict or Verdict.FAILED, WALL)
    reason = claim.values.get("reason", "")
    return f"{claim.subject}: {verdict}" + (f" ({reason})" if reason else "")


def _comparison(claim: Claim) -> str:
    verdict, claim = claim.verdict, metric_words.natural(claim)
    assert verdict is not None
    if claim.values.get("reason") == ONE_PROGRAM:
        return _one_program(claim)
    if verdict.decided:
        cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
        if claim.values.get("statistic") == "floor":
            return f"{FASTEST}, {_difference(claim)}{cost}{_all_rounds(claim)}"
        return f"{_difference(claim)}{cost}{metric_words.tail(claim)}"
    if verdict is Verdict.EQUIVALENT:
        return f"{_equivalent(claim)}{metric_words.tail(claim)}"
    if verdict is Verdict.UNDECIDED:
        return _undecided(claim)
    if verdict is Verdict.SINGLE_RUN:
        return session_words.single_run(claim)
    return _other_output(claim) if verdict is Verdict.OTHER_OUTPUT else _refused(claim)


def _one_program(claim: Claim) -> str:
    """Two names of one program: the figures, and no word about a difference."""
    aspect = "" if claim.metric == WALL else f" in {noun(claim.metric)}"
    told = f"{claim.subject} and {claim.reference} are {ONE_PROGRAM}{aspect}"
    if claim.estimate is None or claim.lo is None or claim.hi is None:
        return told
    return f"{told}: {percent_change(claim.estimate, claim.lo, claim.hi, claim.margin or 0.0, keep=False)}"


def _memory_comparison(claim: Claim) -> str:
    return f"{where(claim)}{_comparison(claim)}"


def _main(claim: Claim) -> str:
    members, count = claim.values["members"], int(claim.values["count"])
    head = f"{where(claim)}best{'' if count == 1 else f' group of {count}'}: {members}"
    if "counts" in claim.values:
        against = f"of {claim.values['compared']} compared with {claim.subject}"
        return f"{head}; {against}: {claim.values['counts']} ({_extent(claim)})"
    if claim.verdict is None:
        return f"{head}; nothing else was compared with {claim.subject}"
    return f"{head}. {_sentence(_comparison(claim))} ({_extent(claim)})"


def _extent(claim: Claim) -> str:
    """R4: ``"40 rounds × 1 run"``; runs differ between rounds only where a plan was continued."""
    if IN_SESSION in claim.values:
        return session_words.runs_each(claim)
    rounds, runs = claim.rounds or 0, claim.runs or 0
    if not rounds or runs % rounds:
        return f"{rounds} rounds, {runs} runs"
    each = runs // rounds
    return f"{rounds} rounds × {each} run{'s' if each != 1 else ''}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith(("against ", FASTEST)) else text


def _by_input(claim: Claim) -> str:
    return str(claim.values["told"])


def _nothing(claim: Claim) -> str:
    if "elsewhere" not in claim.values:
        return f"{where(claim)}Nothing is decided: {claim.values['reason']}"
    what = noun(claim.metric or WALL)
    return (
        f"{where(claim)}Nothing is decided in {what}: {claim.values['reason']}; {claim.values['elsewhere']}"
    )


def _cost(claim: Claim) -> str:
    return f"{where(claim)}{_comparison(claim)}, where it needs less time"


def _sign_change(claim: Claim) -> str:
    return (
        f"{claim.subject} against {claim.reference} depends on the input: {claim.values['cases']}"
        f"{claim.values.get('turn', '')}"
    )  # fmt: skip


def _dropped(claim: Claim) -> str:
    why = f": {_comparison(claim)}" if claim.reference else f": {claim.subject} was decidedly worse then"
    return f"{where(claim)}{race_words.after(claim)}{why}"


def _recommendation(claim: Claim) -> str:
    tail = f"; {claim.values['tail']}" if "tail" in claim.values else ""
    if int(claim.values["count"]) == 1:
        return f"{where(claim)}use {claim.subject}{tail}"
    return f"{where(claim)}any of {claim.values['members']}{tail}; choose by cost or simplicity"


def _experiments(claim: Claim) -> str:
    return f"{claim.values['count']} not adopted: {claim.values['outcomes']}"


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "main": _main,
    "nothing": _nothing,
    "best-by-input": _by_input,
    "comparison": _comparison,
    "control": _comparison,
    "memory": _memory_comparison,
    "reference": _memory_comparison,
    "gap": reference_words.gap,
    "cost": _cost,
    "sign-change": _sign_change,
    "race": race_words.race,
    "dropped": _dropped,
    "idle": race_words.idle,
    "recommendation": _recommendation,
    "experiments": _experiments,
    "limits": session_words.limits,
    "sessions": session_words.sessions,
    **FACT_SENTENCES,
    **STRUCTURE_SENTENCES,
    **PROFILE_SENTENCES,
    **HYPOTHESIS_SENTENCES,
}
"""Kind of claim → its wording rule."""

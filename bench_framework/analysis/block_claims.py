"""The claims of an imported set, in the order of reading, and their sentences (R12, R13). Plain Python.

Every sentence about times begins "In one session, in blocks": what was run back to back is never told as if it had been
interleaved. `say` is a function of the claim's fields alone, as `wording.say` is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.analysis import fact_words, wording
from bench_framework.analysis.block_pairs import pair_contrast, runs_at_estimate
from bench_framework.analysis.costs import amount
from bench_framework.model import words
from bench_framework.model.judgement import Claim
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import up_to_two_digits
from bench_framework.units import THIN_SPACE, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bench_framework.model.imported import Imported, Session
    from bench_framework.model.judgement import BestGroup, Comparison, Judgement, Scope

BLOCKS: Final = "In one session, in blocks"
_BETTER: Final = (Verdict.BETTER, Verdict.BETTER_SIZE_OPEN)
MOST_NAMED: Final = 5
TENTHS: Final = 3
"""Decimals of a ratio that is told in tenths of a percent."""
MOST_TOLD: Final = 100_000


def claims_of(imported: Imported, judgement: Judgement) -> tuple[Claim, ...]:
    """Every sentence that the set supports; ids in the order of reading."""
    author = _Author(imported, judgement)
    numbered = (replace(claim, id=f"c{i}") for i, claim in enumerate(author.write(), 1))
    return tuple(replace(claim, text=say(claim)) for claim in numbered)


def say(claim: Claim) -> str:
    """The sentence of a claim, without a full stop. Raises `KeyError`: no rule for this kind."""
    return SENTENCES[claim.kind](claim)


class _Author:
    """Turns the parts of a judgement into claims without text."""

    def __init__(self, imported: Imported, judgement: Judgement) -> None:
        self._imported, self._judgement = imported, judgement
        self._several = len(imported.sessions) > 1

    def write(self) -> Iterator[Claim]:
        for session, group in zip(self._imported.sessions, self._judgement.best, strict=True):
            yield self._main(session, group)
        if self._several:
            yield Claim("", "sessions", "sessions", None, WALL, (), None)
        for comparison in self._judgement.comparisons:
            yield self._comparison(comparison)
        yield from map(self._limits, self._imported.sessions)

    def _scope(self, session: Session) -> Scope:
        return (("session", session.label),) if self._several else ()

    def _label(self, command_id: str) -> str:
        if not command_id:
            return self._imported.baseline
        return self._imported.place(command_id)[1].label

    def _main(self, session: Session, group: BestGroup) -> Claim:
        own = [
            c for c in self._judgement.comparisons
            if c.family == "headline" and c.metric == WALL and self._imported.place(c.cell_id)[0] is session
        ]  # fmt: skip
        better = [c for c in own if c.cell_id in group.cell_ids and c.verdict in _BETTER]
        settled = [c for c in own if c.verdict.settled]
        chosen = next(iter(better or settled), None)
        if chosen is None and len(own) == 1 and own[0].shown is not None:
            return replace(self._comparison(own[0]), kind="block-only")
        if chosen is None or not group.cell_ids:
            return Claim(
                "", "block-nothing", session.label, None, WALL, self._scope(session), None,
                cells=tuple(c.cell_id for c in own), values={"reason": _why(own)},
            )  # fmt: skip
        labels = [self._label(command) for command in group.cell_ids]
        told = ", ".join(labels[:MOST_NAMED])
        if len(labels) > MOST_NAMED:
            told += f" and {len(labels) - MOST_NAMED} more"
        claim = self._comparison(chosen)
        values = {**claim.values, "members": told, "count": len(labels)}
        return replace(claim, kind="block-main", values=values)

    def _comparison(self, c: Comparison) -> Claim:
        session, command = self._imported.place(c.cell_id)
        values: dict[str, float | int | str] = {"runs_ref": c.runs_ref}
        if c.reason:
            values["reason"] = c.reason
        if cost := self._cost(c):
            values["cost"] = cost
        if c.mde is not None:
            values["mde"] = c.mde
            values |= {"runs_needed": c.rounds_needed} if c.rounds_needed is not None else {}
        if (likely := self._likely(c)) is not None:
            values["runs_at_estimate"] = likely
        if c.verdict is Verdict.SINGLE_RUN and (series := command.of(c.metric)) is not None:
            values["value"] = series.mean
        return Claim(
            "", "block-memory" if c.family == "memory" else "block-comparison",
            command.label, self._label(c.ref_cell_id), c.metric, self._scope(session), c.verdict,
            estimate=c.shown.ratio if c.shown else None, lo=c.shown.lo if c.shown else None,
            hi=c.shown.hi if c.shown else None, level=c.shown.level if c.shown else None,
            adjust="Bonferroni" if c.family == "memory" else "Holm over the comparisons of this session",
            rounds=c.rounds, runs=c.runs, margin=c.margin, cells=(c.cell_id, c.ref_cell_id), values=values,
        )  # fmt: skip

    def _cost(self, gain: Comparison) -> str:
        """R21: ``"for 3× as much memory"``, where less time costs CPU time or memory."""
        if gain.verdict not in _BETTER or gain.metric != WALL:
            return ""
        paid = [
            c for c in self._judgement.comparisons
            if (c.cell_id, c.ref_cell_id) == (gain.cell_id, gain.ref_cell_id)
            and c.metric != WALL and c.verdict is Verdict.WORSE and c.shown is not None
        ]  # fmt: skip
        return f"for {' and '.join(map(amount, paid))}" if paid else ""

    def _likely(self, c: Comparison) -> int | None:
        """Runs a side for the estimate itself; only where the difference is open and would be worth a word."""
        if c.verdict is not Verdict.UNDECIDED or c.shown is None:
            return None
        sides = (self._imported.place(c.cell_id)[1], self._imported.place(c.ref_cell_id)[1])
        contrast = pair_contrast(*sides, c.metric)
        if contrast is None or abs(contrast.estimate) <= math.log1p(c.epsilon):
            return None
        return runs_at_estimate(contrast, min(c.runs, c.runs_ref), 1 - c.shown.level)

    def _limits(self, session: Session) -> Claim:
        """What a file carries, and what it cannot: told once per session."""
        runs = sorted({command.runs for command in session.commands if command.runs is not None})
        told = "an unknown number of runs" if not runs else f"{_span(runs)} runs"
        return Claim(
            "", "block-limits", session.label, None, None, self._scope(session), None,
            cells=tuple(command.id for command in session.commands),
            values={"commands": len(session.commands), "runs": told, "raw": int(session.raw), "memory": session.memory},
        )  # fmt: skip


def _span(runs: list[int]) -> str:
    return str(runs[0]) if runs[0] == runs[-1] else f"{runs[0]} to {runs[-1]}"


def _why(own: list[Comparison]) -> str:
    """Why nothing is decided in a session."""
    if not own:
        return "there is one command, and nothing to compare it with"
    if {c.verdict for c in own} == {Verdict.SINGLE_RUN}:
        return "there is one run of each"
    reasons = list(dict.fromkeys(c.reason for c in own if c.reason))
    if reasons and all(c.reason for c in own):
        return "; ".join(reasons)
    mde = max((c.mde for c in own if c.mde is not None), default=None)
    if mde is None:
        return "no comparison reached the level"
    return f"only differences of {_upward(mde)} or more would have been found"


def _upward(fraction: float) -> str:
    return f"{up_to_two_digits(fraction * 100):f}{THIN_SPACE}%"


def change(estimate: float, lo: float, hi: float, margin: float, *, keep: bool = False) -> str:
    """``+16.0 % [+11.5, +20.6]``: tenths of a percent at least, as these figures were published."""
    return wording.percent_change(estimate, lo, hi, margin, least=TENTHS, keep=keep)


def _head(claim: Claim) -> str:
    """``In one session, in blocks``, with the file where there are several."""
    where = dict(claim.scope).get("session")
    return f"{BLOCKS} ({where})" if where else BLOCKS


def _runs(claim: Claim) -> str:
    """R13: n of both sides."""
    ours, theirs = claim.runs or 0, int(claim.values.get("runs_ref", 0))
    if not ours or not theirs:
        return "number of runs not given"
    return f"{ours} runs each" if ours == theirs else f"{ours} and {theirs} runs"


def _comparison(claim: Claim) -> str:
    if claim.verdict is Verdict.UNDECIDED:
        return f"{_head(claim)}, {_undecided(claim)}"
    if claim.verdict is Verdict.SINGLE_RUN:
        value = claim.values.get("value")
        told = f" ({_value(float(value), claim)})" if value is not None else ""
        return (
            f"{_head(claim)}, {claim.subject} against {claim.reference}: one run on a side at least,"
            f" a value{told} without a verdict"
        )
    plain = wording.SENTENCES["comparison"](replace(claim, scope=(), rounds=None))
    compared = claim.verdict is not None and claim.verdict.settled
    return f"{_head(claim)}, {plain} ({_runs(claim)})" if compared else f"{_head(claim)}, {plain}"


def _value(value: float, claim: Claim) -> str:
    return fact_words.size(value, "iec") if claim.metric == PEAK_RSS else format_duration(value)


def _undecided(claim: Claim) -> str:
    aspect = "" if claim.metric == WALL else f" in {words.noun(claim.metric or WALL)}"
    text = f"the runs do not decide between {claim.subject} and {claim.reference}{aspect}"
    if claim.estimate is not None and claim.lo is not None and claim.hi is not None:
        text += f": {change(claim.estimate, claim.lo, claim.hi, claim.margin or 0.0)} ({_runs(claim)})"
    parts = [text]
    if reason := claim.values.get("reason"):
        parts.append(str(reason))
    if (mde := claim.values.get("mde")) is not None:
        parts.append(f"a difference of {_upward(float(mde))} would have been found")
    if needed := claim.values.get("runs_needed"):
        parts.append(f"one of {format_percent(claim.margin or 0.0)} would need {_about(int(needed))}")
    if likely := claim.values.get("runs_at_estimate"):
        parts.append(
            f"this one would be decided by {_about(int(likely))} in 4 of 5 tries, if the estimate held"
        )
    return "; ".join(parts)


def _about(runs: int) -> str:
    if runs > MOST_TOLD:
        return f"more than {MOST_TOLD} runs a side"
    return f"about {int(up_to_two_digits(float(runs)))} runs a side"


def _main(claim: Claim) -> str:
    count = int(claim.values["count"])
    best = "best" if count == 1 else f"best group of {count}"
    sentence = _comparison(claim).removeprefix(f"{_head(claim)}, ")
    return f"{_head(claim)}, {best}: {claim.values['members']}; {sentence}"


def _nothing(claim: Claim) -> str:
    return f"{_head(claim)}, nothing is decided: {claim.values['reason']}"


def _sessions(_: Claim) -> str:
    return "Times of different sessions are not compared: no file shows what the machine did between them"


_MEMORY: Final[Mapping[str, str]] = {
    "none": "",
    "per-run": "",
    "one-figure": "; its memory is one figure for all runs, a value without a verdict",
    "running-maximum": (
        "; its memory figures are left out: hyperfine 1.x exports the largest of this and all earlier commands of the"
        " call, so that they say nothing of each"
    ),
}


def _limits(claim: Claim) -> str:
    commands = int(claim.values["commands"])
    kind = "single runs" if claim.values["raw"] else "published means"
    return (
        f"{_head(claim)}, {commands} command{'s' if commands != 1 else ''} ran back to back, "
        f"{claim.values['runs']} each, from {kind}: intervals cover these runs and no drift "
        "between the blocks; outputs, binaries and machine are not in the file"
        f"{_MEMORY[str(claim.values['memory'])]}"
    )


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "block-main": _main,
    "block-nothing": _nothing,
    "block-only": _comparison,
    "block-comparison": _comparison,
    "block-memory": _comparison,
    "sessions": _sessions,
    "block-limits": _limits,
}
"""Kind of claim → its wording rule."""

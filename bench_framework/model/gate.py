"""What the gate says of a record (METHOD 6). Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.judgement import Comparison
from bench_framework.model.plan import Metric

PairState = Literal["passed", "worse", "suspicious", "not-judged", "failed", "not-comparable"]
"""``suspicious`` only until it is measured again, or for good where that is not done."""


@dataclass(frozen=True, slots=True)
class GatedPair:
    """A candidate cell on one gated metric."""

    cell_id: str
    metric: Metric
    margin: float
    """Change that the gate tolerates, as a fraction."""
    state: PairState
    comparison: Comparison
    """Of the record's own rounds, at the level of the gate."""
    text: str
    """Its sentence."""
    why: str = ""
    """What the state rests on beyond the sentence, in words."""
    again: Comparison | None = None
    """Of the rounds in which it was measured again."""
    again_text: str = ""


@dataclass(frozen=True, slots=True)
class Gating:
    """The gate's answer about one record.

    Attributes:
        pairs: in plan order, per metric in the order of the gate.
        level: family-wise α of the first pass.
        family: how many timed pairs share it.
        looks: how many looks share it.
        rounds: rounds of the first pass, the most of any input.
        confirmation: id of the record in which suspicious pairs were measured again.
        exit_code: 0 passed, 1 worse, 3 something failed, 4 not judged.
        reasons: what the exit code rests on, one line each; empty for 0.
    """

    pairs: tuple[GatedPair, ...]
    level: float
    family: int
    looks: int
    rounds: int
    exit_code: int
    reasons: tuple[str, ...]
    confirmation: str | None = None

    def of(self, *states: PairState) -> tuple[GatedPair, ...]:
        """The pairs in these states."""
        return tuple(pair for pair in self.pairs if pair.state in states)

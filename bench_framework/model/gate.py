"""The result of the gate for a record. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.budget import Budget
from bench_framework.model.judgement import Comparison
from bench_framework.model.policies import Metric

PairState = Literal[
    "passed", "accepted", "worse", "suspicious", "not-judged", "failed", "not-comparable"
]
"""``suspicious`` only until it is measured again, or for good where that is not done."""
BudgetState = Literal["kept", "over", "not-judged", "failed"]


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
class BudgetFinding:
    """A cell held against a budget.

    Attributes:
        cell_id: which cell.
        budget: the bound.
        state: ``over`` only if the whole interval is, ``kept`` only if the whole interval is not.
        value: median, or the deterministic number; `None` where it is not known.
        lo: lower end of the interval, in the metric's unit.
        hi: upper end.
        level: of the interval; 1 for a deterministic number.
        text: its sentence.
    """

    cell_id: str
    budget: Budget
    state: BudgetState
    value: float | None
    lo: float | None
    hi: float | None
    level: float
    text: str


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
        budgets: cells held against absolute bounds, in the order of the scenario.
        remarks: what the reader should know beside the answer, such as an accepted change that has
            expired.
    """

    pairs: tuple[GatedPair, ...]
    level: float
    family: int
    looks: int
    rounds: int
    exit_code: int
    reasons: tuple[str, ...]
    confirmation: str | None = None
    budgets: tuple[BudgetFinding, ...] = ()
    remarks: tuple[str, ...] = ()

    def of(self, *states: PairState) -> tuple[GatedPair, ...]:
        """The pairs in these states."""
        return tuple(pair for pair in self.pairs if pair.state in states)

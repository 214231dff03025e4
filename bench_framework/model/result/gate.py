"""The result of the gate for a record. Immutable, no I/O."""

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.facts import Claim
from bench_framework.model.facts.builds import BuildChanges
from bench_framework.model.facts.causes import CauseEvidence
from bench_framework.model.facts.functions import FunctionChanges
from bench_framework.model.plan.policies import Budget, Metric
from bench_framework.model.reasons import UNSTABLE, Reason
from bench_framework.model.result.judgement import Comparison

PairState = Literal[
    "passed",
    "accepted",
    "same-instructions",
    "worse",
    "suspicious",
    "not-judged",
    "failed",
    "not-comparable",
]
"""State of a pair. ``suspicious`` is the state of a pair that is to be measured again. It remains
if the pair is not measured again. ``same-instructions`` is a benchmark that is slower, which passes."""
CONFIRMATION_LEVEL: Final = 0.05
"""The family-wise α of the second measurement."""
BudgetState = Literal["kept", "over", "not-judged", "failed"]


@dataclass(frozen=True, slots=True)
class GatedPair:
    """A candidate cell on one gated metric."""

    cell_id: str
    metric: Metric
    margin: float
    """Tolerated growth, as a fraction."""
    state: PairState
    comparison: Comparison
    """Comparison over the rounds of the record, at the level of the gate."""
    claim: Claim | None = None
    """The claim about the comparison, `None` if the metric of a side is not known."""
    reasons: tuple[Reason, ...] = ()
    """Reasons for the state."""
    again: Comparison | None = None
    """Comparison over the rounds of the second measurement, `None` without one."""
    again_claim: Claim | None = None

    @property
    def unstable(self) -> bool:
        """True if its ratio changed during the first measurement, so that this alone cannot judge it."""
        return self.state == "not-judged" and self.comparison.reason == UNSTABLE


@dataclass(frozen=True, slots=True)
class BudgetFinding:
    """The result of checking a cell against a budget."""

    cell_id: str
    budget: Budget
    state: BudgetState
    """``over`` if the whole interval is above the limit, ``kept`` if the whole interval is at or below it."""
    value: float | None
    """Median, or the value of an exact metric, in the metric's unit. It is `None` if unknown."""
    lo: float | None
    hi: float | None
    level: float
    """Level of the interval, 1 for an exact metric."""
    unit: str = ""
    """Unit of the figures."""
    reason: Reason | None = None
    """Reason for a missing interval."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something of a record that failed, and for which no pair and no budget has failed."""

    cell_id: str | None
    """The cell that failed, `None` for an input or a program that changed."""
    gated: bool
    """True if a pair or a budget is about the cell."""
    reason: Reason


@dataclass(frozen=True, slots=True)
class Explanation:
    """The difference of counted runs of a candidate that is worse and of its baseline."""

    cell_id: str
    changes: FunctionChanges | None = None
    """Functions and counts that differ, `None` if they were not counted."""
    reason: Reason | None = None
    """Reason why they were not counted."""
    build: BuildChanges | None = None
    """Differences of the two builds, `None` if settings and packages are equal."""
    place: CauseEvidence | None = None
    """Parts of the difference of the time, if most of it is waiting or system time."""


@dataclass(frozen=True, slots=True)
class Gating:
    """The result of the gate for one record."""

    pairs: tuple[GatedPair, ...]
    """Gated pairs in plan order, and per cell in the order of the gate's metrics."""
    level: float
    """Family-wise α of the first measurement."""
    family: int
    looks: int
    rounds: int
    """Rounds of the first measurement, the largest number of any input."""
    exit_code: int
    """0 passed, 1 worse, 3 something failed, 4 not judged."""
    reasons: tuple[Reason, ...]
    """Reasons for the exit code. It is empty for 0."""
    confirmation: str | None = None
    """Id of the record in which suspicious pairs were measured again."""
    budgets: tuple[BudgetFinding, ...] = ()
    remarks: tuple[Reason, ...] = ()
    """Further remarks for the reader, such as an accepted change that has expired."""
    hosts: tuple[str, ...] = ()
    """Names of the hosts of a fleet that measured first and second. It is empty without a fleet, and if nothing
    was suspicious."""
    explanations: tuple[Explanation, ...] = ()
    """Differences of each candidate that is worse, as far as they were counted."""
    unconfirmed: Reason | None = None
    """Reason why no other host measured suspicious pairs again."""
    failures: tuple[Failure, ...] = ()
    """Other failures in the first measurement."""

    def in_state(self, *states: PairState) -> tuple[GatedPair, ...]:
        """Return the pairs in these states."""
        return tuple(pair for pair in self.pairs if pair.state in states)

    @property
    def to_repeat(self) -> tuple[GatedPair, ...]:
        """The pairs that are measured again: possible regressions, and those whose ratio changed."""
        return tuple(pair for pair in self.pairs if pair.state == "suspicious" or pair.unstable)

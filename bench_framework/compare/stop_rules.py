"""Rules that stop the measuring of an input at an interim analysis, and their combination.

The rules of a run are chosen by `bench_framework.features.stop_rules`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from bench_framework.compare.interim_analysis import LookOutcome, look
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import LAST_LOOK, Reason, ReasonCode
from bench_framework.model.record.run import Block, Build, Look


@dataclass(frozen=True)
class Analysis:
    """An interim analysis of one input, with everything that was measured before it.

    Attributes:
        index: index of the analysis in the schedule, from 0.
        round: the last complete round.
        taken: the earlier analyses of all inputs.
    """

    plan: Plan
    blocks: Sequence[Block]
    input_id: str
    index: int
    round: int
    builds: Mapping[str, Build]
    taken: Sequence[Look] = ()

    @cached_property
    def report(self) -> LookOutcome:
        """Return the verdicts of the report after this round, and whether they are conclusive."""
        at = (self.input_id, self.index, self.round)
        return look(self.plan, self.blocks, *at, builds=self.builds, taken=self.taken)


class StopRule(Protocol):
    """A rule that says whether an input needs further rounds, and which of its cells do not."""

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision after an interim analysis."""


@dataclass(frozen=True, slots=True)
class FixedRule:
    """The rule of ``until: rounds``: an input stops after its last round."""

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision; in a race, cells that are worse than another one still leave."""
        last = at.index >= looks_of(at.plan).count - 1
        return replace(
            at.report, stop=last, reason=LAST_LOOK if last else Reason(ReasonCode.ALL_ROUNDS)
        )


@dataclass(frozen=True, slots=True)
class All:
    """A combination of rules: an input stops, or a cell is settled, if every rule says so.

    A rule is asked only if those before it would stop the input or let a cell leave. The first rule
    decides which cells are dropped from a race.
    """

    rules: tuple[StopRule, ...]

    def look(self, at: Analysis) -> LookOutcome:
        """Return the common decision, with the reason of the first rule that wants further rounds."""
        first, *others = self.rules
        common = first.look(at)
        for rule in others:
            if not (common.stop or common.settled):
                break
            other = rule.look(at)
            settled = common.settled
            if other.settled is not None:
                settled = tuple(c for c in common.settled or () if c in other.settled)
            reason = other.reason if common.stop and not other.stop else common.reason
            common = replace(
                common, stop=common.stop and other.stop, reason=reason, settled=settled
            )
        return common

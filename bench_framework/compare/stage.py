"""Data of one input at an interim analysis, and requests to compare its cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_framework.compare import same_programs
    from bench_framework.compare.samples import Sample
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.policies import Metric
    from bench_framework.model.run import Look


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that is needed to judge the cells of one input.

    Attributes:
        looks: the schedule of interim analyses, with their number J and the family size M.
        reached: rounds after which interim analyses took place, ascending.
        last_look: index of the last of them in the schedule, from 0.
        higher: metrics that are better when larger.
        same: pairs of cells that run the same program; they get no verdict.
    """

    plan: Plan
    looks: Looks
    samples: Mapping[str, Sample]
    reached: tuple[int, ...]
    last_look: int
    usable: frozenset[str]
    higher: frozenset[Metric] = frozenset()
    same: same_programs.Pairs = frozenset()


def stage_of(
    plan: Plan,
    looks: Looks,
    samples: Mapping[str, Sample],
    usable: frozenset[str],
    taken: Sequence[Look],
    input_id: str,
) -> Stage:
    """Return the stage of one input, with the interim analyses that took place there."""
    input_looks = [look for look in taken if look.input_id == input_id]
    return Stage(
        plan,
        looks,
        samples,
        tuple(sorted({look.round for look in input_looks})),
        max((look.index for look in input_looks), default=0),
        usable,
    )


MetricPair = tuple["Cell", "Cell", "Metric"]
"""(candidate, reference, metric)."""
Request = tuple[Stage, MetricPair]
"""A pair to judge, with the data of its input."""

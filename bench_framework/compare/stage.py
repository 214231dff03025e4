"""The data of one input at an interim analysis, and requests to compare its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.compare import same_programs
    from bench_framework.compare.samples import Sample
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.policies import Metric


@dataclass(frozen=True, slots=True)
class Stage:
    """All that the judging of one input needs.

    Attributes:
        plan: margins, levels, roles.
        looks: the schedule: J and M.
        samples: cell id → sample.
        reached: rounds at which looks were taken, ascending.
        last_look: index of the last of them in the schedule.
        usable: ids of the cells that did the work that was asked for.
        higher: metrics that are better when larger.
        seed: of the swaps.
        thorough: see `verdict.Rules`.
        same: pairs of cells that run one program: they are no question.
    """

    plan: Plan
    looks: Looks
    samples: Mapping[str, Sample]
    reached: tuple[int, ...]
    last_look: int
    usable: frozenset[str]
    higher: frozenset[Metric] = frozenset()
    seed: int = 0
    thorough: bool = True
    same: same_programs.Pairs = frozenset()


Asked = tuple["Cell", "Cell", "Metric"]
"""Candidate, reference, metric."""
Request = tuple[Stage, Asked]

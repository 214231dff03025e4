"""Data of a record, and of one input at an interim analysis."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench_framework.compare import cell_state, same_programs, samples as sampling
from bench_framework.compare.samples import Sample
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.policies import JudgePolicy, Metric
from bench_framework.model.record.run import Block, Build, Look
from bench_framework.model.result.judgement import CellState
from bench_framework.model.result.race import finishing_rounds


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a record by cell, and what follows from them and from the builds.

    Attributes:
        usable: ids of the cells that were measured as planned.
        higher: metrics that are better when larger.
        same: pairs of cells that run the same program; they get no verdict.
    """

    samples: Mapping[str, Sample]
    states: tuple[CellState, ...]
    usable: frozenset[str]
    higher: frozenset[Metric]
    same: same_programs.Pairs

    def usable_for(self, *metrics: Metric) -> frozenset[str]:
        """Return the usable cells that have these metrics in enough rounds."""
        return frozenset(c for c in self.usable if not any(self.lack(m, c) for m in metrics))

    def lack(self, metric: Metric, *cell_ids: str) -> bool:
        """Return whether a cell lacks a metric in so many rounds that nothing is compared."""
        return any(metric in self.samples[c].incomplete for c in cell_ids if c in self.samples)


def runs_of(plan: Plan, blocks: Iterable[Block], builds: Mapping[str, Build]) -> Runs:
    """Collect the runs of a record, or of one of its inputs."""
    blocks = tuple(blocks)
    samples = sampling.collect(blocks, cell_state.needed_caches(plan.cells))
    states = cell_state.cell_states(plan, samples, builds, sampling.warm_ups(blocks))
    return Runs(
        samples,
        states,
        frozenset(s.cell_id for s in states if s.state == "measured"),
        cell_state.higher_is_better(plan.metrics, builds),
        same_programs.same_cells(plan, builds),
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that is needed to judge the cells of an input by a policy.

    `looks` is the schedule of interim analyses, with their number J and the family size M. They took
    place after the rounds `reached`, the last one with the index `last_look`, from 0. `finished` are the
    cells that were finished before, see `model.result.race.finishing_rounds`.
    """

    plan: Plan
    input_id: str
    policy: JudgePolicy
    runs: Runs
    looks: Looks
    reached: tuple[int, ...]
    last_look: int
    finished: Mapping[str, int] = field(default_factory=dict)


def stages_of(
    plan: Plan, policy: JudgePolicy, runs: Runs, looks: Looks, taken: Sequence[Look]
) -> dict[str, Stage]:
    """Return the stage of each input, with the interim analyses that took place there."""
    finished, stages = finishing_rounds(plan, taken), dict[str, Stage]()
    for item in plan.inputs:
        here = [look for look in taken if look.input_id == item.id]
        reached = tuple(sorted({look.round for look in here}))
        last = max((look.index for look in here), default=0)
        stages[item.id] = Stage(plan, item.id, policy, runs, looks, reached, last, finished)
    return stages


MetricPair = tuple[Cell, Cell, Metric]
"""(candidate, reference, metric)."""

"""Synthetic records from variants, inputs and a noise function, without files or processes."""

import itertools
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from bench_framework.compare import contrasts
from bench_framework.compare.interim_analysis import Analysis
from bench_framework.compare.samples import Pair
from bench_framework.compare.stage import runs_of
from bench_framework.compare.verdict import Case, PairedTest
from bench_framework.features.judge import judge
from bench_framework.model.plan.build_spec import BuildSpec, stable_id
from bench_framework.model.plan.declarations import Axis, AxisValue, Experiment
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Cell, Dataset, Input, Plan, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy, GatePolicy, JudgePolicy, MeasurePolicy
from bench_framework.model.record.run import Answer, Block, Build, Look, PreparedInput
from bench_framework.model.result.gate import GatedPair
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.verdict import Thresholds
from bench_framework.store import lines
from bench_framework.store.journal import Contents
from bench_framework.text.reasons import phrase
from tests.build import make_block, make_plan

Timing = Callable[[str, str, int], float]
"""Function of variant name (``control`` for the A/A control), input name and round to seconds."""
MIB = 1024 * 1024


def timing(effects: Mapping[str, float], spread: float = 0.02, seed: int = 0) -> Timing:
    """Return 50 ms × (1 + effect) × skewed noise, equal for equal arguments."""

    def draw(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{seed}/{arm}/{where}/{number}")
        skewed = 1 + noise.expovariate(1 / spread) if spread else 1
        return 0.05 * (1 + effects.get(arm, 0.0)) * skewed

    return draw


def log_normal_timing(factors: Mapping[str, float], spread: float = 0.005, seed: int = 7) -> Timing:
    """Return 0.1 s × the arm's factor × log-normal noise, equal for equal arguments."""

    def draw(arm: str, where: str, number: int) -> float:
        rng = np.random.default_rng([seed, number, *map(ord, arm + where)])
        return float(0.1 * factors.get(arm, 1.0) * np.exp(spread * rng.standard_normal()))

    return draw


def gate_policy(**given: Any) -> JudgePolicy:
    """Return a policy with a gate; `given` has its margins and its other keys."""
    return JudgePolicy(gate=GatePolicy(**given))


def reasons_of(pair: GatedPair) -> str:
    """Return the reasons of a gated pair as users read them."""
    return "; ".join(map(phrase, pair.reasons))


def pair_of_logs(x: np.ndarray, y: np.ndarray) -> Pair:
    """Return the paired times of rounds 1 to n from their logarithms."""
    return Pair(tuple(range(1, len(x) + 1)), tuple(np.exp(x).tolist()), tuple(np.exp(y).tolist()))


def case_of(
    pair: Pair, evidence: Sequence[PairedTest], *, margin: float = 0.02, smallest: float = 0.01
) -> Case:
    """Return a pair to judge."""
    limits = Thresholds(margin, smallest)
    draft = Comparison.unjudged("x", "y", "wall", "headline", limits)
    return Case(draft, pair, tuple(evidence))


def changed(blocks: Iterable[Block], cell_id: str, **changes: Any) -> list[Block]:
    """Return the blocks, with other values in those of one cell."""
    return [replace(b, **changes) if b.cell_id == cell_id else b for b in blocks]


def with_builds(plan: Plan) -> tuple[Plan, dict[str, BuildSpec]]:
    """Return the plan with a build for each variant, and these builds by the variant's label."""
    specs = {v.label: BuildSpec("crate", "bin", features=(v.label,)) for v in plan.variants}
    variants = tuple(replace(v, build=specs[v.label]) for v in plan.variants)
    return replace(plan, variants=variants, program=None), specs


def cells_of(variants: Sequence[Variant], item: Input) -> list[Cell]:
    """Return the cells of an input. The first variant is the baseline."""
    return [
        Cell(
            stable_id("cell", v.values, item.values),
            v.id,
            item.id,
            v.label,
            Role.BASELINE if v is variants[0] else Role.CANDIDATE,
            (("prog",), (v.label,)),
        )
        for v in variants
    ]


def planned_looks(plan: Plan, rounds: int) -> list[Look]:
    """Return all planned interim analyses that fit into the rounds."""
    taken = [n for n in looks_of(plan).rounds if n <= rounds] or [rounds]
    return [Look(i.id, k, n, n == taken[-1]) for i in plan.inputs for k, n in enumerate(taken)]


@dataclass
class Study:
    """A plan with one axis ``arm`` and, for several sizes, an input axis. The first arm is the baseline."""

    arms: Sequence[str] = ("a", "b")
    sizes: Sequence[int] = (0,)
    rounds: int = 40
    control: bool = True
    measure: MeasurePolicy = field(default_factory=MeasurePolicy)
    policy: JudgePolicy = field(default_factory=JudgePolicy)
    labels: Mapping[str, str] = field(default_factory=dict)
    compare: str = "exact"

    @property
    def plan(self) -> Plan:
        variants = [Variant(self.labels.get(a, a), (("arm", a),), None) for a in self.arms]
        inputs = [self._input(size) for size in self.sizes]
        cells = [cell for given in inputs for cell in self._cells(variants, given)]
        arm = Axis("arm", "run", tuple(AxisValue(a, a) for a in self.arms))
        size = Axis(
            "size",
            "input",
            tuple(AxisValue(f"{s}MiB", f"{s}MiB", size_bytes=s * MIB) for s in self.sizes),
        )
        return make_plan(
            variants,
            inputs,
            cells,
            question="Which arm?",
            scenario_sha256="0",
            axes=(arm, size) if any(self.sizes) else (arm,),
            program=("/bin/prog",),
            answer=AnswerPolicy(compare=self.compare),  # type: ignore[arg-type]
            measure=replace(self.measure, control=self.control),
            judge=self.policy,
        )

    @staticmethod
    def _input(size: int) -> Input:
        if not size:
            return Input("", (), None)
        name = f"{size}MiB"
        return Input(name, (("size", name),), Dataset("generated", "prose", size * MIB, 42))

    def _cells(self, variants: Sequence[Variant], given: Input) -> list[Cell]:
        cells = cells_of(variants, given)
        if self.control:
            key = stable_id("control", given.values)
            cells.append(replace(cells[0], id=key, label="control", role=Role.CONTROL))
        return cells

    def arm_of(self, cell: Cell) -> str:
        names = {v.id: dict(v.values)["arm"] for v in self.plan.variants}
        return "control" if cell.role is Role.CONTROL else names[cell.variant_id]

    def blocks(
        self, wall: Timing, cpu: Timing | None = None, rss: Timing | None = None
    ) -> list[Block]:
        """Return the samples of all rounds. CPU time equals wall time unless it has a function."""
        plan, blocks = self.plan, list[Block]()
        for number in range(1, self.rounds + 1):
            for position, cell in enumerate(plan.cells):
                where = (self.arm_of(cell), plan.input(cell.input_id).label, number)
                blocks.append(
                    make_block(
                        *(len(blocks), number, position, cell.id, wall(*where)),
                        user_s=(cpu or wall)(*where),
                        peak_rss_bytes=int(rss(*where)) if rss else None,
                        answer=Answer("d0", 1),
                    )
                )
        return blocks

    def looks(self) -> list[Look]:
        return planned_looks(self.plan, self.rounds)

    def inputs(self) -> list[PreparedInput]:
        return [
            PreparedInput(i.id, "/f", i.dataset.size_bytes, "0", "prose", 42)
            for i in self.plan.inputs
            if i.dataset
        ]

    def contents(
        self, blocks: Sequence[Block], builds: Iterable[Build] = (), *, day: str = ""
    ) -> Contents:
        """Return the journal of a record that started on a day."""
        return Contents(
            lines.Header(1, "id", self.plan.name, "", "", day, "0"),
            builds=tuple(builds),
            inputs=tuple(self.inputs()),
            blocks=list(blocks),
            looks=self.looks(),
        )

    def judge(
        self, blocks: Sequence[Block], builds: Mapping[str, Build] | None = None
    ) -> Judgement:
        return judge(self.plan, blocks, builds or {}, self.inputs(), self.looks())

    def cell(self, arm: str, size: int | None = None) -> Cell:
        plan = self.plan
        label = f"{size}MiB" if size else plan.inputs[0].label
        return next(
            c for c in plan.cells if self.arm_of(c) == arm and plan.input(c.input_id).label == label
        )

    def comparison(
        self, judged: Judgement, arm: str, metric: str = "wall", size: int | None = None
    ) -> Comparison:
        cell_id = self.cell(arm, size).id
        return next(c for c in judged.comparisons if c.cell_id == cell_id and c.metric == metric)


Crossing = Callable[[Mapping[str, str], str, int], float]
"""Function of a variant's values, input name and round to seconds."""


@dataclass
class Crossed:
    """A plan of several axes of variants, fully crossed or not. The first value of each axis is the baseline's."""

    axes: Mapping[str, Sequence[str]]
    inputs: Sequence[str] = ("x",)
    rounds: int = 40
    drop: Callable[[Mapping[str, str]], bool] = lambda _: False
    design: Literal["full", "one-at-a-time", "ladder"] = "full"
    adopted: Sequence[tuple[str, str]] = ()
    further: Sequence[Mapping[str, str]] = ()
    features: Sequence[str] = ()
    """Axes whose values are features of the build."""

    @property
    def plan(self) -> Plan:
        chosen = [
            dict(zip(self.axes, picked, strict=True))
            for picked in itertools.product(*self.axes.values())
        ]
        variants = [self._variant(v) for v in chosen if not self.drop(v)]
        inputs = [Input(name, (("where", name),), None) for name in self.inputs]
        cells = [cell for item in inputs for cell in cells_of(variants, item)]
        start, ids = dict(variants[0].values), {frozenset(v.values): v.id for v in variants}
        experiments = []
        for axis, value in self.adopted:
            id_ = ids.get(frozenset({**start, axis: value}.items()), variants[0].id)
            change = ((axis, value),)
            experiments.append(Experiment(f"{axis} {value}", id_, change, decision="adopted"))
        further = [ids[frozenset(given.items())] for given in self.further]
        return make_plan(
            variants,
            inputs,
            cells,
            name="crossed",
            question="What does each axis do?",
            scenario_sha256="0",
            axes=(
                *(
                    Axis(a, "run", tuple(AxisValue(v, v) for v in values))
                    for a, values in self.axes.items()
                ),
                Axis("where", "input", tuple(AxisValue(n, n) for n in self.inputs)),
            ),
            further_baselines=tuple(further),
            experiments=tuple(experiments),
            program=("/bin/prog",),
            measure=MeasurePolicy(control=False),
            judge=JudgePolicy(metrics=("wall",)),
            design=self.design,
        )

    def _variant(self, values: Mapping[str, str]) -> Variant:
        on = tuple(sorted(values[a] for a in self.features if values[a] != self.axes[a][0]))
        build = BuildSpec("crate", "bin", features=on) if self.features else None
        return Variant(" ".join(values.values()), tuple(values.items()), build)

    def blocks(self, wall: Crossing) -> list[Block]:
        plan, blocks = self.plan, list[Block]()
        for number in range(1, self.rounds + 1):
            for position, cell in enumerate(plan.cells):
                values = dict(plan.variant(cell.variant_id).values)
                seconds = wall(values, plan.input(cell.input_id).label, number)
                place = (len(blocks), number, position, cell.id)
                blocks.append(make_block(*place, seconds, answer=Answer("d0", 1)))
        return blocks

    def looks(self) -> list[Look]:
        return planned_looks(self.plan, self.rounds)

    def judge(self, wall: Crossing) -> Judgement:
        return judge(self.plan, self.blocks(wall), {}, [], self.looks())

    def measured(self, wall: Crossing) -> contrasts.ContrastData:
        runs = runs_of(self.plan, self.blocks(wall), {})
        return contrasts.contrast_data(self.plan, runs, looks_of(self.plan), self.looks())


def analysis(example: Study, wall: Timing, index: int, **more: Timing) -> Analysis:
    """Return the interim analysis of the first input with an index in the schedule."""
    plan = example.plan
    last = looks_of(plan).rounds[index]
    blocks = [b for b in example.blocks(wall, **more) if b.round <= last]
    return Analysis(plan, blocks, plan.inputs[0].id, index, last, {})

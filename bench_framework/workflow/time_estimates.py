"""What earlier records on this host tell of a plan: how long its cells take, and how loud they are.

Read from ``plan.json``, ``env.json`` and ``claims.json`` alone; a journal is read only where a record has no claims.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Role, stable_id
from bench_framework.stats.holm_family import detectable
from bench_framework.stats.portable_math import expm1, log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bench_framework.model.judgement import Comparison, Judgement
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import BuildSpec, Cell, Plan
    from bench_framework.model.policies import Metric

MOST_RECORDS: Final = 12
"""The newest that are asked; each takes some milliseconds to read."""
GUESS_S: Final = 0.1
"""Of a block of which nothing is known: the shipped workloads take 0.02 to 1 s."""
SAME: Final = "last run here"
REBUILT: Final = "last run here, of another build"
SCALED: Final = "scaled by size"
GUESSED: Final = f"guessed at {GUESS_S * 1000:.0f} ms, for want of a record"


@dataclass(frozen=True, slots=True)
class Precedent:
    """One earlier record.

    Attributes:
        name: scenario and id.
        plan: what it measured.
        seconds: cell id → seconds of its block, all runs of it together.
        comparisons: its headline.
        binaries: build id → sha256 of what ran.
    """

    name: str
    plan: Plan
    seconds: Mapping[str, float]
    comparisons: Sequence[Comparison]
    binaries: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a plan can decide at its last look, by the noise of an earlier record.

    Attributes:
        by_metric: the largest detectable difference of any pair, as a fraction.
        record: whose noise.
        pairs: comparisons of the plan that were found in it; 0 where only the scenario is the same.
    """

    by_metric: Mapping[Metric, float] = field(default_factory=dict)
    record: str = ""
    pairs: int = 0


def precedents(plan: Plan, results: Path) -> tuple[Precedent, ...]:
    """The records of this host that may tell something, the scenario's own first, each kind newest first."""
    from bench_framework.execution.host import this_host_id
    from bench_framework.store.finding import find_records

    own = find_records(results, plan.name)[::-1]
    others = [folder for folder in find_records(results)[::-1] if folder not in own]
    found = [*own, *others][:MOST_RECORDS]
    return tuple(_opened(found, this_host_id())) if found else ()


def _opened(folders: Iterable[Path], here: str) -> Iterator[Precedent]:
    from bench_framework.errors import RecordError
    from bench_framework.store import layout, wire

    for folder in folders:
        try:
            if wire.load_host((folder / layout.ENV).read_bytes()).host_id != here:
                continue
            plan = wire.load_plan((folder / layout.PLAN).read_bytes())
            seconds, comparisons = _measured(folder)
            yield Precedent(
                f"{folder.parent.name}/{folder.name}", plan, seconds, comparisons, _binaries(folder)
            )
        except (OSError, RecordError):
            continue  # a record that cannot be read tells nothing; `benchctl verify` is who says so


def _measured(folder: Path) -> tuple[dict[str, float], tuple[Comparison, ...]]:
    """Seconds per block and headline; of an interrupted record the seconds alone."""
    from bench_framework.store import journal, layout, wire

    if (folder / layout.CLAIMS).is_file():
        judgement: Judgement = wire.load_judged((folder / layout.CLAIMS).read_bytes()).judgement
        walls = [s for s in judgement.summaries if s.metric == WALL and s.n_rounds]
        told = tuple(c for c in judgement.comparisons if c.family == "headline")
        return {s.cell_id: s.mean * s.n_runs / s.n_rounds for s in walls}, told
    spent: dict[str, list[float]] = {}
    for block in journal.read_journal(folder / layout.JOURNAL).blocks:
        if not block.warmup and block.wall_s:
            spent.setdefault(block.cell_id, []).append(sum(block.wall_s))
    return {cell_id: sum(own) / len(own) for cell_id, own in spent.items()}, ()


def _binaries(folder: Path) -> dict[str, str]:
    """What ran, from the head of the journal."""
    from bench_framework.store import layout, lines, wire

    with (folder / layout.JOURNAL).open("rb") as file:
        for text in (file.readline(), file.readline()):
            try:
                line = wire.load_line(text)
            except ValueError:
                return {}
            if isinstance(line, lines.Prepared):
                return {build.id: build.sha256 for build in line.builds if build.sha256}
    return {}


def workload(plan: Plan, cell: Cell, *, sized: bool = True) -> str:
    """What a cell runs on what: equal between scenarios that ask for the same; without `sized` on any size."""
    variant, dataset = plan.variant(cell.variant_id), plan.input(cell.input_id).dataset
    made = variant.build.id if variant.build else plan.program
    data = (
        (dataset.id if sized else (dataset.kind, dataset.family, dataset.seed)) if dataset else None
    )
    return stable_id(made, cell.command, cell.env, cell.stdin, cell.cpus, cell.cache, data)


def block_times(plan: Plan, found: Sequence[Precedent]) -> tuple[float, dict[str, int]]:
    """Seconds of one round over all cells, without what benchctl adds; and cells by the basis of their estimate."""
    now = _binaries_now(plan)
    total, basis = 0.0, Counter[str]()
    for cell in plan.cells:
        seconds, source = _block_time(plan, cell, found, now)
        total += seconds
        basis[source] += 1
    return total, dict(basis)


def _block_time(
    plan: Plan, cell: Cell, found: Sequence[Precedent], now: Mapping[str, str]
) -> tuple[float, str]:
    wanted = workload(plan, cell)
    for record in found:
        for other in record.plan.cells:
            if other.id in record.seconds and workload(record.plan, other) == wanted:
                build = _build_id(plan, cell)
                same = record.binaries.get(build) == now.get(build)
                return record.seconds[other.id], SAME if same else REBUILT
    size, wanted = _size(plan, cell), workload(plan, cell, sized=False)
    for record in found:
        for other in record.plan.cells:
            given = _size(record.plan, other)
            if not size or not given or other.id not in record.seconds:
                continue
            if workload(record.plan, other, sized=False) == wanted:
                return record.seconds[other.id] * size / given, SCALED
    return GUESS_S, GUESSED


def _size(plan: Plan, cell: Cell) -> int | None:
    dataset = plan.input(cell.input_id).dataset
    return dataset.size_bytes if dataset else None


def _build_id(plan: Plan, cell: Cell) -> str:
    build = plan.variant(cell.variant_id).build
    return build.id if build else "program"


def _binaries_now(plan: Plan) -> dict[str, str]:
    """sha256 of the binaries that are there already, by build id."""
    from bench_framework.execution.host import cache_root

    paths: dict[str, Path] = {}
    for spec in plan.builds:
        if (binary := built(spec, cache_root())) is not None:
            paths[spec.id] = binary
    if plan.program and (program := shutil.which(plan.program[0])):
        paths["program"] = Path(program)
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}


def built(spec: BuildSpec, cache: Path) -> Path | None:
    """Where cargo left the binary of a build; `None` before the first one."""
    return next((cache / "cargo" / "target" / spec.id).glob(f"*/{spec.bin}"), None)


def resolution(plan: Plan, looks: Looks, found: Sequence[Precedent]) -> Resolution:
    """What differences this plan decides at its last look, if the noise is that of an earlier record.

    The record with most of the plan's own pairs is asked; without any, the newest of this scenario.
    """
    wanted = {
        (workload(plan, cell), workload(plan, base), metric)
        for cell in plan.cells
        if cell.role is Role.CANDIDATE and (base := plan.baseline_cell(cell.input_id)) is not None
        for metric in plan.judge.metrics
    }
    best = Resolution()
    for record in found:
        cells = {cell.id: workload(record.plan, cell) for cell in record.plan.cells}
        known = [
            c
            for c in record.comparisons
            if (cells[c.cell_id], cells[c.ref_cell_id], c.metric) in wanted
        ]
        same = record.plan.name == plan.name and not best.record
        if len(known) > best.pairs or (same and not known):
            made = _detectable(plan, looks, known or record.comparisons)
            if made:
                best = Resolution(made, record.name, len(known))
    return best


def _detectable(plan: Plan, looks: Looks, comparisons: Iterable[Comparison]) -> dict[Metric, float]:
    worst: dict[Metric, float] = {}
    for c in comparisons:
        half = _half_width(c)
        if half is None or c.metric not in plan.judge.metrics:
            continue
        at_last = half * math.sqrt(c.rounds / looks.rounds[-1])
        strict = looks.level / (looks.count * looks.family)
        mde = expm1(detectable(at_last, strict, plan.judge.epsilon_of(c.metric)))
        worst[c.metric] = max(worst.get(c.metric, 0.0), mde)
    return {metric: worst[metric] for metric in plan.judge.metrics if metric in worst}


def _half_width(c: Comparison) -> float | None:
    """Of the narrower of the two 95 % intervals, on the log scale."""
    found = [
        (log(i.hi) - log(i.lo)) / 2
        for i in (c.typical, c.floor)
        if i is not None and i.lo > 0 and math.isfinite(i.hi)
    ]
    return min(found, default=None) if c.rounds else None

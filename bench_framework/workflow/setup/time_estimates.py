"""Estimates of the duration and the noise of a plan, from earlier records on this machine.

They are read from ``plan.json``, ``claims.json`` and the head of the journal. All of a journal is read
only if a record has no claims.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import RecordError
from bench_framework.execution.machine.host import cache_root, this_host_id
from bench_framework.foreign import sha256_of
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.build_spec import PROGRAM, BuildSpec, stable_id
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.planned_comparisons import baseline_pairs
from bench_framework.model.plan.policies import JudgePolicy, Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.stats.holm_family import log_half_width, minimum_detectable_effect
from bench_framework.stats.portable_math import expm1
from bench_framework.store import layout

if TYPE_CHECKING:
    from bench_framework.model.plan.looks import Looks
    from bench_framework.model.record.run import Build
    from bench_framework.model.result.judgement import Comparison, Judgement

MOST_RECORDS: Final = 12
"""Number of the newest records that are read; each takes some milliseconds."""
UNTIMED_S: Final = 0.012
"""Overhead of benchctl and hyperfine per block in seconds; `nox -s bench` measures it."""
GUESS_S: Final = 0.1
"""Guessed duration of a block in seconds. The shipped workloads take 0.02 to 1 s."""
SAME: Final = Reason(ReasonCode.LAST_RUN)
TRIED: Final = Reason(ReasonCode.TRIAL_RUN)
REBUILT: Final = Reason(ReasonCode.LAST_BUILD)
SCALED: Final = Reason(ReasonCode.SCALED)
GUESSED: Final = Reason(ReasonCode.NEVER_TIMED)


@dataclass(frozen=True, slots=True)
class EarlierRecord:
    """An earlier record of this machine.

    `seconds` is the duration of a block (all its runs) by cell id. The comparisons are of the
    headline family. `builds` are by their ids.
    """

    name: str
    plan: Plan
    seconds: Mapping[str, float]
    comparisons: Sequence[Comparison]
    builds: Mapping[str, Build]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The minimum detectable effects of a plan, from the noise of an earlier record.

    `by_metric` is the largest effect of any pair, as a fraction. `pairs` counts the comparisons of
    the plan that the record contains; 0 if only the scenario is the same.
    """

    by_metric: Mapping[Metric, float] = field(default_factory=dict)
    record: str = ""
    pairs: int = 0


def earlier_records(scenario: str, results: Path) -> tuple[EarlierRecord, ...]:
    """Return earlier records of this machine: first those of a scenario, each group newest first."""
    from bench_framework.store.finding import find_records

    same = find_records(results, scenario)[::-1]
    others = [folder for folder in find_records(results)[::-1] if folder not in same]
    folders = [*same, *others][:MOST_RECORDS]
    return tuple(_read(folders, this_host_id())) if folders else ()


def _read(folders: Iterable[Path], here: str) -> Iterator[EarlierRecord]:
    from bench_framework.store import lines, wire

    for folder in folders:
        try:
            with (folder / layout.JOURNAL).open("rb") as file:
                file.readline()
                prepared = wire.adapter(lines.Prepared).validate_json(file.readline())
            if prepared.host.host_id == here:
                plan = wire.load_plan((folder / layout.PLAN).read_bytes())
                name = f"{folder.parent.name}/{folder.name}"
                builds = {build.id: build for build in prepared.builds}
                yield EarlierRecord(name, plan, *_durations(folder), builds)
        except (OSError, ValueError, RecordError):
            continue  # `benchctl verify` reports unreadable records


def _durations(folder: Path) -> tuple[dict[str, float], tuple[Comparison, ...]]:
    """Return seconds per block by cell id and the comparisons; none for an interrupted record."""
    from bench_framework.store.judged import present_judged

    path = folder / layout.CLAIMS
    judged = present_judged(path.read_bytes()) if path.is_file() else None
    if judged is not None:
        judgement: Judgement = judged.judgement
        walls = [s for s in judgement.summaries if s.metric == WALL and s.n_rounds]
        headline = tuple(c for c in judgement.comparisons if c.family == "headline")
        return {s.cell_id: s.mean * s.n_runs / s.n_rounds for s in walls}, headline
    from bench_framework.store import journal

    spent: dict[str, list[float]] = {}
    for block in journal.read_journal(folder / layout.JOURNAL).blocks:
        if not block.warmup and block.wall_s:
            spent.setdefault(block.cell_id, []).append(sum(block.wall_s))
    return {cell_id: sum(times) / len(times) for cell_id, times in spent.items()}, ()


def workload(plan: Plan, cell: Cell, *, sized: bool = True) -> str:
    """Return an id of the work of a cell, equal for scenarios with the same command, build and input.

    Without `sized`, inputs that differ only in size have the same id.
    """
    variant, dataset = plan.variant(cell.variant_id), plan.input(cell.input_id).dataset
    program = variant.build.id if variant.build else plan.program
    data: object = dataset and dataset.id
    if dataset and not sized:
        data = (dataset.kind, dataset.family, dataset.seed)
    server = cell.server and cell.server.command
    parts = (cell.command, cell.env, cell.stdin, cell.cpus, cell.cache, *([server] * bool(server)))
    return stable_id(program, *parts, data)


def trials_file(scenario: str, cache: Path) -> Path:
    """Return the path of the durations of trial runs in seconds, by `workload`."""
    return cache / "trials" / f"{scenario}.json"


def block_times(plan: Plan, records: Sequence[EarlierRecord]) -> tuple[float, dict[Reason, int]]:
    """Return the seconds of one round without overhead, and the number of cells by source of estimate."""
    now = _binaries_now(plan.builds, plan.program)
    trials: dict[str, float] = {}
    with contextlib.suppress(OSError, ValueError):
        trials = json.loads(trials_file(plan.name, cache_root()).read_bytes())
    total, basis = 0.0, Counter[Reason]()
    for cell in plan.cells:
        seconds, source = _block_time(plan, cell, records, now)
        if source in {SCALED, GUESSED} and (work := workload(plan, cell)) in trials:
            seconds, source = trials[work], TRIED
        total += seconds
        basis[source] += 1
    return total, dict(basis)


def _block_time(
    plan: Plan, cell: Cell, records: Sequence[EarlierRecord], now: Mapping[str, str]
) -> tuple[float, Reason]:
    measured = [(r, other) for r in records for other in r.plan.cells if other.id in r.seconds]
    work = workload(plan, cell)
    for record, other in measured:
        if workload(record.plan, other) == work:
            build = plan.build_id(cell)
            before = record.builds.get(build)
            same = (before and before.sha256) == now.get(build)
            return record.seconds[other.id], SAME if same else REBUILT
    size, work = _size(plan, cell), workload(plan, cell, sized=False)
    for record, other in measured:
        given = _size(record.plan, other)
        if size and given and workload(record.plan, other, sized=False) == work:
            return record.seconds[other.id] * size / given, SCALED
    return GUESS_S, GUESSED


def _size(plan: Plan, cell: Cell) -> int | None:
    dataset = plan.input(cell.input_id).dataset
    return dataset.size_bytes if dataset else None


def _binaries_now(specs: Iterable[BuildSpec], command: Sequence[str] | None) -> dict[str, str]:
    paths: dict[str, Path | str | None] = {PROGRAM: shutil.which(command[0])} if command else {}
    for spec in specs:
        installed = spec.installed
        paths[spec.id] = shutil.which(spec.bin) if installed else built_binary(spec, cache_root())
    return {key: sha256_of(Path(path)) for key, path in paths.items() if path}


def built_binary(spec: BuildSpec, cache: Path) -> Path | None:
    """Return the path of the binary of a build; `None` before the first build."""
    if spec.by_commands is not None:
        from bench_framework.execution.build import commands

        return commands.latest(spec, cache)
    if spec.bench:  # it stays in the shared build directory
        from bench_framework.execution.build.messages import read_messages

        messages = cache / "builds" / f"{spec.program.id}.jsonl"
        path = read_messages(messages, spec.bin, bench=True).executable
        return Path(path) if path and Path(path).is_file() else None
    return next((cache / "cargo" / "target" / spec.program.id).glob(f"*/{spec.bin}"), None)


def resolution(
    plan: Plan, looks: Looks, records: Sequence[EarlierRecord], rounds: int
) -> Resolution:
    """Return the minimum detectable effects after a number of rounds, from an earlier record.

    It is the record with the most pairs of the plan, or else the newest record of the scenario.
    """
    pairs = {
        (workload(plan, cell), workload(plan, base), metric)
        for item in plan.inputs
        for cell, base in baseline_pairs(plan, item.id)
        for metric in plan.judge.metrics
    }
    best = Resolution()
    for record in records:
        cells = {cell.id: workload(record.plan, cell) for cell in record.plan.cells}
        works = ((cells[c.cell_id], cells[c.ref_cell_id], c.metric) for c in record.comparisons)
        known = [c for c, work in zip(record.comparisons, works, strict=True) if work in pairs]
        same = record.plan.name == plan.name and not best.record
        if len(known) > best.pairs or (same and not known):
            effects = _detectable(plan.judge, looks, known or record.comparisons, rounds)
            if effects:
                best = Resolution(effects, record.name, len(known))
    return best


def _detectable(
    policy: JudgePolicy, looks: Looks, comparisons: Iterable[Comparison], rounds: int
) -> dict[Metric, float]:
    worst: dict[Metric, float] = {}
    for c in comparisons:
        interval = c.unadjusted
        if not c.rounds or interval is None or interval.lo <= 0 or not math.isfinite(interval.hi):
            continue
        if c.metric not in policy.metrics:
            continue
        half = log_half_width(interval)  # of the 95 % interval
        at_last = half * math.sqrt(c.rounds / max(1, rounds))
        mde = expm1(minimum_detectable_effect(at_last, looks.strict, policy.epsilon_of(c.metric)))
        worst[c.metric] = max(worst.get(c.metric, 0.0), mde)
    return {metric: worst[metric] for metric in policy.metrics if metric in worst}

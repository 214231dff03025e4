"""The history of a scenario: read its records, order them, and find changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from bench_framework.compare.same_programs import work
from bench_framework.errors import RecordError, ScenarioError, UsageError
from bench_framework.execution import process
from bench_framework.execution.build.revisions import Git, commits_of_head
from bench_framework.execution.machine import host
from bench_framework.extensions.history.model import History, HistoryPoint, HistorySeries
from bench_framework.extensions.history.record_summary import (
    MEDIANS,
    RecordSummary,
    load_plan,
    read_summary,
)
from bench_framework.features.record_comparison import anchors
from bench_framework.foreign import read_regular
from bench_framework.model.metrics import CPU, ITERATION, WALL
from bench_framework.model.plan.benches import AXES
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.machine import Fingerprint, fingerprint
from bench_framework.scenario.selection import select_cells
from bench_framework.store import finding, layout
from bench_framework.workflow.run_options import plan_scenario

if TYPE_CHECKING:
    from bench_framework.extensions.history.compute import Readings
FLOOR: Final = {WALL: 0.005, CPU: 0.005, ITERATION: 0.005}
"""Smallest standard deviation of a metric between records, as a fraction (docs/method.md#history)."""
OTHER_FLOOR: Final = 0.0005
DIGITS: Final = 12
"""Hex digits of a digest that identify a program, command or input."""
TARGET: Final = AXES[1]
NOT_IN_HEAD: Final = Reason(ReasonCode.NOT_IN_HEAD)


@dataclass(frozen=True, slots=True)
class SeriesCell:
    """A cell of a plan, with what is equal in all records that measure this configuration."""

    id: str
    series: str
    label: str
    values: tuple[tuple[str, str], ...]
    build_id: str
    input_id: str
    """Id of the input, empty without a dataset."""
    command: str


class _Reading(NamedTuple):
    """A point with its series, and the number of its record by time."""

    series: str
    number: int
    point: HistoryPoint


def scenario_history(
    results: Path,
    scenario: str | None = None,
    *,
    metric: str | None = None,
    only: str | None = None,
    machine: str | None = None,
) -> History:
    """Return the history of a scenario on one machine.

    `scenario` is a name, a file, or `None` for that of the newest record. `machine` is the digest of
    a fingerprint; default: that of the newest record. `metric` is by default the elapsed time, of
    benchmarks that of an iteration. `only` selects configurations, as ``-k`` does.

    Raises:
        UsageError: BX101, there is no record; BX106, nothing is selected; BX107, an unknown metric;
            BX128, no such machine.
        ScenarioError: BC113, a selection that cannot be read.
    """
    if metric is not None and metric not in MEDIANS:
        raise UsageError("BX107.histories-no-metric", metric=metric, medians=", ".join(MEDIANS))
    newest = newest_record(results, scenario)
    name, metric = newest.parent.name, metric or _main_metric(newest)
    records, left_out = read_records(results, name, metric)
    if not records:
        raise UsageError("BX101.no-finished-record", name=name, results=results)
    kind, records = _of_machine(records, machine, left_out)
    for record in (r for r in records if load_plan(r.plan).confirms):
        left_out[record.header.record_id] = Reason(ReasonCode.MEASURED_AGAIN)
    records = [record for record in records if record.header.record_id not in left_out]
    if not records:
        raise UsageError("BX101.no-finished-record", name=name, results=results)
    plan, cells = planned_cells(records[-1].plan, only)
    cells_of = {cell.series: cell for cell in cells}
    readings: list[_Reading] = []
    for number, record in enumerate(records):
        try:
            _, cells = planned_cells(record.plan, only)
        except ScenarioError:  # an older scenario without an axis of the selection
            continue
        cells_of = {cell.series: cell for cell in cells} | cells_of
        readings += _readings(number, record, cells)
    if not readings:
        raise UsageError("BX106.no-metric", name=name, metric=metric, only=only)
    positions = _positions(plan, {r.point.revision for r in readings if r.point.revision})
    series: dict[str, list[_Reading]] = {name: [] for name in cells_of}
    for reading in _placed(readings, positions, left_out):
        series[reading.series].append(reading)
    measured = [one for one in series.values() if one]
    return History(
        name,
        metric,
        plan.unit_family,
        "revision" if positions else "time",
        kind,
        len({reading.number for one in measured for reading in one}),
        plan.judge.level,
        tuple(_with_changes(measured, cells_of, metric, plan.judge.level)),
        tuple(sorted(left_out.items())),
    )


def _main_metric(record: Path) -> str:
    """Return the time per iteration for a record of benchmarks, else the elapsed time."""
    try:
        plan = load_plan(read_regular(record / layout.PLAN))
    except (OSError, ValueError, RecordError):  # `read_records` reports it
        return WALL
    return WALL if plan.benches is None else ITERATION


def newest_record(results: Path, scenario: str | None) -> Path:
    """Return the newest measured record of a scenario. Raises `UsageError`, BX101: it has no record."""
    if scenario is not None and scenario.endswith((".yaml", ".yml")):
        scenario = plan_scenario(scenario).name
    return finding.resolve(results, scenario or "@last", without_rounds=False)


def read_records(
    results: Path, name: str, metric: str
) -> tuple[list[RecordSummary], dict[str, Reason]]:
    """Return the finished records of a scenario by time, and why others are left out."""
    records, left_out = [], dict[str, Reason]()
    for folder in finding.find_records(results, name):
        try:
            records.append(read_summary(folder, metric))
        except RecordError as error:
            unfinished = error.code == "BX413"
            code = ReasonCode.UNFINISHED if unfinished else ReasonCode.DAMAGED
            left_out[folder.name] = Reason(code)
    return records, left_out


def _of_machine(
    records: Sequence[RecordSummary], machine: str | None, left_out: dict[str, Reason]
) -> tuple[Fingerprint, list[RecordSummary]]:
    kinds = [(fingerprint(record.prepared.host), record) for record in records]
    digest = machine or kinds[-1][0].digest
    known = {kind.digest: kind for kind, _ in kinds}
    if digest not in known:
        details = tuple((name, ", ".join(kind.facts.values())) for name, kind in known.items())
        raise UsageError("BX128", details=details, digest=digest)
    others = [(kind, record) for kind, record in kinds if kind.digest != digest]
    for kind, record in others:
        left_out[record.header.record_id] = Reason(ReasonCode.OTHER_MACHINE, kind.digest)
    return known[digest], [record for kind, record in kinds if kind.digest == digest]


@lru_cache(maxsize=64)
def planned_cells(text: bytes, only: str | None = None) -> tuple[Plan, tuple[SeriesCell, ...]]:
    """Return a plan of ``plan.json`` and its cells, without A/A controls.

    Raises `ScenarioError` (BC113): the selection does not fit the plan.
    """
    plan = load_plan(text)
    cells = []
    for cell in plan.cells if only is None else select_cells(plan, only):
        if cell.role is Role.CONTROL:
            continue
        variant, item = plan.variant(cell.variant_id), plan.input(cell.input_id)
        values = {**dict(variant.values), **dict(item.values)}
        label = anchors.name(plan, cell)
        if plan.revisions is not None:  # its variants are revisions of one configuration
            values.pop(plan.axes[0].name, None)
            label = item.label or plan.name
        # The axis of bench targets exists only if there are several.
        identity = {**values, TARGET: item.bench.target} if item.bench is not None else values
        series = stable_id("series", sorted(identity.items()), variant.experiment)
        place = (
            plan.build_id(cell),
            item.id if item.dataset else "",
            stable_id("work", work(cell)),
        )
        cells.append(SeriesCell(cell.id, series, label, tuple(values.items()), *place))
    return plan, tuple(cells)


def _readings(
    number: int, record: RecordSummary, cells: Sequence[SeriesCell]
) -> Iterable[_Reading]:
    """Yield the medians of a record, without their places."""
    builds = {build.id: build for build in record.prepared.builds}
    inputs = {item.input_id: item.sha256 for item in record.prepared.inputs}
    header = record.header
    for cell in cells:
        figures, build = record.medians.get(cell.id), builds.get(cell.build_id)
        if figures is None or build is None:
            continue
        digest = inputs.get(cell.input_id) if cell.input_id else ""
        task, program = f"{cell.command}{(digest or '')[:DIGITS]}", ""
        if (code := build.code_sha256 or build.sha256) and digest is not None:
            preload = build.preload.sha256[:DIGITS] if build.preload else ""
            program = f"{code[:DIGITS]}{preload}{task}"
        point = HistoryPoint(
            0,
            header.record_id,
            header.started_at,
            build.revision,
            build.dirty,
            *figures,
            program=program,
            task=task,
        )
        yield _Reading(cell.series, number, point)


def _positions(plan: Plan, revisions: set[str]) -> dict[str, int]:
    """Return the position of each commit in the history of HEAD; empty if that is not known."""
    crates = (Path(spec.crate) for spec in plan.builds if spec.crate and not spec.git)
    crate = next((path for path in crates if path.is_absolute() and path.is_dir()), None)
    if crate is None or not revisions:
        return {}
    with process.Launcher() as launcher:
        commits = commits_of_head(Git(launcher, host.environment()), crate)
    return {commit: n for n, commit in enumerate(commits) if commit in revisions}


def _placed(
    readings: Sequence[_Reading], positions: Mapping[str, int], left_out: dict[str, Reason]
) -> Iterable[_Reading]:
    """Yield readings with the places of their points, in the order of commit, uncommitted changes and time.

    A configuration whose revision never changes, such as an anchor, has the newest state of its record.
    """

    def state(r: _Reading) -> tuple[int, bool]:
        return positions.get(r.point.revision or "", -1), bool(positions and r.point.dirty)

    newest = defaultdict[int, tuple[int, bool]](lambda: (-1, False))
    revisions = defaultdict[str, set[str | None]](set)
    for r in readings:
        newest[r.number] = max(newest[r.number], state(r))
        revisions[r.series].add(r.point.revision)
    keyed = []
    for r in readings:
        fixed = len(revisions[r.series]) == 1
        position, dirty = newest[r.number] if fixed else state(r)
        if positions and position < 0:
            left_out[r.point.record] = NOT_IN_HEAD
        else:
            keyed.append(((position, dirty, r.number), r))
    order = {key: place for place, key in enumerate(sorted({key for key, _ in keyed}))}
    for key, r in sorted(keyed, key=lambda pair: pair[0]):
        yield r._replace(point=replace(r.point, place=order[key]))


def _with_changes(
    series: Sequence[Sequence[_Reading]],
    cells_of: Mapping[str, SeriesCell],
    metric: str,
    level: float,
) -> Iterable[HistorySeries]:
    from bench_framework.extensions.history import compute
    from bench_framework.stats.portable_math import exp

    numbers = _numbers(series, FLOOR.get(metric, OTHER_FLOOR))
    levels = compute.linked(numbers)
    rest = iter(levels.tolist())
    for one, result in zip(series, compute.segments(numbers, levels, level), strict=True):
        means = {x: exp(x) for x in set(result.fitted.tolist())}
        points = tuple(
            replace(
                r.point, level=exp(next(rest)), fitted=means[mean], outlier=n in result.outliers
            )
            for n, (r, mean) in enumerate(zip(one, result.fitted.tolist(), strict=True))
        )
        cell = cells_of[one[0].series]
        changes = tuple(
            replace(
                change,
                before_record=points[change.before].record,
                before_revision=points[change.before].revision,
                after_record=points[change.after].record,
                after_revision=points[change.after].revision,
            )
            for change in result.changes
        )
        results = (points, changes, result.breaks, *result.precision)
        yield HistorySeries(cell.series, cell.label, dict(cell.values), *results)


def _numbers(series: Sequence[Sequence[_Reading]], least: float) -> Readings:
    """Return all readings as arrays. `least` is the smallest noise between records."""
    import numpy as np

    from bench_framework.extensions.history.compute import Readings
    from bench_framework.stats.portable_math import NORMAL_95, log

    flat = [r.point for one in series for r in one]
    programs = {name: n for n, name in enumerate(dict.fromkeys(r.program for r in flat))}
    tasks = {name: n for n, name in enumerate(dict.fromkeys(r.task for r in flat))}
    errors = [(r.hi - r.lo) / (2 * NORMAL_95 * r.value) if r.lo and r.hi else 0.0 for r in flat]
    return Readings(
        np.array([n for n, one in enumerate(series) for _ in one], dtype=np.int64),
        np.array([r.number for one in series for r in one], dtype=np.int64),
        np.array([log(r.value) for r in flat]),
        np.hypot(errors, least),
        np.array([programs[r.program] if r.program else -1 for r in flat], dtype=np.int64),
        np.array([tasks[r.task] for r in flat], dtype=np.int64),
    )

"""Checks of the machine in a report: caches, cores, memory, heat, and flags in the drift plot."""

from dataclasses import replace

from report_sample import with_contents, with_judgement, with_plan

from bench_framework.model.reasons import message
from bench_framework.model.record.sensors import PageCache
from bench_framework.model.result.judgement import CellState
from bench_framework.report import checks
from bench_framework.report.blocks import Bullets
from bench_framework.report.charts.drift import drift
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import headline_table
from bench_framework.report.sections.unmeasured import UNMEASURED
from tests.build import require


def cache_check(data: ReportData, state: PageCache | None, **sensors: int) -> tuple[str, str]:
    """Return mark and figure of the cache check if every sample was observed in this state."""
    blocks = tuple(
        replace(b, page_cache=state, sensors=replace(b.sensors, **sensors)) for b in data.blocks
    )
    observed = with_contents(data, blocks=blocks, events=())
    (check,) = [c for c in checks.checks(observed) if c.label == "page cache"]
    return check.mark, check.figure


def test_a_cache_is_warm_only_where_it_was_checked(data: ReportData) -> None:
    assert cache_check(data, None) == ("unknown", "warm; not checked")
    mark, figure = cache_check(data, PageCache("warm", 1.0), device_bytes=0)
    assert mark == "pass"
    count = len(data.measured_blocks)
    assert figure == (
        f"warm: {count} of {count} samples verified; "
        "100.0\u202f% of the input in memory before the sample; "
        f"none of {count} samples read from the device"
    )
    mark, figure = cache_check(
        data, PageCache("unknown", 0.5, why="only 50\u202f% of it was in memory")
    )
    assert mark == "warn"
    assert figure.endswith("Not verified in round 1: only 50\u202f% of it was in memory")


def test_a_cache_that_was_not_verified_to_be_cold_fails_the_check(data: ReportData) -> None:
    cold = with_plan(data, cells=tuple(replace(c, cache="cold") for c in data.plan.cells))
    mark, figure = cache_check(cold, PageCache("cold", 0.0, 1.0), device_bytes=10 << 20)
    assert mark == "pass"
    count = len(data.measured_blocks)
    assert f"{count} of {count} samples read from the device, median 10.0\u202fMiB" in figure
    assert cache_check(cold, PageCache("unknown", 1.0, why="it stayed"))[0] == "fail"


def test_configurations_without_the_requested_cold_cache_are_listed(data: ReportData) -> None:
    def lines(states: tuple[CellState, ...]) -> str:
        planned = with_plan(data, cells=tuple(replace(c, cache="cold") for c in data.plan.cells))
        changed = with_judgement(planned, states=states)
        lists = [b for b in UNMEASURED.build(changed) if isinstance(b, Bullets)]
        return "\n".join(item.text for item in lists[-1].items)

    cold = tuple(CellState(c.id, "measured", 20, 0, cache="cold") for c in data.plan.cells)
    assert "cold page cache" not in lines(cold)
    refused = (
        replace(cold[0], state="not-comparable", reason=message("tmpfs"), cache="unknown"),
        *cold[1:],
    )
    assert f"A cold page cache, although requested: {data.plan.cells[0].label}" in lines(refused)


def test_every_check_of_the_machine_has_its_figure(data: ReportData) -> None:
    loud = tuple(
        replace(
            b,
            sensors=replace(b.sensors, throttle_events=2, swap_in_pages=1000, psi_memory_us=10**9),
        )
        for b in data.blocks
    )
    before = {c.label: c for c in checks.checks(data)}
    busy = replace(data.host, load1=9.0)
    after = {c.label: c for c in checks.checks(with_contents(data, blocks=loud, host=busy))}
    assert after["other load"].figure == "load 9.00 on 2 cores before the start"
    labels = ("CPU contention", "throttling", "swapping", "free memory")
    assert [before[label].mark for label in labels] == ["pass", "unknown", "pass", "pass"]
    assert [after[label].mark for label in labels] == ["warn"] * 4
    count = len(data.measured_blocks)
    assert f"{count} of {count} samples flagged" in after["CPU contention"].figure
    assert after["CPU contention"].figure.endswith("none excluded")
    assert after["throttling"].figure == (
        f"a CPU was throttled {2 * count} times, in {count} of {count} samples"
    )


def test_flagged_blocks_have_rings_in_the_drift_plot_and_are_counted(data: ReportData) -> None:
    figure = require(drift(data))
    rings = sum(point.strong for point in figure.points)
    assert 0 < rings < len(figure.points)
    assert f"disturbed by other load ({rings})" in figure.desc
    column = [c.title for c in figure.table.columns].index("Flagged")
    assert sum(int(row.cells[column].text) for row in figure.table.rows) == rings


def test_the_caption_has_cold_cache_where_every_run_had_one(data: ReportData) -> None:
    item = data.plan.inputs[0]
    assert data.cold(item) == ""
    cold = tuple(
        replace(s, cache="cold") if s.state == "measured" else s for s in data.judgement.states
    )
    all_cold = with_judgement(data, states=cold)
    assert all_cold.cold(item) == ", cold cache"
    assert f"{item.label}, cold cache: median" in headline_table(all_cold, item, "x").caption
    here = {c.id for c in data.arms(item.id)}
    first = next(s for s in cold if s.cell_id in here and s.state == "measured")
    mixed = tuple(replace(s, cache="unknown") if s is first else s for s in cold)
    assert with_judgement(data, states=mixed).cold(item) == ""

"""Document 001, and the parts that 004 repeats: two engines, a parser and an allocator."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Cell, Plan, Role, Variant
from bench_framework.model.record.run import Build
from bench_framework.model.verdict import Verdict
from tests.unit.checklist.conftest import Scales, draw, headline, import_tables, judge_and_report
from tests.unit.judging.conftest import Study

STEPS = {
    "simd-json+system": 1.0,
    "sonic-rs+system": 1 - 0.084,
    "simd-json+jemalloc": 1 - 0.057,
    "sonic-rs+jemalloc": 199 / 399,
}
"""Times of each change alone, as in the document, and of both together: 399 to 199 ms."""


@dataclass
class Factorial(Scales):
    """Two changes, each alone and both together."""

    arms: tuple[str, ...] = tuple(STEPS)
    factors: Mapping[str, float] = field(default_factory=lambda: STEPS)

    @property
    def plan(self) -> Plan:
        plan = super().plan
        factorial = {
            v.id: Variant(
                v.label, tuple(zip(("parser", "allocator"), v.label.split("+"), strict=True)), None
            )
            for v in plan.variants
        }
        names = {"parser": ("simd-json", "sonic-rs"), "allocator": ("system", "jemalloc")}
        axes = tuple(
            Axis(n, "build", tuple(AxisValue(v, v) for v in values)) for n, values in names.items()
        )
        return replace(
            plan,
            design="one-at-a-time",
            axes=axes,
            variants=tuple(factorial[v.id] for v in plan.variants),
            baseline_id=factorial[plan.baseline_id].id,
            cells=tuple(replace(c, variant_id=factorial[c.variant_id].id) for c in plan.cells),
        )

    def arm_of(self, cell: Cell) -> str:
        return "control" if cell.role is Role.CONTROL else self.plan.variant(cell.variant_id).label


def test_sonic_rs_the_biggest_single_improvement_is_the_same_program() -> None:
    """The Rayon engine is the same binary with either parser. The axis has no effect on it,
    even if the times drift.
    """
    study = Study(arms=("simd-json", "sonic-rs"))
    specs = [BuildSpec("builtin", "search"), BuildSpec("builtin", "search", features=("sonic",))]
    variants = tuple(
        Variant(v.label, v.values, s) for v, s in zip(study.plan.variants, specs, strict=True)
    )
    cells = tuple(replace(cell, command=((BIN,), ("run",))) for cell in study.plan.cells)
    axes = (replace(study.plan.axes[0], kind="build"),)
    plan = replace(study.plan, axes=axes, variants=variants, cells=cells)
    builds = {s.id: Build(s.id, ok=True, sha256="5a") for s in specs}
    blocks = study.blocks(lambda a, i, r: draw(a, i, r) * (1 - 0.084 * (a == "sonic-rs")))
    report = judge_and_report(study, blocks, plan=plan, builds=builds)
    assert "sonic-rs and simd-json are the same program" in report.claims
    assert "has no effect on this program" in report.claims
    report.never_says(
        r"8\.4 % (less|faster)", r"less time", r"biggest single", r"largest contribution"
    )
    assert "BX311" in {event.code for event in report.judgement.events}


def test_sonic_rs_8_4_percent_is_drift_and_cancels_in_rounds() -> None:
    """The machine became 8.4 % faster half way, for both arms and in the same rounds."""
    study = Study(arms=("simd-json", "sonic-rs"))
    report = judge_and_report(
        study, study.blocks(lambda a, i, r: draw(a, i, r) * (1 - 0.084 * (r > 20)))
    )
    assert headline(report, "sonic-rs").verdict is Verdict.EQUIVALENT
    report.never_says(r"sonic-rs (takes \d|is \d)", r"improvement")
    assert "the baseline took" in report.page  # the drift itself is reported


def test_sonic_rs_8_4_percent_between_two_sessions_is_not_compared() -> None:
    """The same figures as two files: 399 ms in one session, 365.5 ms in another."""
    report = import_tables(
        "label,mean,sd,n,unit\nrayon,399,12,20,ms\n", "label,mean,sd,n,unit\nrayon,365.5,12,20,ms\n"
    )
    assert report.claims_of("sessions")[0].startswith(
        "Times of different sessions are not compared"
    )
    assert report.judgement.comparisons == ()
    report.never_says(r"less time", r"faster(?!,| size| *:)", r"improvement")


def test_two_times_from_two_small_steps_has_a_row_for_the_interaction() -> None:
    """8.4 % and 5.7 % multiply to 1.16×, not to 2.0×. The rest is reported as unexplained."""
    study = Factorial()
    report = judge_and_report(study, study.run())
    alone = next(t for t in report.claims_of("contributions") if "each change alone" in t)
    assert re.search(r"parser: simd-json → sonic-rs: 8\.\d+ % less time", alone)
    assert re.search(r"allocator: system → jemalloc: 5\.\d+ % less time", alone)
    assert re.search(r"product: 0\.91\d* × 0\.94\d* = 0\.86\d of the time", alone)
    assert re.search(r"interaction \(total ÷ product\): 42\.\d+ % less time", alone)
    row = next(line for line in report.page.splitlines() if "interaction / unexplained" in line)
    assert re.search(r"\| 7\d %", row), row


def test_no_step_is_the_largest_where_the_intervals_overlap() -> None:
    study = Factorial(factors={**STEPS, "sonic-rs+system": 0.94, "simd-json+jemalloc": 0.939})
    report = judge_and_report(study, study.run(spread=0.02))
    assert "each change alone" in report.claims
    report.never_says(r"largest contribution", r"biggest")


def test_2x_and_17_percent_in_one_list_have_one_scale() -> None:
    """399 → 199 and 288 → 240: every row of the table has a ratio, and none has a percentage."""
    study = Scales(
        arms=("rayon before", "rayon after", "tokio before", "tokio after"),
        factors={"rayon after": 199 / 399, "tokio before": 288 / 399, "tokio after": 240 / 399},
    )
    report = judge_and_report(study, study.run())
    rows = [
        line
        for line in report.section("All results").splitlines()
        if line.startswith(("| rayon", "| tokio", "| **"))
    ]
    compared = [re.sub(r"[*]", "", line.split("|")[3]).strip() for line in rows]
    assert sorted(compared)[:3] == sorted(c for c in compared if re.match(r"^0\.\d+$", c))
    assert "baseline" in compared
    assert not any("%" in cell or "×" in cell for cell in compared)
    report.never_says(r"\d% faster", r"\d % faster", r"\dx faster", r"2x improvement")


def test_for_io_bound_workloads_use_tokio_is_not_recommended_without_a_measurement() -> None:
    study = Study(arms=("tokio", "rayon"), sizes=(10, 200))
    report = judge_and_report(
        study, study.blocks(lambda a, i, r: draw(a, i, r) * (199 / 240 if a == "rayon" else 1))
    )
    assert report.claims_of("recommendation") == [
        "On both inputs, use rayon: significantly faster than tokio."
    ]
    report.never_says(r"use tokio", r"I/O.bound", r"CPU.bound")

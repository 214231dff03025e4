"""Document 002: output larger than the memory. Rates are in GB/s as in the document."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bench_framework import dgen
from bench_framework.errors import UsageError
from bench_framework.model.plan.declarations import DerivedRow, NamedCell
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.record.run import Answer, Receipt
from bench_framework.model.verdict import Verdict
from tests.build import require
from tests.unit.checklist.conftest import (
    JudgedReport,
    Scales,
    headline,
    import_tables,
    judge_and_report,
)
from tests.unit.judging.conftest import changed

GENERATE, WRITE, STREAMING = 2.13, 1.28, 0.80
FORMULAS = (
    DerivedRow("ideal_overlap", "min(rate(generate), rate(write))"),
    DerivedRow("no_overlap", "harmonic(rate(generate), rate(write))"),
    DerivedRow("overlap_gained", "rate(streaming) / no_overlap"),
    DerivedRow("share_of_ideal", "rate(streaming) / ideal_overlap"),
)
CAUSES = (r"root cause", r"because", r"due to", r"caused by", r"python.{0,20}overhead")


@dataclass
class Pipeline(Scales):
    """Streaming, with its two stages alone in the same rounds as bounds. Times follow from the rates."""

    arms: tuple[str, ...] = ("streaming", "generate", "write", "other")
    sizes: tuple[int, ...] = (2048,)
    factors: Mapping[str, float] = field(
        default_factory=lambda: {
            "streaming": 1 / STREAMING,
            "control": 1 / STREAMING,
            "generate": 1 / GENERATE,
            "write": 1 / WRITE,
            "other": 1 / STREAMING,
        }
    )
    unit_family: str = "iec"

    @property
    def plan(self) -> Plan:
        plan = super().plan
        ids = {v.label: v.id for v in plan.variants}
        bounds = {ids["generate"], ids["write"]}
        cells = (replace(c, role=Role.BOUND) if c.variant_id in bounds else c for c in plan.cells)
        return replace(
            plan,
            cells=tuple(cells),
            named=tuple(NamedCell(n, ids[n]) for n in ("streaming", "generate", "write")),
            derived=FORMULAS,
            unit_family=self.unit_family,  # type: ignore[arg-type]
        )


def figure(report: JudgedReport, name: str) -> float:
    """Return the figure in the sentence of a derived row."""
    text = next(t for t in report.claims_of("derived") if f"{name} is " in t)
    return float(require(re.search(rf"{name} is ([0-9.]+)", text))[1])


def test_python_loop_overhead_is_the_root_cause_is_reported_as_no_overlap() -> None:
    """1/(1/2.13 + 1/1.28) = 0.80: the stages ran one after the other, without any further loss."""
    study = Pipeline()
    report = judge_and_report(study, study.run(spread=0.002))
    assert figure(report, "overlap gained") == pytest.approx(1.0, abs=0.005)
    assert figure(report, "share of ideal") == pytest.approx(STREAMING / WRITE, abs=0.005)
    no_overlap = next(row for row in report.judgement.derived if row.name == "no_overlap")
    assert no_overlap.value == pytest.approx(0.80 * 2048 * 2**20, rel=0.01)
    assert no_overlap.lo is not None
    report.never_says(*CAUSES)


CLOCKS = {
    "single-buffer": {"generate": 0.94, "write": 1.587},
    "streaming": {"generate": 0.94, "write": 1.59},
}
"""Seconds of two stages for 2 GB: 1.26 GB/s of writing alone, 0.79 GB/s from begin to end."""


def test_streaming_60_percent_of_single_buffer_is_equivalent_on_one_clock() -> None:
    """One clock excluded generation, the other included it. From begin to end both take the same time."""
    study = Scales(
        arms=("single-buffer", "streaming"),
        sizes=(2048,),
        factors=dict.fromkeys(("single-buffer", "streaming", "control"), 2.53),
    )
    blocks = study.run()
    for arm, spent in CLOCKS.items():
        blocks = changed(blocks, study.cell(arm, 2048).id, receipts=(Receipt(phases_s=spent),))
    names = tuple(NamedCell(v.label.replace("-", "_"), v.id) for v in study.plan.variants)
    share = DerivedRow("share", "rate(streaming) / rate(single_buffer)")
    report = judge_and_report(
        study, blocks, plan=replace(study.plan, named=names, derived=(share,))
    )
    assert headline(report, "streaming").verdict is Verdict.EQUIVALENT
    assert figure(report, "share") == pytest.approx(1.0, abs=0.005)
    report.never_says(
        r"\b60 %",
        r"\b4\d(\.\d+)? % (less|more) time",
        r"1\.6\d?× slower",
        r"\b4\d(\.\d+)? % slower",
    )
    table = report.section("What bounds the work").partition("Time by phase")[2]
    assert "measured by the worker" in table
    head, *rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert "generate, s" in head
    assert "write, s" in head
    assert [row.split(" | ")[1:3] for row in rows] == [["1.59", "0.940"], ["1.59", "0.940"]]


BLOCK, WRITERS = 8 * 1024, 8


def wrongly_written(path: Path) -> bytes:
    """Write with eight writers that all start at offset 0."""
    generator = dgen.Generator(7)
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        for number in range(WRITERS):
            block = bytearray(BLOCK)
            generator.fill(block, offset=number * BLOCK)
            assert os.pwrite(fd, block, 0) == BLOCK
    finally:
        os.close(fd)
    return path.read_bytes()


def test_8_writers_of_64_mb_that_left_8_on_the_disk_are_wrong(tmp_path: Path) -> None:
    """Validation compares the content and the size of the file, not the reports of the writers."""
    path = tmp_path / "f"
    assert len(wrongly_written(path)) == BLOCK
    validation = dgen.read_and_validate(path, seed=7, size=WRITERS * BLOCK)
    assert (validation.size_expected, validation.size_actual) == (WRITERS * BLOCK, BLOCK)
    assert not validation.is_right


def test_8_writers_of_another_file_are_not_compared_by_their_rate() -> None:
    study = Scales(arms=("one writer", "8 writers"), sizes=(64,), factors={"8 writers": 1 / 8})
    wrong = study.cell("8 writers", 64).id
    report = judge_and_report(study, changed(study.run(), wrong, answer=Answer("8 MiB", 1)))
    assert headline(report, "8 writers").verdict is Verdict.OTHER_OUTPUT
    assert (
        "8 writers printed a different result than one writer; its time is not compared"
        in report.claims
    )
    report.never_says(
        r"as fast", r"faster than one writer", r"less time than one writer", r"use 8 writers"
    )


@pytest.mark.parametrize(
    ("family", "unit", "never"), [("iec", r"[MG]iB/s", r"[MG]B/s"), ("si", r"[MG]B/s", r"[MG]iB/s")]
)
def test_gb_and_gib_per_second_are_not_in_one_table(family: str, unit: str, never: str) -> None:
    study = Pipeline(unit_family=family)
    report = judge_and_report(study, study.run())
    assert re.search(unit, "\n".join(t for t in report.claims_of("derived") if "/s" in t))
    assert not re.search(never, report.everything)
    assert len(set(re.findall(r"[kMG]i?B/s", report.section("All results")))) == 1


def test_a_table_of_mixed_units_cannot_be_imported() -> None:
    with pytest.raises(UsageError, match="several units"):
        import_tables("label,mean,sd,n,unit\ngenerate,3.7,0.1,9,ms\nwrite,0.0065,0.0001,9,s\n")
    with pytest.raises(UsageError, match="'GB/s' is not a unit of time"):
        import_tables("label,mean,sd,n,unit\ngenerate,2.13,0.1,9,GB/s\nwrite,1.28,0.1,9,GiB/s\n")

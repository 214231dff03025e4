"""Tests of `benchctl compare`: pairs, levels of an axis, and two records."""

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench_framework.cli.app import app
from bench_framework.errors import RecordError, UsageError
from bench_framework.features import axis_levels
from bench_framework.features.judge import judge
from bench_framework.model.documents.comparison import comparison_document
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Answer, Build, Host, Look
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.report.blocks import Document
from bench_framework.report.render import terminal
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store import lines
from bench_framework.store.records import Record
from bench_framework.text.documents import document_text
from bench_framework.text.reasons import phrase
from bench_framework.workflow import comparison
from bench_framework.workflow.comparison import (
    ComparisonsDocument,
    compare_axis,
    compare_record,
    compare_records,
)
from tests.build import make_block
from tests.documents import valid
from tests.unit.machine import HOST

SCENARIO = """\
version: 1
name: demo
question: Which way is it?
worker: {command: [/usr/bin/prog]}
axes:
  engine: [tokio, rayon]
  parser: [simd, serde]
command: ["{bin}", "{engine}", "{parser}"]
baseline: [{engine: tokio, parser: simd}, {engine: rayon, parser: simd}]
measure: {rounds: 20, until: rounds}
"""
AT = "2026-03-02T17:0{}:00.000Z"
TIMES = {
    ("tokio", "simd"): 0.1,
    ("rayon", "simd"): 0.05,
    ("tokio", "serde"): 0.1,
    ("rayon", "serde"): 0.08,
}


def built(plan: Plan) -> Plan:
    """Return the plan with one binary per variant instead of one program, and one command for all."""
    variants = tuple(
        replace(v, build=BuildSpec("crate", "prog", features=(v.label,))) for v in plan.variants
    )
    cells = tuple(replace(c, command=((BIN,),)) for c in plan.cells)
    return replace(
        plan, variants=variants, cells=cells, builds=tuple(v.build for v in variants if v.build)
    )


def unfinished(folder: Path) -> Record:
    """Return a record that was interrupted in the first round of its warm-up."""
    plan, at = built(expand(load(folder / "s.yaml", text=SCENARIO))), AT.format(0)
    created = Record.create(folder / "results", plan, SCENARIO, started_at=at, benchctl="0.1.0")
    created.prepare(at=at, host=HOST, builds=(), inputs=())
    block = make_block(0, 1, 0, plan.cells[0].id, 0.1, warmup=True)
    created.append(lines.Measured(block))
    created.close()
    return created


def record(
    folder: Path,
    number: int,
    *,
    code: str = "",
    slower: float = 1.0,
    host: Host = HOST,
    text: str = SCENARIO,
    control: float = 1.0,
) -> Record:
    """Return a finished record; `code` marks rebuilt variants, which take `slower` times as long.

    The control arm takes `control` times as long as the baseline that it copies.
    """
    plan = built(expand(load(folder / "s.yaml", text=text)))
    at = AT.format(number)
    created = Record.create(folder / "results", plan, text, started_at=at, benchctl="0.1.0")
    builds = [
        Build(
            v.build.id,
            ok=True,
            sha256=f"{v.label}{code if 'serde' in v.label else ''}",
            size_bytes=1000,
        )
        for v in plan.variants
        if v.build
    ]
    created.prepare(at=at, host=host, builds=builds, inputs=())
    seq = 0
    for turn in range(1, 21):
        for cell in plan.cells:
            values = dict(plan.variant(cell.variant_id).values)
            time = TIMES[values["engine"], values["parser"]] * (
                slower if values["parser"] == "serde" else 1
            )
            time *= 1 + random.Random(f"{number}/{cell.id}/{turn}").expovariate(100)
            time *= control if cell.role is Role.CONTROL else 1.0
            figures = {"peak_rss_bytes": 1 << 20, "answer": Answer("d", 1), "started_at": at}
            block = make_block(seq, turn, 0, cell.id, time, **figures)
            created.append(lines.Measured(block))
            seq += 1
        created.append(lines.RoundEnd(plan.inputs[0].id, turn, False, at, 1.0))
    looks = looks_of(plan)
    created.append(lines.Looked(Look(plan.inputs[0].id, looks.count - 1, 20, stopped=True)))
    created.append(lines.End(at, 20.0))
    created.close()
    return created


def printed(document: Document) -> str:
    return terminal.render(document, width=120, color=False, unicode=True, full=True)


def test_the_page_of_the_record_has_each_reference(tmp_path: Path) -> None:
    record(tmp_path, 1)
    text = printed(compare_record(tmp_path / "results", "@last").document)
    assert "vs tokio + simd" in text
    assert "Gap to rayon + simd: 50." in text
    assert "exploratory" not in text


def test_a_record_without_measured_rounds_has_no_comparison(tmp_path: Path) -> None:
    early = unfinished(tmp_path)
    with pytest.raises(RecordError, match="no results yet"):
        compare_record(tmp_path / "results", "@last")
    assert compare_axis(tmp_path / "results", "@last", "engine").comparisons
    record(tmp_path, 1)
    compare_records(tmp_path / "results", str(early.path), "@last")


def test_another_baseline_is_exploratory_and_adjusted(tmp_path: Path) -> None:
    record(tmp_path, 1)
    table = compare_record(tmp_path / "results", "@last", baseline="engine=rayon parser=serde")
    assert {c.ref_cell_id for c in table.comparisons} == {
        c.id
        for c in built(expand(load(tmp_path / "s.yaml", text=SCENARIO))).cells
        if c.label == "rayon + serde" and c.role is not Role.CONTROL
    }
    assert "exploratory: chosen after measuring; 6 comparisons, Holm-adjusted" in " ".join(
        printed(table.document).split()
    )


def test_a_later_choice_uses_the_interim_analyses_of_the_record(tmp_path: Path) -> None:
    """The record could end at each of its interim analyses; a smaller family would have had others."""
    text = SCENARIO.replace("{rounds: 20, until: rounds}", "{rounds: {min: 9, max: 20}}")
    record(tmp_path, 1, text=text)
    plan = built(expand(load(tmp_path / "s.yaml", text=text)))
    assert looks_of(plan).rounds == (11, 12, 18, 20)
    fewer = comparison._other_plan(plan, None, "engine=rayon parser=simd", ("wall",))
    assert looks_of(fewer).rounds != looks_of(plan).rounds
    chosen = {"candidate": "engine=rayon parser=simd", "metrics": ("wall",)}
    table = compare_record(tmp_path / "results", "@last", **chosen)  # type: ignore[arg-type]
    (interval,) = [c.shown for c in table.comparisons]
    assert interval is not None
    assert interval.level == pytest.approx(1 - 0.05 / 4)


def test_a_failed_cell_is_failed_in_the_axis_and_in_the_report(tmp_path: Path) -> None:
    path = record(tmp_path, 1).path
    with Record.open(path) as opened:
        plan, contents = opened.plan, opened.contents
        cell = next(c for c in plan.cells if c.label == "rayon + simd")
        blocks = [
            replace(b, status="failed", message="exit 9") if b.cell_id == cell.id else b
            for b in contents.blocks
        ]
        builds = {b.id: b for b in contents.builds}
        pairs = axis_levels.axis_pairs(plan, "engine", frozenset(c.id for c in plan.cells))
        judged, _ = axis_levels.judge_requested(
            plan, blocks, builds, contents.looks, pairs, ("wall",)
        )
        report = judge(plan, blocks, builds, (), contents.looks)
    ours = next(c for c in judged if c.cell_id == cell.id)
    theirs = next(c for c in report.comparisons if c.cell_id == cell.id and c.metric == "wall")
    assert ours.verdict is theirs.verdict is Verdict.FAILED
    failed = Reason(
        ReasonCode.FAILED_IN_ROUNDS, (Reason(ReasonCode.RUN_FAILED, "exit 9"), 1, 20, 20)
    )
    assert ours.reason == theirs.reason == failed


def test_an_axis_refuses_metrics_that_are_not_measured_in_rounds(tmp_path: Path) -> None:
    record(tmp_path, 1, text=SCENARIO + "judge: [wall, instructions]\n")
    with pytest.raises(UsageError, match="instructions is a property of the program") as caught:
        compare_axis(tmp_path / "results", "@last", "engine", metrics=("instructions",))
    assert caught.value.code == "BX107"


@pytest.mark.parametrize("control", [1.0, 1.1])
def test_a_failed_control_makes_comparisons_with_other_baselines_inconclusive(
    tmp_path: Path, control: float
) -> None:
    record(tmp_path, 1, control=control)
    table = compare_record(tmp_path / "results", "@last", baseline="engine=rayon parser=serde")
    assert len(table.comparisons) == 6
    assert all(
        (phrase(c.reason) == "the A/A control differs significantly") is (control > 1)
        for c in table.comparisons
    )
    assert all(c.verdict.decided is (control == 1) for c in table.comparisons)


def test_levels_of_an_axis_are_compared_with_equal_other_axes(tmp_path: Path) -> None:
    record(tmp_path, 1)
    table = compare_axis(tmp_path / "results", "@last", "engine", metrics=("wall",))
    plan = built(expand(load(tmp_path / "s.yaml", text=SCENARIO)))
    pairs = {
        (plan.cell(c.cell_id).label, plan.cell(c.ref_cell_id).label): c.verdict
        for c in table.comparisons
    }
    assert pairs == {
        ("rayon + simd", "tokio + simd"): Verdict.BETTER,
        ("rayon + serde", "tokio + serde"): Verdict.BETTER,
    }
    text = " ".join(printed(table.document).split())
    assert "exploratory: chosen after measuring; 2 comparisons, Holm-adjusted" in text
    assert "rayon: faster in 2 of 2." in text


def test_where_narrows_an_axis(tmp_path: Path) -> None:
    record(tmp_path, 1)
    table = compare_axis(
        tmp_path / "results", "@last", "parser", where="engine=rayon", metrics=("wall",)
    )
    (only,) = table.comparisons
    assert only.verdict is Verdict.WORSE
    assert only.shown is not None
    assert only.shown.lo < 1.6 < only.shown.hi


@pytest.mark.parametrize(
    ("axis", "where", "message"),
    [
        ("color", None, "no axis color varies in this record"),
        (
            "engine",
            "engine=rayon",
            "no two configurations of this record differ only in engine where engine=rayon",
        ),
    ],
)
def test_an_axis_that_cannot_be_compared_is_refused(
    tmp_path: Path, axis: str, where: str | None, message: str
) -> None:
    record(tmp_path, 1)
    with pytest.raises(UsageError, match=message) as error:
        compare_axis(tmp_path / "results", "@last", axis, where=where)
    assert error.value.code == "BX106"


def test_two_records_are_compared_through_unchanged_builds(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2, code="-new", slower=1.2)
    result = compare_records(tmp_path / "results", "@prev", "@last", metrics=("wall",))
    assert result.bridge is not None
    assert {row.label: (row.role, row.comparison.verdict) for row in result.bridge.cells} == {
        "tokio + simd": ("anchor", Verdict.EQUIVALENT),
        "rayon + simd": ("anchor", Verdict.EQUIVALENT),
        "tokio + serde": ("changed", Verdict.WORSE),
        "rayon + serde": ("changed", Verdict.WORSE),
    }
    text = printed(result.document)
    assert "exploratory: two sessions, so never a gate" in text
    assert "≡ unchanged" in text
    assert "changed: code" in text


def test_records_of_different_machines_are_compared_by_binary_size(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2, host=replace(HOST, cpu="Xeon"))
    result = compare_records(tmp_path / "results", "@prev", "@last")
    assert result.bridge is not None
    assert {(row.comparison.metric, row.comparison.verdict) for row in result.bridge.cells} == {
        ("wall", Verdict.NOT_COMPARABLE),
        ("cpu", Verdict.NOT_COMPARABLE),
        ("binary_size", Verdict.EQUIVALENT),
    }
    assert "CPU: EPYC → Xeon" in printed(result.document)


def test_two_records_are_not_compared_by_a_metric_without_anchors(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)
    with pytest.raises(UsageError, match="cannot be compared by peak_rss") as error:
        compare_records(tmp_path / "results", "@prev", "@last", metrics=("peak_rss",))
    assert error.value.code == "BX107"


def command(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(app, ["--dir", str(folder / "results"), "compare", *words])


def test_the_command_takes_two_records(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2, code="-new")
    done = CliRunner().invoke(
        app, ["--json", "--dir", str(tmp_path / "results"), "compare", "@prev", "@last"]
    )
    assert done.exit_code == 0, done.output
    expected = {"anchor", "changed"}
    assert {cell["role"] for cell in valid("compare", done.stdout)["cells"]} == expected


def test_the_comparisons_of_a_record_are_printed(tmp_path: Path) -> None:
    record(tmp_path, 1)
    words = ["--json", "--dir", str(tmp_path / "results"), "compare", "@last", "--axis", "engine"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    document = valid("compare", done.stdout)
    assert (document["record_id"], document["scenario"]) == ("20260302T1701Z", "demo")
    names = {
        tuple(c[key] for key in ("variant", "reference", "input")) for c in document["comparisons"]
    }
    assert names == {(f"rayon + {parser}", f"tokio + {parser}", "") for parser in ("simd", "serde")}


def test_deterministic_metrics_are_compared_and_have_no_rounds_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of_size(plan: Plan, metrics: tuple[str, ...] = ("binary_size",)) -> Plan:
        plan = built_plan(plan)
        return replace(plan, judge=replace(plan.judge, metrics=metrics))

    built_plan = built
    monkeypatch.setattr("tests.unit.workflow.test_comparison.built", of_size)
    created = record(tmp_path, 1)
    page = compare_record(tmp_path / "results", "@last")
    (baseline,) = (c.id for c in created.plan.cells if c.role is Role.BASELINE)
    compared = [(c.metric, c.ref_cell_id, c.verdict) for c in page.comparisons]
    assert compared == [("binary_size", baseline, Verdict.EQUIVALENT)] * 3
    assert page.document.run_line.endswith(" · 20 rounds")


def test_bounds_of_an_unbounded_interval_are_null(tmp_path: Path) -> None:
    created = record(tmp_path, 1)
    candidate, reference, *_ = (cell.id for cell in created.plan.cells)
    unbounded = Comparison(
        *(candidate, reference, "wall", "headline", Verdict.INCONCLUSIVE),
        shown=Interval(1.0, 0.0, math.inf, 0.95),
        thresholds=Thresholds(0.02, 0.01),
    )
    compared = comparison_document(created.plan, unbounded)
    document = valid("compare", document_text(ComparisonsDocument("a", "demo", (compared,), ())))
    assert [document["comparisons"][0][name] for name in ("ratio", "lo", "hi")] == [1.0, None, None]


@pytest.mark.parametrize(
    "words",
    [
        ("@last", "@last"),
        ("@prev", "@last", "--axis", "engine"),
        ("@prev", "@last", "--baseline", "engine=rayon"),
        ("@last", "--axis", "engine", "--candidate", "engine=rayon"),
        ("@last", "--where", "engine=rayon"),
    ],
)
def test_contradicting_options_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)
    done = command(tmp_path, *words)
    assert isinstance(done.exception, UsageError)
    assert done.exception.code == "BX121"

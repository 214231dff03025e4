"""The tables: exact columns, exact numbers, and the same as DataFrames."""

import base64
import bz2
import csv
import io
import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import RecordError
from bench_framework.model.facts import Claim, Compared
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.reasons import message
from bench_framework.model.record.run import Event
from bench_framework.model.result.judgement import CellState, Judgement, NoiseFloor, Summary
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.store import columns, embedded, frames, layout, lines, tables
from bench_framework.store.records import Record
from bench_framework.store.source import Source
from tests.build import make_comparison
from tests.unit.store.conftest import block


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def judgement(measured: Record) -> Judgement:
    plan = measured.plan
    base, other, control = (cell.id for cell in plan.cells)
    interval = Interval(0.9, 0.8, 0.95, 0.99)
    intervals: dict[str, Any] = {"shown": interval, "unadjusted": interval, "p": 0.001}
    few = (message("few"),)
    return Judgement(
        looks=looks_of(plan),
        states=tuple(CellState(key, "measured", 1, 0) for key in (base, other, control)),
        summaries=(
            Summary(base, "wall", 1, 2, 0, 0.5, None, None, 0.5, None, 0.5, 0.5, None, few),
            Summary(base, "cpu", 1, 2, 0, 1.0, None, None, 1.0, None, 1.0, 1.0, None),
            Summary(base, "peak_rss", 1, 2, 0, 2**19, None, None, 2**19, None, 2**19, 2**20, None),
        ),
        comparisons=(
            make_comparison(other, base, "wall", "headline", Verdict.BETTER, **intervals),
            make_comparison(control, base, "wall", "control", Verdict.INCONCLUSIVE),
        ),
        best=(),
        floors=(NoiseFloor(plan.inputs[0].id, "wall", 0.013),),
        scaling=(),
        status="conclusive",
        events=(Event("BX311", "same binary"),),
        claims=(
            Claim(
                "jemalloc",
                "system",
                "wall",
                verdict=Verdict.BETTER,
                cells=(other, base),
                fact=Compared(),
                id="c1",
                text="S.",
            ),
        ),
    )


def test_one_row_per_run_with_the_columns_of_the_dictionary(measured: Record) -> None:
    measured.save()
    runs = read(measured.path / layout.RUNS)
    assert len(runs) == 3 * 1 + 3 * 2 + 2
    assert [row["kind"] for row in runs] == ["timed"] * 9 + ["observed", "instructions"]
    assert [row["seq"] for row in runs] == [str(number) for number in range(9 + 2)]
    assert [row["run"] for row in runs[:5]] == ["0", "0", "0", "1", "2"]
    header = (measured.path / layout.RUNS).read_text().splitlines()[0].split(",")
    declared = json.loads((measured.path / layout.COLUMNS).read_text())["resources"][0]["schema"][
        "fields"
    ]
    assert header == [field["name"] for field in declared]
    assert len(set(header)) == len(header)
    assert all(field["description"] for field in declared)


def test_a_row_contains_the_measurement_and_its_configuration(measured: Record) -> None:
    measured.save()
    row = next(
        r for r in read(measured.path / layout.RUNS) if r["cell_id"] == "b" * 12 and r["run"] == "2"
    )
    expected = {
        "record_id": "20260302T1704Z",
        "scenario": "demo",
        "round": "1",
        "warmup": "false",
        "variant": "jemalloc, “fat”",
        "input": "1MiB",
        "axis_allocator": "jemalloc",
        "axis_size": "1048576",
        "axis_size_label": "1MiB",
        "effective_allocator": "jemalloc",
        "effective_size": "",
        "features": "jemalloc",
        "profile": "release;lto=fat",
        "rustflags": "",
        "target_cpu": "",
        "env_set": "A=1;B=2",
        "binary_sha256": "2" * 64,
        "binary_bytes": "200",
        "build_s": "41.5",
        "input_bytes": "1048576",
        "input_family": "prose",
        "input_seed": "42",
        "cache_state": "cold",
        "wall_s": "0.30000000000000004",
        "user_s": "0.08",
        "block_runs": "2",
        "peak_rss_bytes": "4096",
        "exit_code": "0",
        "timed_out": "false",
        "status": "ok",
        "comparable": "true",
        "incomparable_reason": "",
        "output_sha256": "d",
        "output_ok": "true",
        "w_count_s": "0.25",
        "w_wait_s": "0.5",
        "w_calls": "3.0",
        "steal_pct": "5.0",
        "harness": "hyperfine 1.20.0",
        "role": "candidate",
        "threads": "2",
        "minor_faults": "",
        "resident_before_share": "0.0",
        "resident_after_share": "0.75",
        "device_read_bytes": "1048576",
        "swap_in_pages": "1",
        "swap_out_pages": "2",
        "throttle_events": "0",
        "psi_memory_us": "300000",
        "cpu_capacity_us": "200000",
        "other_cpu_us": "3000",
        "contended": "memory",
    }
    assert {key: row[key] for key in expected} == expected
    base = next(r for r in read(measured.path / layout.RUNS) if r["cell_id"] == "a" * 12)
    assert (base["target_cpu"], base["git_rev"], base["git_dirty"]) == ("native", "9" * 40, "true")
    assert base["incomparable_reason"] == "warm-up"


def test_a_damaged_number_of_cores_leaves_the_share_of_steal_empty(measured: Record) -> None:
    assert measured.contents.host is not None
    measured.contents.host = replace(measured.contents.host, cores=0)
    measured.save()
    assert {row["steal_pct"] for row in read(measured.path / layout.RUNS)} == {""}


def test_a_block_that_was_killed_has_one_row(record: Record) -> None:
    nothing: dict[str, Any] = {"wall_s": (), "exit_codes": (), "receipts": (), "answer": None}
    killed = block(0, "a" * 12, status="timeout", **nothing)
    record.append(lines.Measured(killed))
    record.save()
    [row] = read(record.path / layout.RUNS)
    expected = ("timeout", "true", "", "")
    assert (row["status"], row["timed_out"], row["wall_s"], row["exit_code"]) == expected
    comparable = [row[name] for name in ("comparable", "incomparable_reason", "output_ok")]
    assert comparable == ["false", "timeout", ""]


def test_builds_and_events_have_tables(measured: Record) -> None:
    measured.append(
        lines.Noted(Event("BX201", 'a "quoted", line\nand another', details=(("k", "v"),)))
    )
    measured.save()
    build = read(measured.path / "builds.csv")[1]
    expected = ("tally 0.1.0", "jemalloc 5.3", "jemalloc, “fat”")
    assert (build["worker"], build["allocator"], build["variants"]) == expected
    [event] = read(measured.path / "events.csv")
    assert event["message"] == 'a "quoted", line\nand another'
    assert json.loads(event["details"]) == [["k", "v"]]


def test_the_judgement_fills_cells_and_comparisons(measured: Record, judgement: Judgement) -> None:
    measured.save(judgement)
    base = read(measured.path / layout.CELLS)[0]
    assert base["wall_median_s"] == "0.5"
    assert base["cores_used"] == "2.0"
    assert base["throughput_mib_s"] == "2.0"
    # The page prints medians. The largest values have columns of their own.
    assert base["peak_rss_median_bytes"] == "524288"
    assert base["peak_rss_max_bytes"] == "1048576"
    assert base["rss_pct_of_input_pct"] == "50.0"
    expected = ("1", "2", "few", "true")
    assert (base["rounds"], base["runs"], base["flags"], base["output_ok"]) == expected
    first, second = read(measured.path / "comparisons.csv")
    assert (first["claim_id"], first["text"], first["verdict"]) == ("c1", "S.", "better")
    assert (first["ratio"], first["level"], first["unadjusted_lo"]) == ("0.9", "0.99", "0.8")
    assert first["noise_floor"] == "0.013"
    assert (second["kind"], second["variant"], second["claim_id"]) == ("control", "control", "")
    assert [row["code"] for row in read(measured.path / "events.csv")] == ["BX311"]


def test_the_judgement_itself_survives(measured: Record, judgement: Judgement) -> None:
    assert measured.judgement() is None
    measured.save(judgement)
    assert measured.judgement() == judgement


def test_numbers_flags_and_gaps_are_written_the_same_everywhere() -> None:
    names = tuple(columns.CsvColumn(name, "number", "d", (name,)) for name in "abcde")
    text = columns.to_csv(names, [{"a": 0.1 + 0.2, "b": True, "c": None, "d": 1e-9, "e": 2**60}])
    assert text == "a,b,c,d,e\n0.30000000000000004,true,,1e-09,1152921504606846976\n"


@pytest.mark.parametrize(("at_once", "fields"), [(1, 1), (2, 1 << 20), (1024, 40)])
def test_the_runs_of_a_page_are_the_table_by_column_and_cell(
    measured: Record, monkeypatch: pytest.MonkeyPatch, at_once: int, fields: int
) -> None:
    monkeypatch.setattr(embedded, "ROWS_AT_ONCE", at_once)
    monkeypatch.setattr(embedded, "MOST_FIELDS", fields)
    source = Source(measured.plan, measured.contents)
    header, *rows = csv.reader(io.StringIO(tables.table_texts(source)["runs"], newline=""))
    cell = header.index("cell_id")
    expected = io.StringIO(newline="")
    by_column = zip(header, *sorted(rows, key=lambda row: row[cell]), strict=True)
    csv.writer(expected, lineterminator="\n").writerows(by_column)
    link = embedded.runs_link(source)
    assert link is not None
    packed = base64.b64decode(link.removeprefix(embedded.DOWNLOAD))
    assert packed == bz2.compress(expected.getvalue().encode())
    assert embedded.runs_link(source, most=len(packed)) == link
    assert embedded.runs_link(source, most=0) is None


def test_a_line_end_in_a_field_survives_in_a_page(
    measured: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block, *others) = measured.contents.blocks
    blocks = [replace(block, message="two\nlines"), *others]
    monkeypatch.setattr(measured.contents, "blocks", blocks)
    source = Source(measured.plan, measured.contents)
    link = embedded.runs_link(source)
    assert link is not None
    packed = base64.b64decode(link.removeprefix(embedded.DOWNLOAD))
    assert embedded._by_row(bz2.decompress(packed).decode()) == tables.table_texts(source)["runs"]


def test_frames_have_types_units_and_ordered_axes(measured: Record, judgement: Judgement) -> None:
    measured.save(judgement)
    loaded: Any = frames.Frames.load(measured.path)
    runs = loaded.runs
    assert list(runs["axis_allocator"].cat.categories) == ["system", "jemalloc"]
    assert runs["axis_allocator"].cat.ordered
    assert str(runs["axis_size"].dtype) == "Int64"
    assert str(runs["wall_s"].dtype) == "float64"
    assert runs["wall_s"].tolist().count(0.30000000000000004) == 3
    assert str(runs["warmup"].dtype) == "boolean"
    assert str(runs["started_at"].dt.tz) == "UTC"
    assert runs["features"].isna().sum() == 0
    assert runs.attrs["units"]["wall_s"] == "s"
    assert loaded.units["runs"]["binary_bytes"] == "bytes"
    assert list(loaded.claims["text"]) == ["S."]
    assert loaded.env["kernel"] == "6.1"
    assert len(loaded.comparisons) == 2
    assert loaded.cells["wall_median_s"].iloc[0] == 0.5


def test_numbers_are_read_as_they_were_written(tmp_path: Path) -> None:
    chance = random.Random(5)
    numbers = [chance.uniform(-1, 1) * 10.0 ** chance.randint(-300, 300) for _ in range(5000)]
    numbers += [0.1 + 0.2, 5e-324, 1.7976931348623157e308, math.pi, 2.0**60]
    (tmp_path / "t.csv").write_text("x\n" + "".join(f"{number!r}\n" for number in numbers))
    read = frames.read_typed(tmp_path / "t.csv", [{"name": "x", "type": "number"}])["x"].tolist()
    assert read == numbers


def test_a_frame_needs_only_the_header_of_the_journal(
    measured: Record, judgement: Judgement
) -> None:
    measured.save(judgement)
    whole = (measured.path / "journal.jsonl").read_bytes()
    (measured.path / "journal.jsonl").write_bytes(whole.split(b"\n")[0] + b"\n{damaged\n")
    loaded = frames.Frames.load(measured.path)
    assert len(loaded.runs) == 9 + 2
    assert list(loaded.claims["text"]) == ["S."]
    with pytest.raises(RecordError, match="is damaged"):
        _ = loaded.record
    (measured.path / "journal.jsonl").write_bytes(b"{}\n")
    with pytest.raises(RecordError, match="does not begin with a header"):
        frames.Frames.load(measured.path)


def test_an_unfinished_record_has_runs_and_no_verdicts(measured: Record) -> None:
    measured.save()
    loaded = frames.Frames.load(measured.path)
    assert len(loaded.runs) == 9 + 2
    assert len(loaded.claims) == 0
    with pytest.raises(RecordError, match="not judged yet"):
        _ = loaded.comparisons

"""Tests of `benchctl export`: each format is checked against its published definition."""

import csv
import io
import json
import re
import statistics
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from bench_framework.cli.app import app
from bench_framework.errors import UsageError
from bench_framework.extensions.importers.workflow import import_files
from bench_framework.features import export as formats
from bench_framework.features.export import ExportTable
from bench_framework.features.export_formats import export_formats
from bench_framework.store import finding
from bench_framework.store.columns import listed
from bench_framework.store.harnesses import read_export
from bench_framework.store.records import Record
from bench_framework.workflow.records.export import export_record
from tests.documents import valid
from tests.unit.workflow import measured_record

BMF = {  # as published by Bencher
    "type": "object",
    "patternProperties": {
        ".+": {
            "type": "object",
            "patternProperties": {
                ".+": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "number"},
                        "lower_value": {"type": "number"},
                        "upper_value": {"type": "number"},
                    },
                    "required": ["value"],
                    "additionalProperties": False,
                }
            },
        }
    },
}
NAMES = ["demo: plain, 1MiB", "demo: fast, 1MiB", "demo: slow, 1MiB"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    measured_record.measured(folder)
    return folder


def text(results: Path, format: str, *metrics: str) -> str:  # noqa: A002
    content = export_record(results, "@last", format, metrics)
    assert isinstance(content, str)
    return content


def rows(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text(results, "jsonl").splitlines()]


def test_the_table_has_one_row_per_configuration_and_metric(results: Path) -> None:
    table = rows(results)
    keys = [(row["cell_id"], row["metric"]) for row in table]
    assert len(set(keys)) == len(keys)
    assert {row["metric"] for row in table} >= {"wall", "cpu", "peak_rss", "binary_size", "records"}
    (fast,) = (r for r in table if (r["variant"], r["metric"]) == ("fast", "wall"))
    assert fast["lo"] < fast["median"] < fast["hi"]
    assert fast["median"] == pytest.approx(0.045, rel=0.02)
    assert (fast["ref_variant"], fast["verdict"], fast["unit"]) == ("plain", "better", "s")
    assert fast["ratio_lo"] < fast["ratio"] < fast["ratio_hi"] < 1
    assert (fast["axis_size"], fast["rounds"], fast["role"]) == (1 << 20, 12, "candidate")
    (size,) = (r for r in table if (r["variant"], r["metric"]) == ("plain", "binary_size"))
    assert (size["median"], size["lo"], size["rounds"], size["ratio"]) == (100, None, 0, None)
    (announced,) = (r for r in table if (r["variant"], r["metric"]) == ("plain", "records"))
    assert announced["unit"] == "count"
    described = [column.name for column in listed("export")]
    assert list(fast)[-len(described) :] == described


def test_csv_has_the_same_table(results: Path) -> None:
    read = list(csv.DictReader(io.StringIO(text(results, "csv-long"))))
    for row, other in zip(read, rows(results), strict=True):
        assert row.keys() == other.keys()
        for name, value in other.items():
            assert row[name] == ("" if value is None else str(value))


def test_parquet_has_the_same_table_with_types(results: Path) -> None:
    content = export_record(results, "@last", "parquet")
    assert isinstance(content, bytes)
    table = parquet.read_table(io.BytesIO(content))
    assert table.to_pylist() == rows(results)
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["median"], types["rounds"], types["variant"]) == ("double", "int64", "string")
    assert b"95 % confidence" in table.schema.field("lo").metadata[b"description"]


def test_without_pyarrow_the_error_names_the_command(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="need the package pyarrow") as caught:
        export_record(results, "@last", "parquet")
    assert "pip install pyarrow" in str(caught.value.fix)


def test_bmf_is_valid_and_in_the_units_of_bencher(results: Path) -> None:
    document = json.loads(text(results, "bmf"))
    jsonschema.validate(document, BMF)
    assert list(document) == NAMES
    by_metric = {r["metric"]: r for r in rows(results) if r["variant"] == "plain"}
    latency = document[NAMES[0]]["latency"]
    assert latency["value"] == pytest.approx(by_metric["wall"]["median"] * 1e9)
    assert latency["lower_value"] < latency["value"] < latency["upper_value"]
    assert document[NAMES[0]]["binary_size"] == {"value": 100}


def test_github_action_benchmark_has_its_fields(results: Path) -> None:
    entries = json.loads(text(results, "github-action-benchmark", "wall"))
    assert [entry["name"] for entry in entries] == [f"{name}: wall" for name in NAMES]
    for entry in entries:
        assert entry.keys() == {"name", "unit", "value", "range", "extra"}
        assert isinstance(entry["value"], float)
        assert re.fullmatch(r"± 0\.\d+", entry["range"])
    # A larger value of this metric may be better.
    assert json.loads(text(results, "github-action-benchmark", "records")) == []


LABELS = (
    r'\{scenario="demo",variant="(?:[^"\\\n]|\\.)+",input="1MiB",statistic="(median|lower|upper)"\}'
)
SAMPLE = re.compile(r"([a-z][a-z0-9_]*)" + LABELS + r" ([-+]?\d+(\.\d+)?(e[-+]?\d+)?)")


def test_openmetrics_follows_its_grammar(results: Path) -> None:
    *lines, end = text(results, "openmetrics").splitlines()
    assert end == "# EOF"
    family, families = "", list[str]()
    for line in lines:
        if line.startswith("# TYPE "):
            family = line.split()[2]
            families.append(family)
            assert line == f"# TYPE {family} gauge"
        elif line.startswith("# UNIT "):
            assert line.split()[2] == family
            assert family.endswith(f"_{line.split()[3]}")
        elif line.startswith("# HELP "):
            assert line.split()[2] == family
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample is not None, line
            assert sample[1] == family
    assert len(set(families)) == len(families)
    assert {"benchctl_wall_seconds", "benchctl_peak_rss_bytes"} <= {*families}


def test_openmetrics_has_valid_names_of_announced_metrics(results: Path) -> None:
    (row, *_) = rows(results)
    (first, *_) = formats.openmetrics(
        ExportTable((), [row | {"metric": "it/s (mean)", "unit": ""}])
    ).splitlines()
    assert first == "# TYPE benchctl_it_s__mean_ gauge"


def test_hyperfine_has_the_fields_and_runs_of_each_command(results: Path) -> None:
    document = json.loads(text(results, "hyperfine"))
    version, read = read_export(document)
    assert version == 1
    assert [one.command for one in read] == ["plain", "fast", "slow"]
    with Record.open(finding.resolve(results, "@last")) as record:
        plan, measured = record.plan, record.contents.blocks
    for result, timed in zip(document["results"], read, strict=True):
        ids = {variant.id for variant in plan.variants if variant.label == result["command"]}
        cells = {c.id for c in plan.cells if c.variant_id in ids and c.label != "control"}
        blocks = [block for block in measured if block.cell_id in cells and not block.warmup]
        times = [wall for block in blocks for wall in block.wall_s]
        assert timed.times == tuple(times)
        assert len(timed.memory) == len(times)
        assert result["mean"] == pytest.approx(sum(times) / len(times))
        assert (result["min"], result["max"]) == (min(times), max(times))
        assert result["median"] == statistics.median(times)
        assert result["stddev"] == statistics.stdev(times)
        assert result["exit_codes"] == [0] * len(times)
        assert result["user"] == pytest.approx(statistics.fmean(b.user_s or 0 for b in blocks))
        assert result["system"] == pytest.approx(statistics.fmean(b.sys_s or 0 for b in blocks))
        assert result["parameters"]["size"] == "1MiB"


def test_benchstat_has_a_line_per_run_in_the_format_of_go(results: Path) -> None:
    """The grammar is that of the Go proposal 14313."""
    lines = text(results, "benchstat").splitlines()
    document = json.loads(text(results, "hyperfine"))
    units = [line.split() for line in lines if line.startswith("Unit ")]
    assert [unit[1:] for unit in units] == [
        [name, "better=lower"] for name in ("sec/op", "cpu-sec/op", "peak-bytes")
    ]
    runs = [line.split() for line in lines if line.startswith("Benchmark")]
    assert len(units) + len(runs) == len(lines)
    for result in document["results"]:
        of_variant = [run for run in runs if run[0] == f"BenchmarkDemo/variant={result['command']}"]
        assert [run[1] for run in of_variant] == ["1"] * len(result["times"])
        assert [float(run[run.index("sec/op") - 1]) for run in of_variant] == result["times"]
        memory = [int(run[run.index("peak-bytes") - 1]) for run in of_variant]
        assert memory == result["memory_usage_byte"]


def test_a_number_at_the_end_of_a_name_is_not_that_of_processors(results: Path) -> None:
    with Record.open(finding.resolve(results, "@last")) as record:
        plan = record.plan
    source = SimpleNamespace(plan=replace(plan, name="two words", inputs=plan.inputs[:1]))
    name = formats._go_name(SimpleNamespace(label="a/b c-4", source=source))
    assert name == "BenchmarkTwo_words/variant=a_b_c_4"


def test_latex_is_a_table_without_special_characters(results: Path) -> None:
    lines = text(results, "latex", "wall", "peak_rss").splitlines()
    assert lines[0] == r"\begin{tabular}{lllrrrrl}"
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(body) == 8
    assert body[2].startswith(r"fast & 1MiB & time & 4")
    assert body[2].endswith(r"faster \\")
    assert all(line.count(" & ") == 7 for line in body)
    row = dict.fromkeys(("lo", "hi", "ratio", "ratio_lo", "ratio_hi", "verdict"))
    odd = row | {"variant": r"[a]_b & 50% \x {~^#$}", "input": "µ", "metric": "x", "median": 2.0}
    line = formats.latex(ExportTable((), [odd | {"unit": ""}])).splitlines()[4]
    assert line.startswith(
        r"{[}a]\_b \& 50\% \textbackslash{}x \{\textasciitilde{}\textasciicircum{}\#\$\} & \textmu{} & x"
    )


def test_latex_has_one_line_per_row(results: Path) -> None:
    (row, *_) = rows(results)
    odd = {"variant": "*a\nb\x1b", "input": "x\ty", "unit": ""}
    line = formats.latex(ExportTable((), [row | odd])).splitlines()[4]
    assert line.startswith(r"{*}a b  & x y & ")


def test_a_property_of_the_binary_is_no_median_of_rounds(results: Path) -> None:
    for metric, count in (
        ("binary_size", "property of the binary"),
        ("wall", "median of 12 rounds"),
    ):
        entries = json.loads(text(results, "github-action-benchmark", metric))
        assert {entry["extra"] for entry in entries} == {f"{count}, record 20260302T1704Z"}


@pytest.mark.parametrize(
    ("record", "form", "metrics", "code"),
    [
        ("@last", "xml", (), "BX131"),
        ("@last", "bmf", ("nothing",), "BX107"),
        ("other", "bmf", (), "BX101"),
    ],
)
def test_what_is_not_there_is_an_error(
    record: str, form: str, metrics: tuple[str, ...], code: str, results: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        export_record(results, record, form, metrics)
    assert caught.value.code == code


def test_the_command_prints_text_and_writes_files(results: Path, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(app, [*words[:0], "--dir", str(results), "export", *words])

    assert run("@last").stdout == text(results, "csv-long")
    for name in export_formats():
        out = tmp_path / name
        done = CliRunner().invoke(
            app, ["--json", "--dir", str(results), "export", "-f", name, "-o", str(out)]
        )
        assert valid("export", done.stdout)["format"] == name
        assert out.stat().st_size > 100
    done = run("@last", "--format", "parquet")
    assert isinstance(done.exception, UsageError)
    assert "is not text" in str(done.exception)
    assert isinstance(run("@last", "--format", "xml").exception, UsageError)


def test_a_list_of_metrics_can_have_spaces(results: Path) -> None:
    arguments = ["--dir", str(results), "export", "-f", "jsonl", "--metric", "wall, cpu"]
    lines = CliRunner().invoke(app, arguments).stdout.splitlines()
    assert {json.loads(line)["metric"] for line in lines} == {"wall", "cpu"}


def test_help_lists_the_formats() -> None:
    page = " ".join(CliRunner().invoke(app, ["export", "--help"]).stdout.split())
    assert all(name in page for name in export_formats())
    reference = (Path(__file__).parents[3] / "docs/reference/export.md").read_text(encoding="utf-8")
    assert [name for name in export_formats() if f"\n| `{name}`" not in reference] == []
    intro = reference.partition("\n| format")[0]
    assert [name for name in export_formats() if f"`{name}`" not in intro] == []


def test_an_imported_set_has_no_machine(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("label,mean,sd,n,unit\nsmol,177.1,7.5,100,ms\ntokio,191.2,13.7,100,ms\n")
    import_files(tmp_path / "results", [path])
    smol, tokio = (json.loads(line) for line in text(tmp_path / "results", "jsonl").splitlines())
    assert (smol["machine"], smol["median"], smol["lo"]) == (None, 0.1771, None)
    assert (tokio["ref_variant"], tokio["verdict"]) == ("smol", "worse")

"""Tests of the notebook API: tables of several records, verdicts in colour, and what a notebook shows."""

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import bench_framework as bf
from bench_framework.errors import RecordError, UsageError
from bench_framework.extensions.importers.workflow import import_files
from bench_framework.report.charts import BADGES, DARK, LIGHT
from bench_framework.store import layout
from tests.unit.workflow.measured_record import copy_record

SECOND = "20260303T1704Z"


@pytest.fixture
def two(full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of two records of a scenario. The second one has another order of its axis."""
    folder = tmp_path / "results" / "demo"
    shutil.copytree(full, folder / full.name)
    copy_record(full, folder / SECOND)
    plan = folder / SECOND / layout.PLAN
    content = json.loads(plan.read_text())
    content["axes"][0]["values"].insert(
        0, {**content["axes"][0]["values"][0], "name": "new", "label": "new"}
    )
    plan.write_text(json.dumps(content))
    monkeypatch.setenv("BENCHCTL_RESULTS", str(folder.parent))
    return folder


def test_tables_of_several_records_have_a_column_with_their_names(two: Path, full: Path) -> None:
    cells = bf.concat(["@prev", "@last"], "cells")
    one = len(bf.load(full).cells)
    assert list(cells["record"]) == [f"demo/{full.name}"] * one + [f"demo/{SECOND}"] * one
    assert cells.columns[0] == "record"
    assert list(cells["axis_way"].cat.categories) == ["plain", "fast", "slow", "new"]
    assert cells["axis_way"].isna().sum() == 0
    assert str(cells["axis_size"].dtype) == "Int64"
    assert cells.attrs["units"]["wall_median_s"] == "s"
    pair = bf.concat({"before": "@prev", "after": bf.load("@last")})
    assert pair.groupby("record", sort=False).size().to_dict() == {
        name: len(bf.load(full).comparisons) for name in ("before", "after")
    }
    assert "record" not in bf.load("@last").comparisons


@pytest.mark.parametrize(
    ("records", "table", "message"),
    [
        ([], "cells", "no records are given"),
        (["@last", "demo"], "cells", "a record is given twice"),
        (["@last"], "cell", "has no table 'cell'"),
    ],
)
def test_what_cannot_be_combined_is_refused(
    two: Path, records: list[str], table: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        bf.concat(records, table)
    assert caught.value.code == "BX114"


def test_the_table_shows_the_verdicts_of_the_main_metric_in_colour(full: Path) -> None:
    record = bf.load(full)
    table = bf.table(record)
    main = record.comparisons.query("kind == 'headline' and metric == 'wall'")
    assert list(table.data["variant"]) == list(main["variant"]) == ["fast", "slow"]
    assert list(table.data["verdict"]) == ["▼ faster", "▲ slower"]
    assert re.fullmatch(r"0\.\d+ \[0\.\d+, 0\.\d+\]", table.data["ratio [CI]"].iloc[0])
    page = table.to_html()
    assert page == bf.table(main.sort_values("ratio")).to_html()
    for verdict in main["verdict"]:
        assert f"background-color: {LIGHT[BADGES[verdict]]};\n  color: #ffffff;" in page
    everything = bf.table(bf.concat([record]))
    assert list(everything.data.columns)[:3] == ["record", "variant", "baseline"]
    assert len(everything.data) == len(record.comparisons)


def test_names_in_the_table_are_escaped(full: Path) -> None:
    rows = bf.load(full).comparisons.assign(variant="<script>alert(1)</script>")
    assert "<script" not in bf.table(rows).to_html()


@pytest.mark.parametrize("rows", [None, 3, []])
def test_a_table_of_something_else_is_refused(rows: object) -> None:
    with pytest.raises(UsageError, match="no rows of comparisons") as caught:
        bf.table(rows)
    assert caught.value.code == "BX114"


def test_one_record_can_be_given_without_a_list(two: Path) -> None:
    assert bf.concat("@last", "cells").equals(bf.concat(["@last"], "cells"))
    with pytest.raises(UsageError, match=r"no rows of comparisons: .*verdict missing"):
        bf.table(bf.concat("@last", "cells"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nvme", "runtimes", "smol", "tokio", "word-tally"])
def test_a_published_example_has_a_summary_and_figures(name: str) -> None:
    """nvme has a tuning step, whose output is needed and is in the page."""
    record = bf.load(Path(__file__).parents[3] / "results" / "examples" / name / "report.html")
    assert record._repr_html_()
    assert bf.figures(record)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("token", sorted(set(BADGES.values())))
def test_verdicts_are_readable_on_light_and_dark_pages(token: str) -> None:
    assert contrast(LIGHT[token], LIGHT["ground"]) >= 4.5
    assert contrast(LIGHT[token], DARK["ground"]) >= 2.5  # the field on a dark page


def test_a_notebook_shows_summary_and_first_figure_of_a_record(full: Path) -> None:
    record = bf.load(full)
    page = record._repr_html_()
    assert page is not None
    texts = [*record.claims.query("kind == 'main'")["text"]]
    assert texts
    assert all(text.split(":")[0] in page for text in texts)
    assert page.count("<svg") == 1
    assert f'id="answer-figure-{record.record_id}-title"' in page
    assert set(re.findall(r"var\(--([\w-]+)\)", page)) <= {*LIGHT}
    assert "#fe" not in page  # a colour that only stands for a token
    assert "<script" not in page


def test_a_record_without_results_has_only_its_line(full: Path, tmp_path: Path) -> None:
    shutil.copytree(full, tmp_path / "open")
    (tmp_path / "open" / layout.CLAIMS).unlink()
    record = bf.load(tmp_path / "open")
    assert record._repr_html_() is None
    assert "not judged" in repr(record)
    with pytest.raises(RecordError, match="no results yet"):
        bf.plot(record=record)


def test_an_imported_record_has_a_summary(tmp_path: Path) -> None:
    source = tmp_path / "x.csv"
    source.write_text(
        "label,mean,sd,n,unit\na,177.1,7.5,100,ms\n<i>b,191.2,13.7,100,ms\n", encoding="utf-8"
    )
    imported = import_files(tmp_path / "results", [source]).record
    page = bf.load(imported)._repr_html_() or ""
    assert "&lt;i&gt;b" in page
    assert "<i>b" not in page
    assert list(bf.table(str(imported)).data["variant"]) == ["<i>b"]


def test_axes_of_a_figure_are_shown_as_svg_with_all_changes(full: Path) -> None:
    record = bf.load(full)
    for name, title in bf.figures(record).items():
        axes = bf.plot(name, record)
        axes.set_title("changed & seen")
        root = ET.fromstring(axes._repr_svg_())
        text = "".join(root.itertext())
        assert title in text
        assert "changed & seen" in text
        assert {LIGHT["ground"]} <= {e.get("fill") for e in root.iter()}
    assert bf.plot(record=record).source.title == next(iter(bf.figures(record).values()))

"""Tests of the figures of a report in a notebook."""

import shutil
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Canvas

import bench_framework as bf
from bench_framework.errors import RecordError, UsageError
from bench_framework.extensions.importers.workflow import import_files
from bench_framework.report import figures
from bench_framework.store import layout


def test_every_figure_of_the_page_can_be_drawn_by_its_name(full: Path, page: str) -> None:
    names = bf.figures(full)
    assert names
    pages = page + (full / "appendix.html").read_text(encoding="utf-8")
    assert [f'id="{name}"' in pages for name in names] == [True] * len(names)
    frames = bf.load(full)
    for name in names:
        axes = Canvas().add_subplot()
        assert bf.plot(name, frames, axes) is axes
        assert axes.get_children()


def test_without_axes_a_figure_has_its_own_size_and_can_be_saved(
    full: Path, tmp_path: Path
) -> None:
    axes = bf.plot(next(iter(bf.figures(full))), full)
    width, _ = axes.get_figure().get_size_inches()
    assert width * figures.UNITS_PER_INCH == 720
    axes.get_figure().savefig(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_name_lists_the_known_ones(full: Path) -> None:
    with pytest.raises(UsageError, match="no figure 'florest'") as caught:
        bf.plot("florest", full)
    assert caught.value.code == "BX114"
    assert all(name in (caught.value.fix or "") for name in bf.figures(full))


def test_names_are_looked_up_in_the_folder_of_the_command_line(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(full, tmp_path / "elsewhere" / "x" / "20260302T1707Z")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="there are 0 records under results") as caught:
        bf.load("@last")
    assert "BENCHCTL_RESULTS" in (caught.value.fix or "")
    monkeypatch.setenv("BENCHCTL_RESULTS", "elsewhere")
    assert bf.figures("@last") == bf.figures(full)


def test_an_imported_record_has_figures(tmp_path: Path) -> None:
    source = tmp_path / "x.csv"
    source.write_text(
        "label,mean,sd,n,unit\na,177.1,7.5,100,ms\nb,191.2,13.7,100,ms\n", encoding="utf-8"
    )
    imported = import_files(tmp_path / "results", [source]).record
    assert list(bf.figures(imported)) == ["answer-figure"]


def test_a_record_without_judgement_has_no_figures(full: Path, tmp_path: Path) -> None:
    open_record = tmp_path / "open"
    shutil.copytree(full, open_record)
    (open_record / layout.CLAIMS).unlink()
    with pytest.raises(RecordError, match="has no results yet"):
        bf.figures(open_record)

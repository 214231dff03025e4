"""Files that commands have as arguments, and whether a run changed them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.inputs import folders
from bench_framework.execution.inputs.folders import ArgumentFiles
from bench_framework.model.plan.arguments import INPUT
from bench_framework.model.plan.plan import Cell, Role, Variant
from tests.build import make_plan

COMMAND = (("sort",), ("-o",), ("data",), ("data",))
CELL = Cell("c", "v", "i", "label", Role.CANDIDATE, COMMAND)
VARIANT = Variant("label", (), None)


@pytest.fixture
def changed(tmp_path: Path) -> Callable[..., list[str]]:
    """Return the names of files with a warning if `data` gets a text after the first run."""

    def names(text: str = "a\nb\n", **changes: Any) -> list[str]:
        data = tmp_path / "data"
        data.write_text("b\na\n", encoding="utf-8")
        cell = replace(CELL, cwd=str(tmp_path), **changes)
        files = ArgumentFiles(make_plan([VARIANT], [], [cell]))
        data.write_text(text, encoding="utf-8")
        return [event.message.partition(",")[0].rpartition("/")[2] for event in files.changes()]

    return names


def test_a_command_that_edits_its_file_is_reported_once(changed: Callable[..., list[str]]) -> None:
    assert changed() == ["data"]
    assert changed(command=(("rustfmt",), ("--file=data",))) == ["data"]
    shell = (("sed -i s/a/b/ data; cat data",),)
    assert changed(command=shell, shell=True) == ["data"]


def test_an_output_that_is_written_again_with_the_same_content_is_not_reported(
    changed: Callable[..., list[str]],
) -> None:
    assert changed("b\na\n") == []


def test_files_that_prepare_may_restore_and_other_words_are_not_watched(
    changed: Callable[..., list[str]],
) -> None:
    assert changed(prepare=((("cp",), ("original",), ("data",)),)) == []
    assert changed(command=(("data",), ("--option",))) == []  # the program itself
    assert changed(command=(("sort",), (INPUT, "data"))) == []
    assert changed(command=(("zstd",), ("-o",), ("data",))) == []
    assert changed(command=(("cc",), ("--output=data",))) == []
    assert changed(command=(("sort x > data",),), shell=True) == []
    assert changed(command=(("sort 'data",),), shell=True) == []  # an open quote


def test_a_large_file_counts_as_changed_if_it_was_written(
    changed: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LARGEST_DIGESTED_BYTES", 1)
    assert changed("b\na\n") == ["data"]

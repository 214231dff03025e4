"""Tests that execute notebooks: the one in notebooks/, and the one of `benchctl init --notebook`."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import bench_framework as bf
from bench_framework.workflow.pages import judge_record
from tests.integration import processes
from tests.unit.workflow.measured_record import measured

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "notebooks" / "analysis.ipynb"
LARGEST = 512 * 1024
SCENARIO = (
    "version: 1\nname: demo\nquestion: Is it fast?\nworker: {command: [/bin/true, '{n}']}\n"
    "axes: {n: [1, 2]}\nbaseline: {n: 1}\n"
)
UPDATE = "UPDATE_GOLDEN"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels write into the folder of the test, and import this checkout."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def executed(path: Path) -> Any:
    """Execute a notebook in its folder. An error in a cell is an exception."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.pop("outputs", None) if cell.cell_type == "markdown" else cell.update(outputs=[])
    client = NotebookClient(
        notebook,
        timeout=300,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    return client.execute()


def without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def texts(notebook: Any) -> Iterator[list[str]]:
    """Return what each cell prints and shows as plain text."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield [
                without_addresses(o.text if o.output_type == "stream" else o.data["text/plain"])
                for o in cell.outputs
            ]


def template(argument: str) -> list[str]:
    """Return the cells of the template with the argument of `load`."""
    text = (ROOT / "templates" / "analysis.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(text.replace("%record", json.dumps(argument)[1:-1]))
    return ["".join(cell["source"]).rstrip("\n") for cell in notebook["cells"]]


def written(path: Path) -> None:
    """Execute the notebook in notebooks/ from the template, and write it with its outputs."""
    text = (ROOT / "templates" / "analysis.ipynb").read_text(encoding="utf-8")
    path.write_text(text.replace("%record", r"\"../results/examples/tokio\""), encoding="utf-8")
    notebook = executed(path)
    notebook.metadata.pop("language_info", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            data.update({key: without_addresses(value) for key, value in data.items()})
    nbformat.write(notebook, path)


@pytest.mark.slow
def test_the_notebook_of_the_example_gives_its_committed_outputs(tmp_path: Path) -> None:
    if os.environ.get(UPDATE):
        written(EXAMPLE)
    committed = nbformat.read(EXAMPLE, as_version=4)
    assert EXAMPLE.stat().st_size < LARGEST
    assert [c.source.rstrip("\n") for c in committed.cells] == template(
        '"../results/examples/tokio"'
    )
    shutil.copytree(ROOT / "results" / "examples" / "tokio", tmp_path / "results/examples/tokio")
    copy = tmp_path / "notebooks" / EXAMPLE.name
    copy.parent.mkdir()
    shutil.copyfile(EXAMPLE, copy)
    assert [*texts(executed(copy))] == [*texts(committed)], f"{UPDATE}=1 writes it again"


def test_the_committed_outputs_are_figures_and_no_errors() -> None:
    committed = nbformat.read(EXAMPLE, as_version=4)
    outputs = [o for cell in committed.cells for o in cell.get("outputs", ())]
    assert {o.output_type for o in outputs} <= {"execute_result", "display_data"}
    kinds = {kind for o in outputs for kind in o.data}
    assert kinds == {"text/plain", "text/html", "image/svg+xml", "image/png"}
    assert not re.search(
        r"/(root|home|work|tmp)/|0x[0-9a-f]{6}", EXAMPLE.read_text(encoding="utf-8")
    )


def test_ratios_of_several_inputs_are_not_pooled() -> None:
    record = bf.load(ROOT / "results" / "examples" / "word-tally")
    runs = record.runs.query("kind == 'timed' and not warmup and status == 'ok'")
    (source,) = [cell for cell in template("''") if "ratios = times.div" in cell]
    names: dict[str, Any] = {"record": record, "runs": runs}
    exec(source, names)
    assert names["ratios"].columns.names == ["variant", "input"]
    inputs = {item.label for item in record.plan.inputs}
    assert len(inputs) > 1
    assert set(names["ratios"].columns.get_level_values("input")) == inputs


def benchctl(folder: Path, *words: str, code: int = 0) -> str:
    done = processes.benchctl(folder, "init", *words, env=processes.real(), code=code)
    return done.stderr + done.stdout


@pytest.mark.slow
def test_init_writes_a_notebook_for_a_scenario(tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s "mine"'
    (folder / "bench").mkdir(parents=True)
    (folder / "bench" / "demo.yaml").write_text(SCENARIO)
    with measured(folder / "results") as record:
        record.save(judge_record(record))
    printed = benchctl(folder, "--notebook", "bench/demo.yaml")
    assert "wrote bench/demo.ipynb" in printed
    assert "newest record of demo from results" in printed
    path = folder / "bench" / "demo.ipynb"
    assert "bf.load('demo', results='../results')" in nbformat.read(path, 4).cells[1].source
    first, *_ = texts(executed(path))
    assert first == [f"<record demo/{record.path.name}: 4 cells, conclusive>"]
    benchctl(folder, "--notebook")  # the only scenario of bench/, and the same file
    path.write_text("{}")
    refused = benchctl(folder, "--notebook", "bench/demo.yaml", code=2)
    assert "error[BX103]: bench/demo.ipynb exists already" in refused
    benchctl(folder, "--notebook", "bench", "--force")
    assert nbformat.read(path, 4).cells


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--notebook", "none.yaml"], "there is no none.yaml"),
        (["--notebook", "."], "does not have exactly one scenario: bad.yml, good.yml"),
        (["--notebook", "--ci", "github"], "leave out the others"),
        (["--notebook", "--crate", "."], "it writes no scenario"),
        (["--notebook", "bad.yml"], "error[BC"),
        (["--notebook", "good.yml"], "error[BX103]: good.ipynb exists already"),
        (["--notebook", "same.ipynb", "--force"], "same.ipynb is the scenario itself"),
    ],
)
@pytest.mark.slow
def test_what_has_no_notebook_is_refused(tmp_path: Path, words: list[str], message: str) -> None:
    (tmp_path / "bad.yml").write_text("version: 1\n")
    for name in ("good.yml", "same.ipynb"):
        (tmp_path / name).write_text(SCENARIO)
    (tmp_path / "good.ipynb").mkdir()
    assert message in " ".join(benchctl(tmp_path, *words, code=2).split())
    assert {*tmp_path.glob("*.ipynb")} == {tmp_path / "good.ipynb", tmp_path / "same.ipynb"}
    assert (tmp_path / "same.ipynb").read_text() == SCENARIO

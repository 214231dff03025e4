"""Tests of `run --template`."""

from pathlib import Path

import pytest

from bench_framework.store.finding import find_records
from tests.integration.processes import benchctl
from tests.integration.test_extensions import project

EXIT_USAGE = 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    return project(tmp_path)


@pytest.mark.slow
def test_a_run_uses_custom_templates_and_verify_renders_them_again(folder: Path) -> None:
    (folder / "own" / "report.md.j2").write_text("own page of {{ document.title }}\n")
    benchctl(folder, "run", "scenario.yaml", "--template", "own", code=0)
    (record,) = find_records(folder / "results")
    assert (record / "report.md").read_text() == "own page of demo\n"
    assert "<h1" in (record / "report.html").read_text()  # its template is the shipped one
    assert (record / "templates" / "report.md.j2").is_file()
    assert benchctl(folder, "verify", "@last").returncode == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("report.md.j2", "one\n{% if %}\n", "report.md.j2:2"),
        ("unknown.txt", "nothing", "replaces no template"),
    ],
)
def test_invalid_templates_are_refused_before_measuring(
    folder: Path, name: str, text: str, message: str
) -> None:
    (folder / "own" / name).write_text(text)
    done = benchctl(folder, "run", "scenario.yaml", "--template", "own", code=EXIT_USAGE)
    assert "BX113" in done.stderr
    assert message in done.stderr
    assert not (folder / "results").exists()


@pytest.mark.slow
def test_a_template_that_fails_to_render_keeps_all_measurements(folder: Path) -> None:
    (folder / "own" / "report.md.j2").write_text(
        "fine\n{{ document.nothing_of_this_name.at_all }}\n"
    )
    done = benchctl(folder, "run", "scenario.yaml", "--template", "own", code=EXIT_USAGE)
    assert "report.md.j2:2" in done.stderr
    assert "all measurements are stored" in done.stderr
    (record,) = find_records(folder / "results")
    assert f"benchctl report {record} --template own" in " ".join(done.stderr.split())
    assert "## Results" in (record / "report.md").read_text()
    assert not (record / "templates").exists()
    assert benchctl(folder, "verify", "@last").returncode == 0
    (folder / "own" / "report.md.j2").write_text("fixed\n")
    assert benchctl(folder, "report", "@last", "--template", "own").returncode == 0
    assert (record / "report.md").read_text() == "fixed\n"

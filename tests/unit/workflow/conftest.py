"""A measured record and its page, for the tests that verify records and pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_framework.report import figures
from bench_framework.report.blocks import Figure
from bench_framework.workflow.pages import judge_record, write_pages
from tests.unit.workflow.measured_record import measured


@pytest.fixture(scope="session", autouse=True)
def _drawn_once() -> Iterator[None]:
    """Draw equal figures once: most tests render the same record, and drawing takes most of that time."""
    drawn: dict[str, str] = {}

    def draw(figure: Figure) -> str:
        key = repr(figure)
        if key not in drawn:
            drawn[key] = original(figure)
        return drawn[key]

    original = figures.draw
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "draw", draw)
        yield


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with results and without pages."""
    with measured(tmp_path_factory.mktemp("plain") / "results") as record:
        record.save(judge_record(record))
        record.seal()
    return record.path


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with results and pages."""
    with measured(tmp_path_factory.mktemp("full") / "results") as record:
        judgement = judge_record(record)
        record.save(judgement)
        write_pages(record, judgement, formats=("html", "md"))
    return record.path


@pytest.fixture(scope="session")
def page(full: Path) -> str:
    return (full / "report.html").read_text(encoding="utf-8")

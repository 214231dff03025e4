"""Pages in a real browser: Debian's chromium, driven by playwright.

``nox -s browser`` installs the dependencies into the cache and sets the browser in
``BENCHCTL_BROWSER``. Without it the tests are skipped with this reason, because they are not part
of the usual run.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench_framework.extensions.history.model import History, HistoryPoint, HistorySeries, Shift
from bench_framework.extensions.history.site_pages import Commits, SiteRecord, render_scenario
from bench_framework.model.record.machine import Fingerprint
from bench_framework.report.context import ReportData
from bench_framework.report.render.templates import Templates

sys.path.insert(
    0, str(Path(__file__).parents[1] / "unit" / "report")
)  # the sample record of the report's tests

from report_sample import bare, sample

from bench_framework.features.document import build_document
from bench_framework.report.blocks import Section, Table
from bench_framework.report.render import html

CHROMIUM = os.environ.get("BENCHCTL_BROWSER", "")


def write_page(data: ReportData, path: Path, *, rows: int = 0) -> Path:
    """Write the complete page of a record, with its figures, and return the path.

    With `rows`, the report ends with a table of that many rows, which repeat those of the results.
    """
    from bench_framework.report import figures  # noqa: PLC0415 -- matplotlib takes half a second

    document = build_document(data)
    if rows:
        results = document.section("S03")
        assert results is not None
        table = next(block for block in results.blocks if isinstance(block, Table))
        long = replace(table, anchor="long-table", rows=(table.rows * rows)[:rows])
        section = Section("S99", "long", "Long", (long,))
        document = replace(document, sections=(*document.sections, section))
    drawn = figures.drawings(document)
    inline = {f.anchor: figures.responsive(drawn[f.anchor], f) for f in document.figures()}
    path.write_text(html.render(document, data, Templates(), inline), encoding="utf-8")
    return path


def write_site_page(path: Path) -> Path:
    """Write the page of a scenario with 60 hourly records and two changes, and return the path."""
    records = [
        SiteRecord(
            "parse",
            at.strftime("%Y%m%dT%H%MZ"),
            at.isoformat(),
            "Is it fast?",
            "conclusive",
            "fast takes 10 % less time than plain [9, 11].",
            [f"{number:040x}"],
            "f" * 12,
            ["report.html"],
        )
        for number in range(60)
        for at in [datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=number)]
    ]

    def series(label: str, ratio: float, at: int) -> HistorySeries:
        points = []
        for n, record in enumerate(records):
            value = 0.01 * (ratio if n >= at else 1) * (1.2 if n == 5 else 1)
            where = (n, record.id, record.started, record.revisions[0], False)
            interval = (value * 0.99, value * 1.01)
            points.append(
                HistoryPoint(*where, value, *interval, f"p{n}", "t", value, value, n == 5)
            )
        change = Shift(at - 2, at, at, ratio, ratio * 0.99, ratio * 1.01, 0.9999, confirmed=True)
        return HistorySeries(label, label, {}, tuple(points), (change,) if ratio != 1 else ())

    configurations = (
        series("plain, 10 MiB", 1, 60),
        series("fast, 10 MiB", 1.06, 38),
        series("a long name of a configuration with every axis that there is, 200 MiB", 0.87, 12),
        series("other, 10 MiB", 1, 60),
    )
    machine = Fingerprint("f" * 12, {"CPU": "EPYC", "cores": "4", "kernel": "6.1"})
    history = History("parse", "wall", "iec", "time", machine, 60, 0.05, configurations)
    commits = Commits("https://git.example/a/b")
    text = render_scenario(Templates(), records, [history], commits)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return pages on disk by name: a record with every kind of failure, and one without
    results. The third page has a long table, and the fourth one is of a site.
    """
    folder = tmp_path_factory.mktemp("pages")
    return {
        "full": write_page(sample(), folder / "full.html"),
        "bare": write_page(bare(), folder / "bare.html"),
        "long": write_page(sample(), folder / "long.html", rows=26),
        "site": write_site_page(folder / "site.html"),
    }


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Yield a headless chromium."""
    if not CHROMIUM:
        pytest.skip("pages are tried in a browser by nox -s browser")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- in the cache of that session only

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source of axe-core from its Python package."""
    import axe_playwright_python  # noqa: PLC0415 -- in the cache of the browser session only

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

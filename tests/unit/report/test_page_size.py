"""A page without its runs is small enough for mail, however many configurations it has."""

import sys
from pathlib import Path

import pytest

from bench_framework.report.blocks import Document

# The folder is not a package.
sys.path.insert(0, str(Path(__file__).parents[2] / "validation/bench"))

import made_record
from report_sample import all_tables

from bench_framework.features.document import build_document
from bench_framework.report import figures
from bench_framework.report.render import html
from bench_framework.report.render.templates import Templates


def require_complete_and_small(page: str, document: Document, most: int) -> None:
    """Check the size of a page in bytes, and that it has every figure and every row."""
    assert len(page.encode()) <= most
    assert page.count("<svg ") - page.count('<svg class="interval') == len(document.figures())
    assert page.count('<th scope="row">') >= sum(len(t.rows) for t in all_tables(document))


def test_the_page_of_the_sample_is_small(document: Document, page: str) -> None:
    require_complete_and_small(page, document, 320_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "rounds", "most"),
    [(60, 20, 400_000), pytest.param(200, 12, 1_000_000, marks=pytest.mark.release)],
)
def test_a_page_with_every_number_stays_small(cells: int, rounds: int, most: int) -> None:
    data = made_record.record(cells, rounds)
    document = build_document(data)
    drawn = figures.drawings(document)
    inline = {f.anchor: figures.inline(drawn[f.anchor], f) for f in document.figures()}
    require_complete_and_small(html.render(document, data, Templates(), inline), document, most)
    assert sum(len(t.rows) for t in all_tables(document)) > 4 * cells
    assert sum(len(t.rows) for t in all_tables(document) if t.anchor.startswith("all-")) == cells

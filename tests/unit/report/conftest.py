"""The sample record and its documents, built once."""

import sys
from pathlib import Path

import pytest

from bench_framework.report.blocks import Document
from bench_framework.report.context import ReportData

# The folder is not a package, and the sample is next to its tests.
sys.path.insert(0, str(Path(__file__).parent))

from report_sample import bare, sample

from bench_framework.features.document import build_document
from bench_framework.report.render import html, markdown
from bench_framework.report.render.templates import Templates


@pytest.fixture(scope="session")
def data() -> ReportData:
    return sample()


@pytest.fixture(scope="session")
def document(data: ReportData) -> Document:
    return build_document(data)


@pytest.fixture(scope="session")
def empty() -> ReportData:
    return bare()


@pytest.fixture(scope="session")
def drawings(document: Document) -> dict[str, str]:
    """Return the figures of the sample as they are drawn."""
    from bench_framework.report import figures  # noqa: PLC0415 -- matplotlib takes half a second

    return figures.drawings(document)


@pytest.fixture(scope="session")
def drawn(document: Document, drawings: dict[str, str]) -> dict[str, str]:
    """Return the figures of the sample as they are in its page."""
    from bench_framework.report import figures  # noqa: PLC0415 -- matplotlib takes half a second

    return {f.anchor: figures.inline(drawings[f.anchor], f) for f in document.figures()}


@pytest.fixture(scope="session")
def page(document: Document, data: ReportData, drawn: dict[str, str]) -> str:
    return html.render(document, data, Templates(), drawn)


@pytest.fixture(scope="session")
def text(document: Document) -> str:
    """Return report and appendix, one after the other."""
    return markdown.render(document, Templates()) + markdown.render(
        document, Templates(), "appendix"
    )

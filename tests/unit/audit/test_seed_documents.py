"""Audit of the five seed documents: 18 statements that are false, and the true ones next to them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from bench_framework.extensions.audit.page import RATIOS, quantities
from bench_framework.extensions.audit.report import AuditDocument, audit

PAGES = Path(__file__).parents[2] / "fixtures" / "seed_documents"


@dataclass(frozen=True)
class FalseStatement:
    """A false statement: where it is, and the status and the reason of the audit."""

    page: str
    says: str
    at: str
    status: str = ""
    reason: str = ""

    @property
    def id(self) -> str:
        return f"{self.page}: {self.says}"


FALSE = tuple(
    FalseStatement(*row)
    for row in (
        ("000", "no regression", "No performance regression", "no data", "version before"),
        ("000", "Monoio async I/O", "Implementation: Stream", "no data", "no evidence that each"),
        ("000", "scales linearly", "scales linearly", "not supported", "exponent 0.74"),
        ("000", "Parallel Stream 1.7x", "1.7x faster", "inconclusive", "one input size only"),
        ("000", "memory of one run", "Parallel Stream, % of File", "inconclusive", "no number of"),
        (
            "004",
            "sonic-rs the biggest",
            "biggest single improvement",
            "not supported",
            "10\u202f% for",
        ),
        ("001", "2.0x from two changes", "Key Optimizations", "no data", "of each change alone"),
        ("001", "2x and 17 % in one list", "; 17% improvement", "inconclusive", "two scales"),
        ("001", "I/O-bound: use Tokio", "Use Tokio", "no data", "no measurement of “I/O-Bound"),
        ("003", "1.02x faster", "is 1.02x faster", "inconclusive", "which includes 1"),
        (
            "003",
            "two sessions",
            "Eliminated executor",
            "not supported",
            "Basic Smol itself changed",
        ),
        ("003", "primary cause", "the primary cause", "not supported", "it names a cause"),
        ("004", "200 concurrent worse", "worse due to contention", "no data", "it does not name"),
        ("002", "Python loop", "lost to Python overhead", "not supported", "missing overlap"),
        ("002", "60 % of single buffer", "with single-buffer writes", "not supported", "clocks"),
        ("002", "GB/s and GiB/s", "# 8 MB", "inconclusive", "a power of 1024"),
    )
)
"""The false statements that the audit flags for the reason for which they are false."""
OTHER_REASON = FalseStatement("004", "mimalloc 1.59x", "1.59x slower", "no data", "does not name")
"""It compares different work. The audit only finds that the page has no figures of it."""
GENERAL = FalseStatement(
    "002", "8 writers", "Threading (8 writers)", "inconclusive", "no check that"
)
"""The file was wrong, which no text shows. The page states no check of the outputs."""
TRUE = (
    ("000", "Parallel MMAP, vs Baseline: 9.6x"),
    ("000", "Difference: 1.4%"),
    ("001", "21% slower than Rayon"),
    ("001", "2x improvement for Rayon (399ms → 199ms)"),
    ("001", "Rayon (optimized), Notes: Best overall"),
    ("003", "was 1.08x slower (8% overhead)"),
    ("004", "Tokio (original), vs Rayon: +46%"),
    ("004", "vs Original Tokio: -17%"),
    ("004", "achieve a 17% performance improvement"),
)
"""Statements that follow from the figures of their page."""
INJECTED = 20
"""The number of factors in the documents that agree with named figures."""
CONTRADICTED = {"000": 1, "001": 0, "002": 3, "003": 5, "004": 2}
"""The number of statements that are not supported. Each of them was read: all are false."""


@lru_cache
def audited(page: str) -> AuditDocument:
    path = next(PAGES.glob(f"{page}_*.md"))
    return audit(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize("false", [*FALSE, OTHER_REASON, GENERAL], ids=lambda f: f.id)
def test_a_false_statement_is_flagged_for_its_reason(false: FalseStatement) -> None:
    statements = [s for s in audited(false.page).statements if false.at in s.text]
    assert any(s.status == false.status and false.reason in s.reason for s in statements), (
        statements
    )


@pytest.mark.parametrize(("page", "at"), TRUE)
def test_a_true_statement_is_not_contradicted(page: str, at: str) -> None:
    statements = [s for s in audited(page).statements if at in s.text]
    assert statements
    assert all(s.status in ("supported", "inconclusive") for s in statements)


@pytest.mark.parametrize("page", CONTRADICTED)
def test_only_false_statements_are_contradicted(page: str) -> None:
    result = audited(page)
    assert result.counts["not_supported"] == CONTRADICTED[page]
    assert result.exit_code == (1 if CONTRADICTED[page] else 0)


def wrong_factors(page: str) -> Iterator[tuple[int, str]]:
    """Yield the page with one stated factor made wrong, for each that agrees with its figures."""
    lines = next(PAGES.glob(f"{page}_*.md")).read_text(encoding="utf-8").splitlines()
    for s in audited(page).statements:
        factor = next((q for q in quantities(s.text) if q.kind in RATIOS), None)
        if factor is None:
            continue
        agrees = s.status == "supported" or "agree with it" in s.reason
        number = re.search(r"[\d.]+", factor.text)
        assert number is not None
        line = lines[s.line - 1]
        if agrees and "does not name" not in s.reason and line.count(number[0]) == 1:
            digits = len(number[0].partition(".")[2])
            wrong = float(number[0]) * (1.6 if factor.kind == "ratio" else 2.2)
            text = line.replace(number[0], f"{wrong:.{digits}f}")
            yield s.line, "\n".join([*lines[: s.line - 1], text, *lines[s.line :]])


def test_every_wrong_factor_in_place_of_a_right_one_is_not_supported() -> None:
    pages = [change for page in CONTRADICTED for change in wrong_factors(page)]
    assert len(pages) == INJECTED
    for line, source in pages:
        changed = [s for s in audit(source, "page.md").statements if s.line == line]
        assert any(s.status == "not supported" for s in changed), changed


def test_the_documentation_states_these_figures() -> None:
    contradicted = sum(f.status == "not supported" for f in FALSE)
    lines = [
        f"{len(FALSE)} of 18 are flagged for the reason for which they are false",
        f"{contradicted} of these as not supported",
        f"each of the {INJECTED} factors",
        *(f"| {page} | {len(audited(page).statements)} |" for page in CONTRADICTED),
    ]
    docs = (PAGES.parents[2] / "docs/reference/audit.md").read_text(encoding="utf-8")
    text = " ".join(docs.split())
    assert all(line in text for line in lines), "\n".join(lines)

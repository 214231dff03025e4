"""What the figures of a claim may look like in a table: so that a page's numbers can be held against its claims.

A number carries a claim's id only where it follows from that claim's own figures; `follows` decides it when a page
is written, and decides it again when a page is verified.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.model.verdict import Verdict
from bench_framework.model.words import WORDS, glyph
from bench_framework.report.blocks import Cell, Details, Figure, Table
from bench_framework.report.numbers import show_percent, show_plain, show_ratio, significant
from bench_framework.rounding import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.model.judgement import Claim
    from bench_framework.report.blocks import Block, Document

SCALES: Final = (
    1.0, 100.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 2.0**-10, 2.0**-20, 2.0**-30, 2.0**-40,
)  # fmt: skip
"""Units in which a column may show a claim's figure: seconds, bytes, shares, counts."""
_SPACES: Final = "\u2007\u2008 \n"
"""What aligns a column, and what stands around an element in a page's source."""
_MIRRORED: Final = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.BETTER_SIZE_OPEN: Verdict.WORSE_SIZE_OPEN,
    Verdict.WORSE_SIZE_OPEN: Verdict.BETTER_SIZE_OPEN,
    Verdict.WORSE: Verdict.BETTER,
}
_LEAST_DECIMALS: Final = (2, 3)
"""Of ratios in records, and in imported sets."""
_SHARE_DECIMALS: Final = 1


def follows(claim: Claim, text: str, value: float | str | None) -> bool:
    """Whether a number of a table, as shown and as held for machines, follows from a claim.

    Args:
        claim: what the number is said to belong to.
        text: as shown, with the glyph of a verdict behind it or none.
        value: for machines: a figure of the claim or its verdict's code; `None` where there is none.
    """
    told, sign = _parts(text)
    if sign and sign not in _glyphs(claim):
        return False
    if isinstance(value, str):
        return not told and claim.verdict is not None and value in _codes(claim)
    if value is not None and value not in _values(claim):
        return False
    return any(told == form for form in _texts(claim))


def cited(document: Document) -> Document:
    """The document with claims only at the numbers that follow from them.

    A cell may stand for a claim whose own figure is another one, such as a step of several that one sentence tells.
    """
    claims = {claim.id: claim for claim in document.claims}
    sections = tuple(
        replace(section, blocks=tuple(_cited(block, claims) for block in section.blocks))
        for section in document.sections
    )
    return replace(document, sections=sections)


def _cited(block: Block, claims: Mapping[str, Claim]) -> Block:
    match block:
        case Table():
            rows = (replace(r, cells=tuple(_cited_cell(c, claims) for c in r.cells)) for r in block.rows)
            return replace(block, rows=tuple(rows))
        case Figure():
            table = _cited(block.table, claims)
            assert isinstance(table, Table)
            return replace(block, table=table)
        case Details():
            return replace(block, blocks=tuple(_cited(inner, claims) for inner in block.blocks))
        case _:
            return block


def _cited_cell(cell: Cell, claims: Mapping[str, Claim]) -> Cell:
    if cell.claim is None:
        return cell
    claim = claims.get(cell.claim)
    return cell if claim is not None and follows(claim, cell.text, cell.value) else replace(cell, claim=None)


def _parts(text: str) -> tuple[str, str]:
    """Number and glyph."""
    stripped = text.strip(_SPACES)
    for words in WORDS.values():
        if stripped == words.glyph:
            return "", words.glyph
        if stripped.endswith(f" {words.glyph}"):
            return stripped.removesuffix(f" {words.glyph}").rstrip(_SPACES), words.glyph
    return stripped, ""


def told_verdicts(claim: Claim) -> tuple[Verdict, ...]:
    """Verdicts that a table may show for a claim: its own, and that with the two sides exchanged."""
    verdict = claim.verdict
    return () if verdict is None else (verdict, _MIRRORED.get(verdict, verdict))


def _glyphs(claim: Claim) -> set[str]:
    return {glyph(verdict) for verdict in told_verdicts(claim)}


def _codes(claim: Claim) -> set[str]:
    return {verdict.value for verdict in told_verdicts(claim)}


def _values(claim: Claim) -> set[float]:
    found = {float(v) for v in (claim.estimate, claim.lo, claim.hi) if v is not None}
    return found | {1 / value for value in found if value}


def _texts(claim: Claim) -> Iterator[str]:
    """Every form, the most frequent first."""
    estimate, lo, hi = claim.estimate, claim.lo, claim.hi
    if estimate is None or not math.isfinite(estimate):
        return
    if lo is None or hi is None:
        for scale in SCALES:
            yield significant(estimate * scale, 3)
            yield f"{estimate * scale:.{_SHARE_DECIMALS}f}"
        return
    if claim.margin is not None and lo > 0:
        yield from _ratios(claim, estimate, lo, hi)
    for scale in SCALES:
        if not math.isfinite(hi * scale):  # an open bound is told by `show_ratio` alone
            continue
        made = show_plain(estimate * scale, lo * scale, hi * scale)
        yield made.estimate
        yield made.bounds
        yield str(plain(estimate * scale, lo * scale, hi * scale, most=_SHARE_DECIMALS).estimate)


def _ratios(claim: Claim, estimate: float, lo: float, hi: float) -> Iterator[str]:
    margin, keep = claim.margin or 0.0, claim.verdict is not Verdict.UNDECIDED
    for least in _LEAST_DECIMALS:
        made = show_ratio(estimate, lo, hi, margin, least=least, keep=keep)
        yield made.estimate
        yield made.bounds
        yield str(made)
    yield show_percent(estimate, lo, hi, margin, keep=keep)
    if estimate > 0 and math.isfinite(hi):
        yield show_percent(1 / estimate, 1 / hi, 1 / lo, margin, keep=keep)

"""Whether the parts of a page agree with each other and with its claims, where no single number or sentence tells.

Seals find what was changed in passing. This finds what a page cannot say whoever sealed it: a verdict that is not its
claim's, a claim whose sentence or row is gone, a drawing that tells another interval than the table, a second script.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bench_framework.model.verdict import Verdict
from bench_framework.model.words import WORDS
from bench_framework.report.following import told_verdicts
from bench_framework.report.page_outline import Outline, ReadCell, outline
from bench_framework.report.render.characters import visible
from bench_framework.report.sections.masthead import STATUS_GLYPHS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from bench_framework.model.judgement import Claim

SAID: Final = frozenset({"main", "nothing", "trust", "recommendation"})
"""Kinds of claims that no page leaves out."""
TABLED: Final = frozenset({"comparison", "memory"})
"""Those that stand in a table wherever they have a figure."""
EMBEDDED: Final = ("claims", "env", "scenario", "record", "seals")
"""Ids of scripts that hold data."""
_GLYPHS: Final = {words.glyph: verdict for verdict, words in WORDS.items()}
_DRAWN: Final = re.compile(r"(?P<estimate>\S+?)(?: (?P<bounds>\[[^\]]*\]))?(?: (?P<glyph>\S{1,2}))?")
_MOST_QUOTED: Final = 60


def disagreements(
    page: str, claims: Mapping[str, Claim], quoted: Iterable[str], *, shipped: tuple[str, str] | None
) -> list[str]:
    """What does not agree in a page, one line each.

    Args:
        page: its text.
        claims: those that it carries, by id.
        quoted: ids that its sentences and numbers name.
        shipped: style and script of this version's pages; `None` where the page is of another one, or of templates
            that a user wrote: these are not known then.
    """
    read = outline(page)
    names = {visible(name) for claim in claims.values() for name in (claim.subject, claim.reference) if name}
    return [
        *(f"the page holds {what}, which no page of benchctl does" for what in read.strange),
        *_scripts(read, shipped),
        *_head(read),
        *_unshown(claims, quoted),
        *(line for row in read.rows if row for line in _row(row, claims, names)),
        *_drawings(read),
    ]


def _scripts(read: Outline, shipped: tuple[str, str] | None) -> Iterator[str]:
    names = [name for name, _ in read.scripts if name]
    if len(set(names)) != len(names) or not set(names) <= set(EMBEDDED):
        yield f"the page embeds {', '.join(names)} instead of one each of {', '.join(EMBEDDED)}"
    acting = [text for name, text in read.scripts if not name]
    if len(acting) != 1 or len(read.styles) != 1 or len(read.policies) != 1:
        yield (
            f"the page has {len(acting)} scripts, {len(read.styles)} styles and {len(read.policies)} policies "
            "instead of one each"
        )
    if shipped is None:
        return
    style, script = shipped
    if [text.strip() for text in read.styles] != [style]:
        yield "the style of the page is not the one that this benchctl writes: it may hide or add something"
    if acting != [script]:
        yield "the script of the page is not the one that this benchctl writes: it may change what is shown"


def _head(read: Outline) -> Iterator[str]:
    """Title, heading and status say one thing, and the contents list the sections in their order."""
    status = read.title.rpartition(": ")[2]
    wanted = [f"{name}: {status}" for name in read.heading]
    if [read.title] != wanted:
        yield f"the title “{_cut(read.title)}” is not heading and status of the page"
    pills = [(f"pill {status.replace(' ', '-')}", f"{STATUS_GLYPHS.get(status, '')} {status}")]
    if read.status != pills:
        yield f"the status {[text for _, text in read.status]} is not that of the title, “{_cut(status)}”"
    if read.contents != read.sections:
        yield "the contents are not the sections of the page in their order"


def _unshown(claims: Mapping[str, Claim], quoted: Iterable[str]) -> Iterator[str]:
    there = set(quoted)
    for claim in claims.values():
        wanted = claim.kind in SAID or (claim.kind in TABLED and claim.estimate is not None)
        if wanted and claim.id not in there:
            yield f"{claim.id}: nothing in the page says it: “{_cut(claim.text)}”"


def _row(row: list[ReadCell], claims: Mapping[str, Claim], names: Container[str]) -> Iterator[str]:
    """Verdicts of a row: each cell's class is that of its glyph; a bare verdict is that of a claim of the row."""
    named = {c for cell in row for c in cell.claims if c in claims}
    known = {verdict for c in named for verdict in _told(claims[c], row[0].text)}
    if row[0].text in names:
        yield from _named_otherwise(row, [claims[c] for c in sorted(named)])
    for cell in row:
        told = _verdict_of(cell.text)
        said = cell.verdict
        own = {v for c in cell.claims if c in claims for v in _told(claims[c], row[0].text)}
        where = f"the cell “{_cut(cell.text)}” of the row “{_cut(row[0].text)}”"
        if said is not None and said not in {verdict.value for verdict in Verdict}:
            yield f"{where} has the colour of no verdict, “{said}”"
        elif told is not None and said is not None and said != told.value:
            yield f"{where} has the colour of “{said}”"
        elif said is not None and own and Verdict(said) not in own:
            yield f"{', '.join(cell.claims)}: {where} has the colour of “{said}”, which is not the claim's verdict"
        elif told is not None and not cell.claims and known and told not in known:
            yield f"{', '.join(sorted(named))}: {where} is no verdict of a claim that the row names"


def _named_otherwise(row: list[ReadCell], claims: list[Claim]) -> Iterator[str]:
    """Claims of a row that is one variant's, and names none of those that they compare."""
    for claim in claims:
        sides = [visible(name) for name in (claim.subject, claim.reference) if name]
        if claim.kind in TABLED and row[0].text not in sides:
            yield f"{claim.id}: the row “{_cut(row[0].text)}” is neither of its sides, {' and '.join(sides)}"


def _told(claim: Claim, name: str) -> tuple[Verdict, ...]:
    """Verdicts that the row of a name may show for a claim: where it is the subject, the claim's own only.

    A row of what it was before may show what it became, or the other way round.
    """
    verdicts = told_verdicts(claim)
    return verdicts[:1] if visible(claim.subject) == name else verdicts


def _verdict_of(text: str) -> Verdict | None:
    """The verdict that a cell shows by its glyph, before or behind the rest."""
    words = text.split(" ")
    for word in (words[0], words[-1]):
        if word in _GLYPHS and word != "–":
            return _GLYPHS[word]
    return None


def _drawings(read: Outline) -> Iterator[str]:
    """A number that is drawn with an interval or a verdict stands so in a row of a table."""
    rows = [{part for cell in row for part in _parts(cell.text)} for row in read.rows]
    for text in dict.fromkeys(read.drawn):
        found = _DRAWN.fullmatch(text)
        if (
            found is None
            or not (found["bounds"] or found["glyph"] in _GLYPHS)
            or not found["estimate"][-1].isdigit()
        ):
            continue
        parts = {part for part in found.groups() if part}
        if not any(parts <= row for row in rows):
            yield f"the label “{_cut(text)}” of a drawing stands in no row of a table"


def _parts(text: str) -> Iterator[str]:
    """Number, interval and glyph of a cell."""
    yield text
    bounds = re.search(r"\[[^\]]*\]", text)
    if bounds:
        yield bounds[0]
        text = text.replace(bounds[0], " ")
    yield from (word.strip("\u2007\u2008") for word in text.split(" ") if word)


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_QUOTED else text[: _MOST_QUOTED - 1] + "…"

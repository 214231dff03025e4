"""Whether a page says what follows from the claims in it; and, where it carries its runs, from those."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.version import __version__
from bench_framework.workflow import versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from bench_framework.model.judgement import Claim, Judgement
    from bench_framework.report.page_reading import Quoted
    from bench_framework.store.embedded import Embedded

_NONSENSE: Final = (
    LookupError, TypeError, ValueError, AssertionError, ArithmeticError, AttributeError, RecursionError,
)  # fmt: skip
"""What figures of another kind than a claim's make of the arithmetic over them."""
MOST_SHOWN: Final = 160
"""Characters of a sentence that a difference quotes."""


@dataclass(frozen=True, slots=True)
class PageVerification:
    """What differs in a page; nothing if it is as it was written.

    Attributes:
        page: the file.
        claims: how many it carries.
        sentences: how many of its sentences were held against them.
        numbers: likewise numbers in tables.
        runs: runs in the page from which everything was recomputed; `None` where none were at hand.
        differences: one line each.
        own_templates: it was rendered with templates that it does not carry, and could not be rendered again.
        notes: what is not known of it, and is no difference.
    """

    page: Path
    claims: int
    sentences: int
    numbers: int
    runs: int | None
    differences: tuple[str, ...]
    own_templates: bool = False
    notes: tuple[str, ...] = ()


def verify_page(path: Path) -> PageVerification:
    """Hold a page against the claims in it, and against its runs where it carries them.

    Raises:
        UsageError: BX101, it cannot be read. RecordError: BX411, it is no page of benchctl's.
    """
    from bench_framework.report.page_reading import origin_of, quoted
    from bench_framework.report.render.html import embedded_claims
    from bench_framework.store import embedded

    try:
        page = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read", code="BX101", details=(("cause", str(error)),)) from error
    try:
        claims = embedded_claims(page)
        origin = origin_of(page)
    except (ValueError, RecursionError) as error:
        raise RecordError(
            f"{path} cannot be verified: {error}",
            code="BX411",
            help="`benchctl report RECORD` writes the page of a record again",
        ) from error
    differences = page_differences(page)
    runs, own = None, bool(origin.get("own_templates"))
    if embedded.is_embedded(page):
        try:
            found = embedded.read(page)
        except RecordError as error:
            differences += [f"the runs in the page: {error.message}"]
        else:
            runs = sum(max(1, len(block.wall_s)) for block in found.contents.blocks)
            own = found.frame.own_templates
            differences += _against_runs(page, claims, found)
    named = quoted(page)
    sentences = sum(one.value is None for one in named)
    return PageVerification(
        path, len(claims), sentences, len(named) - sentences, runs, tuple(dict.fromkeys(differences)), own,
        _notes(origin),
    )  # fmt: skip


def _notes(origin: Mapping[str, object]) -> tuple[str, ...]:
    """What of a page nobody can know here."""
    if origin.get("own_templates"):
        return ("its templates are a user's: what they show beside claims was held against its seals alone",)
    note = versions.foreign(origin.get("rendered_by"))
    return () if note is None else (note,)


def page_differences(page: str) -> list[str]:
    """What a page says and its claims do not, claim by claim; then the parts that are not as they were sealed."""
    from bench_framework.report.page_agreement import disagreements
    from bench_framework.report.page_reading import origin_of, quoted
    from bench_framework.report.render import seals
    from bench_framework.report.render.html import embedded_claims

    try:
        embedded = embedded_claims(page)
        origin = origin_of(page)
    except (ValueError, RecursionError) as error:
        return [str(error)]
    claims = {claim.id: claim for claim in embedded}
    named = quoted(page)
    found = [f"{name}: several claims have this number" for name in _twice(claim.id for claim in embedded)]
    found += _unsaid(claims)
    found += [line for one in named for line in _misquoted(one, claims)]
    if not origin.get("own_templates"):
        ours = origin.get("rendered_by") == __version__
        found += disagreements(
            page, claims, {one.claim for one in named}, shipped=_shipped() if ours else None
        )
    try:
        broken = seals.broken(page)
    except ValueError as error:
        return [*found, str(error)]
    return [*found, *(f"part “{name}” is not as it was written: its seal differs" for name in broken)]


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _shipped() -> tuple[str, str]:
    """Style and script of this version's pages."""
    from bench_framework import assets
    from bench_framework.report.render.templates import Templates

    templates = Templates(assets.template_dir())
    return templates.text("report.css"), templates.text("report.js")


def _unsaid(claims: Mapping[str, Claim]) -> list[str]:
    """Claims whose sentence does not follow from their own figures."""
    from bench_framework.analysis.wording import say

    found = []
    for claim in claims.values():
        try:
            text = say(claim)
        except _NONSENSE as error:
            found.append(f"{claim.id}: its figures make no sentence ({type(error).__name__}: {error})")
            continue
        if text != claim.text:
            found.append(
                f"{claim.id}: the embedded sentence is “{_cut(claim.text)}”; its figures say “{_cut(text)}”"
            )
    return found


def _misquoted(one: Quoted, claims: Mapping[str, Claim]) -> list[str]:
    from bench_framework.report.following import follows
    from bench_framework.report.render.characters import visible
    from bench_framework.report.sentences import sentence

    claim = claims.get(one.claim)
    if claim is None:
        return [f"{one.claim}: no such claim; the page names it at “{_cut(one.text)}”"]
    if one.value is None:
        wanted = visible(sentence(claim).text)
        if one.text == wanted:
            return []
        return [f"{claim.id}: the page says “{_cut(one.text)}”; the claim says “{_cut(wanted)}”"]
    with contextlib.suppress(*_NONSENSE):  # figures of which no form can be made: nothing follows from them
        if follows(claim, one.text, _value(one.value)):
            return []
    shown = one.text.strip("\u2007\u2008 \n")
    return [
        f"{claim.id}: the page shows {shown} ({one.value}), which does not follow from it: “{_cut(claim.text)}”"
    ]


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def _against_runs(page: str, claims: tuple[Claim, ...], found: Embedded) -> list[str]:
    """Judge the runs in the page again, and render it again from them."""
    from bench_framework.workflow.embedded_runs import judged_again, rendered_again

    judgement = judged_again(found)
    lines = claim_differences(claims, judgement, "the runs in the page")
    if not lines and not found.frame.own_templates and rendered_again(found, judgement) != page:
        lines.append("the page is not what its runs render to")
    return lines


def claim_differences(saved: tuple[Claim, ...], again: Judgement, source: str) -> list[str]:
    """Claims that do not follow from what they were made of, and those that do and are not there."""
    kept, made = ({_content(claim): claim for claim in claims} for claims in (saved, again.claims))
    lines = [
        f"{claim.id}: does not follow from {_made_from(claim, source)}: {claim.text}"
        for content, claim in kept.items()
        if content not in made
    ]
    lines += [
        f"{_made_from(claim, source)} says instead: {claim.text}"
        for content, claim in made.items()
        if content not in kept
    ]
    return lines


def _made_from(claim: Claim, source: str) -> str:
    """Where the figures of a claim come from."""
    return "its profile" if claim.kind.startswith("profile") else source


def _content(claim: Claim) -> str:
    """All that a claim says, without its number: one that is added shifts all that follow."""
    from dataclasses import replace

    return repr((replace(claim, id="", values={}), sorted(claim.values.items())))

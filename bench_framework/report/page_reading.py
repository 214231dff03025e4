"""A page read back: the sentences and numbers in it that say which claim they are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_ORIGIN: Final = re.compile(r'<script type="application/json" id="env">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A sentence or a number of a page, with the claim that it names.

    Attributes:
        claim: its id.
        text: as a reader sees it.
        value: what a ``data`` element holds for machines; `None` for a sentence.
    """

    claim: str
    text: str
    value: str | None


@dataclass(slots=True)
class _Open:
    """An element that names a claim and has not ended yet."""

    tag: str
    claim: str
    value: str | None
    texts: list[str]
    nested: int = 0
    """Elements of its own kind within it that have not ended."""


class _Reader(HTMLParser):
    """Collects the text of every element with ``data-claim``; other elements may leave out their end tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Quoted] = []
        self._open: list[_Open] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if "data-claim" in said:
            value = said.get("value") if tag == "data" else None
            self._open.append(_Open(tag, said["data-claim"] or "", value, []))
        elif self._open and self._open[-1].tag == tag:
            self._open[-1].nested += 1

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1].tag != tag:
            return
        if self._open[-1].nested:
            self._open[-1].nested -= 1
            return
        done = self._open.pop()
        self.found.append(Quoted(done.claim, "".join(done.texts), done.value))

    def handle_data(self, data: str) -> None:
        for one in self._open:
            one.texts.append(data)


def quoted(page: str) -> tuple[Quoted, ...]:
    """Every sentence and number of a page that names a claim, in the order of its end."""
    reader = _Reader()
    # Drawings and embedded data name no claims, and hold most of a page's bytes.
    reader.feed(re.sub(r"<(svg|script|style)\b.*?</\1>", "", page, flags=re.DOTALL))
    reader.close()
    return tuple(reader.found)


def origin_of(page: str) -> Mapping[str, object]:
    """What a page says of its record and of its making.

    Raises:
        ValueError: nothing that can be read.
    """
    found = _ORIGIN.search(page)
    try:
        said = json.loads(found[1]) if found is not None else None
    except RecursionError:
        said = None
    if not isinstance(said, dict):
        raise ValueError("the page does not say what it was made of")  # noqa: TRY004 -- of a text, not of a call
    return said

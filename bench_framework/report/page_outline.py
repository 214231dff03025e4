"""What a page holds beside its sentences: head, contents, rows, drawn labels, and whatever acts, loads or hides."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

_HTML: Final = frozenset({
    "a", "aside", "b", "body", "caption", "code", "data", "dd", "details", "div", "dl", "dt", "figcaption", "figure",
    "h1", "h2", "h3", "head", "header", "html", "li", "main", "meta", "nav", "ol", "p", "pre", "script", "section",
    "span", "style", "summary", "svg", "table", "tbody", "td", "th", "thead", "title", "tr", "ul",
})  # fmt: skip
_SVG: Final = frozenset({
    "clippath", "defs", "desc", "g", "path", "pattern", "rect", "text", "title", "tspan", "use",
})  # fmt: skip
_HTML_SAID: Final = frozenset({
    "aria-hidden", "aria-label", "aria-labelledby", "charset", "class", "content", "data-claim", "data-sortable",
    "download", "href", "http-equiv", "id", "lang", "name", "role", "scope", "tabindex", "type", "value",
})  # fmt: skip
_SVG_SAID: Final = frozenset({
    "aria-labelledby", "class", "clip-path", "d", "font-family", "height", "href", "id", "patternunits", "role",
    "stroke-linejoin", "style", "transform", "viewbox", "width", "x", "xmlns", "y",
})  # fmt: skip
_OFF_PAGE: Final = frozenset({"skip", "theme", "tools", "contents"})
"""Classes that the style moves off the page or keeps from paper, with the elements that may have them."""
_THEIRS: Final = frozenset({("a", "skip"), ("nav", "contents")})
_ADDRESS: Final = re.compile(r"#[^\s]*|data:text/csv[^\s]*|(?!/)[^\s:?#]+(?:#[^\s]*)?")
"""Within the page, the download of its runs, or a file beside it."""
_HIDING: Final = re.compile(
    r"\b(?:display|visibility|font-size\s*:\s*0\b)|(?<!-)opacity\s*:\s*0(?!\.[1-9])|url\((?!#)"
)
_MOST: Final = 5


@dataclass(slots=True)
class ReadCell:
    """A cell of a table: as shown, with the verdict of its class and the claims that stand in it."""

    text: str
    verdict: str | None
    claims: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Outline:
    """What was read of a page.

    Attributes:
        title: of the window.
        heading: texts of the ``h1`` elements.
        status: class and text of each pill.
        contents: address and title of each entry of the contents.
        sections: id and heading of each section.
        rows: cells of every row of every table's body.
        drawn: texts of the drawings.
        policies: the content security policies.
        styles: texts of the style elements.
        scripts: id and text of the script elements; no id for those that run.
        strange: what no page of benchctl's holds, one line each.
    """

    title: str = ""
    heading: list[str] = field(default_factory=list)
    status: list[tuple[str, str]] = field(default_factory=list)
    contents: list[tuple[str, str]] = field(default_factory=list)
    sections: list[tuple[str, str]] = field(default_factory=list)
    rows: list[list[ReadCell]] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    scripts: list[tuple[str, str]] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """One pass over a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Outline()
        self._svg = False
        self._section = ""
        self._body = self._contents = False
        self._texts: list[str] = []
        self._said: dict[str, str] = {}
        self._cell: ReadCell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self._judge(tag, said, len(attrs))
        self._svg = self._svg or tag == "svg"
        if tag in {"td", "th", "tr"} or (tag == "div" and self._cell):
            self._end_cell()
        if tag == "tbody":
            self._body = True
        elif tag == "tr" and self._body:
            self.found.rows.append([])
        elif tag in {"td", "th"} and self._body and self.found.rows:
            verdicts = [c[2:] for c in said.get("class", "").split() if c.startswith("v-")]
            self._cell = ReadCell("", next(iter(verdicts), None))
        elif tag == "meta" and "http-equiv" in said:
            self.found.policies.append(said.get("content", ""))
        if self._cell is not None and "data-claim" in said:
            self._cell.claims.append(said["data-claim"])
        if tag == "nav":
            self._contents = True
        elif tag == "section":
            self._section = said.get("id", "")
        self._said, self._texts = said, []

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._texts)
        match tag:
            case "svg":
                self._svg = False
            case "tbody":
                self._end_cell()
                self._body = False
            case "title" if not self._svg:
                self.found.title += text
            case "text":
                self.found.drawn.append(text)
            case "h1":
                self.found.heading.append(text)
            case "h2":
                self.found.sections.append((self._section, text))
            case "span" if "pill" in self._said.get("class", "").split():
                self.found.status.append((self._said["class"], text))
            case "a" if self._contents:
                self.found.contents.append((self._said.get("href", "")[1:], text))
            case "nav":
                self._contents = False
            case "style":
                self.found.styles.append(text)
            case "script":
                self.found.scripts.append((self._said.get("id", ""), text))
            case _:
                return
        self._texts = []

    def handle_data(self, data: str) -> None:
        self._texts.append(data)
        if self._cell is not None:
            self._cell.text += data

    def _end_cell(self) -> None:
        if self._cell is not None:
            self._cell.text = self._cell.text.strip("\u2007\u2008 \n")
            self.found.rows[-1].append(self._cell)
        self._cell = None

    def _judge(self, tag: str, said: dict[str, str], count: int) -> None:
        """Note what acts, loads or hides."""
        elements, names = (_SVG, _SVG_SAID) if self._svg else (_HTML, _HTML_SAID)
        if tag not in elements:
            self._note(f"an element “{tag}”")
        if count != len(said):
            self._note(f"an attribute twice in “{tag}”")
        for name in sorted(said.keys() - (_SVG_SAID if tag == "svg" else names)):
            self._note(f"an attribute “{name}” of “{tag}”")
        if "href" in said and not _ADDRESS.fullmatch(said["href"]):
            self._note(f"a link to “{said['href'][:80]}”")
        if tag == "meta" and said.get("http-equiv", "Content-Security-Policy") != "Content-Security-Policy":
            self._note(f"a header “{said['http-equiv'][:80]}”")
        if _HIDING.search(said.get("style", "")):
            self._note(f"a style “{said['style'][:80]}”")
        for name in sorted(set(said.get("class", "").split()) & _OFF_PAGE):
            if (tag, name) not in _THEIRS:
                self._note(f"a “{tag}” of class “{name}”")

    def _note(self, what: str) -> None:
        if len(self.found.strange) < _MOST and what not in self.found.strange:
            self.found.strange.append(what)


def outline(page: str) -> Outline:
    """The outline of a page; what is no HTML of benchctl's is named in `strange`."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    found = reader.found
    # Comments and the like can hide what stands in them; a page has one declaration, its first.
    if page.count("<!") > 1 or "<?" in page:
        found.strange.append("a comment or declaration")
    return found

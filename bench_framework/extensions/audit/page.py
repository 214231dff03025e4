"""The contents of a Markdown page: sentences, tables, and the numbers with units that it states."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from markdown_it import MarkdownIt

from bench_framework.model.record.sessions import Series
from bench_framework.units import DURATION_UNITS, PER_SECOND, SIZE_UNITS

_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")
_BLOCKS: Final = MarkdownIt("commonmark").enable("table").disable("inline")
_MARKUP: Final = re.compile(r"[\\`*_\[\]<&]|  \n")
MOST_CHARACTERS: Final = 2000
"""Length of a sentence or cell. Longer ones are lists of numbers or generated text."""
_RUNS: Final = re.compile(
    r"\b(?:(\d+)[- ](?:runs?|samples|repetitions|measurements|rounds)|n\s*=\s*(\d+)|average of (\d+)"
    r"|(?:ran|run|repeated|measured|executed)\b[^.]{0,30}?\b(\d+) times|(?:single|one) run"
    r"|(?:ran|run|measured|executed) (?:only |just )?once(?! (?:more|again|per)))\b",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(
    r"((?<!\bvs\.)(?<!e\.g\.)(?<!i\.e\.)(?<!approx\.)(?<!etc\.)(?<=[\w)%\"'’”][.!?])\s+(?=\S)|\n)"
)
_BREAK: Final = re.compile("[\x1f\n]")
"""A line end. U+001F replaces one within a sentence, so that lines can be counted."""
_LABEL: Final = re.compile(r"([^:=]{1,80}?)\s*(?::|=|\btakes\b|\btook\b)")
_SPREAD: Final = re.compile(r"(?:±|σ|s\.?d\.?|std.*|standard deviation.*)$", re.IGNORECASE)
_COUNT: Final = re.compile(r"(?:n|runs|samples|repetitions|rounds)$", re.IGNORECASE)
_SIZE: Final = re.compile(
    r"\W*(?:(?:file|input|data(?:set)?) )?"
    r"(?:n|size|rows|items|elements|files|length|input|records|lines)\W*$",
    re.IGNORECASE,
)
_FURTHER: Final = re.compile(
    r"\b(?:min|max|median|p\d+|user|sys(?:tem)?|best|worst|fastest|slowest|std\w*|deviation)\b",
    re.IGNORECASE,
)
_RATIO_COLUMN: Final = re.compile(r"\b(?:relative|ratio|speed-?up|factor)\b|[×÷]", re.IGNORECASE)

RATIOS: Final = ("ratio", "percent")
"""Kinds of quantities that compare two others."""
_TIMES: Final = (
    {unit: DURATION_UNITS[unit] for unit in PER_SECOND}
    | dict.fromkeys(("sec", "secs", "second", "seconds"), 1.0)
    | dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0)
)
_SIZES: Final = {**SIZE_UNITS, "bytes": 1}
_PER: Final = ("/s", "/sec", "/second")
_UNITS: Final[dict[str, tuple[str, float]]] = {
    "%": ("percent", 0.01),
    **dict.fromkeys(("x", "×", "times"), ("ratio", 1.0)),
    **{name: ("time", scale) for name, scale in _TIMES.items()},
    **{name: ("size", float(scale)) for name, scale in _SIZES.items()},
    **{name + per: ("rate", float(size)) for name, size in _SIZES.items() for per in (*_PER, "ps")},
}
"""Kind of each unit, and the factor to seconds, bytes, bytes per second or fractions."""
_THINGS: Final = r"[kKMG]?ops|req|requests|queries|lines|items|rows|messages|tokens|events"
_NAMES: Final = "|".join(name for name, (kind, _) in _UNITS.items() if kind not in RATIOS)
_UNIT: Final = (
    r"%|[x×](?=\W|$)|times (?=as\b|the\b|\w+er\b|more\b|less\b)"
    rf"|(?:{_NAMES}|(?i:(?:{_THINGS})(?:{'|'.join(_PER)})))(?![\w/])"
)
_NUMBER: Final = r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_ROUGHLY: Final = (
    r"[~≈<>≤≥]\s?|(?i:about|around|roughly|nearly|almost|approximately|over|up to|at least|at most"
    r"|more than|less than|under|within)\s+[~≈]?"
)
_QUANTITY: Final = re.compile(
    rf"(?<![\w.*/$#,-])(?P<about>{_ROUGHLY})?(?P<sign>[+\-−])?(?P<lo>{_NUMBER})"
    rf"(?:\s?(?:{_UNIT})?\s?[-–—]\s?(?P<hi>{_NUMBER})|\s?to\s(?P<end>{_NUMBER}))?"
    rf"(?:\s?(?P<first>{_UNIT})?\s?(?:±|\+/-)\s?(?P<sd>{_NUMBER}))?\s?(?P<unit>{_UNIT})"
)
_WORDS: Final = dict(
    zip("two three four five six seven eight nine ten".split(), range(2, 11), strict=True),  # noqa: SIM905 -- a list of words
    twice=2,
)
_IN_WORDS: Final = re.compile(
    rf"\b(?:twice(?= as)|(?:{'|'.join(_WORDS)})(?= times (?:as|\w+er|more|less)\b))", re.IGNORECASE
)
_UNIT_OF_TITLE: Final = re.compile(rf"\s*(?:[(\[].*|,\s*(?:{_UNIT})\s*$)")
"""The unit in the title of a column, such as ``SD [ms]`` and ``SD, ms``."""
_HEADER_UNIT: Final = re.compile(rf"(?:^|[\s(\[,])(?P<unit>{_UNIT})(?=[\s)\],]|$)")
BARE: Final = re.compile(rf"\s*({_NUMBER})(?:\s*(?:±|\+/-)\s*(?:{_NUMBER}))?\s*")
"""A number without a unit, perhaps with a spread."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A number with its unit in a text.

    Times are in seconds, sizes in bytes, rates per second, percentages are fractions. `lo` and
    `hi` are the values that round to the printed number, or the ends of a printed range.
    """

    kind: str
    value: float
    lo: float
    hi: float
    text: str
    start: int = 0
    end: int = 0
    sign: int = 0
    about: str = ""
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """One sentence, list item, table cell or heading, without markup.

    `group` is the number of its list or table, 0 for a paragraph. `lead` is the label of its row,
    or the line above its list. `column` is the title of its column.
    """

    line: int
    text: str
    headings: tuple[str, ...]
    group: int = 0
    lead: str = ""
    column: str = ""
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """A measured time, rate or size with its label.

    `size` is the amount of input, and `series` the runs of the data that belong to it.
    """

    label: str
    quantity: Reading
    line: int
    group: int
    headings: tuple[str, ...]
    column: str = ""
    row: str = ""
    n: int | None = None
    size: float | None = None
    series: Series | None = None


@dataclass(slots=True)
class Page:
    """A page, in the order of its lines.

    `tables` are the groups that are tables, `code` the blocks of code with their lines, and `prose`
    is the text without code.
    """

    texts: list[Passage] = field(default_factory=list)
    figures: list[Number] = field(default_factory=list)
    tables: set[int] = field(default_factory=set)
    code: list[tuple[int, str]] = field(default_factory=list)
    prose: str = ""


def read_page(source: str) -> Page:
    """Parse a page of CommonMark with tables."""
    page, titles, prose = Page(), dict[int, str](), list[str]()
    lead, group, depth, level, line = "", 0, 0, 0, 0
    rows: list[tuple[int, list[str]]] = []
    env: dict[str, Any] = {}
    # Texts without markup, which are most cells, need no parser.
    for token in _BLOCKS.parse(source, env):
        line = token.map[0] + 1 if token.map else line
        headings = tuple(titles.values())
        if token.type.endswith("list_open"):
            group += depth == 0
            depth += 1
        elif token.type.endswith("list_close"):
            depth -= 1
        elif token.type.startswith("heading"):
            level = int(token.tag[1]) if token.nesting > 0 else 0
        elif token.type == "tr_open":
            rows.append((line, []))
        elif token.type == "table_close":
            group += 1
            page.tables.add(group)
            _read_table(page, rows, headings, group)
            rows = []
        elif token.type in ("fence", "code_block"):
            page.code.append((line, token.content))
        elif token.type == "inline":
            text = _plain(token.content, env)
            prose.append(text)
            if rows:
                rows[-1][1].append(text[:MOST_CHARACTERS])
                continue
            if level:
                titles = {at: title for at, title in titles.items() if at < level}
                titles[level] = text[:MOST_CHARACTERS]
                page.texts.append(Passage(line, titles[level], (*titles.values(),), heading=True))
            for at, sentence in () if level else _sentences(text, line):
                page.texts.append(Passage(at, sentence, headings, group if depth else 0, lead))
                _read_figure(page, page.texts[-1])
            if not depth:
                lead = text.rstrip(":") if text.endswith(":") and not level else ""
    page.prose = "\n".join(prose)
    _add_runs(page)
    return page


def _add_runs(page: Page) -> None:
    """Give the one number of runs that a section, else the page, states to the figures without a number."""
    stated: dict[tuple[str, ...] | None, set[int]] = defaultdict(set)
    for text in page.texts:
        if n := _runs_in((text.text,)):
            stated[text.headings].add(n)
            stated[None].add(n)
    for at, f in enumerate(page.figures):
        numbers = stated.get(f.headings) or stated[None]
        if f.n is None and len(numbers) == 1:
            page.figures[at] = replace(f, n=min(numbers))


def _plain(content: str, env: dict[str, Any]) -> str:
    """Return a text without markup and images."""
    if not _MARKUP.search(content):
        return re.sub(r" ?\n *", "\x1f", content) if "\n" in content else content
    children = _MARKDOWN.parseInline(content, env)[0].children or ()
    breaks = {"softbreak": "\x1f", "hardbreak": "\n", "image": ""}
    return "".join(breaks.get(child.type, child.content) for child in children)


def _sentences(text: str, line: int) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a paragraph with their lines."""
    for number, part in enumerate(_SENTENCE_END.split(text)):
        if number % 2 == 0 and part.strip() and len(part) <= MOST_CHARACTERS:
            yield line, part.replace("\x1f", " ").strip()
        line += len(_BREAK.findall(part))


def _read_table(
    page: Page, rows: list[tuple[int, list[str]]], headings: tuple[str, ...], group: int
) -> None:
    """Add the figures of a table, and its other cells as texts."""
    (_, head), *body = rows
    names = [_UNIT_OF_TITLE.sub("", title.strip()) for title in head]
    figures = {
        (line, at): quantity
        for line, cells in body
        for at, cell in enumerate(cells)
        if at
        and (quantity := whole_quantity(cell, head[at]))
        and quantity.kind not in RATIOS
        and not _SPREAD.match(names[at])
        and not (quantity.kind == "size" and _SIZE.match(names[at]))
    }
    measured = {at for _, at in figures}
    main = {at for at in measured if not _FURTHER.search(head[at])} or measured
    ratios = {at for at, title in enumerate(head) if _RATIO_COLUMN.search(title)}
    roles = {role: at for at, name in enumerate(names) if (role := _role(name, at))}
    sizes = [_size_in(cells[roles[_SIZE]], "size") if _SIZE in roles else None for _, cells in body]
    # Each row is an input of another size, so the columns are the programs.
    distinct = len({cells[0] for _, cells in body}) == len({*sizes}) == len(body)
    for (line, cells), input_size in zip(body, sizes, strict=True):
        first = cells[0]
        given = {role: cells[at] for role, at in roles.items()}
        size = input_size or _size_in(first, head[0]) or _nearest(headings)
        stated = given.get(_COUNT, "")
        n = int(stated[:9]) if stated.isdecimal() else _runs_in((*headings[::-1], first))
        for at, cell in list(enumerate(cells))[1:]:
            title, text, quantity = head[at], cell, figures.get((line, at))
            if quantity is None:
                bare = BARE.fullmatch(cell) if at in ratios else None
                text = f"{bare[1]}x" if bare else cell
            elif at in main:
                text = cell.strip()[quantity.end :].strip("*() ")
                if quantity.sd is None and (sd := whole_quantity(given.get(_SPREAD, ""), title)):
                    quantity = replace(quantity, sd=sd.value)
                label = f"{first}, {names[at]}" if len(measured) > 1 else first
                row = names[at] if input_size and distinct else first
                where = (line, group, headings, title, row, n, _size_in(title) or size)
                page.figures.append(Number(label, quantity, *where))
            if quantity is None or (text and at in main):
                page.texts.append(Passage(line, text, headings, group, first, title))


def _role(name: str, at: int) -> re.Pattern[str] | None:
    """Return the pattern of a column that describes the others: spread, number of runs or input size.

    The title `n` is that of input sizes in the first column, and of runs in the others.
    """
    patterns = (_SPREAD, _COUNT, _SIZE) if at else (_SPREAD, _SIZE, _COUNT)
    return next((pattern for pattern in patterns if pattern.match(name)), None)


def _read_figure(page: Page, text: Passage) -> None:
    """Add the figure of a line such as "smol: 177 ms ± 8 ms"."""
    first = next(iter(quantities(text.text)), None)
    if first is None or first.kind in RATIOS or first.sign:
        return
    if match := _LABEL.fullmatch(text.text[: first.start].strip()):
        row = text.lead if text.group else ""
        label, column = f"{row} {match[1]}".strip(), match[1] if row else ""
        n, size = _runs_in((text.text, text.lead, *text.headings[::-1])), _nearest(text.headings)
        where = (text.line, text.group, text.headings, column, row or label, n, size)
        page.figures.append(Number(label, first, *where))


@lru_cache(maxsize=65536)
def _runs_in(texts: tuple[str, ...]) -> int | None:
    """Return the first number of runs that one of the texts states."""
    match = next(filter(None, map(_RUNS.search, texts)), None)
    return int(match[match.lastindex][:9] if match.lastindex else 1) if match else None


@lru_cache(maxsize=65536)
def _size_in(text: str, title: str | None = None) -> float | None:
    """Return an amount of input; with a title such as "rows", the whole text must be one."""
    for quantity in quantities(text):
        if quantity.kind == "size" and (title is None or quantity.text == text.strip()):
            return quantity.value
    match = re.fullmatch(r"\s*(\d[\d,_]{0,17})\s*([kKM]?)\s*", text)
    if match and title and _SIZE.match(_UNIT_OF_TITLE.sub("", title)):
        return float(re.sub(r"\D", "", match[1])) * {"": 1, "M": 1e6}.get(match[2], 1e3)
    return None


def _nearest(headings: Sequence[str]) -> float | None:
    return next(filter(None, map(_size_in, reversed(headings))), None)


@lru_cache(maxsize=65536)
def quantities(text: str) -> tuple[Reading, ...]:
    """Return the numbers with units of a text, and factors in words such as "twice"."""
    listed: list[Reading] = []
    for match in _IN_WORDS.finditer(text):
        value = float(_WORDS[match[0].lower()])
        listed.append(Reading("ratio", value, value - 0.5, value + 0.5, match[0], *match.span()))
    for match in _QUANTITY.finditer(text):
        low, end = match["lo"], match["end"]
        separate = text[: match.start("lo")].lower().endswith("from ")
        if end and (separate or _number(end) < _number(low)):
            listed.append(replace(_quantity(match, low, low), end=match.end("lo")))
            listed.append(replace(_quantity(match, end, end), start=match.start("end")))
        else:
            listed.append(_quantity(match, low, match["hi"] or end or low))
    return tuple(listed)


def whole_quantity(cell: str, title: str) -> Reading | None:
    """Return the quantity that a table cell consists of, perhaps with a unit from its title."""
    text = cell.strip().strip("*")
    match = _QUANTITY.match(text)
    if match and not re.sub(r"\(.*?\)|[✅❌*\s]", "", text[match.end() :]):
        return quantities(text)[0]
    unit = _HEADER_UNIT.search(title) if BARE.fullmatch(text) else None
    return next(iter(quantities(f"{text} {unit['unit']}")), None) if unit else None


def _number(digits: str) -> float:
    return float(digits.replace(",", ""))


def _quantity(match: re.Match[str], low: str, high: str) -> Reading:
    kind, scale = _scale(match["first"] or match["unit"])
    half = 10.0 ** -len(low.partition(".")[2]) / 2
    ends = sorted((_number(low), _number(high)))
    return Reading(
        kind,
        sum(ends) / 2 * scale,
        (ends[0] - half) * scale,
        (ends[1] + half) * scale,
        match[0].strip(),
        *match.span(),
        {"+": 1, "-": -1, "−": -1}.get(match["sign"], 0),
        (match["about"] or "").strip().lower(),
        _number(match["sd"]) * _scale(match["unit"])[1] if match["sd"] else None,
    )


def _scale(unit: str) -> tuple[str, float]:
    return _UNITS.get(unit.strip()) or (unit.lower().partition("/")[0] + "/s", 1.0)

"""Numbers with units in a text: times, sizes, rates, factors and percentages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.units import parse_duration, parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBER: Final = r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_THINGS: Final = r"[kKMG]?ops|req|requests|queries|lines|items|rows|messages|tokens|events"
_UNIT: Final = (
    r"%|[x×](?=\W|$)|times (?=as\b|the\b|\w+er\b|more\b|less\b)|(?:ns|us|µs|μs|ms|seconds?|secs?|s|minutes?|mins?"
    rf"|(?:[KMGT]iB|[kKMGT]B|B|bytes)(?:/s(?:ec(?:ond)?)?|ps)?|(?i:(?:{_THINGS})/s(?:ec(?:ond)?)?))"
    r"(?![\w/])"
)
_ROUGHLY: Final = (
    r"[~≈<>≤≥]\s?|(?i:about|around|roughly|nearly|almost|approximately|over|up to|at least|at most"
    r"|more than|less than|under|within)\s+[~≈]?"
)
_QUANTITY: Final = re.compile(
    rf"(?<![\w.*/$#,-])(?P<about>{_ROUGHLY})?(?P<sign>[+\-−])?(?P<lo>{_NUMBER})"
    rf"(?:\s?(?:{_UNIT})?\s?[-–—]\s?(?P<hi>{_NUMBER})|\s?to\s(?P<end>{_NUMBER}))?"
    rf"(?:\s?(?P<first>{_UNIT})?\s?(?:±|\+/-)\s?(?P<sd>{_NUMBER}))?\s?(?P<unit>{_UNIT})"
)
_WORDS: Final = {
    word: number
    for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)  # noqa: SIM905 -- a list of words
} | {"twice": 2}
_IN_WORDS: Final = re.compile(
    rf"\b(?P<word>twice(?= as)|(?:{'|'.join(_WORDS)})(?= times (?:as|\w+er|more|less)\b))",
    re.IGNORECASE,
)
_HEADER_UNIT: Final = re.compile(rf"(?:^|[\s(\[,])(?P<unit>{_UNIT})(?=[\s)\],]|$)")
_BARE: Final = re.compile(rf"\s*(?P<lo>{_NUMBER})(?:\s*(?:±|\+/-)\s*(?P<sd>{_NUMBER}))?\s*")
RATIOS: Final = ("ratio", "percent")
"""Kinds of quantities that compare two others."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit in a text.

    Times are in seconds, sizes in bytes, rates per second, percentages are fractions. `lo` and
    `hi` are the values that round to the printed number, or the ends of a printed range.
    """

    kind: str
    value: float
    lo: float
    hi: float
    text: str
    start: int
    end: int
    sign: int = 0
    about: str = ""
    sd: float | None = None


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers with units of a text, and factors in words such as "twice"."""
    for match in _IN_WORDS.finditer(text):
        value = float(_WORDS[match["word"].lower()])
        place = (match[0].strip(), match.start(), match.end())
        yield Quantity("ratio", value, value - 0.5, value + 0.5, *place)
    for match in _QUANTITY.finditer(text):
        end = match["end"]
        if end and (
            text[: match.start("lo")].lower().endswith("from ")
            or _number(end) < _number(match["lo"])
        ):
            yield _quantity(match, match["lo"], None, end=match.end("lo"))
            yield _quantity(match, end, None, start=match.start("end"))
        else:
            yield _quantity(match, match["lo"], match["hi"] or end)


def whole_quantity(cell: str, title: str) -> Quantity | None:
    """Return the quantity that a table cell consists of, perhaps with a unit from its title."""
    text = cell.strip().strip("*")
    match = _QUANTITY.match(text)
    if match and not re.sub(r"\(.*?\)|[✅❌*\s]", "", text[match.end() :]):
        return next(quantities(text))
    unit, bare = _HEADER_UNIT.search(title), _BARE.fullmatch(text)
    if unit is None or bare is None:
        return None
    return next(quantities(f"{text} {unit['unit']}"), None)


def bare_number(cell: str) -> str | None:
    """Return the number of a table cell that has no unit, perhaps with a spread."""
    match = _BARE.fullmatch(cell)
    return match["lo"] if match else None


def _number(digits: str) -> float:
    return float(digits.replace(",", ""))


def _quantity(
    match: re.Match[str], low: str, high: str | None, *, start: int = -1, end: int = -1
) -> Quantity:
    kind, scale = _scale(match["first"] or match["unit"])
    step = 10.0 ** -len(low.partition(".")[2])
    value, top = _number(low), _number(high) if high else _number(low)
    about = (match["about"] or "").strip().lower()
    return Quantity(
        kind,
        (value + top) / 2 * scale,
        (min(value, top) - step / 2) * scale,
        (max(value, top) + step / 2) * scale,
        match[0].strip(),
        match.start() if start < 0 else start,
        match.end() if end < 0 else end,
        {"+": 1, "-": -1, "−": -1}.get(match["sign"] or "", 0),
        about,
        _number(match["sd"]) * _scale(match["unit"])[1] if match["sd"] else None,
    )


def _scale(unit: str) -> tuple[str, float]:
    """Return the kind of a unit, and the factor to seconds, bytes or fractions."""
    if unit == "%":
        return "percent", 0.01
    if unit.strip() in ("x", "×", "times"):
        return "ratio", 1.0
    name, _, per = unit.partition("/")
    if not per and name.endswith("ps") and name[0] in "kKMGTB" and "op" not in name.lower():
        name, per = name[:-2], "s"
    if re.fullmatch(_THINGS, name, re.IGNORECASE):
        return f"{name.lower()}/s", 1.0
    if name.startswith("byte"):
        name = "B"
    try:
        return ("rate" if per else "size"), float(parse_size(f"1{name}"))
    except ValueError:
        if name.lower() == "ns":
            return "time", 1e-9
        short = {"se": "s", "mi": "min"}.get(name[:2].lower(), name.replace("μ", "µ"))
        return "time", parse_duration(f"1{short}")

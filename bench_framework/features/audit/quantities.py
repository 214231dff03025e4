"""Numbers with units in a text: times, sizes, rates, factors and percentages."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from bench_framework.units import SIZE_UNITS

RATIOS: Final = ("ratio", "percent")
"""Kinds of quantities that compare two others."""
_TIMES: Final = (
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3}
    | dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0)
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
_HEADER_UNIT: Final = re.compile(rf"(?:^|[\s(\[,])(?P<unit>{_UNIT})(?=[\s)\],]|$)")
BARE: Final = re.compile(rf"\s*({_NUMBER})(?:\s*(?:±|\+/-)\s*(?:{_NUMBER}))?\s*")
"""A number without a unit, perhaps with a spread."""


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
    start: int = 0
    end: int = 0
    sign: int = 0
    about: str = ""
    sd: float | None = None


@lru_cache(maxsize=65536)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers with units of a text, and factors in words such as "twice"."""
    listed: list[Quantity] = []
    for match in _IN_WORDS.finditer(text):
        value = float(_WORDS[match[0].lower()])
        listed.append(Quantity("ratio", value, value - 0.5, value + 0.5, match[0], *match.span()))
    for match in _QUANTITY.finditer(text):
        low, end = match["lo"], match["end"]
        separate = text[: match.start("lo")].lower().endswith("from ")
        if end and (separate or _number(end) < _number(low)):
            listed.append(replace(_quantity(match, low, low), end=match.end("lo")))
            listed.append(replace(_quantity(match, end, end), start=match.start("end")))
        else:
            listed.append(_quantity(match, low, match["hi"] or end or low))
    return tuple(listed)


def whole_quantity(cell: str, title: str) -> Quantity | None:
    """Return the quantity that a table cell consists of, perhaps with a unit from its title."""
    text = cell.strip().strip("*")
    match = _QUANTITY.match(text)
    if match and not re.sub(r"\(.*?\)|[✅❌*\s]", "", text[match.end() :]):
        return quantities(text)[0]
    unit = _HEADER_UNIT.search(title) if BARE.fullmatch(text) else None
    return next(iter(quantities(f"{text} {unit['unit']}")), None) if unit else None


def _number(digits: str) -> float:
    return float(digits.replace(",", ""))


def _quantity(match: re.Match[str], low: str, high: str) -> Quantity:
    kind, scale = _scale(match["first"] or match["unit"])
    half = 10.0 ** -len(low.partition(".")[2]) / 2
    ends = sorted((_number(low), _number(high)))
    return Quantity(
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

"""The words of reasons and phrases, from the files in `FILES`."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import AnyCode, Phrase, PhraseCode
from bench_framework.model.reasons import Difference, Part, Reason, ReasonCode
from bench_framework.model.verdict import Interval
from bench_framework.text.builds import condition
from bench_framework.text.differences import signed_amount
from bench_framework.text.names import listed
from bench_framework.text.numbers import (
    fixed,
    format_clock,
    format_percent,
    format_size,
    percent_up,
    shortest,
)
from bench_framework.text.words import LOADS, noun
from bench_framework.units import counted


def _change(ratio: Interval) -> str:
    """Return a change from 1 with its interval, such as ``−1.8 % [−6.5, +3.2]``."""
    change = signed_amount(*ratio.figures, 0.0, keep=False)
    return f"{change.estimate}{'×' if change.times else ''} {change.bounds}"


def _factor_and_change(ratio: float) -> str:
    """Return a ratio as a factor above 1 and as a change, such as ``1.25 (−20 %)``."""
    sign = "+" if ratio >= 1 else ""
    return f"{shortest(max(ratio, 1 / ratio), 3)} ({sign}{format_percent(ratio - 1, digits=3)})"


FILES: Final[Sequence[tuple[type[AnyCode], Path]]] = tuple(
    (kind, Path(__file__).with_name(name))
    for kind, name in (
        (ReasonCode, "reasons.toml"),
        (PhraseCode, "phrases.toml"),
        (FaultCode, "faults.toml"),
        (ExtensionCode, "extension_phrases.toml"),
    )
)
FORMATS: Final[Mapping[str, Callable[[Any], str]]] = {
    "": str,
    "metric": noun,
    "load": LOADS.__getitem__,
    "percent": format_percent,
    "tenths": partial(format_percent, decimals=1),
    "whole": partial(format_percent, decimals=0),
    "fine": partial(format_percent, digits=2),
    "up": percent_up,
    "level": partial(format_percent, digits=4),
    "three": partial(format_percent, digits=3),
    "change": _change,
    "both": _factor_and_change,
    "hundredths": partial(fixed, decimals=2),
    "thousandths": partial(fixed, decimals=3),
    "number": shortest,
    "rough": partial(shortest, digits=2),
    "size": format_size,
    "rate": lambda rate: f"{fixed(rate / 1e9, 2)} GB/s",
    "clock": format_clock,
    "interrupts": partial(counted, noun="interrupt"),
    "benchmarks": partial(counted, noun="benchmark"),
    "earlier": partial(counted, noun="earlier record"),
    "further": partial(counted, noun="further run"),
    "hosts": partial(counted, noun="host"),
    "samples": partial(counted, noun="sample"),
    "runs": partial(counted, noun="run"),
    "rounds": partial(counted, noun="round"),
    "measurements": partial(counted, noun="measurement"),
    "steps": partial(counted, noun="step"),
    "completed": partial(counted, noun="completed round"),
    "commits": partial(counted, noun="commit"),
    "crates": partial(counted, noun="crate"),
    "comparisons": partial(counted, noun="comparison"),
    "budgets": partial(counted, noun="budget"),
    "configurations": partial(counted, noun="configuration"),
    "gated": partial(counted, noun="gated configuration"),
    "ungated": partial(counted, noun="ungated configuration"),
}
"""The formats of numbers in phrases."""
_OF_NAMES: Final = {"metric", "load"}
"""The formats that replace a name."""
_OR: Final = "or "
"""Prefix of a text in place of an empty part."""


@cache
def phrases() -> Mapping[AnyCode, str]:
    """Return the phrase of each code. Raises `KeyError`: a file has an unknown code."""
    texts: dict[AnyCode, str] = {}
    for kind, file in FILES:
        rows = tomllib.loads(file.read_text(encoding="utf-8"))
        texts |= {kind[code.upper().replace("-", "_")]: text for code, text in rows.items()}
    return texts


class _Part:
    """A part of a reason: a number in the format of the phrase, the phrase of a reason, or a text as it is."""

    def __init__(self, value: Part | Phrase) -> None:
        self._value = value

    def __format__(self, name: str) -> str:
        if isinstance(self._value, Reason | Phrase):
            return phrase(self._value)
        if isinstance(self._value, Difference):
            return condition(self._value)
        if name.startswith(_OR):
            return str(self._value) or name.removeprefix(_OR)
        is_text = isinstance(self._value, str) and name not in _OF_NAMES
        return str(self._value) if is_text else FORMATS[name](self._value)


class _All(list[_Part]):
    """All parts of a reason. Their format is the separator, or `names` for a list with a limit."""

    def __format__(self, separator: str) -> str:
        texts = map(format, self)
        return listed(texts) if separator == "names" else separator.join(texts)


def phrase(reason: Reason | Phrase | None) -> str:
    """Return a reason in lower case without a full stop; empty without one."""
    if reason is None:
        return ""
    text = phrases()[reason.code]
    place = reason.place if isinstance(reason, Reason) else ""
    if place and "{place}" not in text:
        text = f"{{place}}: {text}"
    details = reason.detail if isinstance(reason.detail, tuple) else (reason.detail,)
    parts = _All(map(_Part, details))
    return text.format(*parts, all=parts, place=place)


def phrase_of(code: AnyCode, *details: Part | Phrase) -> str:
    """Return a phrase that is stored or printed as text."""
    return phrase(Phrase(code, details))

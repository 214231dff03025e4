"""Glyph and words of each verdict (REPORTS 1.3). Shape and letter carry it, colour never alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench_framework.model.metrics import METRICS, WALL
from bench_framework.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Words:
    """How a verdict is shown: glyph, its ASCII form, the word for time and the one for memory."""

    glyph: str
    ascii: str
    time: str
    memory: str
    meaning: str
    """One line for the glossary; ``{margin}`` stands for the scenario's margin."""


WORDS: Final[dict[Verdict, Words]] = {
    Verdict.BETTER: Words(
        "▼",
        "v",
        "faster",
        "less memory",
        "decided, and the whole interval lies below 1 by more than {margin}",
    ),
    Verdict.BETTER_SIZE_UNCERTAIN: Words(
        "▽",
        "v?",
        "faster, size uncertain",
        "less memory, size uncertain",
        "decided, perhaps by less than {margin}",
    ),
    Verdict.EQUIVALENT: Words(
        "≡", "~", "equivalent", "equivalent", "shown to differ by less than {margin}, either way"
    ),
    Verdict.INCONCLUSIVE: Words("?", "?", "inconclusive", "inconclusive", "the runs do not decide"),
    Verdict.WORSE_SIZE_UNCERTAIN: Words(
        "△",
        "^?",
        "slower, size uncertain",
        "more memory, size uncertain",
        "decided, perhaps by less than {margin}",
    ),
    Verdict.WORSE: Words(
        "▲",
        "^",
        "slower",
        "more memory",
        "decided, and the whole interval lies above 1 by more than {margin}",
    ),
    Verdict.SINGLE_RUN: Words(
        "·1", ".1", "single run", "single run", "one run: a value, no verdict"
    ),
    Verdict.OTHER_OUTPUT: Words(
        "≠",
        "!=",
        "other output",
        "other output",
        "prints another result than the baseline: not compared",
    ),
    Verdict.NOT_COMPARABLE: Words(
        "⊘",
        "/",
        "not comparable",
        "not comparable",
        "measured under other conditions than asked for",
    ),
    Verdict.FAILED: Words("✕", "x", "failed", "failed", "did not finish: nothing is judged"),
    Verdict.EXCLUDED: Words(
        "–", "-", "excluded", "excluded", "not in the plan, by a rule or by this machine"
    ),
}
"""In the order of the glossary."""

_AMOUNTS: Final[dict[Verdict, str]] = {
    Verdict.BETTER: "less {noun}",
    Verdict.BETTER_SIZE_UNCERTAIN: "less {noun}, size uncertain",
    Verdict.WORSE: "more {noun}",
    Verdict.WORSE_SIZE_UNCERTAIN: "more {noun}, size uncertain",
}

_OWN: Final[dict[Verdict, str]] = {
    Verdict.BETTER: "better {noun}",
    Verdict.BETTER_SIZE_UNCERTAIN: "better {noun}, size uncertain",
    Verdict.WORSE: "worse {noun}",
    Verdict.WORSE_SIZE_UNCERTAIN: "worse {noun}, size uncertain",
}
"""Of a metric that a worker or a scenario declares: larger may be better."""


def noun(metric: str) -> str:
    """What a metric measures, in words: ``time``, ``CPU time``, ``memory``."""
    kind = METRICS.get(metric)
    return kind.noun if kind is not None else metric.replace("_", " ")


def glyph(verdict: Verdict, *, unicode: bool = True) -> str:
    """``▼``, or ``v`` where the output cannot show it."""
    words = WORDS[verdict]
    return words.glyph if unicode else words.ascii


def word(verdict: Verdict, metric: str) -> str:
    """The word for a verdict on a metric: ``faster`` for wall time, ``less memory`` for memory."""
    if metric == WALL:
        return WORDS[verdict].time
    kind = METRICS.get(metric)
    if kind is None:
        return _OWN.get(verdict, WORDS[verdict].memory).format(noun=noun(metric))
    if kind.countable and verdict in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN):
        return _AMOUNTS[verdict].replace("less", "fewer").format(noun=noun(metric))
    return _AMOUNTS.get(verdict, WORDS[verdict].memory).format(noun=noun(metric))


def shown(verdict: Verdict, metric: str) -> str:
    """Glyph and word: ``▼ faster``."""
    return f"{glyph(verdict)} {word(verdict, metric)}"


_SIGNS: Final = str.maketrans(
    {
        "\u202f": " ",
        "\u2009": " ",
        "−": "-",
        "×": "x",
        "÷": "/",
        "–": "-",
        "—": "-",
        "→": "->",
        "µ": "u",
        "·": "-",
        "“": '"',
        "”": '"',
        "’": "'",
        "…": "...",
        "∞": "inf",
        "≤": "<=",
        "≥": ">=",
        "θ": "theta",
        "ρ": "rho",
    }
)


def in_ascii(text: str) -> str:
    """A text with every glyph of this table, and every sign of our own sentences, replaced by its ASCII form."""
    for words in WORDS.values():
        if words.glyph not in {"?", "–"}:
            text = text.replace(words.glyph, words.ascii)
    return text.translate(_SIGNS)

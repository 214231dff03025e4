"""Claims as a page carries them: every field of every claim, each word once.

A claim written out is half a kilobyte of names and repeated labels, and a page of two hundred cells has thousands.
So a page holds a table: `fields` names the columns, `shared` holds each word and number that several claims have,
`grounds` what hundreds of them have in common (metric, level, rounds, margin, …), `sentences` each form of sentence
that they take, with ``{s}`` for the subject, ``{r}`` for the reference and ``{}`` for a number or a brace.
`packed` and `unpacked` are each other's inverse, to the last bit.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from bench_framework.model.judgement import Claim
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FORM: Final = 1
"""Version of the table."""
_LITERAL: Final = frozenset({"id", "estimate", "lo", "hi"})
"""Fields that hardly two claims share."""
_GROUND: Final = (
    "kind", "reference", "metric", "scope", "level", "adjust", "rounds", "runs", "margin", "noise_floor",
)  # fmt: skip
"""Fields that claims have in common with their neighbours, all at once."""
_FIELDS: Final = ("ground", *(field.name for field in fields(Claim) if field.name not in _GROUND))
_TEXTS: Final = ("id", "kind", "subject")
_NAMES: Final = ("reference", "metric", "adjust")
_FIGURES: Final = ("estimate", "lo", "hi", "level", "rounds", "runs", "margin", "noise_floor")
_NUMBER: Final = r"[+\u2212-]?\d+(?:\.\d+)?"
_SLOT: Final = re.compile(r"\{[sr]?\}")


class _Words:
    """Values by their number, in the order of their first use."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self._places: dict[str, int] = {}

    def place(self, value: Any) -> int:
        """The number of a value; 1, 1.0 and ``True`` are three values."""
        key = json.dumps(value)
        if key not in self._places:
            self._places[key] = len(self.found)
            self.found.append(value)
        return self._places[key]


def packed(claims: Iterable[Claim]) -> dict[str, Any]:
    """The claims as one table, ready for JSON; equal claims give equal tables."""
    shared, grounds, sentences = _Words(), _Words(), _Words()
    rows = [
        [
            grounds.place([_cell(claim, field, shared, sentences) for field in _GROUND]),
            *(_cell(claim, field, shared, sentences) for field in _FIELDS[1:]),
        ]
        for claim in claims
    ]
    return {
        "form": FORM,
        "fields": list(_FIELDS),
        "ground": list(_GROUND),
        "shared": shared.found,
        "grounds": grounds.found,
        "sentences": sentences.found,
        "rows": rows,
    }


def unpacked(table: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The claims of a table.

    Raises:
        ValueError: it is of another form, or does not hold together.
    """
    form = table.get("form") if isinstance(table, dict) else None
    if form != FORM:
        raise ValueError(f"the claims have form {form!r}, and {FORM} is what can be read")
    try:
        return tuple(_claim(row, table) for row in table["rows"])
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"the table of claims does not hold together: {error}") from error


def _cell(claim: Claim, name: str, shared: _Words, sentences: _Words) -> Any:
    value = getattr(claim, name)
    if name in _LITERAL:
        return value
    if name == "text":
        form, words = _taken_apart(claim)
        return " ".join([str(sentences.place(form)), *words])
    if name == "values":
        return [
            part for key, one in sorted(value.items()) for part in (shared.place(key), _number(one, shared))
        ]
    if name == "scope":
        return shared.place([list(pair) for pair in value])
    if name == "cells":
        return [shared.place(cell) for cell in value]
    if name == "verdict":
        return shared.place(None if value is None else value.value)
    return shared.place(value)


def _number(value: float | str, shared: _Words) -> Any:
    """A number as it is; text by its place, in brackets."""
    return [shared.place(value)] if isinstance(value, str) else value


def _taken_apart(claim: Claim) -> tuple[str, list[str]]:
    """A sentence as its form and the words that stand in its empty slots, in order."""
    slots = {name: slot for name, slot in ((claim.reference, "{r}"), (claim.subject, "{s}")) if name}
    names = sorted(slots, key=len, reverse=True)
    pattern = "|".join([*map(re.escape, names), r"[{}]", _NUMBER])
    words: list[str] = []

    def slot(match: re.Match[str]) -> str:
        if match[0] in slots:
            return slots[match[0]]
        words.append(match[0])
        return "{}"

    return re.sub(pattern, slot, claim.text), words


def _claim(row: Sequence[Any], table: Mapping[str, Any]) -> Claim:
    names = table["fields"]
    if len(row) != len(names):
        raise ValueError(f"a claim has {len(row)} fields instead of {len(names)}")
    raw = dict(zip(names, row, strict=True))
    raw |= zip(table["ground"], table["grounds"][raw.pop("ground")], strict=True)
    found: dict[str, Any] = {
        name: value if name in _LITERAL else _found(name, value, table["shared"])
        for name, value in raw.items()
    }
    form, *words = raw["text"].split(" ")
    _require_kinds(found)
    found["text"] = _put_together(table["sentences"][int(form)], words, found["subject"], found["reference"])
    return Claim(**found)


def _require_kinds(found: Mapping[str, Any]) -> None:
    """Raise `ValueError` where a field of a claim is of a kind that none has: JSON holds anything."""
    wrong = [
        *(name for name in _TEXTS if not isinstance(found[name], str)),
        *(name for name in _NAMES if not isinstance(found[name], str | None)),
        *(name for name in _FIGURES if not _is_figure(found[name])),
        *(f"cells: {cell}" for cell in found["cells"] if not isinstance(cell, str)),
        *(f"scope: {word}" for pair in found["scope"] for word in pair if not isinstance(word, str)),
        *(
            f"values: {key}"
            for key, value in found["values"].items()
            if not isinstance(key, str) or not (isinstance(value, str) or _is_figure(value)) or value is None
        ),
    ]
    if wrong:
        raise ValueError(f"a claim holds what no claim does: {', '.join(wrong)[:80]}")


def _is_figure(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and value == value)  # noqa: PLR0124 -- no NaN


def _found(name: str, value: Any, shared: Sequence[Any]) -> Any:
    if name == "text":
        return ""
    if name == "values":
        pairs = zip(value[::2], value[1::2], strict=True)
        return {shared[key]: shared[one[0]] if isinstance(one, list) else one for key, one in pairs}
    if name == "scope":
        return tuple((axis, chosen) for axis, chosen in shared[value])
    if name == "cells":
        return tuple(shared[cell] for cell in value)
    if name == "verdict":
        return None if shared[value] is None else Verdict(shared[value])
    return shared[value]


def _put_together(form: str, words: Sequence[str], subject: str, reference: str | None) -> str:
    """The sentence; `ValueError` where words are left over or missing."""
    left = iter(words)

    def word(match: re.Match[str]) -> str:
        named = {"{s}": subject, "{r}": reference or ""}
        return named[match[0]] if match[0] in named else next(left)

    try:
        text = _SLOT.sub(word, form)
    except StopIteration:
        raise ValueError("a sentence lacks a word") from None
    if next(left, None) is not None:
        raise ValueError("a sentence has a word too many")
    return text

"""tests/sentences.txt: each fact, with each combination of its optional fields, and its sentence.

``UPDATE_SENTENCES=1`` writes the file again. Its difference is the change of the wording.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from bench_framework.model import facts
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.reasons import message
from bench_framework.text.write import say

FILE = Path(__file__).parents[2] / "sentences.txt"
ON_INPUT = (("input", "10 MiB"),)
COLD = (*ON_INPUT, ("cache", "cold"))
Fields = dict[str, Any]
"""Field → its value, or the values that are combined."""


@dataclass(frozen=True)
class OneOf:
    """The values of a field, each of which is combined with those of the other fields."""

    values: tuple[object, ...]


def one_of(*values: object) -> OneOf:
    return OneOf(values)


BASE = Claim("c1", "", "B", "A", "wall")
FIGURES: Fields = {"estimate": 0.9, "lo": 0.88, "hi": 0.93, "margin": 0.02, "rounds": 40}
TABLE: dict[type, list[tuple[Fields, Fields]]] = {
    facts.NoiseFloorFact: [
        (
            {"estimate": one_of(0.0123, None), "cells": one_of(("a",), ()), "scope": COLD},
            {"control_differs": one_of(False, True)},
        ),
    ],
    facts.ScalingFact: [
        (
            {"estimate": 1.04, "lo": 1.01, "hi": 1.07},
            {"smaller": "1 MiB", "larger": "10 MiB", "word": "super-linear"},
        )
    ],
    facts.MemoryShare: [
        (
            {"scope": one_of((), ON_INPUT), "estimate": 6.1e7},
            {"family": "iec", "share": one_of(None, 0.58)},
        ),
    ],
    facts.DerivedFact: [
        (
            {**FIGURES, "subject": "all steps"},
            {"formula": "time(b) / time(a)", "unit": "ratio", "family": "iec"},
        ),
        (
            {
                **FIGURES,
                "subject": "ideal",
                "estimate": 2.1e9,
                "lo": 2e9,
                "hi": 2.2e9,
                "margin": None,
            },
            {
                "formula": "min(a, b)",
                "unit": "bytes/s",
                "family": one_of("iec", "si"),
                "assuming": one_of("", "no overlap"),
                "smallest": one_of(None, 9e8),
            },
        ),
    ],
    facts.Coverage: [
        ({"subject": "this record"}, {"planned": 1, "measured": 1}),
        (
            {"subject": "this record"},
            {
                "planned": 12,
                "measured": 6,
                "failed": 1,
                "other_output": 2,
                "not_comparable": 1,
                "not_started": 2,
                "not_selected": 3,
                "excluded": 4,
            },
        ),
    ],
    facts.NotMeasured: [({"subject": "io=mmap", "reason": message("no such mode")}, {})],
    facts.OneProgram: [
        (
            {},
            {
                "axes": one_of((), ("parser",), ("parser", "arena")),
                "where": one_of("", "engine=rayon"),
            },
        ),
        ({}, {"axes": ("arm",), "values": ("arm=a", "arm=b")}),
    ],
    facts.SignChange: [
        (
            {"margin": 0.02},
            {
                "cases": (
                    facts.Case(input="1 MiB", ratio=0.9, lo=0.88, hi=0.92),
                    facts.Case(input="10 MiB", ratio=2.5, lo=2.4, hi=2.6),
                ),
                "turns": one_of((), (("1 MiB", "10 MiB"),), (("a", "b"), ("b", "c"))),
            },
        )
    ],
}
"""Kind of fact → fields of the claim, and fields of the fact."""


def combinations(fields: Fields) -> Iterator[tuple[Fields, Fields]]:
    """Yield the fields with one value of each, and those of them that vary."""
    names = [name for name, value in fields.items() if isinstance(value, OneOf)]
    for values in product(*(fields[name].values for name in names)):
        varying = dict(zip(names, values, strict=True))
        yield fields | varying, varying


def cases(kind: type) -> Iterator[tuple[str, Claim]]:
    """Yield each combination with its description."""
    for claim_fields, fact_fields in TABLE[kind]:
        for (of_claim, first), (of_fact, second) in product(
            combinations(claim_fields), combinations(fact_fields)
        ):
            varying = {**first, **second}
            name = ", ".join(f"{k} {_short(v)}" for k, v in varying.items()) or "all fields"
            fact = kind(**of_fact)
            yield name, replace(BASE, kind=fact.kind, fact=fact, **of_claim)


def _short(value: object) -> str:
    return "none" if value in (None, (), "") else str(value)


def table() -> str:
    """Return the contents of tests/sentences.txt."""
    lines = [
        "The sentences of claims. After `===` is the kind of a fact, then each combination of the",
        "fields that vary, and below it the sentence. UPDATE_SENTENCES=1 writes this file.",
    ]
    for kind in sorted(TABLE, key=lambda kind: kind.__name__):
        lines += ["", f"=== {kind.__name__}"]
        for name, claim in cases(kind):
            lines += [name, f"  {say(claim)}"]
    return "\n".join(lines) + "\n"


def test_the_sentences_are_those_of_the_approval_file() -> None:
    text = table()
    if os.environ.get("UPDATE_SENTENCES"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text


def test_every_fact_has_its_rows() -> None:
    assert set(get_args(Fact)) == set(TABLE)


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_a_sentence_has_neither_a_gap_nor_a_missing_value(kind: type) -> None:
    for _, claim in cases(kind):
        sentence = say(claim)
        assert sentence == sentence.strip()
        assert "  " not in sentence
        assert "None" not in sentence

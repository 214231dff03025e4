"""tests/sentences.txt: each fact, with each combination of its optional fields, and its sentence.

``UPDATE_SENTENCES=1`` writes the file again. Its difference is the change of the wording.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.nodes import Node

from bench_framework.model import facts
from bench_framework.model.facts import AnyFact, Claim
from bench_framework.model.facts.evidence import Evidence
from bench_framework.store import wire
from bench_framework.text.write import brief, lead, say
from tests.approval import approve

FILE = Path(__file__).parents[2] / "sentences.txt"
FACTS = Path(__file__).parents[2] / "fixtures" / "facts.yaml"
BASE = {"subject": "B", "reference": "A", "metric": "wall"}


@dataclass(frozen=True)
class AnyOf:
    """The values of a field, each of which is combined with those of the other fields."""

    values: Sequence[object]


def rows_by_kind() -> dict[str, list[Mapping[str, Any]]]:
    """Return the rows of facts.yaml, by the name of the type of their facts."""

    class Constructor(SafeConstructor):
        """A constructor of the values of `!any`."""

    def any_of(constructor: SafeConstructor, node: Node) -> AnyOf:
        return AnyOf(constructor.construct_sequence(node, deep=True))

    Constructor.add_constructor("!any", any_of)
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = Constructor
    content: dict[str, list[Mapping[str, Any]]] = yaml.load(FACTS)
    return {kind: rows for kind, rows in content.items() if kind != "groups"}


ROWS = rows_by_kind()


def cases(kind: str) -> Iterator[tuple[str, Claim]]:
    """Yield each combination of the values with the description of those that vary."""
    fact_type = getattr(facts, kind)
    of_fact = {field.name for field in fields(fact_type)}
    for row in ROWS[kind]:
        names = [name for name, value in row.items() if isinstance(value, AnyOf)]
        for values in product(*(row[name].values for name in names)):
            varying = dict(zip(names, values, strict=True))
            name = ", ".join(f"{k} {_short(v)}" for k, v in varying.items()) or "all fields"
            given = {**row, **varying}
            fact = {key: value for key, value in given.items() if key in of_fact}
            evidence = {key: value for key, value in given.items() if key not in of_fact}
            read = wire.read(Evidence, BASE | evidence)
            figures = {field.name: getattr(read, field.name) for field in fields(Evidence)}
            assert evidence.keys() <= figures.keys(), (kind, row)
            yield name, Claim(**figures, fact=wire.read(fact_type, fact))


def _short(value: object) -> str:
    """Return a value in a few words. Of objects it is their number, because the sentence shows them."""
    if value in (None, [], ""):
        return "none"
    if isinstance(value, dict) and "code" in value:
        return str(value["code"])
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict) for item in items):
        return f"{len(items)} given"
    return " + ".join(map(_short, items)) if isinstance(value, list) else str(value)


def table() -> str:
    """Return the contents of tests/sentences.txt."""
    lines = [
        "The sentences of claims. After `===` is the kind of a fact, then each combination of the",
        "fields that vary, and below it the sentence, and its line on the first screen.",
        "UPDATE_SENTENCES=1 writes this file.",
    ]
    for kind in sorted(ROWS):
        lines += ["", f"=== {kind}"]
        for name, claim in cases(kind):
            before = f"[{words}] " if (words := lead(claim)) else ""
            lines += [name, f"  {before}{say(claim)}"]
            lines += [f"  brief: {line}"] if (line := brief(claim)) != say(claim) else []
    return "\n".join(lines) + "\n"


def test_the_sentences_are_those_of_the_approval_file() -> None:
    approve(FILE, table(), "UPDATE_SENTENCES")


def test_every_fact_has_its_rows() -> None:
    assert {fact.__name__ for fact in get_args(AnyFact)} == set(ROWS)


@pytest.mark.parametrize("kind", ROWS)
def test_a_sentence_has_neither_a_gap_nor_a_missing_value(kind: str) -> None:
    for _, claim in cases(kind):
        sentence = say(claim)
        assert sentence == sentence.strip()
        assert "  " not in sentence
        assert not re.search(r"\bNone\b(?! of the)", sentence)

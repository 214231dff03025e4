"""Documents of ``--json``: valid JSON, and each reason in data and in words."""

import json
import math
from dataclasses import dataclass

import pytest

from bench_framework.cli.commands.schema import document_schema, documents
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.store import wire
from bench_framework.text.documents import document_text
from bench_framework.text.reasons import phrase

CAUSE = Reason(ReasonCode.ONE_PROGRAM)
REASON = Reason(ReasonCode.IN_RECORD, ("r", CAUSE))


@dataclass(frozen=True, slots=True)
class Example:
    reason: Reason
    hi: float


def test_a_reason_has_its_phrase_at_every_depth() -> None:
    reason = json.loads(document_text(Example(REASON, 1.5)))["reason"]
    assert (reason["code"], reason["text"]) == ("in-record", phrase(REASON))
    assert (reason["detail"][1]["code"], reason["detail"][1]["text"]) == (
        "one-program",
        phrase(CAUSE),
    )


def test_an_unbounded_interval_is_valid_json_and_is_read_again() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = document_text(Example(CAUSE, math.inf))
    values = json.loads(text, parse_constant=refuse)
    assert values["hi"] == "Infinity"
    assert wire.load(float, "example", json.dumps(values["hi"])) == math.inf


@pytest.mark.parametrize("name", documents())
def test_each_field_of_a_document_has_a_description(name: str) -> None:
    schema = json.loads(document_schema(name))
    bare = {
        f"{part.get('title')}.{key}"
        for part in (schema, *schema["$defs"].values())
        for key, field in part.get("properties", {}).items()
        if "description" not in field and "const" not in field
    }
    assert bare == set()

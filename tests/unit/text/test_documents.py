"""Documents of ``--json``: valid JSON, and each reason in data and in words."""

import json
import math
from dataclasses import dataclass

import jsonschema
import pytest

from bench_framework.cli.commands.schema import document_schema
from bench_framework.model.documents.gate import BudgetDocument, PairDocument
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.verdict import Verdict
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


PAIR = PairDocument(
    *("a", "", "wall", "not-judged", "", 0.05, Verdict.INCONCLUSIVE, 1.1, 0.9, math.inf, None),
    *("", None, None),
)
BUDGET = BudgetDocument("a", "", "wall", "not-judged", 1.0, 0.9, 0.8, math.inf, 0.95, "")


@pytest.mark.parametrize("row", [PAIR, BUDGET])
def test_the_schema_of_a_gate_permits_an_unbounded_interval(
    row: PairDocument | BudgetDocument,
) -> None:
    values = json.loads(document_text(row))
    del values["schema_version"]
    parts = json.loads(document_schema("gate"))["$defs"]
    jsonschema.validate(values, {"$ref": f"#/$defs/{type(row).__name__}", "$defs": parts})
    assert wire.load(type(row), "gate.json", json.dumps(values)) == row


@pytest.mark.parametrize(
    "name", ["GateDocument", "PairDocument", "BudgetDocument", "AcceptedEntry"]
)
def test_each_field_of_a_gate_has_a_description(name: str) -> None:
    fields = json.loads(document_schema("gate"))["$defs"][name]["properties"]
    bare = {key for key, field in fields.items() if "description" not in field}
    assert bare <= {"schema_version", "verdict"}

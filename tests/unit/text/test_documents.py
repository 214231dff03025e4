"""Documents of ``--json``: valid JSON, and each reason in data and in words."""

import json
import math
from dataclasses import dataclass

from bench_framework.cli.commands.schema import document_schema
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


def test_each_field_of_the_documents_of_a_gate_has_a_description() -> None:
    parts = json.loads(document_schema("gate"))["$defs"]
    bare = {
        f"{name}.{key}"
        for name, part in parts.items()
        if name.endswith(("Document", "Entry", "Alarms", "Detections"))
        for key, field in part["properties"].items()
        if "description" not in field and "$ref" not in json.dumps(field)
    }
    plain = {"schema_version", "variant", "input", "rounds", "outcome"}
    assert {name for name in bare if name.rpartition(".")[2] not in plain} == set()

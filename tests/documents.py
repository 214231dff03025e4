"""The JSON documents of commands, checked by their schemas."""

import json
from functools import cache
from typing import Any

import jsonschema

from bench_framework.cli.commands.schema import document_schema
from bench_framework.model.documents.plan import SCHEMA_VERSION


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(document_schema(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    # A document has no field that its schema does not have, so that a new one needs a description.
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["additionalProperties"] = False
    return jsonschema.Draft202012Validator(schema)


def valid(name: str, text: str) -> dict[str, Any]:
    """Return the document of a command after checking it by the schema with this name."""
    document: dict[str, Any] = json.loads(text)
    assert document["schema_version"] == SCHEMA_VERSION
    _validator(name).validate(document)
    return document

"""The JSON documents of commands, checked by their schemas."""

import json
import re
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


def card_titles(page: str) -> list[list[str]]:
    """Return the titles in the rows of the cards of a page, after checking them by the heads of the columns."""
    titles = []
    for table in re.findall(r'<table[^>]* class="cards".*?</table>', page, re.DOTALL):
        heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table)
        for row in re.findall(r"<tr[^>]*>(<t[hd][^>]*>.*)", table.partition("<tbody>")[2]):
            cells = re.findall(r"<t[hd]([^>]*)>((?:(?!<t[hd][ >]).)*)", row)
            given = [re.search(r'data-label="([^"]*)"', attributes) for attributes, _ in cells]
            assert len(cells) == len(heads)
            assert all(
                label[1] == head if label else not re.sub(r"</t[hd]>|</tr>|<svg.*?</svg>", "", text)
                for head, (_, text), label in list(zip(heads, cells, given, strict=True))[1:]
            )
            titles.append([label[1] for label in given if label])
    return titles

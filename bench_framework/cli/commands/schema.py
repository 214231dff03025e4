"""``benchctl schema``: JSON Schemas of scenarios, and of the documents of ``--json``."""

from __future__ import annotations

import json
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args

import typer

from bench_framework.cli.console import Console
from bench_framework.registry import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = """
benchctl schema > bench/scenario.schema.json
benchctl schema run    # of `benchctl --json run`, `ab`, `sweep` and `ablate`
benchctl schema gate   # of gate.json, suite.json and self-test.json
First line of a scenario in the same folder: # yaml-language-server: $schema=scenario.schema.json
"""
CORE: Final = {
    "run": "workflow.documents:RunDocument",
    "gate": "model.documents.gate:AnyGate",
    "plan": "model.documents.plan:AnyPlan",
    "validate": "model.documents.plan:ValidateDocument",
    "events": "model.documents.events:AnyEvent",
    "report": "workflow.documents:ReportDocument",
    "compare": "workflow.comparison:CompareDocument",
    "verify": "workflow.records.verification:Verification",
    "export": "workflow.documents:FileDocument",
    "profile": "workflow.profile:ProfileDocument",
    "init": "cli.commands.init:InitDocument",
    "clean": "workflow.cache:CleanDocument",
    "try": "workflow.setup.trial_document:TrialsDocument",
}
"""The documents of the core. Each place is a dataclass or a union of them."""


def documents() -> Mapping[str, str]:
    """Return the place ``MODULE:NAME`` of each document by the name of its command."""
    core = {name: f"bench_framework.{place}" for name, place in CORE.items()}
    additions = registry().additions("document", core)
    return core | {target.name: target.place for target in additions}


def document_types(name: str) -> tuple[type, ...]:
    """Return the dataclasses of a document. Raises `KeyError`: no document has this name."""
    kind = resolve_name(documents()[name])
    return get_args(kind) or (kind,)


def document_schema(name: str) -> str:
    """Return the JSON Schema of a document. Raises `KeyError`: no document has this name."""
    from bench_framework.model.documents.plan import SCHEMA_VERSION
    from bench_framework.store import wire

    schema = wire.json_schema(document_types(name))
    parts, references = schema["$defs"], schema["prefixItems"]
    version = {"schema_version": {"const": SCHEMA_VERSION, "type": "integer"}}
    for part in (parts[place["$ref"].rpartition("/")[2]] for place in references):
        part["properties"] = version | part["properties"]
        part["required"] = list(part["properties"])
    if "Reason" in parts:  # `text.documents` adds its phrase
        reason = parts["Reason"]
        reason["properties"] |= {"text": {"description": "The reason in words.", "type": "string"}}
        reason["required"].append("text")
    whole: dict[str, Any] = {"anyOf": references}
    if len(references) == 1:
        whole = parts.pop(references[0]["$ref"].rpartition("/")[2])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(head | {"$defs": parts} | whole, indent=2, ensure_ascii=False) + "\n"


NAMES: Final = ("scenario", *documents())


def schema(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="scenario: scenario files; events: the lines of --events; otherwise what this command prints "
            f"with --json: {', '.join(name for name in NAMES if name not in {'scenario', 'events'})}.",
            autocompletion=lambda: NAMES,
        ),
    ] = "scenario",
) -> None:
    """Print a JSON Schema, for editors and other tools."""
    from bench_framework.scenario.schema import schema_text

    if name not in NAMES:
        raise typer.BadParameter(f"choose one of: {', '.join(NAMES)}", param_hint="NAME")
    console: Console = context.obj
    console.emit(schema_text() if name == "scenario" else document_schema(name))

"""A document of ``--json`` as text."""

import json
from typing import Any

from bench_framework.model.documents.plan import SCHEMA_VERSION, plain
from bench_framework.model.reasons import Reason
from bench_framework.text.reasons import phrase


def document_text(document: object, indent: int | None = 2) -> str:
    """Return a document as lines of JSON that begin with its `schema_version`. Each reason has its phrase as `text`."""
    values = {"schema_version": SCHEMA_VERSION, **plain(document)}
    return json.dumps(values, ensure_ascii=False, indent=indent, default=_value) + "\n"


def _value(value: Any) -> Any:
    parts = plain(value)
    return parts | {"text": phrase(value)} if isinstance(value, Reason) else parts

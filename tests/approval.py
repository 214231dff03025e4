"""Approval files: a text that a test computes, and the values of objects in it."""

import os
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path

from bench_framework.model.plan.arguments import Slot

COMMANDS = {"command", "prepare", "cleanup", "stdin", "tuning", "train", "program"}
"""Fields with words of commands, which are in brackets."""
MANY_DIGITS = 10
"""Length of a number that is printed with four digits."""


def approve(path: Path, text: str, variable: str) -> None:
    """Compare a text with a file. The environment variable writes the file again."""
    if os.environ.get(variable):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def default_of(field: Field[object]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def text_of(value: object, name: str = "", omitted: frozenset[str] = frozenset()) -> str:
    """Return a value as text. An object has its type and the fields that are not the default."""
    if isinstance(value, Slot):
        return f"‹{value.slot}›"
    if is_dataclass(value) and not isinstance(value, type):
        parts = [
            f"{field.name}={text_of(getattr(value, field.name), field.name, omitted)}"
            for field in fields(value)
            if field.compare
            and field.name not in omitted
            and getattr(value, field.name) != default_of(field)
        ]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, tuple) and name in COMMANDS:
        return " ".join(
            f"[{text_of(part, name, omitted)}]" if isinstance(part, tuple) else text_of(part)
            for part in value
        )
    if isinstance(value, tuple):
        return f"[{', '.join(text_of(item, '', omitted) for item in value)}]"
    if isinstance(value, float):
        return str(value) if len(str(value)) < MANY_DIGITS else f"{value:.4g}"
    return str(value)

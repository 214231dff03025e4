"""The texts of errors, from ``errors.toml``. The file is read when the first error is made."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

FILE: Final = Path(__file__).with_name("errors.toml")
_EXPLANATION = ("title", "help", "example")


class ErrorText(NamedTuple):
    """The texts of an error, filled in. A text without content is None."""

    code: str
    message: str
    effect: str | None
    fix: str | None
    label: str
    """Text after the carets of an error in a scenario."""
    note: str | None


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """Return the content of ``errors.toml`` by code."""
    import tomllib  # noqa: PLC0415 -- only an error needs it

    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def error_text(key: str, values: Mapping[str, object]) -> ErrorText:
    """Return the texts of an error such as ``BX101`` or ``BX107.no-metric``.

    `values` are the values for the placeholders; None is an empty text.
    Raises `KeyError`: there is no such error, or a value is missing.
    """
    code, _, variant = key.partition(".")
    entry = table()[code][variant] if variant else table()[code]
    given = {name: "" if value is None else value for name, value in values.items()}
    texts = {
        name: entry[name].format_map(given)
        for name in ("message", "effect", "fix", "label", "note")
        if name in entry
    }
    return ErrorText(
        code,
        texts["message"],
        texts.get("effect") or None,
        texts.get("fix") or None,
        texts.get("label", ""),
        texts.get("note") or None,
    )


def explanations() -> dict[str, tuple[str, ...]]:
    """Return the explanation of each code: one text, or title, text and example."""
    return {
        code: tuple(entry[name] for name in _EXPLANATION if name in entry)
        for code, entry in table().items()
        if "help" in entry
    }

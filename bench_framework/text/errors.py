"""The texts of errors, from ``errors.toml``. The file is read when the first error is made."""

import string
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench_framework.model.phrases import Phrase
from bench_framework.model.reasons import Reason
from bench_framework.model.record.run import Event, Severity
from bench_framework.text.reasons import FORMATS, phrase

FILE: Final = Path(__file__).with_name("errors.toml")
_EXPLANATION = ("title", "help", "example")
_OF_CODE = ("message", "effect", "fix")


class ErrorText(NamedTuple):
    """The texts of an error, filled in. A text without content is None."""

    code: str
    message: str
    effect: str | None
    fix: str | None
    label: str
    """Text after the carets of an error in a scenario."""
    note: str | None


class _Texts(string.Formatter):
    """Formats texts, which have parts for a value that is not empty or is empty."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if (sign := format_spec[:1]) in {"+", "-"}:
            empty = value == "" or value is False
            return format_spec[1:] if empty is (sign == "-") else ""
        if format_spec in FORMATS:
            return FORMATS[format_spec](value)
        return super().format_field(value, format_spec)


@cache
def table() -> Mapping[str, Mapping[str, Any]]:
    """Return the content of ``errors.toml`` by code."""
    import tomllib  # noqa: PLC0415 -- only an error needs it

    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def entry_of(key: str) -> Mapping[str, Any]:
    """Return the entry of an error. One of several of a code has the texts of the code that it lacks."""
    code, _, variant = key.partition(".")
    whole: Mapping[str, Any] = table()[code]
    if not variant:
        return whole
    return {name: whole[name] for name in _OF_CODE if name in whole} | dict(whole[variant])


def error_text(key: str, values: Mapping[str, object], *, alone: bool = False) -> ErrorText:
    """Return the texts of an error such as ``BX101`` or ``BX107.no-metric``.

    `values` are the values for the placeholders. None is an empty text, and a reason its phrase. An
    entry that amends another error is read `alone`, without the texts of its code.
    Raises `KeyError`: there is no such error, or a value is missing.
    """
    code, _, variant = key.partition(".")
    entry = table()[code][variant] if alone else entry_of(key)
    given = {name: _filled(value) for name, value in values.items()}
    texts = {
        name: _Texts().vformat(entry[name], (), given)
        for name in ("message", "effect", "fix", "label", "note")
        if name in entry
    }
    return ErrorText(
        code,
        texts.get("message", ""),
        texts.get("effect") or None,
        texts.get("fix", "").rstrip() or None,
        texts.get("label", ""),
        texts.get("note") or None,
    )


def _filled(value: object) -> object:
    return phrase(value) if value is None or isinstance(value, Reason | Phrase) else value


def new_event(
    key: str,
    severity: Severity = "warning",
    cell_id: str | None = None,
    number: int | None = None,
    /,
    *,
    details: tuple[tuple[str, str], ...] = (),
    **values: object,
) -> Event:
    """Return the event of an entry, of a cell and of the round with this number."""
    text = error_text(key, values)
    return Event(text.code, text.message, severity, cell_id, number, text.effect, text.fix, details)


def amended(event: Event, key: str, /, **values: object) -> Event:
    """Return an event with the code of an entry, and with its texts in place of those of the event."""
    text = error_text(key, values, alone=True)
    return replace(
        event,
        code=text.code,
        message=text.message or event.message,
        effect=text.effect or event.effect,
        help=text.fix or event.help,
    )


def explanations() -> dict[str, tuple[str, ...]]:
    """Return the explanation of each code: one text, or title, text and example."""
    return {
        code: tuple(entry[name] for name in _EXPLANATION if name in entry)
        for code, entry in table().items()
        if "help" in entry
    }

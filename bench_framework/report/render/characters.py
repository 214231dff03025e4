"""Escapes for characters that act on the output: control codes, line breaks, bidi marks."""

from __future__ import annotations

import re
from typing import Final

from bench_framework.foreign import escaped

_LINE_BREAKS: Final = re.compile(r"[\r\n\u2028\u2029]+")
_ACTIVE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
"""C0 and C1 controls, zero-width characters and bidirectional marks."""

COMMAND: Final = re.compile(r"`(benchctl [^`|\r\n]*[^`|\s])`")
"""A command that a sentence quotes. A bar would end the cell of a Markdown table."""


def visible(text: str) -> str:
    """Return one line with an escape for each active character, such as U+202E."""
    return _ACTIVE.sub(escaped, _LINE_BREAKS.sub(" ", text).replace("\t", " "))


def visible_lines(text: str) -> str:
    """Apply `visible` to each line of a text."""
    return "\n".join(visible(line) for line in text.splitlines())

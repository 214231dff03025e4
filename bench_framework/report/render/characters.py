"""Characters that would act instead of being read: control codes, line breaks, bidirectional marks."""

from __future__ import annotations

import re
from typing import Final

_LINE_BREAKS: Final = re.compile(r"[\r\n\u2028\u2029]+")
_ACTIVE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)
"""C0 and C1 controls, zero-width characters, and the marks that turn the direction of a line."""


def visible(text: str) -> str:
    """One line in which every active character is written as its escape, such as that of U+202E."""
    return _ACTIVE.sub(_escape, _LINE_BREAKS.sub(" ", text).replace("\t", " "))


def visible_lines(text: str) -> str:
    """As `visible`, line by line: for text that is meant to have several."""
    return "\n".join(visible(line) for line in text.splitlines())


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 -- two hex digits

"""Escaping of text that could control a terminal.

Quoted text (file names, output of a program, a page of another machine) can contain codes that clear
the screen, rename the window or change the direction of a line. Only benchctl's own colours pass.
"""

from __future__ import annotations

import re
from typing import Final

_ACTIVE: Final = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    "|\x1b(?!\\[(?:0|1|2|33|34|35)m)"
)
"""Control characters, zero-width characters, direction marks, and all escape sequences except colours."""


def escape_active(text: str) -> str:
    r"""Replace each active character by its escape, such as ``\x1b``; line ends and tabs stay."""
    return _ACTIVE.sub(_escape, text)


def escape_active_json(text: str) -> str:
    r"""Replace each active character of a JSON document by its JSON escape, such as ``\u009b``."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 -- two hex digits

"""What a text may do to a terminal: nothing but what our own colours do.

A file name, a worker's last words, a page from elsewhere: whatever is quoted may hold codes that clear the screen,
rename the window or turn the direction of a line.
"""

from __future__ import annotations

import re
from typing import Final

_ACTIVE: Final = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    "|\x1b(?!\\[(?:0|1|2|33|34|35)m)"
)
"""Controls, zero-width characters, marks of direction; of escape sequences all but those of the final table."""


def harmless(text: str) -> str:
    r"""The text with each active character as its escape, such as ``\x1b``; line ends and tabs stay."""
    return _ACTIVE.sub(_escape, text)


def harmless_json(text: str) -> str:
    r"""As `harmless`, for a JSON document: ``\u009b`` means to its reader what the character did."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004 -- two hex digits

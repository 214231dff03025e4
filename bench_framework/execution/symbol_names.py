"""Readable names of functions: both manglings of Rust are decoded, and hashes are removed. Pure.

perf decodes the legacy mangling and that of C++; it decodes v0 only if built with a library for it.
"""

from __future__ import annotations

import re
from typing import Final

from bench_framework.execution.rust_names import Unreadable, demangle

_HASH: Final = re.compile(r"::h[0-9a-f]{16}(?=$|\.|\[|<)")
_SUFFIX: Final = re.compile(r"\.llvm\.[0-9A-F@]+$")
_LEGACY: Final = re.compile(r"_{0,2}ZN(?P<rest>\d.*?)E(?P<tail>\..*)?$")
_LEGACY_HASH: Final = re.compile(r"h[0-9a-f]{16}")
_ESCAPES: Final = {
    "SP": "@",
    "BP": "*",
    "RF": "&",
    "LT": "<",
    "GT": ">",
    "LP": "(",
    "RP": ")",
    "C": ",",
}
_ESCAPE: Final = re.compile(r"\$(?P<code>[A-Z]+|u[0-9a-f]{1,6})\$")
_SMALLEST_ESCAPE: Final = 0x20
"""Smallest code point of an escape; compilers do not write control characters."""


def plain_name(symbol: str) -> str:
    """Return the name of a symbol without mangling and hash; an unreadable symbol is unchanged."""
    name = _SUFFIX.sub("", symbol.strip())
    if name.startswith(("_R", "__R")):
        try:
            return demangle(name)
        except Unreadable:
            return name
    legacy = _legacy(name)
    return _HASH.sub("", legacy or name)


def _legacy(name: str) -> str | None:
    """Decode ``_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE``; `None` for other symbols."""
    match = _LEGACY.fullmatch(name)
    if match is None:
        return None
    rest, parts = match["rest"], []
    while rest:
        digits = re.match(r"\d+", rest)
        if digits is None:
            return None
        length, start = int(digits[0]), digits.end()
        if not 0 < length <= len(rest) - start:
            return None
        parts.append(rest[start : start + length])
        rest = rest[start + length :]
    # C++ uses the same mangling; only Rust names end with a hash.
    if len(parts) < 2 or not _LEGACY_HASH.fullmatch(parts[-1]):  # noqa: PLR2004 -- a name and its hash
        return None
    return "::".join(_unescaped(part) for part in parts[:-1]) + (match["tail"] or "")


def _unescaped(part: str) -> str:
    part = part[1:] if part.startswith("_$") else part
    return _ESCAPE.sub(_character, part.replace("..", "::"))


def _character(match: re.Match[str]) -> str:
    code = match["code"]
    if code in _ESCAPES:
        return _ESCAPES[code]
    number = int(code[1:], 16) if code.startswith("u") and len(code) > 1 else 0
    # Only scalar values of Unicode are characters.
    if not _SMALLEST_ESCAPE <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:  # noqa: PLR2004
        return match[0]
    return chr(number)

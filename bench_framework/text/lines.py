"""Lines of a terminal."""

from typing import Final

from rich.cells import cell_len

NARROWEST: Final = 40
"""Columns of the narrowest page. In a narrower terminal, its lines are broken once more."""


def wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Return lines of at most `width` columns with their indents. A longer word has its own line."""
    lines: list[str] = []
    indent, line = first, ""
    for word in text.split(" "):
        candidate = f"{line} {word}" if line else word
        if line and cell_len(indent + candidate) > width:
            lines.append((indent + line).rstrip())
            indent, line = rest, word
        else:
            line = candidate
    return [*lines, (indent + line).rstrip()] if line.strip() else lines

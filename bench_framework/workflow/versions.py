"""Which benchctl judged and rendered what is verified: another one's statistics and words are no damage."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from bench_framework.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

_ORIGIN: Final = re.compile(r'<script type="application/json" id="env">(.*?)</script>', re.DOTALL)


def judged_elsewhere(version: str) -> str | None:
    """What is to be said of a judgement of another version; `None` of this one's.

    Args:
        version: that judged; empty where a record does not say.
    """
    if version == __version__:
        return None
    return (
        f"judged by {_named(version)}, and this is {__version__}: statistics and words may differ"
    )


def rendered_elsewhere(page: Path) -> str | None:
    """The same of a page; `None` where there is none that says what made it."""
    try:
        found = _ORIGIN.search(page.read_text(encoding="utf-8"))
        version = json.loads(found[1])["rendered_by"] if found else ""
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    if version == __version__:
        return None
    return f"rendered by {_named(version)}, and this is {__version__}: words and style may differ"


def explained(*notes: str | None) -> tuple[str, ...]:
    """The notes there are; with any, what they mean for the differences that they stand beside."""
    found = tuple(note for note in notes if note is not None)
    if not found:
        return ()
    return (
        *found,
        "what does not follow here is then no sign that somebody changed it: the version that made it can tell",
    )


def _named(version: object) -> str:
    return f"benchctl {version}" if version else "a benchctl that does not say its version"

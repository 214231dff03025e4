"""Notes on the version of benchctl that made a record, for `verify`.

Other versions can have other statistics and texts, so a difference is not a sign of damage.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from bench_framework.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

_ORIGIN: Final = re.compile(r'<script type="application/json" id="env">(.*?)</script>', re.DOTALL)


def judging_version_note(version: str) -> str | None:
    """Return a note if another version computed the results, otherwise `None`.

    Args:
        version: version that computed the results; empty if unknown.
    """
    if version == __version__:
        return None
    return (
        f"results were computed by {_program(version)}, this is {__version__}: statistics and "
        "texts may differ"
    )


def rendering_version_note(page: Path) -> str | None:
    """Return a note if another version rendered a page, otherwise `None`."""
    try:
        origin = _ORIGIN.search(page.read_text(encoding="utf-8"))
        version = json.loads(origin[1])["rendered_by"] if origin else ""
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    if version == __version__:
        return None
    return (
        f"the page was rendered by {_program(version)}, this is {__version__}: texts and style "
        "may differ"
    )


def collect_notes(*notes: str | None) -> tuple[str, ...]:
    """Return the given notes, and what they mean for the differences of a verification."""
    given = tuple(note for note in notes if note is not None)
    if not given:
        return ()
    return (
        *given,
        (
            "differences are therefore not a sign of changed files: verify with the version that "
            "wrote them"
        ),
    )


def _program(version: object) -> str:
    return f"benchctl {version}" if version else "an unknown version of benchctl"

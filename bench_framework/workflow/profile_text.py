"""Output of `benchctl profile`: a section of the report, or a JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_framework.workflow.profile import ProfileResult


def profile_page(result: ProfileResult, width: int, color: bool, unicode: bool) -> str:  # noqa: FBT001 -- two flags of a terminal
    """Return the profile section of the report as text of a given width."""
    from bench_framework.report.render import terminal

    return terminal.render(result.document, width=width, color=color, unicode=unicode, full=True)


def profile_document(result: ProfileResult) -> dict[str, Any]:
    """Return the result of `benchctl profile --json`."""
    return {
        "record": str(result.record),
        "exit_code": result.exit_code,
        "profiles": [asdict(shares) for shares in result.profiles],
        "events": [
            {"code": e.code, "message": e.message, "effect": e.effect, "help": e.help}
            for e in result.events
        ],
    }

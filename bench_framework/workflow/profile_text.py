"""What `benchctl profile` prints: the report's section, or one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench_framework.workflow.profile import Profiled


def profile_page(made: Profiled, width: int, color: bool, unicode: bool) -> str:  # noqa: FBT001 -- two flags of a terminal
    """The section on profiles as text of a width."""
    from bench_framework.report.render import terminal

    return terminal.render(made.document, width=width, color=color, unicode=unicode, full=True)


def profile_document(made: Profiled) -> dict[str, Any]:
    """What was profiled, for ``--json``."""
    return {
        "record": str(made.record),
        "exit_code": made.exit_code,
        "profiles": [asdict(shares) for shares in made.profiles],
        "events": [
            {"code": e.code, "message": e.message, "effect": e.effect, "help": e.help}
            for e in made.events
        ],
    }

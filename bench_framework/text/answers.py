"""How answers are compared, in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from bench_framework.text.numbers import format_percent, shortest

if TYPE_CHECKING:
    from bench_framework.model.plan.policies import AnswerPolicy

NO_LINE: Final = "(end of output)"
EMPTY_LINE: Final = "(empty line)"
_TEXTS: Final = {"sorted-lines": "sorted outputs", "json": "indented JSON"}


def line_difference(
    number: int, policy: AnswerPolicy, sides: Iterable[tuple[str, str]], saved: str = ""
) -> tuple[str, str]:
    """Return a detail: the number of the first line that differs, and this line of both sides."""
    kind = _TEXTS.get(policy.compare, "compared text")
    place = f"line {number}{f' of the {kind}' if policy.edited else ''}"
    lines = (f"{place}, saved in {saved}" if saved else place, *map(": ".join, sides))
    return "first difference", "\n".join(lines)


def checked_by(command: Sequence[str]) -> str:
    """Return how answers are compared with a command: ``checked by `verify --quick```."""
    return f"checked by `{shlex.join(command)}`"


def how_compared(policy: AnswerPolicy) -> str:
    """Return how answers are compared, such as ``exact, without matches of `[0-9]+ ms```."""
    if policy.check:
        return checked_by(policy.check)
    parts = [
        policy.compare,
        f"after the filter `{shlex.join(policy.filter)}`" if policy.filter else "",
        f"only matches of `{policy.extract}`" if policy.extract else "",
        f"without matches of {_quoted(policy.ignore)}" if policy.ignore else "",
        f"without the JSON keys {_quoted(policy.json_ignore)}" if policy.json_ignore else "",
        f"numbers within {shortest(policy.tolerance)} (relative)" if policy.tolerance else "",
    ]
    if policy.tolerated_share:
        share = format_percent(policy.tolerated_share)
        parts.append(f"less than {share} of the lines may differ")
    return ", ".join(part for part in parts if part)


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)

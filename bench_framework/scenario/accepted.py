"""The file of accepted changes: ``accepted: [{cell, metric, level, reason, until}]``."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import ScenarioError, UsageError
from bench_framework.model.accepted import Accepted
from bench_framework.scenario.document import Scalar, Unreadable, parse
from bench_framework.scenario.gate_policy import selected
from bench_framework.units import parse_percent

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.model.plan import Plan
    from bench_framework.scenario.document import Document, Place

KEYS: Final = ("cell", "metric", "level", "reason", "until")
_EXAMPLE: Final = (
    'accepted: [{cell: "size=1GiB", metric: wall, level: 10%, reason: "checks its input", '
    "until: 2026-12-31}]"
)


def read_accepted(path: Path, plan: Plan) -> tuple[Accepted, ...]:
    """Return the entries of a file, each with the cells of the plan that it selects.

    A name that the plan does not have is stored in `Accepted.unknown` and is not an error, because
    a scenario may change before the file does.

    Raises:
        UsageError: the file does not exist, or an entry is invalid (BX112).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise _fault(
            path, f"the file of accepted changes cannot be read: {reason}", None
        ) from error
    try:
        document = parse(text, str(path))
    except Unreadable as unreadable:
        at = unreadable.problem.at
        raise _fault(path, unreadable.problem.message, at.line if at else None) from None
    for problem in document.problems:
        raise _fault(path, problem.message, problem.at.line if problem.at else None)
    return tuple(
        _entry(path, item, document.place.at(("accepted", index)), plan)
        for index, item in enumerate(_items(path, document))
    )


def _items(path: Path, document: Document) -> list[Any]:
    data = document.data
    if not isinstance(data, dict) or set(data) != {"accepted"}:
        raise _fault(path, "the file must have exactly one key, `accepted`", 1)
    entries = data["accepted"]
    if isinstance(entries, Scalar) and entries.is_null:
        return []
    if not isinstance(entries, list):
        raise _fault(path, "`accepted` must be a list", document.place.at(("accepted",)).value.line)
    return entries


def _entry(path: Path, item: Any, place: Place, plan: Plan) -> Accepted:
    line = place.value.line
    if not isinstance(item, dict):
        raise _fault(path, "an accepted change must be a mapping", line)
    unknown = [key for key in item if key not in KEYS]
    missing = [
        key for key in KEYS[:4] if not isinstance(item.get(key), str) or not item[key].strip()
    ]
    if unknown or missing:
        what = f"has the unknown key `{unknown[0]}`" if unknown else f"needs `{missing[0]}`"
        raise _fault(path, f"an accepted change {what}", line)
    try:
        level = parse_percent(item["level"])
        until = item.get("until", "")
        _ = dt.date.fromisoformat(until) if until else None
    except (ValueError, TypeError):
        raise _fault(
            path, "`level` must be a percentage and `until` a date such as 2026-12-31", line
        ) from None
    words, unknown_here = str(item["cell"]), ""
    try:
        ids = tuple(cell.id for cell in selected(plan, words))
    except ScenarioError as error:
        ids, unknown_here = (), error.problems[0].message
    return Accepted(
        words,
        str(item["metric"]),
        level,
        str(item["reason"]),
        str(until),
        f"{path.name}:{line}",
        ids,
        unknown_here,
    )


def _fault(path: Path, message: str, line: int | None) -> UsageError:
    return UsageError(
        message,
        code="BX112",
        details=(("file", f"{path}:{line}" if line else str(path)),),
        effect="the gate has no result",
        help=_EXAMPLE,
    )

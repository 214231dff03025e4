"""Shares of a limit: the rate of a configuration divided by a derived smallest rate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bench_framework.model.judgement import Derived

_FORMULA: Final = re.compile(r"rate\((\w+)\) / (\w+)")


@dataclass(frozen=True, slots=True)
class LimitShare:
    """The share of a limit that a configuration reaches.

    Attributes:
        name: name of the configuration in formulas.
        share: rate ÷ limit.
        limit: derived rate that contains ``min(…)``.
    """

    name: str
    share: Derived
    rate: Derived
    limit: Derived


def limit_shares(derived: Sequence[Derived], input_id: str) -> list[LimitShare]:
    """Return the shares of the limit that most shares refer to, the largest one first."""
    rows = {row.name: row for row in derived if row.input_id == input_id}
    groups: dict[str, list[LimitShare]] = {}
    for row in rows.values():
        parts = _FORMULA.fullmatch(row.formula)
        rate, top = (rows.get(parts[1]), rows.get(parts[2])) if parts else (None, None)
        if not parts or rate is None or top is None or row.value is None:
            continue
        if not top.measured and "min(" in top.formula:
            groups.setdefault(top.name, []).append(LimitShare(parts[1], row, rate, top))
    largest = max(groups.values(), key=len) if groups else []
    return sorted(largest, key=lambda s: -(s.share.value or 0.0))

"""A change for the worse that is meant, as the gate's file of accepted changes holds it. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry.

    Attributes:
        cells: the words that select the cells.
        metric: which metric.
        level: growth against the baseline up to which it is accepted, as a fraction.
        reason: why.
        until: last day on which it counts, ``2026-06-01``; empty: for good.
        place: ``FILE:LINE``, for messages.
        cell_ids: of the gated cells that the words select.
        unknown: why the words select nothing of this plan; empty if they can be read.
    """

    cells: str
    metric: str
    level: float
    reason: str
    until: str = ""
    place: str = ""
    cell_ids: tuple[str, ...] = ()
    unknown: str = ""

    def counts_on(self, day: str) -> bool:
        """Return whether it is still in force on a day, ``2026-05-31``."""
        return not self.until or day <= self.until

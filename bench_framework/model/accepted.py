"""An intended change for the worse: an entry in the gate's file of accepted changes.

Immutable, no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accepted:
    """One entry of the file of accepted changes.

    Attributes:
        cells: selection of the cells, in the syntax of ``-k``.
        metric: name of the metric.
        level: largest accepted growth against the baseline, as a fraction.
        reason: reason for accepting the change, in the author's words.
        until: last day on which the entry is in force, such as ``2026-06-01``. It is empty for an
            entry without an end.
        place: ``FILE:LINE``, for messages.
        cell_ids: ids of the gated cells that the selection matches.
        unknown: reason why the selection matches no cell of this plan. It is empty for a valid
            selection.
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
        """Return whether the entry is in force on a day such as ``2026-05-31``."""
        return not self.until or day <= self.until

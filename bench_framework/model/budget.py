"""A budget: what a metric of a cell may be at most, whatever the baseline's is. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """An absolute bound.

    Attributes:
        cells: the words of the scenario that select the cells.
        metric: which metric.
        most: in the metric's own unit: seconds, bytes, or a number.
        text: as it is written, such as ``1.2s``.
        cell_ids: of the selected cells.
    """

    cells: str
    metric: str
    most: float
    text: str
    cell_ids: tuple[str, ...] = ()

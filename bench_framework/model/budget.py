"""A budget: an absolute upper limit of a metric, independent of the baseline.

Immutable, no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """An absolute upper limit of one metric for the selected cells.

    Attributes:
        cells: selection of the cells, as written in the scenario.
        metric: name of the metric.
        most: the limit in the stored unit of the metric: seconds, bytes, or a number.
        text: the limit as written in the scenario, such as ``1.2s``.
        cell_ids: ids of the selected cells.
    """

    cells: str
    metric: str
    most: float
    text: str
    cell_ids: tuple[str, ...] = ()

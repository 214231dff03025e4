"""The history of a scenario in a notebook, ``bench_framework.history``."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from bench_framework.extensions.history.model import HistoryPoint
from bench_framework.extensions.history.series import scenario_history
from bench_framework.notebook import records_folder
from bench_framework.store.frames import frame_of
from bench_framework.text.documents import document_text

_NAMES: Final = [field.name for field in fields(HistoryPoint)]


def history(
    scenario: str | None = None,
    *,
    metric: str | None = None,
    only: str | None = None,
    machine: str | None = None,
    results: str | Path | None = None,
) -> Any:
    """Return the history of a scenario as a DataFrame with one row per configuration and record.

    Columns: those of `points` in docs/reference/history.md, `configuration`, an `axis_NAME` for
    each axis, and `change`, the ratio of a change that begins with this row. Values are in seconds or
    bytes. ``frame.attrs["history"]`` is the whole document.

    Args:
        scenario: name or file of a scenario; default: that of the newest record.
        metric: wall, cpu, iteration, peak_rss, or a count such as instructions; default: wall, of benchmarks
            iteration.
        only: filter of configurations, as ``-k``.
        machine: fingerprint of the machine; default: that of the newest record.
        results: see `load`.

    Raises:
        UsageError: there is no such record, metric or machine.
    """
    series = scenario_history(
        records_folder(results), scenario, metric=metric, only=only, machine=machine
    )
    rows = []
    for one in series.series:
        axes = {f"axis_{name}": value for name, value in one.values.items()}
        labels = {"configuration": one.label, **axes}
        ratios = {change.at: change.ratio for change in one.changes}
        rows += [
            {**labels, **{name: getattr(point, name) for name in _NAMES}, "change": ratios.get(n)}
            for n, point in enumerate(one.points)
        ]
    frame = frame_of(rows, instants=("started",), types={"dirty": "boolean", "change": "float64"})
    frame.attrs["history"] = json.loads(document_text(series))
    return frame

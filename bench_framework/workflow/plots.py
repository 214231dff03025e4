"""The figures of a report as matplotlib drawings, for the notebook API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench_framework.errors import RecordError, UsageError

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.store.frames import Frames

Axes = Any
"""A matplotlib Axes. Its type is `Any`, because only ``report.figures`` imports the library."""


def figures_of(frames: Frames) -> dict[str, Figure]:
    """Return the figures of a report by name, in the order of the report.

    Raises:
        RecordError: BX413, the record has no results yet; BX411, it is damaged.
    """
    from bench_framework.features.document import build_document
    from bench_framework.workflow.pages import report_data

    judgement = frames.judgement
    if judgement is None:
        raise RecordError(
            f"record {frames.path.name} has no figures: it has no results yet",
            code="BX413",
            help="finish it with `benchctl run`, or use `benchctl report RECORD` for the rounds "
            "measured so far",
        )
    return {
        figure.anchor: figure
        for figure in build_document(report_data(frames.record, judgement)).figures()
    }


def plot(frames: Frames, name: str, ax: Axes | None = None) -> Axes:
    """Draw a figure on `ax`, or on a new canvas, in light colours.

    Raises:
        UsageError: BX114, the report has no figure of that name. RecordError: as `figures_of`.
    """
    from bench_framework.report import figures

    by_name = figures_of(frames)
    if name not in by_name:
        raise UsageError(
            f"the report of {frames.record_id} has no figure {name!r}",
            code="BX114",
            help=f"figures: {', '.join(by_name) or 'none'}",
        )
    figure = by_name[name]
    return figures.PLOTS[figure.chart](figure, ax)

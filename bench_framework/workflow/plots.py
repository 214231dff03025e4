"""The figures of a report as drawings of one's own: what a notebook asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench_framework.errors import RecordError, UsageError

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.store.frames import Frames

Axes = Any
"""A matplotlib Axes: named `Any`, as only ``report.figures`` may import the library."""


def figures_of(frames: Frames) -> dict[str, Figure]:
    """The figures of a record's report by their names there, in their order.

    Raises:
        RecordError: BX413, the record is not judged yet; BX411, it is damaged.
    """
    from bench_framework.features.document import build_document
    from bench_framework.workflow.pages import report_data

    judgement = frames.judgement
    if judgement is None:
        raise RecordError(
            f"{frames.path.name} has no figures: it is not judged yet",
            code="BX413",
            help="`benchctl run` finishes an interrupted record, `benchctl report RECORD` judges what there is",
        )
    return {
        figure.anchor: figure
        for figure in build_document(report_data(frames.record, judgement)).figures()
    }


def plot(frames: Frames, name: str, ax: Axes | None = None) -> Axes:
    """A figure drawn on `ax`, or on a canvas of its own, in the light colours of a page.

    Raises:
        UsageError: BX114, the report has no figure of that name. RecordError: as `figures_of`.
    """
    from bench_framework.report import figures

    found = figures_of(frames)
    if name not in found:
        raise UsageError(
            f"the report of {frames.record_id} has no figure {name!r}",
            code="BX114",
            help=f"figures: {', '.join(found) or 'none'}",
        )
    figure = found[name]
    return figures.PLOTS[figure.chart](figure, ax)

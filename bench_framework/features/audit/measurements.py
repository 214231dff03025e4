"""Assignment of imported runs to the figures of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.features.audit.compute import content_words
from bench_framework.features.audit.page import Figure
from bench_framework.features.audit.quantities import Quantity
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.stats import welch
from bench_framework.stats.portable_math import exp, t_quantile
from bench_framework.units import format_duration, format_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bench_framework.features.audit.page import Page
    from bench_framework.model.imported import Series, Session

_KINDS: Final = {WALL: "time", PEAK_RSS: "size"}
_NEAR: Final = 0.1
"""The relative difference up to which one of several figures with a name is that of a command."""
_OFF: Final = 0.05
"""The relative difference from which a figure contradicts the runs that belong to it."""
LEVEL: Final = 0.95


def attach(page: Page, sessions: Iterable[Session]) -> list[tuple[Figure, str]]:
    """Give figures their runs, and add commands that are not on the page as further figures.

    A command belongs to the figures with its name. Without such figures, it belongs to the one
    figure that is its rounded mean.

    Returns:
        The figures that contradict their runs, each with the reason.
    """
    wrong: list[tuple[Figure, str]] = []
    for number, session in enumerate(sessions, 1):
        for command in session.commands:
            for series in command.series:
                if series.metric in _KINDS:
                    wrong += _assign(page, command.label, series, -number)
    return wrong


def _assign(page: Page, label: str, series: Series, group: int) -> Iterator[tuple[Figure, str]]:
    kind, words = _KINDS[series.metric], content_words(label)
    same = [f for f in page.figures if f.quantity.kind == kind and not f.secondary and not f.series]
    namesakes = [f for f in same if content_words(f.row) == words] or [
        f for f in same if content_words(f.row) and content_words(f.row) <= words
    ]
    if len({f.row for f in namesakes}) > 1:
        namesakes = []
    if len(namesakes) > 1:
        namesakes = [f for f in namesakes if abs(f.quantity.value / series.mean - 1) <= _NEAR]
    chosen = namesakes or [f for f in same if f.quantity.lo <= series.mean <= f.quantity.hi]
    if not namesakes and len(chosen) > 1:
        chosen = []
    for figure in chosen:
        page.figures[page.figures.index(figure)] = replace(figure, series=series)
        if reason := _contradiction(figure, series):
            yield figure, reason
    if not chosen:
        text = format_duration(series.mean) if kind == "time" else format_size(series.mean)
        quantity = Quantity(kind, series.mean, series.mean, series.mean, text, 0, 0)
        page.figures.append(Figure(label, quantity, 0, group, (), row=label, series=series))


def _contradiction(figure: Figure, series: Series) -> str:
    """Return why a figure contradicts its runs, or an empty text."""
    q, centre = figure.quantity, welch.log_mean(series)
    gap = abs(q.value / series.mean - 1)
    if centre is None or gap <= _OFF:
        return ""
    half = t_quantile((1 + LEVEL) / 2, centre.freedom) * centre.variance**0.5
    lo, hi = exp(centre.centre - half), exp(centre.centre + half)
    if lo <= q.hi and q.lo <= hi:
        return ""
    show = format_duration if q.kind == "time" else format_size
    return f"the data give {show(series.mean)} [{show(lo)}, {show(hi)}]"

"""Assignment of imported runs to the figures of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.features.audit.compute import LEVEL, Statement, content_words, statement
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

_KINDS: Final = {WALL: ("time", format_duration), PEAK_RSS: ("size", format_size)}
_NEAR: Final = 0.1
"""The relative difference up to which one of several figures with a name is that of a command."""
_OFF: Final = 0.05
"""The relative difference from which a figure contradicts the runs that belong to it."""


def attach(page: Page, sessions: Iterable[Session]) -> Iterator[Statement]:
    """Give figures their runs, and add commands that are not on the page as further figures.

    A command belongs to the figures with its name. Without such figures, it belongs to the one
    figure that is its rounded mean.

    Yields:
        The figures that contradict their runs.
    """
    for number, session in enumerate(sessions, 1):
        for command in session.commands:
            for series in command.series:
                if series.metric in _KINDS:
                    yield from _assign(page, command.label, series, -number)


def _assign(page: Page, label: str, series: Series, group: int) -> Iterator[Statement]:
    (kind, show), words = _KINDS[series.metric], content_words(label)
    same = [f for f in page.figures if f.quantity.kind == kind and not f.series]
    namesakes = [(f, names) for f in same if (names := content_words(f.row)) and names <= words]
    exact = [f for f, names in namesakes if names == words]
    chosen = exact or [f for f, _ in namesakes]
    if len({f.row for f in chosen}) > 1:
        chosen = []
    elif len(chosen) > 1:
        chosen = [f for f in chosen if abs(f.quantity.value / series.mean - 1) <= _NEAR]
    if not chosen:
        equal = [f for f in same if f.quantity.lo <= series.mean <= f.quantity.hi]
        chosen = equal if len(equal) == 1 else []
    for f in chosen:
        page.figures[page.figures.index(f)] = replace(f, series=series)
        if reason := _contradiction(f, series):
            yield statement(f, f"{f.label}: {f.quantity.text}", "not supported", reason)
    if not chosen:
        mean = series.mean
        quantity = Quantity(kind, mean, mean, mean, show(mean))
        page.figures.append(Figure(label, quantity, 0, group, (), row=label, series=series))


def _contradiction(figure: Figure, series: Series) -> str:
    """Return why a figure contradicts its runs, or an empty text."""
    q, centre = figure.quantity, welch.log_mean(series)
    if centre is None or abs(q.value / series.mean - 1) <= _OFF:
        return ""
    half = t_quantile((1 + LEVEL) / 2, centre.freedom) * centre.variance**0.5
    lo, hi = exp(centre.centre - half), exp(centre.centre + half)
    if lo <= q.hi and q.lo <= hi:
        return ""
    _, show = _KINDS[series.metric]
    return f"the data give {show(series.mean)} [{show(lo)}, {show(hi)}]"

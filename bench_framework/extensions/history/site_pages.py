"""The pages of a site: the index of all records, and the history of a scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import quote, urlsplit

from bench_framework.extensions.history.compute import CERTAIN
from bench_framework.extensions.history.model import History, HistoryPoint, HistorySeries, Shift
from bench_framework.report.render.html import FILTERS, policy, printable, safe_json, trusted
from bench_framework.report.render.templates import Templates
from bench_framework.text.numbers import (
    column_decimals,
    fixed,
    format_moment,
    measured_decimals,
    metric_unit,
    show_change,
)

HEIGHT: Final = 100.0
ROOM: Final = 0.06
"""Room above and below the values, as a fraction of their range."""
FURTHEST: Final = 0.5
"""Part of an interval that may lie outside of the values, as a fraction of their range."""
MANY: Final = 300
"""Records from which a chart has smaller dots; also in ``site.js``."""
LATEST: Final = 5
"""Records of a scenario in the table of the index. The others are folded and have no result."""
LISTED: Final = 100
"""Records in the table of the page of a scenario."""
COMMIT: Final = 12
"""Digits of the id of a commit."""


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """A finished record, as the pages list it."""

    scenario: str
    id: str
    started: str
    question: str
    status: str
    answer: str
    """The first sentence of the summary."""
    revisions: list[str]
    """Full ids of the commits that were measured."""
    machine: str
    files: list[str]
    """Files of the record in the site, relative to its folder there."""

    @property
    def when(self) -> str:
        """Return the start in UTC: ``2026-03-02 17:04``."""
        return format_moment(self.started)

    @property
    def address(self) -> str:
        """Return the address of the report, relative to the page of the scenario; empty without one."""
        return f"{quote(self.id)}/report.html" if "report.html" in self.files else ""


@dataclass(frozen=True, slots=True)
class Commits:
    """The web pages of commits. `base` is the https URL of a repository, or empty."""

    base: str = ""

    @classmethod
    def from_remote(cls, remote: str) -> Self:
        """Return the pages of a git remote: none unless it is an https URL. A login is left out."""
        try:
            parts = urlsplit(remote.strip())
            host = f"{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        except ValueError:
            return cls()
        if parts.scheme != "https" or not parts.hostname:
            return cls()
        return cls(f"https://{host}{quote(parts.path.rstrip('/').removesuffix('.git'))}")

    def link(self, revision: str | None) -> str:
        """Return the address of a commit; empty if it is not known."""
        if not self.base or not revision or not set(revision) <= set("0123456789abcdef"):
            return ""
        kind = "commits" if urlsplit(self.base).hostname == "bitbucket.org" else "commit"
        return f"{self.base}/{kind}/{revision}"


def render_index(
    templates: Templates, scenarios: Mapping[str, Sequence[SiteRecord]], commits: Commits
) -> str:
    """Return the page that lists all records by scenario, newest first."""
    groups = [
        {"name": name, "top": f"{quote(name)}/", "records": [*records][::-1]}
        for name, records in scenarios.items()
    ]
    return _page(templates, "Benchmarks", groups=groups, commits=commits, shown=LATEST)


def render_scenario(
    templates: Templates,
    records: Sequence[SiteRecord],
    histories: Sequence[History],
    commits: Commits,
) -> str:
    """Return the page of a scenario: a chart per configuration and machine, and its records."""
    by_id = {record.id: record for record in records}
    machines = [_machine(history, n, by_id, commits) for n, history in enumerate(histories)]
    return _page(
        templates,
        records[-1].scenario,
        question=records[-1].question,
        machines=machines,
        records=[*records][::-1],
        commits=commits,
        shown=LISTED,
        data=trusted(safe_json([machine.pop("data") for machine in machines])),
    )


def _page(templates: Templates, title: str, **given: Any) -> str:
    script = f"{templates.text('report.js')}\n{templates.text('site.js')}"
    context = {
        "title": title,
        "style": trusted(f"{templates.text('report.css')}\n{templates.text('site.css')}"),
        "script": trusted(script),
        "policy": policy(script),
        "digits": COMMIT,
        "groups": (),
        "machines": (),
        "records": (),
        "question": "",
        "data": "",
        **given,
    }
    return templates.render("site.html.j2", context, FILTERS, printable)


def _machine(
    history: History, number: int, records: Mapping[str, SiteRecord], commits: Commits
) -> dict[str, Any]:
    """Return the charts of a machine, its changes, and the data of its tooltips."""
    points = {point.place: point for one in history.series for point in one.points}
    order = [points[place] for place in sorted(points)]
    xs = {point.place: x for x, point in enumerate(order)}
    members = [*enumerate(history.series)]
    charts = [_chart(one, f"{number}-{n}", history, xs) for n, one in members]
    changes = [
        {
            "label": one.label,
            "chart": f"{number}-{n}",
            "ratio": _percent(change),
            "worse": change.ratio > 1,
            "confirmed": change.confirmed,
            "confidence": f"{'> ' if change.confidence > CERTAIN else ''}"
            f"{fixed(min(change.confidence, CERTAIN) * 100, 1)}",
            "ends": [
                {"record": point, "link": commits.link(point.revision)}
                for point in (one.points[change.before], one.points[change.after])
            ],
        }
        for n, one, change in sorted(
            ((n, one, change) for n, one in members for change in one.changes),
            key=lambda item: -item[1].points[item[2].at].place,
        )
    ]
    by_commit = history.order == "revision"
    listed = [
        {
            "when": (when := format_moment(point.started)),
            # Backfilled records are not in the order of their dates.
            "end": (by_commit and _state(point)) or when,
            "report": records[point.record].address if point.record in records else "",
            "revision": _state(point),
            "commit": commits.link(point.revision),
        }
        for point in order
    ]
    return {
        "facts": [*history.machine.facts.items()],
        "count": len(order),
        "searched": any(one.noise is not None for one in history.series),
        "ends": (listed[0]["end"], listed[-1]["end"]) if listed else ("", ""),
        "charts": charts,
        "changes": changes,
        "data": {"records": listed, "charts": [chart.pop("data") for chart in charts]},
    }


def _state(point: HistoryPoint) -> str:
    """Return the commit that a record measured, and whether it had uncommitted changes."""
    commit = (point.revision or "")[:COMMIT]
    return f"{commit} + changes" if commit and point.dirty else commit


def _chart(
    one: HistorySeries, name: str, history: History, places: Mapping[int, int]
) -> dict[str, Any]:
    points = one.points
    unit, scale = metric_unit(history.metric, points[-1].value, history.unit_family)
    newest = points[-MANY:]
    decimals = column_decimals(measured_decimals(p.value, p.lo, p.hi, scale) for p in newest)

    def text(value: float) -> str:
        return f"{value * scale:.{decimals}f}"

    def digits(value: float) -> int:
        return round(value * scale * 10.0**decimals)

    low, high = _range(points)
    xs = [places[p.place] for p in points]
    return {
        "name": name,
        "label": one.label,
        "last": f"{text(points[-1].value)} {unit}".strip(),
        "change": _percent(one.changes[-1]) if one.changes else "",
        "worse": bool(one.changes) and one.changes[-1].ratio > 1,
        "bounds": [f"{text(bound)} {unit}".strip() for bound in (high, low)],
        "svg": trusted(_svg(one, xs, (low, high))),
        "width": len(places),
        "many": len(places) > MANY,
        "data": {
            "unit": unit,
            # Most charts have all records. Numbers are integers, which need half of the characters.
            "at": None if len(xs) == len(places) else xs,
            "decimals": decimals,
            "values": [digits(p.value) for p in points],
            "intervals": [
                [digits(p.value) - digits(p.lo), digits(p.hi) - digits(p.value)]
                if p.lo is not None and p.hi is not None
                else 0
                for p in points
            ],
            "outliers": [n for n, p in enumerate(points) if p.outlier],
        },
    }


def _range(points: Sequence[HistoryPoint]) -> tuple[float, float]:
    """Return the limits of a chart. Outliers are at its edge, and wide intervals may be cut."""
    points = [p for p in points if not p.outlier] or points
    centres = [value for p in points for value in (p.level, p.fitted)]
    ends = [bound for p in points for bound in _interval(p)]
    low, high = min(centres), max(centres)
    most = FURTHEST * (high - low or low * ROOM)
    low, high = max(min([low, *ends]), low - most), min(max([high, *ends]), high + most)
    room = ROOM * (high - low or low)
    return low - room, high + room


def _interval(point: HistoryPoint) -> tuple[float, ...]:
    """Return the interval of a point without the change of the machine, or nothing."""
    if point.lo is None or point.hi is None:
        return ()
    moved = point.level / point.value
    return point.lo * moved, point.hi * moved


def _svg(one: HistorySeries, xs: Sequence[int], limits: tuple[float, float]) -> str:
    """Return the marks of a chart. One unit of x is one record; y is from 0 to `HEIGHT`."""
    low, high = limits

    def y(value: float) -> str:
        share = (high - min(max(value, low), high)) / (high - low)
        return f"{share * HEIGHT:.1f}".removesuffix(".0")

    marks = []
    for change in one.changes:
        first, last = xs[change.before], xs[change.after]
        kind = "worse" if change.ratio > 1 else "better"
        sure = "" if change.confirmed else " open"
        marks.append(
            f'<rect class="{kind}{sure}" x="{first}" y="0" width="{last - first}" height="100"/>'
        )
    starts = {0, *one.breaks, *(change.at for change in one.changes)}
    intervals, steps, dots, outliers = "", "", "", ""
    for n, (x, p) in enumerate(zip(xs, one.points, strict=True)):
        if ends := _interval(p):
            intervals += f"M{x} {y(ends[0])}V{y(ends[1])}"
        if n in starts:
            steps += f"M{x - 0.5} {y(p.fitted)}"
        if n + 1 in starts or n + 1 == len(xs):
            steps += f"H{x + 0.5}"
        dot = f"M{x} {y(p.level)}h0"
        dots, outliers = (dots, outliers + dot) if p.outlier else (dots + dot, outliers)
    paths = {"ci": intervals, "dots": dots, "level": steps}
    paths |= {"dots outlier": outliers} if outliers else {}
    marks += [f'<path class="{name}" d="{path}"/>' for name, path in paths.items()]
    return "".join(marks)


def _percent(change: Shift) -> str:
    return str(show_change(change.ratio, change.lo, change.hi, 0.0))

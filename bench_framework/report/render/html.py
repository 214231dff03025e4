"""The report as one HTML file that asks for nothing: no request, no script needed to read it (REPORTS 2)."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from bench_framework.report.render.cells import cell_class, headed, row_class, shown
from bench_framework.report.render.characters import visible
from bench_framework.report.render.templates import CONTEXT_VERSION, Templates
from bench_framework.report.sections.masthead import STATUS_GLYPHS
from bench_framework.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from bench_framework.report.blocks import Document
    from bench_framework.report.context import ReportData

MARKS = {"pass": "✓", "warn": "⚠", "fail": "✕", "unknown": "·"}
MOST_SCRIPT_BYTES = 6 * 1024


@dataclass(frozen=True, slots=True)
class Runs:
    """The record that a page contains: its runs as the address of a download, and the rest as compressed JSON."""

    link: str
    record: str

    @property
    def compressed_bytes(self) -> int:
        """Size before base64, which adds a third."""
        return (len(self.link) + len(self.record)) * 3 // 4


def render(
    document: Document,
    data: ReportData,
    templates: Path | Templates,
    figures: Mapping[str, str],
    runs: Runs | None = None,
) -> str:
    """One HTML document.

    Args:
        document: the tree.
        data: for what is embedded to be read by machine: environment, scenario.
        templates: folder that holds ``report.html.j2``, ``report.css`` and ``report.js``.
        figures: anchor of a figure to its inline SVG; a figure without one shows its table alone.
        runs: the record, if the page is to contain it.
    """
    return page(document, templates, figures, environment_of(data), data.scenario_text, runs)


def page(
    document: Document,
    templates: Path | Templates,
    figures: Mapping[str, str],
    origin: Mapping[str, object],
    scenario_text: str = "",
    runs: Runs | None = None,
) -> str:
    """One HTML document: `origin` and the version that renders it as JSON, scenario and runs where there are any."""
    folders = templates if isinstance(templates, Templates) else Templates(templates)
    origin = {**origin, "rendered_by": __version__}
    given = context(document, folders, figures, origin, scenario_text, runs)
    return folders.render("report.html.j2", given, FILTERS, _visible)


def context(
    document: Document,
    templates: Templates,
    figures: Mapping[str, str],
    origin: Mapping[str, object],
    scenario_text: str = "",
    runs: Runs | None = None,
) -> dict[str, object]:
    """What the template of the page is given, as ``docs/reference/templates.md`` tells it."""
    script = templates.text("report.js")
    return {
        "context_version": CONTEXT_VERSION,
        "document": document,
        "marks": MARKS,
        "trust_anchor": "quality" if document.section("S21") else "record",
        "status_glyph": STATUS_GLYPHS.get(document.status, ""),
        "style": _trusted(templates.text("report.css")),
        "script": _trusted(script),
        "policy": policy(script),
        "figures": {anchor: _trusted(svg) for anchor, svg in figures.items()},
        "env_json": _trusted(safe_json(dict(origin))),
        "scenario_json": _trusted(safe_json(scenario_text)) if scenario_text else "",
        "runs_link": runs.link if runs else "",
        "record_data": runs.record if runs else "",
    }


def policy(script: str) -> str:
    """The content security policy: nothing from outside, and of scripts only this text."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def safe_json(value: object) -> str:
    """JSON that can stand in a ``script`` element: no ``<``, no line separators; keys sorted."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, code)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def environment_of(data: ReportData) -> dict[str, object]:
    """What the page says of its own record, for ``benchctl verify`` and the notebook."""
    if data.imported is not None:
        files = {session.source: session.sha256 for session in data.imported.sessions}
        return {
            "record_id": data.record_id,
            "name": data.plan.name,
            "imported_at": data.started,
            "files": files,
        }
    return {
        "record_id": data.record_id,
        "started": data.started,
        "finished": data.finished,
        "scenario": data.plan.name,
        "scenario_sha256": data.plan.scenario_sha256,
        "host": asdict(data.host),
        "inputs": {
            data.input_name(i): p.sha256 for i in data.plan.inputs if (p := data.prepared(i.id))
        },
        "builds": {b.id: b.sha256 for b in data.builds},
    }


def _lines(text: str) -> Markup:
    """Text of several lines for a ``pre`` element: made visible, and escaped as text between tags is.

    Quotes act within attributes only, and a page may print hundreds of quoted commands.
    """
    lines = (
        visible(line).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        for line in text.splitlines()
    )
    return _trusted("\n".join(lines))


def _visible(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _trusted(text: str) -> Markup:
    """Text that is ours, or was escaped for the place where it stands."""
    return Markup(text)  # noqa: S704 -- templates, drawings and JSON made safe above


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "shown": shown,
    "row_class": row_class,
    "cell_class": cell_class,
    "headed": headed,
    "lines": _lines,
}
"""What the templates of a page may call, beside Jinja's own."""

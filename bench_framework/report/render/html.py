"""The report as one HTML file that makes no request and is complete without JavaScript."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from html import escape as escape_html
from typing import Any, Final

from markupsafe import Markup, escape

from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Cell, Column, Document, Drawn, Row, Table
from bench_framework.report.charts import DARK, LIGHT, token
from bench_framework.report.context import ReportData
from bench_framework.report.render.templates import CONTEXT_VERSION, MARKS, Templates
from bench_framework.report.render.widths import (
    COMMAND,
    QUOTED,
    decimal_width,
    is_number,
    visible,
    visible_lines,
)
from bench_framework.report.sections.masthead import STATUS_GLYPHS
from bench_framework.stats.portable_math import log
from bench_framework.version import __version__

FIGURE_SPACE: Final = "\u2007"
POINT_SPACE: Final = "\u2008"
DIGITS: Final = 12
"""Significant digits of a value. The last bits can depend on the processor."""
_NUMBER: Final = r"[+\u2212]?\d[\d.,\u202f]*(?:%|×)?"
_INTERVAL: Final = re.compile(rf"(\[{_NUMBER},) ({_NUMBER}\])")
"""An interval in a sentence, ``[−4.1, +0.4]``; nothing that a label could contain as markup."""
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?")
_TITLE_END: Final = re.compile(r"[:;] |\. (?=[A-Z0-9])|\.$")
WHOLE: Final = 1e15
"""Whole numbers below this value are exact as floats and need no exponent."""


def cell_texts(table: Table) -> list[list[tuple[str, str | None]]]:
    """Return the texts of a table by row, each with the value of its ``data`` element or `None`.

    In decimal columns, texts are padded with spaces as wide as a digit, so that points align. A
    column of plain numbers without claims needs no values, because its texts sort correctly.
    """
    texts: list[list[tuple[str, str | None]]] = [[] for _ in table.rows]
    for place, column in enumerate(table.columns):
        cells = [row.cells[place] for row in table.rows]
        widths = [decimal_width(c.text) for c in cells] if column.align == "decimal" else []
        longest = max(widths, default=0)
        plain = all(
            c.claim is None and (_PLAIN.fullmatch(c.text) or c.value is None) for c in cells
        )
        for row, cell in zip(texts, cells, strict=True):
            text = _filled(cell.text, longest) if longest else cell.text
            row.append((unbroken(text), None if plain else _datum(cell)))
    return texts


def unbroken(text: str) -> str:
    """Return a text of a cell in which no line ends within an interval."""
    return _INTERVAL.sub("\\1\u00a0\\2", text)


def _datum(cell: Cell) -> str | None:
    """Return the value that a cell is sorted by."""
    value = cell.value
    if value is None or isinstance(value, str):
        return None if cell.claim is None and value == cell.verdict else value
    if float(value).is_integer() and abs(value) < WHOLE:
        return str(int(value))
    return f"{value:.{DIGITS}g}"


DRAWING: Final = (170.0, 18.0)
"""Width and height of the drawing of an interval, in its own units."""
EDGE: Final = 6.0
"""Room at both ends of the drawing, for a dot or an arrow."""
MOST_DRAWN: Final = 3.0
"""Largest factor on the scale of drawn intervals. What is beyond it ends in an arrow."""


def drawings(table: Table) -> list[Markup]:
    """Return the drawing of each row of a table with a `drawn` column, all on one scale."""
    drawn = [next((c.drawn for c in row.cells if c.drawn), None) for row in table.rows]
    known = [d for d in drawn if d is not None]
    ends = [max(abs(log(v)) for v in (d.lo, d.hi, 1 + d.margin)) for d in known]
    reach = min(max(ends, default=1.0), log(MOST_DRAWN)) * 1.04
    width, height = DRAWING

    def place(ratio: float) -> float:
        share = (log(ratio) / reach + 1) / 2
        return round(min(1.0, max(0.0, share)) * (width - 2 * EDGE) + EDGE, 1)

    return [_drawing(d, place, height) if d else Markup() for d in drawn]


def _drawing(d: Drawn, place: Callable[[float], float], height: float) -> Markup:
    """Return the interval as a line with a dot at the ratio, on the band of the margin."""
    band, middle = (place(1 / (1 + d.margin)), place(1 + d.margin)), height / 2
    lo, ratio, hi = place(d.lo), place(d.ratio), place(d.hi)
    shape = f'<circle cx="{ratio}" cy="{middle}" r="3.6"/>'
    if not EDGE < ratio < DRAWING[0] - EDGE:
        inward = 7 if ratio <= EDGE else -7
        shape = f'<path d="M{ratio + inward} {middle - 4}L{ratio} {middle}L{ratio + inward} {middle + 4}Z"/>'
    colour = f"--mark: var(--{token(d.verdict)})"
    return trusted(
        f'<svg class="interval" style="{colour}" viewBox="0 0 {DRAWING[0]:g} {height:g}" '
        f'aria-hidden="true"><rect x="{band[0]}" y="0" width="{band[1] - band[0]:.1f}" height="{height:g}"/>'
        f'<path class="one" d="M{place(1.0)} 0V{height:g}"/>'
        f'<path class="line" d="M{lo} {middle}H{hi}"/>{shape}</svg>'
    )


def headed(caption: str) -> tuple[str, str]:
    """Split a caption at its first colon, full stop or semicolon into title and rest."""
    end = _TITLE_END.search(caption)
    return (caption, "") if end is None else (caption[: end.start()], caption[end.start() :])


def row_class(row: Row) -> Markup:
    """Return the class attribute of a row, or an empty string."""
    return _class(
        "refused" if row.verdict and row.verdict.refused else "",
        "inconclusive" if row.verdict is Verdict.INCONCLUSIVE else "",
        "best" if row.strong else "",
        "baseline" if row.baseline else "",
    )


def cell_class(cell: Cell, column: Column) -> Markup:
    """Return the class attribute of a cell; right-aligned numbers have none, as a page has many."""
    aligned = "" if column.align != "left" or not cell.text else "notes" if column.prose else "t"
    drawn = "drawn" if column.drawn else ""
    return _class(aligned, drawn, f"v-{cell.verdict.value}" if cell.verdict else "")


def _class(*names: str) -> Markup:
    given = " ".join(filter(None, names))
    return Markup(f' class="{given}"' if given else "")  # noqa: S704 -- names of ours


def _filled(text: str, longest: int) -> str:
    if not is_number(text):
        return text
    missing = longest - decimal_width(text)
    point = POINT_SPACE if missing and "." not in text else ""
    return text + point + FIGURE_SPACE * (missing - len(point))


@dataclass(frozen=True, slots=True)
class PageRecord:
    """The record in a page: its runs as a data URL, and the rest as compressed JSON."""

    link: str
    record: str

    @property
    def compressed_bytes(self) -> int:
        """Return the size before base64 encoding, which adds a third."""
        return (len(self.link) + len(self.record)) * 3 // 4


def render(
    document: Document,
    data: ReportData,
    templates: Templates,
    figures: Mapping[str, str],
    runs: PageRecord | None = None,
    appendix: str = "",
) -> str:
    """Return HTML. A figure without an inline SVG in `figures`, by anchor, has only its table.

    `appendix` is the address of the appendix; without it, the appendix is folded below the report.
    """
    origin = environment_of(data)
    scenario = data.scenario_text
    return render_page(document, templates, figures, origin, scenario, runs, appendix=appendix)


def render_page(
    document: Document,
    templates: Templates,
    figures: Mapping[str, str],
    origin: Mapping[str, object],
    scenario_text: str = "",
    runs: PageRecord | None = None,
    **addresses: str,
) -> str:
    """Return the HTML of a document that may be of several records, with its `origin` as JSON.

    With the address `report`, it is that of the appendix, as a page of its own.
    """
    name = "appendix.html.j2" if "report" in addresses else "report.html.j2"
    given = context(document, templates, figures, origin, scenario_text, runs, **addresses)
    return templates.render(name, given, FILTERS, printable)


def render_summary(document: Document, figures: Mapping[str, str]) -> str:
    """Return the summary of a report and the given figures, by anchor, as a part of a page.

    Its styles apply only to itself, because a notebook contains several parts.
    """
    given = {
        "document": document,
        "marks": MARKS,
        "figures": {anchor: trusted(svg) for anchor, svg in figures.items()},
        "status_glyph": STATUS_GLYPHS.get(document.status, ""),
        "light": LIGHT,
        "dark": DARK,
    }
    return Templates().render("notebook.html.j2", given, FILTERS, printable)


def context(
    document: Document,
    templates: Templates,
    figures: Mapping[str, str],
    origin: Mapping[str, object],
    scenario_text: str = "",
    runs: PageRecord | None = None,
    *,
    appendix: str = "",
    report: str = "",
) -> dict[str, object]:
    """Return the variables of the template (``docs/reference/templates.md``)."""
    script = templates.text("report.js")
    return {
        "context_version": CONTEXT_VERSION,
        "document": document,
        "marks": MARKS,
        "appendix_page": appendix,
        "report_page": report,
        "style": trusted(templates.text("report.css")),
        "script": trusted(script),
        "policy": policy(script),
        "figures": {anchor: trusted(svg) for anchor, svg in figures.items()},
        "env_json": trusted(safe_json({**origin, "rendered_by": __version__})),
        "scenario_json": trusted(safe_json(scenario_text)) if scenario_text else "",
        "runs_link": runs.link if runs else "",
        "record_data": runs.record if runs else "",
    }


def policy(script: str) -> str:
    """Return the content security policy: no requests, and only this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def safe_json(value: object) -> str:
    """Return JSON for a ``script`` element: without ``<`` and line separators, keys sorted."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, code)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def environment_of(data: ReportData) -> dict[str, object]:
    """Return the origin of the page for ``benchctl verify`` and the notebook."""
    if data.contents.figures is not None:
        return data.contents.figures.origin()
    return {
        "record_id": data.contents.header.record_id,
        "started": data.contents.header.started_at,
        "finished": data.contents.ended_at or "",
        "scenario": data.plan.name,
        "scenario_sha256": data.plan.scenario_sha256,
        "host": asdict(data.host),
        "inputs": {
            data.input_name(i): p.sha256 for i in data.plan.inputs if (p := data.prepared(i.id))
        },
        "builds": {b.id: b.sha256 for b in data.contents.builds},
    }


def _lines(text: str) -> Markup:
    """Escape lines for a ``pre`` element, except quotes, which many commands contain."""
    return trusted(escape_html(visible_lines(text), quote=False))


def printable(value: object) -> object:
    """Return what a template prints: text without active characters, all else unchanged."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _marked_up(text: str) -> Markup:
    """Escape a sentence. Commands between backticks become code, and intervals muted."""
    code = COMMAND.sub(r"<code>\1</code>", str(escape(visible(text))))
    return trusted(_INTERVAL.sub(r'<span class="ci">\g<0></span>', code))


def _quoted(text: str) -> Markup:
    """Escape a question. What its author put between backticks becomes code."""
    return trusted(QUOTED.sub(r"<code>\1</code>", str(escape(visible(text)))))


def trusted(text: str) -> Markup:
    """Mark text as safe: it is generated here, or escaped for its place."""
    return Markup(text)  # noqa: S704 -- templates, drawings and JSON made safe above


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "cell_texts": cell_texts,
    "unbroken": unbroken,
    "row_class": row_class,
    "cell_class": cell_class,
    "headed": headed,
    "lines": _lines,
    "marked_up": _marked_up,
    "quoted": _quoted,
    "drawings": drawings,
}
"""Filters for the templates of a page."""

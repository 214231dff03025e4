"""The generated parts of the reference pages.

``python -m bench_framework.workflow.reference_pages --write`` writes all pages of `PAGES`. A table is
between two comments of a page, ``<!-- NAME table -->`` and ``<!-- end of NAME table -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework import assets
from bench_framework.features.sections import SECTIONS
from bench_framework.model.metrics import METRICS, UNITS
from bench_framework.model.words import WORDS
from bench_framework.scenario.load import load
from bench_framework.scenario.schema import schema_text
from bench_framework.workflow.scenarios import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ROOT: Final = Path(__file__).resolve().parents[2]
_JUDGED: Final = {
    "rounds": "paired by round",
    "medians": "by medians, always, in a separate table; with `judge`, paired by round",
    "exact": "exactly, as a property of the program",
    "shown": "not judged",
}


def _table(columns: str, rows: Iterable[tuple[str, ...]]) -> str:
    heading = columns.split(", ")
    lines = (
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |\n"
        for row in (heading, *rows)
    )
    first, *rest = lines
    return f"{first}|{'---|' * len(heading)}\n{''.join(rest)}"


def _code_table() -> str:
    texts = codes().items()
    return _table("code, meaning", ((f"`{code}`", ". ".join(text[:2])) for code, text in texts))


def _metric_table() -> str:
    rows = (
        (
            f"`{kind.name}`",
            kind.noun,
            kind.unit,
            kind.direction.replace("none", "neither"),
            kind.source,
            _JUDGED[kind.judged],
            kind.about,
        )
        for kind in METRICS.values()
    )
    return _table("metric, name in reports, unit, better, measured by, compared, description", rows)


def _scenario_table() -> str:
    specs = ((path, load(path).spec) for path in assets.shipped_scenarios().values())
    rows = ((f"[{p.stem}]({p.name})", spec.question, " × ".join(spec.axes)) for p, spec in specs)
    return _table("scenario, question, axes", rows)


def _section_table() -> str:
    rows = (
        (
            k.code,
            k.title,
            k.about,
            k.terminal,
            k.place,
        )
        for k in SECTIONS
    )
    return _table("code, section, shows, in the terminal, document", rows)


def _verdict_table() -> str:
    rows = (
        (w.glyph, f"`{w.ascii}`", w.time, w.memory, w.meaning.format(margin="the margin"))
        for w in WORDS.values()
    )
    return _table("glyph, ASCII, time, memory, meaning", rows)


def _unit_table() -> str:
    return f"Units: {', '.join(f'`{unit}`' for unit in UNITS)}.\n"


TABLES: Final[dict[str, Callable[[], str]]] = {
    "code": _code_table,
    "metric": _metric_table,
    "unit": _unit_table,
    "scenario": _scenario_table,
    "section": _section_table,
    "verdict": _verdict_table,
}


def _with_tables(path: str) -> str:
    """Return the text of a page with new tables."""
    return re.sub(
        r"(<!-- (\w+) table -->\n).*?(?=<!-- end of \2 table -->)",
        lambda match: match[1] + TABLES[match[2]](),
        (_ROOT / path).read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )


PAGES: Final[dict[str, Callable[[str], str]]] = {
    "docs/reference/codes.md": _with_tables,
    "docs/reference/metrics.md": _with_tables,
    "docs/reference/report.md": _with_tables,
    "docs/reference/scenario.schema.json": lambda _: schema_text(),
    "scenarios/README.md": _with_tables,
}
"""The function that returns the text of a page from its path in the repository."""

if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m bench_framework.workflow.reference_pages --write")
    for target, write in PAGES.items():
        _ROOT.joinpath(target).write_text(write(target), encoding="utf-8")

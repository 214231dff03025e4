"""Section "Builds that differ": settings, packages and sizes of each program against that of the baseline."""

from collections.abc import Sequence
from typing import Final

from bench_framework.compare.build_changes import LEAST_BYTES, changes_between
from bench_framework.model.facts.builds import BuildChanges
from bench_framework.report.blocks import Block, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import value_cell
from bench_framework.text.builds import packages, setting, signed_size, sizes
from bench_framework.text.names import first_items
from bench_framework.text.numbers import DASH

MOST_LABELS: Final = 3
_PACKAGES: Final = (
    "Packages: those from a registry or a repository that cargo compiles for the program."
)
_SIZES: Final = f"Sections and code by crate: differences of at least {LEAST_BYTES} bytes."
_GENERIC: Final = "A generic function counts for the crate that defines it."


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table with a row for each program that differs from that of the baseline."""
    specs = {spec.id: spec for spec in data.plan.builds}
    builds = data.contents.builds_by_id
    baseline = data.plan.baseline
    reference = builds.get(baseline.build_id)
    if reference is None:
        return ()
    rows, described = [], []
    for other in data.contents.builds:
        sides = other, specs.get(other.id), reference, specs.get(reference.id)
        if (changes := changes_between(*sides)) is not None:
            labels = [v.label for v in data.plan.variants if v.build_id == other.id]
            described.append(changes)
            rows.append(_row(first_items(labels, MOST_LABELS, ", "), changes))
    columns = (
        Column("Variants"),
        Column("Settings", prose=True),
        Column("Packages", prose=True),
        Column("Size", "right"),
        Column("Sections", prose=True),
        Column("Code by crate", prose=True),
    )
    caption = f"Programs against that of {baseline.label}. Size: of the file without symbols."
    table = Table("builds-table", caption, columns, tuple(rows), _legend(described), sortable=False)
    return (table,) if rows else ()


def _legend(described: Sequence[BuildChanges]) -> tuple[str, ...]:
    """Return the lines about the columns that the table has."""
    crates = any(changes.crates for changes in described)
    return (
        *([_PACKAGES] if any(changes.packages for changes in described) else []),
        *([_SIZES] if crates or any(changes.sections for changes in described) else []),
        *([_GENERIC] if crates else []),
    )


def _row(labels: str, changes: BuildChanges) -> Row:
    return Row.build(
        labels,
        "; ".join(map(setting, changes.settings)) or DASH,
        packages(changes.packages) or DASH,
        value_cell(changes.size.difference if changes.size else None, signed_size),
        sizes(changes.sections) or DASH,
        sizes(changes.crates) or DASH,
    )


BUILDS: Final = SectionKind(
    "S38",
    "builds",
    "Builds that differ",
    "what differs between the program of each variant and that of the baseline: compiler, flags, features, packages, "
    "sizes of sections and of the code of each crate",
    build,
)

"""Section "Technical notes": binaries, how they were built, digests of their results."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Role
from bench_framework.model.record.run import Build
from bench_framework.report.blocks import Block, Cell, Column, Row, Table, left, numeric
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import value_cell
from bench_framework.text.builds import evidence, features, profile
from bench_framework.text.names import first_items
from bench_framework.text.numbers import (
    DASH,
    format_clock,
    format_size,
    grouped,
    rate_unit,
    significant,
)
from bench_framework.units import THIN_SPACE

MOST_ROWS: Final = 60
"""Most rows of the table. tuning.json contains all."""
MOST_LABELS: Final = 4
MOST_COLUMNS: Final = 8
DIGITS: Final = 3


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the binaries, then the digests of their results."""
    binaries = [_binaries(data)] if data.contents.builds else []
    claims = claim_bullets(data.claims("one-program"))
    return (*binaries, *_modes(data), *_answers(data), *tuning(data), *claims)


def _binaries(data: ReportData) -> Table:
    columns = (
        Column("Variants"),
        Column("Features", prose=True),
        Column("Profile and flags", prose=True),
        *numeric("Size", "Stripped", "Dependencies", "Build"),
        Column("rustc", prose=True),
        *left("sha256", "Code", "Cargo.lock"),
    )
    rows = tuple(_row(data, b) for b in data.contents.builds)
    caption = "Binaries. Code: digest without symbols; equal digests mean equal programs."
    legend = tuple(_direct_dependencies(data))
    return Table("binaries", caption, columns, rows, legend, sortable=False)


def _direct_dependencies(data: ReportData) -> Iterator[str]:
    """Yield the direct dependencies of all binaries, then those of some of them."""
    users: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for package in sorted(
        {package for b in data.contents.builds for package in b.direct_dependencies}
    ):
        ids = tuple(b.id for b in data.contents.builds if package in b.direct_dependencies)
        users[ids].append(" ".join(package))
    for ids, packages in sorted(users.items(), key=lambda item: (-len(item[0]), item[0])):
        labels = [v.label for v in data.plan.variants if v.build_id in ids]
        where = (
            ""
            if len(ids) == len(data.contents.builds)
            else f" of {first_items(labels, MOST_LABELS, ', ')}"
        )
        yield f"Direct dependencies{where}: {', '.join(packages)}."


def _row(data: ReportData, b: Build) -> Row:
    spec = next((s for s in data.plan.builds if s.id == b.id), None)
    users = [v.label for v in data.plan.variants if v.build_id == b.id]
    duration = format_clock(b.build_s) if b.build_s is not None else "cached" if b.cached else DASH
    reached = {
        "linked by": b.linker,
        "PGO:": b.training and evidence(b.training),
        "LD_PRELOAD:": b.preload,
    }
    flags = (_flags(spec), *(f"{name} {value}" for name, value in reached.items() if value))
    return Row.build(
        ", ".join(users) or b.id,
        Cell(_features(spec), code=bool(spec and spec.features)),
        "; ".join(flags),
        value_cell(b.size_bytes, format_size),
        value_cell(b.stripped_bytes, format_size),
        value_cell(b.dependencies, str),
        Cell(duration, b.build_s),
        ", ".join(filter(None, (b.rustc, b.wrapper, _compilers(spec, b)))) or DASH,
        _digest(b.sha256, 16) if b.ok else f"not built: {b.message or 'no message'}",
        _digest(b.code_sha256, 12),
        _digest(b.lockfile_sha256, 12),
    )


def _digest(digest: str | None, length: int) -> Cell:
    return Cell((digest or DASH)[:length], code=digest is not None)


def _features(spec: BuildSpec | None) -> str:
    if spec is None or not spec.by_cargo:
        return DASH
    return features(spec) or "default"


def _flags(spec: BuildSpec | None) -> str:
    if spec is None or spec.installed:
        return "not built by benchctl"
    patches = [f"patch {PurePath(path).name}" for path in spec.patches]
    if spec.by_commands is not None:
        return "; ".join((*spec.by_commands.lines, *patches))
    words = [f"{spec.registry} {spec.version}:"] if spec.registry else []
    words += [profile(spec), *spec.rustflags]
    words += [f"+{spec.toolchain}"] if spec.toolchain else []
    words += [f"{name}={version}" for name, version in spec.dependencies]
    return " ".join((*words, *patches))


def _compilers(spec: BuildSpec | None, build: Build) -> str:
    """Return the versions of the tools that the build commands name, or else of the C compiler."""
    if spec is None or spec.by_commands is None:
        return ""
    words = {word for command in spec.by_commands.commands for word in command}
    words |= {value for _, value in spec.by_commands.env}
    lines = [line for name, line in build.tools if name in words]
    return ", ".join(lines) or dict(build.tools).get("cc", "")


def _modes(data: ReportData) -> list[Table]:
    """Return the actual modes that no axis sets, each with its variants."""
    axes = {axis.name for axis in data.plan.axes}
    variants: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    reported: dict[str, None] = {}
    for cell in data.plan.cells:
        for mode, value in data.state(cell.id).effective.items():
            if mode not in axes and cell.role is not Role.CONTROL:
                label = data.variant_of(cell).label
                variants[mode, value][label] = reported[label] = None
    if not variants:
        return []
    rows = tuple(
        Row.build(
            mode,
            Cell(value, code=True),
            "all" if labels == reported else first_items(list(labels), MOST_LABELS, ", "),
        )
        for (mode, value), labels in sorted(variants.items())
    )
    columns = (*left("Mode", "Actual value"), Column("Variants", prose=True))
    caption = "Actual modes that no axis sets, as the programs report."
    return [Table("modes", caption, columns, rows, sortable=False)]


def _answers(data: ReportData) -> list[Table]:
    answers = {b.cell_id: b.answer for b in reversed(data.measured_blocks) if b.answer is not None}
    groups: dict[tuple[str, str, int | None, str], list[str]] = defaultdict(list)
    for item in data.plan.inputs:
        for cell in data.arms(item.id):
            if (a := answers.get(cell.id)) is not None:
                key = (data.input_name(item), a.digest, a.count, a.source)
                groups[key].append(data.label(cell.id))
    if not groups:
        return []
    rows = tuple(
        Row.build(
            name,
            Cell(digest[:16], code=True),
            value_cell(count, lambda number: grouped(number, THIN_SPACE)),
            source,
            first_items(labels, MOST_LABELS, ", "),
        )
        for (name, digest, count, source), labels in groups.items()
    )
    columns = (
        *left("Input", "Digest"),
        Column("Count", "right"),
        Column("Source"),
        Column("Variants", prose=True),
    )
    caption = "Results of the variants: equal digests mean equal results."
    return [Table("answers", caption, columns, rows, sortable=False)]


def tuning(data: ReportData) -> list[Table]:
    """Return a table of the printed ``rows``, if any, with the ``choice`` in bold."""
    output = data.tuning or {}
    printed = output.get("rows")
    rows = [r for r in printed if isinstance(r, Mapping)] if isinstance(printed, list) else []
    names = [str(name) for name in rows[0]][:MOST_COLUMNS] if rows else []
    if not names:
        return []
    choice, basis, ran = (output.get(key) for key in ("choice", "basis", "effective"))
    chosen = choice.items() if isinstance(choice, Mapping) else ()
    table_rows = tuple(
        Row(
            tuple(_tuning_cell(name, row.get(name), data) for name in names),
            strong=bool(chosen) and all(row.get(key) == value for key, value in chosen),
        )
        for row in rows[:MOST_ROWS]
    )
    legend = ["Bold: chosen."] if any(row.strong for row in table_rows) else []
    legend += [f"Reported by the command: {basis}."] if isinstance(basis, str) and basis else []
    if isinstance(ran, Mapping) and ran:
        modes = ", ".join(f"{axis} {value}" for axis, value in ran.items())
        legend.append(f"Actual modes: {modes}.")
    if len(rows) > MOST_ROWS:
        legend.append(f"tuning.json contains {len(rows) - MOST_ROWS} more rows.")
    caption = (
        "Output of the scenario's tuning command, which tried each row once before the "
        "measurement: a starting point, not a result."
    )
    first, *others = (_tuning_title(name, rows, data) for name in names)
    columns = (Column(first), *numeric(*others))
    return [Table("tuning", caption, columns, table_rows, tuple(legend), sortable=False)]


def _tuning_title(name: str, rows: Sequence[Mapping[str, Any]], data: ReportData) -> str:
    if any(isinstance(row.get(name), list) for row in rows):
        return f"{name.replace('_', ' ')}, n"
    if name.endswith("_per_s"):
        title = f"{name.removesuffix('_per_s').replace('_', ' ')}/s"
        return title.replace("bytes/s", rate_unit(data.plan.unit_family)[0])
    return name.removesuffix("_bytes").replace("_", " ")


def _tuning_cell(name: str, value: object, data: ReportData) -> Cell:
    if isinstance(value, list):  # a list of trials is shown by its length
        return Cell(str(len(value)), len(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell(DASH if value is None else str(value))
    if name == "bytes_per_s":
        return Cell(significant(value * rate_unit(data.plan.unit_family)[1], DIGITS), value)
    if name.endswith("_bytes"):
        return Cell(format_size(value, data.plan.unit_family), value)
    return Cell(str(value) if isinstance(value, int) else significant(value, DIGITS), value)


TECHNICAL = SectionKind("S22", "technical", "Technical notes", "binaries, flags, digests", build)

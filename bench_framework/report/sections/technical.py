"""Section "Technical notes": binaries, how they were built, digests of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import PROGRAM_BUILD, ReportData
from bench_framework.report.numbers import DASH, show_size
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.tuning import tuning
from bench_framework.units import format_clock

if TYPE_CHECKING:
    from bench_framework.model.plan import BuildSpec
    from bench_framework.model.run import Block as RunBlock
    from bench_framework.model.run import Build


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the binaries, then the digests of their results."""
    blocks: list[Block] = []
    if data.builds:
        blocks.append(_binaries(data))
    answers = _answers(data)
    if answers is not None:
        blocks.append(answers)
    blocks += tuning(data)
    same = data.claims("one-program")
    if same:
        blocks.append(Bullets(tuple(sentence(c) for c in same)))
    return tuple(blocks)


def _binaries(data: ReportData) -> Table:
    columns = (
        Column("Variants"),
        Column("Features", prose=True),
        Column("Profile and flags", prose=True),
        Column("Size", "right"),
        Column("Stripped", "right"),
        Column("Dependencies", "right"),
        Column("Build", "right"),
        Column("rustc", prose=True),
        Column("sha256"),
        Column("Code"),
        Column("Cargo.lock"),
    )
    rows = tuple(_row(data, b) for b in data.builds)
    caption = "Binaries. Code: digest without symbols; equal digests mean equal programs."
    return Table("binaries", caption, columns, rows, sortable=False)


def _row(data: ReportData, b: Build) -> Row:
    spec = next((s for s in data.plan.builds if s.id == b.id), None)
    users = [
        v.label for v in data.plan.variants if (v.build.id if v.build else PROGRAM_BUILD) == b.id
    ]
    size = (
        Cell(show_size(b.size_bytes, "iec"), b.size_bytes)
        if b.size_bytes is not None
        else Cell(DASH)
    )
    stripped = (
        Cell(show_size(b.stripped_bytes, "iec"), b.stripped_bytes)
        if b.stripped_bytes is not None
        else Cell(DASH)
    )
    duration = format_clock(b.build_s) if b.build_s is not None else "cached" if b.cached else DASH
    cells = (
        Cell(", ".join(users) or b.id),
        Cell(_features(spec), code=bool(spec and spec.features)),
        Cell(_flags(spec)),
        size,
        stripped,
        Cell(str(b.dependencies), b.dependencies) if b.dependencies is not None else Cell(DASH),
        Cell(duration, b.build_s),
        Cell(b.rustc or DASH),
        Cell(
            (b.sha256 or DASH)[:16] if b.ok else f"not built: {b.message or 'no message'}",
            code=b.ok,
        ),
        Cell((b.code_sha256 or DASH)[:12], code=b.code_sha256 is not None),
        Cell((b.lockfile_sha256 or DASH)[:12], code=b.lockfile_sha256 is not None),
    )
    return Row(cells)


def _features(spec: BuildSpec | None) -> str:
    if spec is None:
        return DASH
    words = [*([] if spec.default_features else ["no default"]), *spec.features]
    return ", ".join(words) or "default"


def _flags(spec: BuildSpec | None) -> str:
    if spec is None:
        return "not built by benchctl"
    words = [spec.profile, *(f"{k}={v}" for k, v in spec.profile_keys), *spec.rustflags]
    words += [f"+{spec.toolchain}"] if spec.toolchain else []
    return " ".join(words)


def _answers(data: ReportData) -> Table | None:
    first: dict[str, RunBlock] = {}
    for block in data.measured_blocks:
        if block.answer is not None:
            first.setdefault(block.cell_id, block)
    rows = []
    for item in data.plan.inputs:
        groups: dict[tuple[str, int | None, str], list[str]] = {}
        for cell in data.arms(item.id):
            sample = first.get(cell.id)
            if sample is not None and sample.answer is not None:
                a = sample.answer
                groups.setdefault((a.digest, a.count, a.source), []).append(data.label(cell.id))
        for (digest, count, source), labels in groups.items():
            rows.append(
                Row(
                    (
                        Cell(data.input_name(item)),
                        Cell(digest[:16], code=True),
                        Cell(
                            f"{count:,}".replace(",", "\u202f") if count is not None else DASH,
                            count,
                        ),
                        Cell(source),
                        Cell(_some(labels)),
                    )
                )
            )
    if not rows:
        return None
    columns = (
        Column("Input"),
        Column("Digest"),
        Column("Count", "right"),
        Column("Source"),
        Column("Variants", prose=True),
    )
    return Table(
        "answers",
        "Results of the variants: equal digests mean equal results.",
        columns,
        tuple(rows),
        sortable=False,
    )


def _some(labels: list[str]) -> str:
    most = 4
    return (
        ", ".join(labels)
        if len(labels) <= most
        else f"{', '.join(labels[:most])} and {len(labels) - most} more"
    )


TECHNICAL = SectionKind(
    "S22",
    "technical",
    "Technical notes",
    "binaries, flags, digests",
    build,
    "No binary was recorded.",
)

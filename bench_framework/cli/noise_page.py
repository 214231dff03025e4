"""What ``benchctl doctor --aa`` prints: sentences and two tables, each figure with what stands behind it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from bench_framework.cli.console import counted
from bench_framework.units import format_clock, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.features.noise.compute import Found, NoiseSummary, Rate
    from bench_framework.workflow.noise import NoiseFindings

INDENT = " " * 4
OPEN = "no end"
"""Of a noise floor whose interval has none."""


def noise_page(findings: NoiseFindings, width: int) -> str:
    """The findings as text of a width."""
    if not findings.windows:
        return "No window was measured: nothing is said about the noise of this machine."
    summary = findings.summary
    lines = [
        *_wrapped(_head(findings), width),
        "",
        *_wrapped(_false_verdicts(summary), width),
        *_wrapped(_independence(findings), width, INDENT),
        "",
        *_wrapped(
            "Noise floor: what a report could not have told from nothing. Median window (worst).",
            width,
        ),
        *_floors(summary),
        "",
        *_wrapped(
            "Injected slowdown, as really more work: windows that called it slower on wall or CPU time, both judged"
            f" together at {format_percent(summary.level)}; at least that share would, with 95 % confidence; then each"
            " metric alone. Size: the typical change, median of the windows.",
            width,
        ),
        *_injected(summary),
        "",
        *_wrapped(_conclusion(summary), width),
    ]
    return "\n".join(lines)


def _head(findings: NoiseFindings) -> str:
    programs = "; ".join(
        f"{name} ({about}{'' if findings.copied[name] else '; its copy is the same file'})"
        for name, about in findings.programs.items()
    )
    end = ", stopped early" if findings.interrupted or findings.failure else ""
    return (
        f"A/A on this machine: {counted(findings.windows, 'window')} of {findings.rounds} rounds in"
        f" {format_clock(findings.elapsed_s)}{end}. Programs: {programs}."
    )


def _false_verdicts(summary: NoiseSummary) -> str:
    rate = summary.relabelled
    return (
        f"{counted(rate.count, 'false verdict')} in {rate.tries} A/A families, at most {_share(rate.upper)} with 95 %"
        f" confidence; asked: at most {format_percent(summary.level)}."
    )


def _independence(findings: NoiseFindings) -> str:
    summary, measured = findings.summary, findings.summary.as_measured
    return (
        f"Independent are {counted(findings.windows, 'window')}: the {summary.relabelled.tries} families are their"
        " rounds with the labels of two equal arms exchanged at random, so that they prove the arithmetic on this"
        f" machine's noise. As measured, {measured.count} of {counted(measured.tries, 'window')} told a program from"
        f" its copy: at most {_share(measured.upper)} with 95 % confidence."
    )


def _floors(summary: NoiseSummary) -> Iterator[str]:
    rows = [("program", "metric", "median", "worst")]
    rows += [
        (f.program, _metric(f.metric), _fraction(f.median), f"({_fraction(f.worst)})")
        for f in summary.floors
    ]
    return _table(rows)


def _injected(summary: NoiseSummary) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        ("program", "more", "found", "at least", "wall", "size", "CPU", "size")
    ]
    rows += [_found_row(found) for found in summary.found]
    return _table(rows)


def _found_row(found: Found) -> tuple[str, ...]:
    return (
        found.program,
        f"+{format_percent(found.effect)}",
        _of(found.either),
        _share(found.either.lower, up=False),
        *(
            text
            for m in ("wall", "cpu")
            for text in (_of(found.on[m]), _signed(found.estimate.get(m)))
        ),
    )


def _conclusion(summary: NoiseSummary) -> str:
    if summary.refuted:
        return (
            f"Equal programs were told apart more often than {format_percent(summary.level)}: do not trust verdicts of"
            " this machine before `benchctl doctor` finds nothing to mend."
        )
    weak = [f for f in summary.found if f.either.count < f.either.tries]
    if not weak:
        return "Every injected slowdown was found, and equal programs were told apart no more often than allowed."
    smallest = ", ".join(f"+{format_percent(f.effect)} of {f.program}" for f in weak)
    return f"Not always found: {smallest}. More rounds, or a quieter machine, find more."


def _metric(name: str) -> str:
    return "CPU" if name == "cpu" else name


def _of(rate: Rate) -> str:
    return f"{rate.count} of {rate.tries}"


def _share(fraction: float, *, up: bool = True) -> str:
    """A bound in percent with one decimal, rounded to the careful side."""
    tenths = fraction * 1000
    whole = -int(-tenths // 1) if up else int(tenths)
    return format_percent(whole / 1000, decimals=1)


def _fraction(value: float | None) -> str:
    return OPEN if value is None else format_percent(value, decimals=1)


def _signed(value: float | None) -> str:
    if value is None:
        return "not known"
    return ("+" if value >= 0 else "") + format_percent(value, decimals=1)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Columns two spaces apart, the first one to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first, *rest = (
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        yield INDENT + "  ".join((first, *rest)).rstrip()

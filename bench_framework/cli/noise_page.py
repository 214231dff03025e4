"""The page that ``benchctl doctor --aa`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.cli.console import wrap
from bench_framework.units import counted, format_clock, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.features.noise.compute import DetectionRate, NoiseSummary, Rate
    from bench_framework.workflow.noise import NoiseFindings

INDENT: Final = " " * 4
UNBOUNDED: Final = "unbounded"
"""Text for a noise floor whose interval has no upper bound."""


def noise_page(findings: NoiseFindings, width: int) -> str:
    """Return the page as text with lines of at most `width` columns, except for the tables."""
    if not findings.windows:
        return "No window was measured: the noise of this machine is unknown."
    summary = findings.summary
    lines = [
        *wrap(_head(findings), width),
        "",
        *wrap(_false_verdicts(summary), width),
        *wrap(_independence(findings), width, INDENT, INDENT),
        "",
        *wrap(
            "Noise floor: largest difference that the 95 % interval between equal programs leaves "
            "possible. Median window (worst).",
            width,
        ),
        *_floors(summary),
        "",
        *wrap(
            "Injected slowdown (the program does more work): windows that reported it as slower in "
            f"wall or CPU time, tested together at {format_percent(summary.level)}; the lower 95 % "
            "confidence bound of that share; then each metric separately. Size: typical change, "
            "median of the windows.",
            width,
        ),
        *_injected(summary),
        "",
        *wrap(_noise_conclusion(summary), width),
    ]
    return "\n".join(lines)


def _head(findings: NoiseFindings) -> str:
    programs = "; ".join(
        f"{name} ({about}{'' if findings.copied[name] else '; its copy is the same file'})"
        for name, about in findings.programs.items()
    )
    pinned = f" Pinned to CPUs: {findings.cpus}." if findings.cpus else ""
    end = ", stopped early" if findings.interrupted or findings.failure else ""
    return (
        f"A/A check of this machine: {counted(findings.windows, 'window')} of {findings.rounds} "
        f"rounds in {format_clock(findings.elapsed_s)}{end}. Programs: {programs}.{pinned}"
    )


def _false_verdicts(summary: NoiseSummary) -> str:
    rate = summary.relabelled
    return (
        f"{counted(rate.count, 'false positive')} in {rate.tries} A/A families: at most "
        f"{_share(rate.upper)} with 95 % confidence; allowed: {format_percent(summary.level)}."
    )


def _independence(findings: NoiseFindings) -> str:
    measured = findings.summary.as_measured
    return (
        f"The families reuse the rounds of {counted(findings.windows, 'independent window')}, with "
        "the labels of two equal programs exchanged at random; they test the statistics on this "
        f"machine's noise. With the original labels, {measured.count} of "
        f"{counted(measured.tries, 'window')} reported a difference between a program and its "
        f"copy: at most {_share(measured.upper)} with 95 % confidence."
    )


def _floors(summary: NoiseSummary) -> Iterator[str]:
    rows = [("program", "metric", "median", "worst")]
    rows += [
        (f.program, f.metric.replace("cpu", "CPU"), _fraction(f.median), f"({_fraction(f.worst)})")
        for f in summary.floors
    ]
    return _table(rows)


def _injected(summary: NoiseSummary) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        ("program", "more", "detected", "at least", "wall", "size", "CPU", "size")
    ]
    rows += [_injected_row(effect) for effect in summary.detection_rates]
    return _table(rows)


def _injected_row(effect: DetectionRate) -> tuple[str, ...]:
    return (
        effect.program,
        f"+{format_percent(effect.effect)}",
        _counts(effect.either),
        _share(effect.either.lower, up=False),
        *(
            text
            for metric in ("wall", "cpu")
            for text in (_counts(effect.on[metric]), _signed(effect.estimate.get(metric)))
        ),
    )


def _noise_conclusion(summary: NoiseSummary) -> str:
    if summary.refuted:
        return (
            "Equal programs were reported as different in more than "
            f"{format_percent(summary.level)} of the tests: verdicts of this machine are not "
            "reliable. Fix what `benchctl doctor` reports, then repeat this check."
        )
    weak = [f for f in summary.detection_rates if f.either.count < f.either.tries]
    if not weak:
        return (
            "Every injected slowdown was detected, and the rate of false positives is within the "
            "limit."
        )
    smallest = ", ".join(f"+{format_percent(f.effect)} of {f.program}" for f in weak)
    return (
        f"Not always detected: {smallest}. More rounds or a quieter machine (`benchctl doctor "
        "--tune`) detect smaller differences."
    )


def _counts(rate: Rate) -> str:
    return f"{rate.count} of {rate.tries}"


def _share(fraction: float, *, up: bool = True) -> str:
    """Return a bound in percent with one decimal, rounded up or down to the conservative side."""
    tenths = fraction * 1000
    whole = -int(-tenths // 1) if up else int(tenths)
    return format_percent(whole / 1000, decimals=1)


def _fraction(value: float | None) -> str:
    return UNBOUNDED if value is None else format_percent(value, decimals=1)


def _signed(value: float | None) -> str:
    if value is None:
        return "unknown"
    return ("+" if value >= 0 else "") + format_percent(value, decimals=1)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Return the lines of a table: first column left-aligned, others right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        first, *rest = (
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        yield INDENT + "  ".join((first, *rest)).rstrip()

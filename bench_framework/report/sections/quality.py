"""Section "Data quality": checks, plots over time, A/A control, warnings, environment."""

from collections import Counter, defaultdict
from typing import Final

from bench_framework.model.record.machine import format_variables
from bench_framework.model.record.run import Event
from bench_framework.report.blocks import (
    Block,
    Bullets,
    Cell,
    Checklist,
    Facts,
    Heading,
    Row,
    Sentence,
    Table,
    left,
    numeric,
)
from bench_framework.report.charts.drift import drift
from bench_framework.report.charts.order import order_strip
from bench_framework.report.charts.runs import runs_plot
from bench_framework.report.charts.sensors import sensors
from bench_framework.report.checks import checks
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.failed_runs import event_text
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.masthead import host_line
from bench_framework.report.table_cells import CI, verdict_cell
from bench_framework.text.numbers import (
    DASH,
    interim_analyses,
    percent_up,
    replication,
    show_comparison,
)
from bench_framework.text.words import NOISE_FLOOR, noun

MOST_NOTES: Final = 20
"""Largest number of notes in the report. A note can differ in each run."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return checks, plots, the table of the A/A control, warnings and the environment."""
    if not data.blocks:
        return ()
    blocks: list[Block] = [Checklist(checks(data))]
    race = claim_bullets(data.claims("dropped", "idle"))
    blocks += [Heading("Dropped from the race", "race"), *race] if race else []
    plots = (drift(data), sensors(data), order_strip(data), runs_plot(data), _control_table(data))
    blocks += [plot for plot in plots if plot is not None]
    if events := tuple(_event(data, event) for event in data.all_events):
        blocks += [Heading("Warnings and notes", "warnings"), Bullets(events)]
    if notes := _notes(data):
        blocks += [Heading("Notes of the programs", "worker-notes"), Bullets(notes)]
    blocks += [Heading("Environment", "environment"), Facts(_environment(data))]
    return tuple(blocks)


def _control_table(data: ReportData) -> Table | None:
    rows = []
    for item in data.plan.inputs:
        for metric in data.plan.judge.metrics:
            comparison, floor = data.control(item.id, metric), data.floor(item.id, metric)
            if comparison is None:
                continue
            interval = comparison.ratio
            rows.append(
                Row.build(
                    data.input_name(item),
                    noun(metric),
                    Cell(str(show_comparison(comparison)), interval.ratio) if interval else DASH,
                    verdict_cell(comparison.verdict, metric),
                    Cell(percent_up(floor.fraction), floor.fraction) if floor else DASH,
                    replication(comparison.rounds, comparison.runs),
                    verdict=comparison.verdict,
                )
            )
    if not rows:
        return None
    looks = data.judgement.looks
    columns = (
        *left("Input", "Metric", f"Ratio and {CI}", "Verdict"),
        *numeric(f"N{NOISE_FLOOR[1:]}", "n"),
    )
    caption = (
        "A/A control: the baseline compared with a copy of itself that ran in every round, at the "
        f"level of the first step of Holm's procedure for {looks.family} comparisons, {interim_analyses(looks.count)}, "
        f"family-wise level {data.level}. If this check fails, all "
        "other verdicts of the input that are based on rounds become inconclusive."
    )
    return Table("control-table", caption, columns, tuple(rows), sortable=False)


def _notes(data: ReportData) -> tuple[Sentence, ...]:
    """Return each note of the programs once, such as a fallback, with its variants."""
    variants: defaultdict[str, Counter[str]] = defaultdict(Counter)
    arms = {cell.id for item in data.plan.inputs for cell in data.arms(item.id)}
    for block in (b for b in data.measured_blocks if b.cell_id in arms):
        for note in (note for receipt in block.receipts for note in receipt.notes):
            variants[note][data.label(block.cell_id)] += 1
    notes = [f"{', '.join(by)} ({by.total()} runs): {note}" for note, by in variants.items()]
    rest = len(notes) - MOST_NOTES
    more = [f"journal.jsonl contains {rest} more notes"] if rest > 0 else []
    return tuple(Sentence(f"{note.rstrip('.')}.") for note in (*notes[:MOST_NOTES], *more))


def _event(data: ReportData, event: Event) -> Sentence:
    cell = next((cell for cell in data.plan.cells if cell.id == event.cell_id), None)
    where = f" ({data.place(cell)})" if cell is not None else ""
    parts = [f"{event.severity} {event.code}{where}: {event_text(data, event)}"]
    parts += [f"Effect: {event.effect}"] if event.effect else []
    parts += [f"Fix: {event.help}"] if event.help else []
    return Sentence(". ".join(part.rstrip(".") for part in parts) + ".")


def _environment(data: ReportData) -> tuple[tuple[str, str], ...]:
    host = data.host
    variables = format_variables(host.variables) or "none that is known to affect performance"
    return (
        ("Host", host_line(host)),
        ("Host id", host.host_id),
        ("Kernel", f"{host.kernel}, {host.os}"),
        ("Governor", host.governor or "unknown"),
        ("Filesystem of the data", host.data_filesystem or "unknown"),
        ("Filesystem of the record", host.results_filesystem or "unknown"),
        ("hyperfine", host.hyperfine.removeprefix("hyperfine ")),
        ("rustc", host.rustc or "not used"),
        ("cargo", host.cargo or "not used"),
        ("benchctl", f"{host.benchctl}, Python {host.python}"),
        ("Environment variables", variables),
    )


QUALITY = SectionKind(
    "S21", "quality", "Data quality", "checks of data quality", build, "no sample was finished"
)

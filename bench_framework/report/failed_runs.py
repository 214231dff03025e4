"""The text of a configuration that failed: how often, and the first lines that it printed."""

from collections.abc import Iterator
from typing import Final

from bench_framework.compare.cell_state import first_difference
from bench_framework.model.plan.plan import Input
from bench_framework.model.record.run import Event
from bench_framework.report.context import ReportData

FAILED: Final = "BX201"
LINES: Final = 2
"""Lines of an output in a sentence. The terminal and ``events.csv`` have more."""
LONGEST: Final = 160
"""Characters of an output in a sentence."""
MOST_REMARKS: Final = 3
"""Most failures below a table of the terminal."""


def event_text(data: ReportData, event: Event) -> str:
    """Return the message of an event; that of a failure with its number and the first lines printed.

    That of another output has the first line that differs.
    """
    if lines := first_difference(event):
        return f"{event.message}; first difference: {' / '.join(lines)}"
    if event.code != FAILED:
        return event.message
    failed, samples = _counts(data, event)
    parts = [event.message]
    if failed < samples:
        parts.append(f"{failed} of {samples} samples failed")
    details = dict(event.details)
    name = next((name for name in ("stderr", "stdout") if details.get(name)), None)
    if name is not None:
        parts.append(f"{name}: “{_excerpt(details[name])}”")
    return "; ".join(parts)


def failures(data: ReportData, item: Input) -> Iterator[str]:
    """Yield a line for each configuration of an input that failed in some samples, at most three."""
    cells = {cell.id for cell in data.arms(item.id)}
    some = [e for e in data.warnings if e.code == FAILED and e.cell_id in cells]
    some = [e for e in some if (counts := _counts(data, e))[0] < counts[1]]
    for event in some[:MOST_REMARKS]:
        yield f"{event_text(data, event)}."


def _counts(data: ReportData, event: Event) -> tuple[int, int]:
    """Return the failed samples and all samples of the configuration of an event."""
    blocks = [b for b in data.blocks if b.cell_id == event.cell_id and b.status != "skipped"]
    return sum(block.void for block in blocks), len(blocks)


def _excerpt(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    short = " / ".join(lines[:LINES])
    cut = len(short) > LONGEST or len(lines) > LINES
    return f"{short[:LONGEST].rstrip()} …" if cut else short

"""Words of the evidence for a cause: a part of a time difference, and a counter that differs."""

from typing import Final

from bench_framework.model.facts.causes import HANDLED, CounterDifference, TimePart
from bench_framework.model.metrics import METRICS
from bench_framework.text.numbers import format_percent, grouped, show_size
from bench_framework.text.words import noun
from bench_framework.units import MINUS, THIN_SPACE

_PARTS: Final = {
    "outside": "outside the phases",
    "user": "user time",
    "sys": "system time",
    "waiting": "waiting",
}


def part_name(part: TimePart) -> str:
    """Return the name of a part: a phase of the worker, or ``system time``."""
    return part.name if part.kind == "phase" else _PARTS[part.kind]


def part_text(part: TimePart, share: float) -> str:
    """Return a part with its share of the difference: ``write 69 %``."""
    return f"{part_name(part)} {MINUS if share < 0 else ''}{format_percent(abs(share), decimals=0)}"


def counter_text(counter: CounterDifference) -> str:
    """Return a counter with its values on both sides: ``minor page faults 3 791 and 349``."""
    handled = counter.metric == HANDLED
    name = "bytes that the worker reports" if handled else noun(counter.metric)
    in_bytes = handled or METRICS[counter.metric].unit == "bytes"
    values = (
        show_size(value, "iec") if in_bytes else grouped(round(value), THIN_SPACE)
        for value in (counter.value, counter.reference)
    )
    return f"{name} {' and '.join(values)}"

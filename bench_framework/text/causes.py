"""Words of the evidence for a cause: a part of a time difference, and a counter that differs."""

from typing import Final

from bench_framework.model.facts.causes import (
    HANDLED,
    LEAST_SHARE,
    CauseEvidence,
    CounterDifference,
    TimePart,
)
from bench_framework.model.metrics import METRICS, WAITS
from bench_framework.text.numbers import format_duration, format_percent, format_size, grouped
from bench_framework.text.words import noun
from bench_framework.units import MINUS, THIN_SPACE

_PARTS: Final = {
    "outside": "outside the phases",
    "user": "user time",
    "sys": "system time",
    "waiting": "waiting",
}
_WAITS: Final = {
    "wait_disk": "disk",
    "wait_io_uring": "io_uring or AIO",
    "wait_sleep": "sleep",
    "wait_lock": "lock or another thread",
    "wait_core": "a core",
}
_HALF_PERCENT: Final = 0.005
"""Smaller negative shares are printed as 0 %, without a sign."""
SLACK: Final = 0.1
"""A share of a part below 0 or above 1 by at most this is 0 or 1, and another one is unknown."""


def part_name(part: TimePart) -> str:
    """Return the name of a part: a phase of the worker, or ``system time``."""
    return part.name if part.kind == "phase" else _PARTS[part.kind]


def parts_text(evidence: CauseEvidence) -> str:
    """Return the parts of a time difference that are not small: ``waiting 55 %, user time 43 %``."""
    parts = (part for part in evidence.parts if abs(evidence.share(part)) >= LEAST_SHARE)
    return ", ".join(explained_text(part, evidence) for part in parts)


def explained_text(part: TimePart, evidence: CauseEvidence) -> str:
    """Return a part with what explains it: ``system time 60 % (of it, page faults about 85 %)``."""
    text = f"{part_name(part)} {share_text(evidence.share(part))}"
    shares = [item for item in evidence.explained if item.part == part.kind]
    if part.kind == "sys" and shares:
        (faults,) = shares
        about = f" about {_of_part(faults.share)}" if _is_possible(faults.share) else ": unknown"
        return f"{text} (of it, minor page faults{about})"
    if part.kind != "waiting":
        return text
    ranked = sorted(shares, key=lambda wait: -wait.share)
    split = [(_WAITS[item.metric], item.share) for item in ranked]
    split.append(("other waiting", 1 - sum(share for _, share in split)))
    if not shares or not all(_is_possible(share) for _, share in split):
        return f"{text} (for what: unknown)"
    listed = ", ".join(f"{name} {_of_part(s)}" for name, s in split if s >= LEAST_SHARE)
    missing = ", ".join(_WAITS[m] for m in WAITS if m not in {item.metric for item in shares})
    return f"{text} (of it, untimed: {listed}{f'; not known: {missing}' if missing else ''})"


def _is_possible(share: float) -> bool:
    """Return whether a share of a part is between 0 and 1, within the accuracy of one run of each side."""
    return -SLACK <= share <= 1 + SLACK


def _of_part(share: float) -> str:
    return share_text(min(max(share, 0.0), 1.0))


def share_text(share: float) -> str:
    """Return a share of a difference as whole percent, such as ``−45 %``."""
    return f"{MINUS if share <= -_HALF_PERCENT else ''}{format_percent(abs(share), decimals=0)}"


def counter_text(counter: CounterDifference, fault_cost: float | None = None) -> str:
    """Return a counter with its values on both sides: ``minor page faults 3 791 instead of 349``.

    With the cost of a page fault, the cost of its difference is added: ``(about 4.1 ms)``.
    """
    handled = counter.metric == HANDLED
    name = "bytes that the worker reports" if handled else noun(counter.metric)
    in_bytes = handled or METRICS[counter.metric].unit == "bytes"
    values = (
        format_size(value) if in_bytes else grouped(round(value), THIN_SPACE)
        for value in (counter.value, counter.reference)
    )
    text = f"{name} {' instead of '.join(values)}"
    if counter.metric != "minor_faults" or fault_cost is None:
        return text
    return f"{text} (about {format_duration(fault_cost * abs(counter.value - counter.reference))})"

"""Accepted changes of a gate: worse results that the gate's file allows, and remarks on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.model.gate import GatedPair, Gating
    from bench_framework.model.policies import Accepted, Metric


def accept(gating: Gating, entries: Sequence[Accepted], day: str) -> Gating:
    """Return the gating of a first pass with the accepted pairs marked as accepted.

    The exit code is not computed again.

    Args:
        gating: result of the first pass, with suspicious pairs and exact pairs that are worse.
        entries: entries of the file, with the cells that they select.
        day: start date of the record, such as ``2026-05-31``. The date of the judgement is not
            used, so that the same record is always judged in the same way.
    """
    pairs = tuple(_accepted(pair, entries, day) for pair in gating.pairs)
    return replace(gating, pairs=pairs, remarks=(*gating.remarks, *_remarks(pairs, entries, day)))


def _matches(entry: Accepted, pair: GatedPair) -> bool:
    return pair.cell_id in entry.cell_ids and pair.metric == entry.metric


def _accepted(pair: GatedPair, entries: Sequence[Accepted], day: str) -> GatedPair:
    if pair.state not in ("suspicious", "worse") or pair.comparison.shown is None:
        return pair
    growth = pair.comparison.shown.ratio - 1
    valid_entries = [entry for entry in entries if _matches(entry, pair) and entry.counts_on(day)]
    for entry in valid_entries:
        if growth <= entry.level:
            until = f" until {entry.until}" if entry.until else ""
            reason = (
                f"worse, and accepted up to {format_percent(entry.level)}{until}: {entry.reason}"
            )
            return replace(pair, state="accepted", reason=reason)
    if valid_entries:
        most = max(entry.level for entry in valid_entries)
        return replace(pair, reason=f"more than the {format_percent(most)} that are accepted")
    return pair


def _remarks(pairs: Sequence[GatedPair], entries: Sequence[Accepted], day: str) -> Iterator[str]:
    """Yield a remark on each entry that has no effect."""
    for entry in entries:
        name = f"accepted change {entry.place} ({entry.cells}, {entry.metric})"
        matching_pairs = [pair for pair in pairs if _matches(entry, pair)]
        if entry.unknown:
            yield f"{name} is unknown here: {entry.unknown}"
        elif not matching_pairs:
            yield f"{name} is unknown here: {_nothing(entry.metric, pairs)}"
        elif not entry.counts_on(day):
            yield f"{name} has expired on {entry.until} and accepts nothing"
        elif all(pair.state == "passed" for pair in matching_pairs):
            yield f"{name} is not needed: none of its comparisons is worse"


def _nothing(metric: Metric, pairs: Sequence[GatedPair]) -> str:
    if all(pair.metric != metric for pair in pairs):
        return f"this gate does not judge {metric}"
    return "it selects no gated cell"

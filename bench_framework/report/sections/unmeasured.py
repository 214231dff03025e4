"""Section "Not measured": combinations, metrics and conditions without results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.report.blocks import Block, Bullets, Details, Sentence
from bench_framework.report.claim_blocks import closed, listed, sentence
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData

MOST_CLAIMS = 6
"""Most sentences with the same reason. More are counted and folded."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return excluded combinations, refused configurations, and missing metrics and conditions."""
    claims = tuple(data.claims("not-measured"))
    lines = [*_refused(data, claimed=bool(claims)), *_metrics(data), *_conditions(data)]
    if not claims:
        lines = [*_holes(data), *lines]
    by_reason: dict[str, list[Sentence]] = {}
    for claim in claims:
        by_reason.setdefault(str(claim.values["reason"]), []).append(sentence(claim))
    few = [one for group in by_reason.values() if len(group) <= MOST_CLAIMS for one in group]
    many = {reason: group for reason, group in by_reason.items() if len(group) > MOST_CLAIMS}
    counted = [
        f"{len(group)} combinations of values, all for the same reason: {r}"
        for r, group in many.items()
    ]
    sentences = (*few, *(Sentence(closed(line)) for line in (*counted, *lines)))
    folded = [
        Details(f"The {len(group)} combinations: {reason}", (Bullets(tuple(group)),))
        for reason, group in many.items()
    ]
    return (Bullets(sentences), *folded)


def _holes(data: ReportData) -> list[str]:
    reasons: dict[tuple[str, str | None], list[str]] = {}
    for hole in data.plan.holes:
        values = " ".join(f"{axis}={value}" for axis, value in hole.values)
        reasons.setdefault((hole.reason, hole.rule), []).append(values)
    lines = []
    for (reason, rule), combinations in reasons.items():
        place = f" (rule at {rule})" if rule else ""
        lines.append(f"Excluded{place}, {reason}: {listed(combinations)}.")
    return lines


def _refused(data: ReportData, *, claimed: bool) -> list[str]:
    """Return configurations without a verdict, but failed ones only if no claim names them."""
    words = {
        "failed": "Failed",
        "other-output": "Other output",
        "not-comparable": "Not comparable",
        "not-started": "Not started",
    }
    arms = {cell.id for item in data.plan.inputs for cell in data.arms(item.id)}
    lines = []
    for state in data.judgement.states:
        if claimed and state.state in {"failed", "not-started"}:
            continue
        if state.cell_id in arms and state.state in words:
            reason = f": {state.reason}" if state.reason else ""
            label = data.plan.cell(state.cell_id).label
            lines.append(closed(f"{words[state.state]}: {label}{reason}"))
    return lines


def _metrics(data: ReportData) -> list[str]:
    measured = {s.metric for s in data.judgement.summaries}
    names = {WALL: "wall time", CPU: "CPU time", PEAK_RSS: "peak memory"}
    missing = [words for metric, words in names.items() if metric not in measured]
    single = [s for s in data.judgement.summaries if s.metric == data.metric and s.n_rounds == 1]
    lines = [f"Metrics without a value: {', '.join(missing)}."] if missing else []
    if single:
        labels = listed([data.plan.cell(s.cell_id).label for s in single])
        lines.append(f"Single runs, without a verdict: {labels}.")
    return lines


def _conditions(data: ReportData) -> list[str]:
    host = data.host
    lines = [
        f"Other machines: every figure is from one host ({host.cpu}, {host.cores} cores, kernel {host.kernel})."
    ]
    lines += _cold(data)
    if not any(data.plan.control_cell(item.id) for item in data.plan.inputs):
        lines.append(
            "Noise floor: the A/A control was switched off or the baseline could not be copied."
        )
    sizes = [
        data.input_name(item)
        for item in data.plan.inputs
        if data.reads(item) and data.input_bytes(item.id)
    ]
    if sizes:
        lines.append(f"Inputs other than {', '.join(sizes)}.")
    return lines


def _cold(data: ReportData) -> list[str]:
    """Return configurations that were not measured with a cold page cache."""
    if not any(cell.cache == "cold" for cell in data.plan.cells):
        return ["Cold page cache: no run started with an empty page cache."]
    missed = [
        cell.label
        for item in data.plan.inputs
        for cell in data.arms(item.id)
        if cell.cache == "cold" and data.state(cell.id).cache != "cold"
    ]
    return [f"Cold page cache, although requested: {listed(missed)}."] if missed else []


UNMEASURED = SectionKind(
    "S25",
    "unmeasured",
    "Not measured",
    "combinations, metrics and sections without results",
    build,
    "Everything that was planned was measured.",
)

"""Section "Not measured": combinations, metrics and conditions without results."""

from typing import Final

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.report.blocks import Block, Bullets, Sentence
from bench_framework.report.checks import checks, doubts
from bench_framework.report.claim_blocks import closed, joined, listed, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.units import counted

MOST_CLAIMS = 6
"""Most sentences with the same reason. More are counted."""
MOST_DOUBTS = 3
"""Most warnings in the limitations. The appendix has all of them."""
_WORDS: Final = {
    "failed": "Failed",
    "other-output": "Other output",
    "not-comparable": "Not comparable",
    "not-started": "Not started",
}
"""Words of each state without a result."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return what the limitations only count, and the conditions that were not tested."""
    lines = [*_refused(data), *_metrics(data)]
    by_reason: dict[str, list[Sentence]] = {}
    for claim in data.claims("not-measured"):
        by_reason.setdefault(str(claim.values["reason"]), []).append(sentence(claim))
    few = [one for group in by_reason.values() if len(group) <= MOST_CLAIMS for one in group]
    grouped = [
        f"{len(group)} combinations of values, all for the same reason: {reason}"
        for reason, group in by_reason.items()
        if len(group) > MOST_CLAIMS
    ]
    if not any((few, grouped, lines)):
        return ()
    lines += [f"{line[:1].upper()}{line[1:]}" for line in _conditions(data)]
    return (Bullets((*few, *(Sentence(closed(line)) for line in (*grouped, *lines)))),)


def limitations(data: ReportData) -> tuple[Block, ...]:
    """Return failures, excluded combinations, warnings about the data, and untested conditions."""
    states = [s for i in data.plan.inputs for c in data.arms(i.id) for s in (data.state(c.id),)]
    refused = [data.plan.cell(s.cell_id).label for s in states if s.state in _WORDS]
    several = "s have" if len(refused) > 1 else " has"
    excluded = len(data.plan.holes) if data.plan.design == "full" else 0
    others = [f"{w[:1].upper()}{w[1:]}" for w in doubts(data)]
    if len(others) > MOST_DOUBTS:
        more = counted(len(others) - MOST_DOUBTS, "more warning")
        others[MOST_DOUBTS - 1 :] = [f"{closed(others[MOST_DOUBTS - 1])} The appendix has {more}"]
    noise = [
        c
        for c in (checks(data) if data.blocks else ())
        if c.mark in {"warn", "fail"} and c.label.startswith("noise floor")
    ]
    lines = [
        f"{len(refused)} configuration{several} no result: {listed(refused, 3)}" if refused else "",
        f"The scenario excludes {counted(excluded, 'combination')} of values. The appendix lists "
        "the reasons"
        if excluded
        else "",
        f"{noise[0].label[:1].upper()}{noise[0].label[1:]}: {noise[0].figure}" if noise else "",
        *others,
        f"Not measured: {'; '.join(_conditions(data))}",
    ]
    return (Bullets(tuple(Sentence(closed(line)) for line in lines if line)),)


def _refused(data: ReportData) -> list[str]:
    """Return configurations without a verdict. Claims name those that failed or did not start."""
    arms = {cell.id for item in data.plan.inputs for cell in data.arms(item.id)}
    lines = []
    for state in data.judgement.states:
        if state.cell_id in arms and state.state in {"other-output", "not-comparable"}:
            reason = f": {state.reason}" if state.reason else ""
            label = data.plan.cell(state.cell_id).label
            lines.append(closed(f"{_WORDS[state.state]}: {label}{reason}"))
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
        f"other machines (all figures: one {host.cpu}, {host.cores} cores, kernel {host.kernel})"
    ]
    lines += _cold(data)
    if not any(data.plan.control_cell(item.id) for item in data.plan.inputs):
        lines.append(
            "a noise floor (the A/A control was switched off or the baseline could not be copied)"
        )
    sizes = [
        data.input_name(item)
        for item in data.plan.inputs
        if data.reads(item) and data.input_bytes(item.id)
    ]
    if sizes:
        lines.append(f"inputs other than {joined(sizes)}")
    return lines


def _cold(data: ReportData) -> list[str]:
    """Return configurations that were not measured with a cold page cache."""
    if not any(cell.cache == "cold" for cell in data.plan.cells):
        return ["a cold page cache"]
    missed = [
        cell.label
        for item in data.plan.inputs
        for cell in data.arms(item.id)
        if cell.cache == "cold" and data.state(cell.id).cache != "cold"
    ]
    return [f"a cold page cache, although requested: {listed(missed)}"] if missed else []


UNMEASURED = SectionKind(
    "S25", "unmeasured", "Not measured", "combinations, metrics and sections without results", build
)
LIMITATIONS = SectionKind(
    "S32",
    "limitations",
    "Limitations",
    "failures, doubtful measurements, and conditions that were not tested",
    limitations,
    place="report",
)

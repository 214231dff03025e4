"""Section "Not measured": combinations, metrics and conditions without results."""

from collections import defaultdict
from typing import Final

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.report.blocks import Block, Bullets, Sentence
from bench_framework.report.checks import doubts, noise_floors
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.masthead import main_checks
from bench_framework.text.names import capital, closed, first_items, joined
from bench_framework.text.reasons import phrase
from bench_framework.text.write import render
from bench_framework.units import counted

MOST_CLAIMS = 6
"""Most sentences with the same reason. More are counted."""
MOST_DOUBTS = 3
"""Most warnings under How sure. The appendix has all of them."""
_WORDS: Final = {
    "failed": "Failed",
    "other-output": "Other output",
    "not-comparable": "Not comparable",
    "not-started": "Not started",
}
"""Words of each state without a result."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return what How sure only counts, and the conditions that were not tested."""
    by_reason: defaultdict[str, list[Sentence]] = defaultdict(list)
    for claim in data.claims("not-measured"):
        by_reason[phrase(claim.reason)].append(sentence(claim))
    few = [one for group in by_reason.values() if len(group) <= MOST_CLAIMS for one in group]
    lines = [
        f"{len(group)} combinations of values, all for the same reason: {reason}"
        for reason, group in by_reason.items()
        if len(group) > MOST_CLAIMS
    ]
    lines += [*_refused(data), *_metrics(data)]
    if not (few or lines):
        return ()
    lines += map(capital, _conditions(data))
    return (Bullets((*few, *(Sentence(closed(line)) for line in lines))),)


def how_sure(data: ReportData) -> tuple[Block, ...]:
    """Return the checks, failures, excluded combinations, warnings, and untested conditions."""
    cells = [cell for item in data.plan.inputs for cell in data.arms(item.id)]
    refused = [data.place(cell) for cell in cells if data.state(cell.id).state in _WORDS]
    lines = []
    if refused:
        several = "s have" if len(refused) > 1 else " has"
        lines.append(f"{len(refused)} configuration{several} no result: {first_items(refused, 3)}")
    unselected, excluded = data.plan.left_out
    if unselected:
        total = counted(len(cells) + unselected, "configuration")
        lines.append(f"-k selects {len(cells)} of {total}")
    missing = excluded // data.plan.sides if data.plan.design == "full" else 0
    floors = [c for c in noise_floors(data) if c.mark in {"warn", "fail"}] if data.blocks else []
    if floors:
        first, *others_above = floors
        more = f"; {len(others_above)} more in the appendix" if others_above else ""
        lines.append(capital(f"{first.label}: {first.figure}{more}"))
    others = list(doubts(data))
    if len(others) > MOST_DOUBTS:
        more = counted(len(others) - MOST_DOUBTS, "more warning")
        others[MOST_DOUBTS - 1 :] = [f"{closed(others[MOST_DOUBTS - 1])} The appendix has {more}"]
    checks = main_checks(data) if data.measured_blocks else ()
    trust = data.claims("trust")
    known = [f"status: {data.judgement.status}", *(f"{c.label}: {c.figure}" for c in checks)]
    items = [
        Sentence(closed(capital("; ".join(known)))),
        *(sentence(claim) for claim in trust),
        *(
            Sentence(closed(render("untested", c.fact, missing)), lead="Not measured")
            for c in trust
        ),
        *(Sentence(closed(line)) for line in lines),
        *(Sentence(closed(line), lead="Warning") for line in others),
    ]
    return (Bullets(tuple(items)),)


def _refused(data: ReportData) -> list[str]:
    """Return configurations without a verdict. Claims name those that failed or did not start."""
    arms = {cell.id for item in data.plan.inputs for cell in data.arms(item.id)}
    return [
        f"{_WORDS[state.state]}: {data.plan.cell(state.cell_id).label}"
        f"{f': {phrase(state.reason)}' if state.reason else ''}"
        for state in data.judgement.states
        if state.cell_id in arms and state.state in {"other-output", "not-comparable"}
    ]


def _metrics(data: ReportData) -> list[str]:
    measured = {s.metric for s in data.judgement.summaries}
    names = {WALL: "wall time", CPU: "CPU time", PEAK_RSS: "peak memory"}
    missing = [words for metric, words in names.items() if metric not in measured]
    single = [s for s in data.judgement.summaries if s.metric == data.metric and s.n_rounds == 1]
    lines = [f"Metrics without a value: {', '.join(missing)}."] if missing else []
    if single:
        labels = first_items([data.plan.cell(s.cell_id).label for s in single])
        lines.append(f"Single runs, without a verdict: {labels}.")
    return lines


def _conditions(data: ReportData) -> list[str]:
    host, plan = data.host, data.plan
    lines = [f"machines other than this one ({host.cpu}, {host.cores} cores, kernel {host.kernel})"]
    cold = [cell for i in plan.inputs for cell in data.arms(i.id) if cell.cache == "cold"]
    missed = [cell.label for cell in cold if data.state(cell.id).cache != "cold"]
    if not any(cell.cache == "cold" for cell in plan.cells):
        lines.append("a cold page cache")
    elif missed:
        lines.append(f"a cold page cache, although requested: {first_items(missed)}")
    if not any(plan.control_cell(item.id) for item in plan.inputs):
        lines.append(
            "a noise floor (the A/A control was switched off or the baseline could not be copied)"
        )
    sizes = [data.input_name(i) for i in plan.inputs if i.name and data.input_bytes(i.id)]
    return [*lines, f"inputs other than {joined(sizes)}"] if sizes else lines


UNMEASURED = SectionKind(
    "S25", "unmeasured", "Not measured", "combinations, metrics and sections without results", build
)
HOW_SURE = SectionKind(
    "S32",
    "how-sure",
    "How sure",
    "rounds, checks, failures, doubtful measurements, and conditions that were not tested",
    how_sure,
    place="report",
)

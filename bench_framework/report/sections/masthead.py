"""The masthead: scenario, record, host and a summary of data quality."""

from bench_framework.model.run import Host
from bench_framework.model.words import NOISE_FLOOR, noun
from bench_framework.report.blocks import Check, Mark
from bench_framework.report.checks import doubts
from bench_framework.report.claim_blocks import joined
from bench_framework.report.context import ReportData
from bench_framework.report.counts import counts_of
from bench_framework.report.numbers import DASH, margin_text, percent_up, show_size
from bench_framework.units import THIN_SPACE

STATUS_GLYPHS = {
    "conclusive": "●",
    "mostly conclusive": "◐",
    "partly conclusive": "◐",
    "exploratory": "○",
    "failed": "✕",
    "not comparable": "⊘",
}


def facts(data: ReportData) -> tuple[tuple[str, str], ...]:
    """Return name and value of each line of the masthead."""
    plan = data.plan
    lines = [
        ("Scenario", f"{plan.name} ({plan.scenario_sha256[:12]})"),
        ("Record", data.record_id),
        ("Date (UTC)", when(data)),
        *data.values.items(),
        ("Revision", _revisions(data)),
        ("Host", host_line(data.host)),
        ("System", _system_line(data.host)),
        ("Baseline", _baseline(data)),
        ("Inputs" if len(plan.inputs) > 1 else "Input", _inputs(data)),
        ("Rounds", _rounds(data)),
        ("Configurations", counts_of(data).text()),
        (
            f"N{NOISE_FLOOR[1:]}",
            f"{noise(data)} (margin {margin_text(plan.judge.margin_of(data.metric))})",
        ),
        (
            "Margin",
            (
                f"{margin_text(plan.judge.margin_of(data.metric))} "
                "(equivalent: certainly within it, and no difference was detected)"
            ),
        ),
        ("Brackets", f"95{THIN_SPACE}% confidence intervals (CIs)"),
    ]
    return tuple((name, value) for name, value in lines if value)


def _baseline(data: ReportData) -> str:
    """Return the label of the baseline."""
    revisions = data.plan.revisions
    return data.baseline.label if revisions is None else f"each variant at {revisions.names[0]}"


def _inputs(data: ReportData) -> str:
    """Return the names of the inputs, because sentences about a single input do not name it."""
    items = (item for item in data.plan.inputs if item.values or data.input_bytes(item.id))
    return joined([data.input_name(item) for item in items])


def trust(data: ReportData) -> tuple[Check, ...]:
    """Return the five facts under the title. The section "Data quality" gives the details."""
    return (
        _noise_check(data),
        _order_check(data),
        _cells_check(data),
        _output_check(data),
        _warning_check(data),
    )


def when(data: ReportData) -> str:
    """Return start and end such as ``2026-03-02 17:04 to 17:22``."""
    start, end = _moment(data.started), _moment(data.finished)
    if not end:
        return f"{start} (interrupted)"
    return f"{start} to {end[11:] if end[:10] == start[:10] else end}"


def run_line(data: ReportData) -> str:
    """Return the first line of the terminal page."""
    replication = f"rounds {_rounds(data)}"
    margin = margin_text(data.plan.judge.margin_of(data.metric))
    floor = f"{NOISE_FLOOR} {noise(data)}, margin {margin}"
    return "  ".join((data.plan.name, when(data), counts_of(data).text(), replication, floor))


def _rounds(data: ReportData) -> str:
    """Return rounds and runs such as ``40`` or ``60–450 with 1–2 runs each``."""
    rounds, runs = data.replication(c.id for c in data.plan.cells).split("×")
    return rounds if runs == "1" else f"{rounds} with {runs} runs each"


def noise(data: ReportData) -> str:
    """Return the largest noise floor of the headline metric over the inputs, as text."""
    worst = worst_floor(data)
    return percent_up(worst) if worst is not None else "not measured"


def worst_floor(data: ReportData) -> float | None:
    """Return the largest noise floor of the headline metric over the inputs, as a fraction."""
    floors = [
        f.fraction
        for f in data.judgement.floors
        if f.metric == data.metric and f.fraction is not None
    ]
    return max(floors, default=None)


def host_line(host: Host) -> str:
    """Return processor, cores and memory."""
    cores = f"{host.cores} core{'s' if host.cores != 1 else ''}"
    virtual = f", {host.virtualised}" if host.virtualised else ""
    return f"{host.cpu}, {cores}, {show_size(host.ram_bytes, 'iec')} RAM{virtual}"


def _system_line(host: Host) -> str:
    parts = [
        f"kernel {host.kernel}",
        host.os,
        f"data on {host.data_filesystem}" if host.data_filesystem else "",
        f"governor {host.governor}" if host.governor else "governor unknown",
    ]
    return ", ".join(part for part in parts if part)


def _revisions(data: ReportData) -> str:
    state = {True: ", dirty", False: ", clean", None: ""}
    builds = [b for b in data.builds if b.revision]
    return "; ".join(dict.fromkeys(f"{str(b.revision)[:12]}{state[b.dirty]}" for b in builds))


def _moment(text: str) -> str:
    return text[:16].replace("T", " ") if text else ""


def _noise_check(data: ReportData) -> Check:
    margin = data.plan.judge.margin_of(data.metric)
    worst = worst_floor(data)
    failed = dict.fromkeys(f.metric for f in data.judgement.floors if f.tripped)
    outcome = f"failed for {' and '.join(map(noun, failed))}" if failed else "passed"
    if data.metric in failed:
        return Check("fail", "A/A check", outcome)
    if worst is None:
        return Check("warn", NOISE_FLOOR, f"not measured: {data.no_floor}")
    above = f", above the margin of {margin_text(margin)}" if worst > margin else ""
    figure = f"{outcome}, noise floor {percent_up(worst)}{above}"
    return Check("warn" if above or failed else "pass", "A/A check", figure)


def _order_check(data: ReportData) -> Check:
    if not data.measured_blocks:
        return Check("unknown", "rounds", DASH)
    enough = data.judgement.looks.decidable
    return Check(
        "pass" if enough else "warn",
        "rounds",
        f"{_rounds(data)} per configuration, in random order",
    )


def _cells_check(data: ReportData) -> Check:
    counts = counts_of(data)
    whole = counts.measured == counts.planned
    figure = f"{counts.measured} of {counts.planned}"
    return Check("pass" if whole else "fail", "configurations measured", figure)


def _output_check(data: ReportData) -> Check:
    if data.plan.answer.compare == "none":
        return Check("warn", "outputs", "not compared")
    if any(event.code == "BX334" for event in data.warnings):
        return Check("warn", "outputs", "different")
    if any(event.code == "BX335" for event in data.warnings):
        return Check("warn", "outputs", "a few lines differ")
    other = sum(1 for s in data.judgement.states if s.state == "other-output")
    return Check("fail" if other else "pass", "outputs", f"{other} different" if other else "equal")


def _warning_check(data: ReportData) -> Check:
    number = len(doubts(data))
    worst = any(e.severity == "error" for e in data.warnings)
    mark: Mark = "fail" if worst else "warn" if number else "pass"
    return Check(mark, "warnings", f"{number} (see Limitations)" if number else "0")

"""The masthead (scenario, record, host and a summary of data quality), and the glossary."""

from typing import Final

from bench_framework.compare.cell_state import coverage
from bench_framework.model.plan.arguments import INPUT
from bench_framework.model.plan.plan import Input
from bench_framework.model.record.run import Host
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Check, MastheadLine
from bench_framework.report.context import ReportData
from bench_framework.text.names import joined, listed
from bench_framework.text.numbers import (
    format_moment,
    format_percent,
    format_size,
    grouped,
    percent_up,
)
from bench_framework.text.words import MEANINGS, NOISE_FLOOR_TITLE, WORDS, noun
from bench_framework.text.write import render
from bench_framework.units import THIN_SPACE, counted

STATUS_GLYPHS: Final = {
    "conclusive": "●",
    "mostly conclusive": "◐",
    "partly conclusive": "◐",
    "exploratory": "○",
    "failed": "✕",
    "not comparable": "⊘",
}
MOST_NOISY: Final = 3
"""Most inputs that the warning of a noise floor names."""


def lines(data: ReportData) -> tuple[MastheadLine, ...]:
    """Return the lines of the masthead."""
    plan, host, margin = data.plan, data.host, format_percent(data.margin)
    system = (
        f"kernel {host.kernel}",
        host.os,
        f"data on {host.data_filesystem}" if host.data_filesystem else "",
        f"governor {host.governor or 'unknown'}",
    )
    # Sentences about a single input do not name it.
    inputs = [_input(data, i) for i in plan.inputs if i.values or data.input_bytes(i.id)]
    revisions, revision, cache = plan.revisions, _revisions(data), _page_cache(data)
    when = _when(data)
    baseline = f"each variant at {revisions.names[0]}" if revisions else data.plan.baseline.label
    all_lines = (
        MastheadLine("Scenario", f"{plan.name} ({plan.scenario_sha256[:12]})"),
        MastheadLine("Record", data.contents.header.record_id),
        MastheadLine("Gate", data.gate, top=data.gate and f"gate: {data.gate}"),
        MastheadLine("Date (UTC)", when, top=when),
        MastheadLine("Revision", revision, top=revision),
        MastheadLine("Host", host_line(host), top=processor(host)),
        MastheadLine("System", ", ".join(filter(None, system))),
        MastheadLine("Baseline", baseline),
        # Figures and tables show several inputs.
        # With the noun, a data set is not mistaken for sessions: "input sessions 48MiB".
        MastheadLine("Input", joined(inputs), top=f"input {joined(inputs)}")
        if len(inputs) == 1
        else MastheadLine("Inputs", joined(inputs)),
        MastheadLine("Page cache", cache, top=cache),
        MastheadLine("Rounds", _rounds(data, "round")),
        MastheadLine("Configurations", configurations(data)),
        MastheadLine(NOISE_FLOOR_TITLE, f"{_noise(data)} (margin {margin})"),
        MastheadLine("Margin", f"{margin} (equivalent: interval within it)"),
        MastheadLine("Brackets", f"95{THIN_SPACE}% confidence intervals (CIs)"),
    )
    return tuple(line for line in all_lines if line.value)


def _input(data: ReportData, item: Input) -> str:
    """Return an input with its number of files, such as ``sessions 48MiB (256 files), 5 times``.

    The last number is that of its occurrences in each command.
    """
    prepared, name = data.prepared(item.id), data.input_name(item)
    files = prepared.file_count if prepared else None
    times = {cell.command.count((INPUT,)) for cell in data.plan.cells_of(item.id)}
    repeated = f", {times.pop()} times" if len(times) == 1 and max(times) > 1 else ""
    return f"{name}{f' ({grouped(files, THIN_SPACE)} files)' if files else ''}{repeated}"


def main_checks(data: ReportData) -> tuple[Check, ...]:
    """Return rounds, configurations and outputs. The section "Data quality" gives the details."""
    counts = coverage(data.plan, data.judgement.states)
    measured, planned = counts.measured, counts.planned
    enough = data.judgement.looks.decidable
    return (
        Check("pass" if enough else "warn", "rounds", _rounds(data)),
        Check(
            "pass" if measured == planned else "fail",
            "configurations measured",
            f"{measured} of {planned}",
        ),
        _output_check(data),
    )


def noise_warning(data: ReportData) -> str:
    """Return that the A/A check failed, or that noise can hide differences, or nothing.

    Noise can hide differences on an input whose noise floor is above the margin, and where a comparison is
    inconclusive. Conclusive comparisons have intervals that are small enough.
    """
    failed = dict.fromkeys(f.metric for f in data.judgement.floors if f.tripped)
    if failed:
        return f"The A/A check failed for {' and '.join(map(noun, failed))}."
    inconclusive = {
        c.cell_id
        for c in data.judgement.comparisons
        if c.metric == data.metric and c.verdict is Verdict.INCONCLUSIVE and c.family != "control"
    }
    open_inputs = {cell.input_id for cell in data.plan.cells if cell.id in inconclusive}
    noisy = {
        f.input_id: f.fraction
        for f in data.judgement.floors
        if f.metric == data.metric and f.fraction is not None and f.fraction > data.margin
        if f.input_id in open_inputs
    }
    if not noisy:
        return ""
    inputs = listed((data.plan.input(item).label for item in noisy), MOST_NOISY)
    where = "Differences" if len(noisy) == len(data.plan.inputs) else f"On {inputs}, differences"
    floor = percent_up(max(noisy.values()))
    return f"{where} below the noise floor of {floor} can remain undetected."


def run_line(data: ReportData) -> str:
    """Return the first line of the terminal page."""
    counts = coverage(data.plan, data.judgement.states)
    facts = (
        data.plan.name,
        _when(data),
        counted(data.host.cores, "core"),
        _rounds(data, "round"),
    )
    missing = configurations(data) if counts.measured != counts.planned else ""
    return " · ".join(filter(None, (*facts, missing)))


def configurations(data: ReportData) -> str:
    """Return a text such as ``12 configurations planned, 9 measured, 1 failed``."""
    return render("configurations", coverage(data.plan, data.judgement.states))


def host_line(host: Host) -> str:
    """Return processor, cores and memory."""
    return f"{processor(host)}, {format_size(host.ram_bytes)} RAM"


def processor(host: Host) -> str:
    """Return processor and cores, with the kind of a virtual machine."""
    virtual = f", {host.virtualised}" if host.virtualised else ""
    return f"{host.cpu}, {counted(host.cores, 'core')}{virtual}"


def _when(data: ReportData) -> str:
    """Return start and end such as ``2026-03-02 17:04 to 17:22``, once if it is the same minute."""
    start, end = map(format_moment, (data.contents.header.started_at, data.contents.ended_at or ""))
    if not end:
        return f"{start} (interrupted)"
    if end == start:
        return start
    return f"{start} to {end[11:] if end[:10] == start[:10] else end}"


def _rounds(data: ReportData, unit: str = "") -> str:
    """Return rounds and runs such as ``40`` or ``60–450 with 1–2 runs each``, with a noun if it is given."""
    rounds, runs = data.rounds_and_runs(c.id for c in data.plan.cells)
    sessions = f" in {counted(data.sessions, 'session')}" if data.plan.measure.sessions > 1 else ""
    word = f" {unit}{'s' if rounds != '1' else ''}" if unit else ""
    return f"{rounds}{word}" + (f" with {runs} runs each" if runs != "1" else "") + sessions


def _page_cache(data: ReportData) -> str:
    """Return the state of the inputs in the page cache, or nothing if a sample was not verified."""
    states = {data.state(c.id).cache for i in data.plan.inputs for c in data.measured(i.id)}
    if not states or "unknown" in states:
        return ""
    return f"{' and '.join(sorted(states, reverse=True))} page cache"


def _noise(data: ReportData) -> str:
    """Return the largest noise floor of the headline metric over the inputs."""
    floors = (f.fraction for f in data.judgement.floors if f.metric == data.metric)
    known = [floor for floor in floors if floor is not None]
    return percent_up(max(known)) if known else "not measured"


def _revisions(data: ReportData) -> str:
    state = {True: ", with local changes", False: "", None: ""}
    builds = [b for b in data.contents.builds if b.revision]
    return "; ".join(dict.fromkeys(f"{str(b.revision)[:12]}{state[b.dirty]}" for b in builds))


def _output_check(data: ReportData) -> Check:
    if data.plan.benches is not None:
        return Check("unknown", "outputs", "benchmarks have none")
    if data.plan.answer.compare == "none":
        return Check("warn", "outputs", "not compared")
    if data.judgement.outputs_empty:
        return Check("warn", "outputs", "empty, so no results were compared")
    if data.outputs_differ:
        return Check("warn", "outputs", "different")
    if any(event.code == "BX335" for event in data.warnings):
        return Check("warn", "outputs", "a few lines differ")
    other = sum(s.state == "other-output" for s in data.judgement.states)
    return Check("fail" if other else "pass", "outputs", f"{other} different" if other else "equal")


_TERMS: Final = {
    "[a, b]": "the confidence interval of the value before it: true values that agree with the data",
    "vs baseline, ÷": "the variant's value ÷ the baseline's, paired within rounds: 1 is equal, "
    "below 1 is less",
    "rounds × runs, n": "a round measures each configuration once, in random order; runs: runs per "
    "sample",
    "configuration, sample": "a configuration is a variant with an input; a sample is one hyperfine "
    "call of one configuration in one round",
    "margin": "the largest difference that counts as equivalent, here {margin}; the scenario sets it",
    "best group": "the variants for which no other variant of the same input is shown to be better",
    "minimum detectable effect (MDE)": "the smallest difference that this number of rounds detects "
    "in most cases, given the noise",
    "Holm-adjusted, interim analyses": "an interim analysis judges the rounds so far; verdicts are "
    "corrected for the number of comparisons (Holm's procedure) and of interim analyses",
}
_CONTROL: Final = {
    "A/A control": "a copy of the baseline that runs in every round; if the A/A check finds a "
    "difference, the other verdicts of its input become inconclusive",
    "noise floor": "the largest difference that the 95 % confidence interval of the A/A control "
    "leaves possible: smaller differences can remain undetected",
}
"""Terms of a report whose plan has an A/A control."""


def verdict_glossary(margin: float) -> tuple[tuple[str, str], ...]:
    """Return the verdicts with their signs, each with its meaning."""
    text = format_percent(margin)
    return tuple(
        (f"{w.glyph} {w.time}", MEANINGS[verdict].format(margin=text))
        for verdict, w in WORDS.items()
    )


def terms(data: ReportData) -> tuple[tuple[str, str], ...]:
    """Return the terms that the report uses, each with its meaning."""
    margin = format_percent(data.margin)
    control = any(data.plan.control_cell(item.id) for item in data.plan.inputs)
    listed = _TERMS | _CONTROL if control else _TERMS
    return tuple((name, meaning.format(margin=margin)) for name, meaning in listed.items())

"""One sentence per command of ``benchctl ab``: time, output and memory against the first one."""

from collections.abc import Iterable
from dataclasses import replace

from bench_framework.claims.factory import ComparisonClaims, figures
from bench_framework.compare.cell_state import baseline_failure
from bench_framework.model.facts.comparisons import CommandLine, OutputState
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.record.run import OTHER_OUTPUT_COMPARED, Event
from bench_framework.model.result.decision import ChangeKind, Decision
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.result.mapped_files import resource_differences
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from bench_framework.text.write import render


def command_lines(plan: Plan, judgement: Judgement, events: Iterable[Event]) -> tuple[str, ...]:
    """Return ``"`b` is 1.3× faster than `a` (95 % CI 1.2 to 1.4), same output, 12 % more memory"``.

    The plan has one baseline.
    """
    if failure := baseline_failure(plan, judgement.states, plan.inputs[0].id):
        return (phrase(failure),)
    claims = ComparisonClaims(plan, judgement)
    differing = {event.cell_id for event in events if event.code == OTHER_OUTPUT_COMPARED}
    resources = tuple(resource_differences(judgement.comparisons, judgement.summaries))
    lines = []
    for c in judgement.comparisons:
        if c.family != "headline" or c.metric != WALL:
            continue
        evidence = claims.evidence(c)
        names = f"`{evidence.subject}`", f"`{evidence.reference}`"
        evidence = replace(evidence, subject=names[0], reference=names[1])
        others = {o.metric: o for o in resources if o.cell_id == c.cell_id}
        line = CommandLine()
        if c.verdict.settled:
            differs = not differing.isdisjoint((c.cell_id, c.ref_cell_id))
            output = _output(plan, differs=differs, empty=judgement.outputs_empty)
            line = _line(c, others.get(CPU), others.get(PEAK_RSS), output)
        lines.append(render("command_line", evidence, line))
    return tuple(lines)


def decision(judgement: Judgement) -> Decision | None:
    """Return whether to keep the second of two commands; `None` if it could not be compared.

    It is kept if it is significantly faster and prints the same output. It is discarded if it is slower,
    equivalent or the same program, or prints another output. Otherwise, more rounds are needed.
    """
    (c,) = (c for c in judgement.comparisons if c.family == "headline" and c.metric == WALL)
    if c.reason == ONE_PROGRAM and not c.verdict.refused:
        return ChangeKind.SAME.decision
    return ChangeKind.from_verdict(c.verdict).decision


def _output(plan: Plan, *, differs: bool, empty: bool) -> OutputState:
    if plan.answer.check:
        return "accepted"
    if plan.answer.compare == "none":
        return "not compared"
    return "different" if differs else "no" if empty else "same"


def _line(
    c: Comparison, cpu: Comparison | None, memory: Comparison | None, output: OutputState
) -> CommandLine:
    costs = []
    if cpu is not None and cpu.verdict is Verdict.WORSE and not c.verdict.worse:
        costs.append(figures(cpu))
    if memory is not None and memory.verdict in (Verdict.BETTER, Verdict.WORSE):
        costs.append(figures(memory))
    same = memory is not None and memory.verdict is Verdict.EQUIVALENT
    return CommandLine(output=output, resources=tuple(costs), same_memory=same)

"""A test of the gate itself: it compares its base with copies of it, some of which are slower by a known share.

Base and copies run by `slowed_run.py`, which spins for a share of the program's own time. The harness of a benchmark
measures its own time, so the clock of its process runs faster in place of that (`faster_clock.c`). The plan has as
many comparisons as that of the gate, with its metrics, margins, level, rounds and budget.
"""

import shlex
import statistics
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import (
    EXIT_DONE,
    EXIT_NOT_JUDGED,
    EXIT_NOT_MEASURED,
    EXIT_WORSE,
    UsageError,
)
from bench_framework.execution.machine import slowed_run
from bench_framework.execution.machine.programs import with_faster_clock
from bench_framework.features.gate.outcome import main_metric, timed_metrics
from bench_framework.features.gate.plans import narrowed
from bench_framework.model.metrics import is_exact
from bench_framework.model.plan.arguments import Word
from bench_framework.model.plan.declarations import Axis, AxisValue, Note
from bench_framework.model.plan.plan import Cell, Plan, Role, Variant
from bench_framework.model.plan.policies import GatePolicy
from bench_framework.model.result.gate import Gating
from bench_framework.model.result.self_test import TestOutcome, Trial, TrialState
from bench_framework.text.numbers import shortest
from bench_framework.text.write import render

AXIS: Final = "copy"
LEAST_SLOWDOWN: Final = 0.1
MOST_SLOWDOWN: Final = 0.5
"""A gate that does not find a copy that takes so much longer is broken, whatever its margin."""
SMALLEST: Final = 0.004
"""Slowdowns below this share are not searched for."""
EXIT_CODES: Final[Mapping[TestOutcome, int]] = {
    "passed": EXIT_DONE,
    "false-alarm": EXIT_WORSE,
    "missed": EXIT_WORSE,
    "not-judged": EXIT_NOT_JUDGED,
    "failed": EXIT_NOT_MEASURED,
}
_STATES: Final[Mapping[int, TrialState]] = {
    EXIT_DONE: "passed",
    EXIT_WORSE: "worse",
    EXIT_NOT_JUDGED: "not-judged",
}
_HEREDOC: Final = "END_OF_COMMAND"


def required_slowdown(policy: GatePolicy) -> float:
    """Return the slowdown that a gate must find: twice the margin of its main metric, from 10 % to 50 %."""
    margin = policy.tolerated[main_metric(policy)]
    return min(MOST_SLOWDOWN, max(LEAST_SLOWDOWN, 2 * margin))


def trial_of(
    share: float, gating: Gating, policy: GatePolicy, seconds: float, record: str
) -> Trial:
    """Return the result of a gate whose copies were slower by `share`."""
    main = main_metric(policy)
    growths = [
        interval.ratio - 1
        for pair in gating.pairs
        if pair.metric == main and (interval := pair.comparison.shown)
    ]
    return Trial(
        share,
        _STATES.get(gating.exit_code, "failed"),
        len({pair.cell_id for pair in gating.in_state("worse")}),
        len({pair.cell_id for pair in gating.pairs}),
        statistics.median(growths) if growths else None,
        seconds,
        record,
    )


def self_test_plan(plan: Plan, share: float, number: int, clock: str = "") -> Plan:
    """Return the plan of a gate whose candidates are copies of their baseline, slower by `share`.

    Trials with another `number` have another order of runs. Budgets and deterministic metrics are not part of the test.
    Benchmarks are slowed down by the library `clock`, made from `faster_clock.c`.

    Raises `UsageError` (BX140): the gate judges no time.
    """
    policy = plan.judge.gate
    if not timed_metrics(policy):
        raise UsageError("BX140.no-time", name=plan.name)
    ids = policy.chosen
    measured = (plan if ids is None else narrowed(plan, frozenset(ids))).cells
    variants: dict[str, Variant] = {}
    cells: list[Cell] = []
    for cell in measured:
        baseline = plan.baseline_cell(cell.input_id)
        if baseline is None or cell.role is Role.BOUND:
            continue
        given = plan.variant(cell.variant_id)
        candidate = cell.role is Role.CANDIDATE
        name = render("copy_for", given.label) if candidate else given.label
        base = plan.variant(baseline.variant_id)
        values = ((AXIS, name), *base.values)
        variant = replace(base, label=name, values=values, experiment=None)
        variants[variant.id] = variant
        cells.append(
            replace(
                baseline,
                id=cell.id,
                variant_id=variant.id,
                label=variant.label if candidate else cell.label,
                role=cell.role,
                command=_slowed(baseline, share if candidate else 0.0, clock),
            )
        )
    used = tuple(variants.values())
    names = dict.fromkeys(v.label for v in used)
    axis = Axis(AXIS, "run", tuple(AxisValue(name, name) for name in names), "Copy")
    builds = plan.programs_of(used)
    note = Note("Self-test", render("slower_copies", benches=plan.benches is not None))
    pairs, benches = plan.pairs_only().without_texts(), plan.benches
    if benches is not None:
        # The conditions about benchmarks apply after the builds.
        words = filter(None, (benches.selection, policy.cells))
        benches = replace(benches, selection=" ".join(words))
    return replace(
        pairs,
        benches=benches,
        axes=(axis, *plan.axes),
        builds=builds,
        variants=used,
        inputs=tuple(i for i in plan.inputs if any(cell.input_id == i.id for cell in cells)),
        cells=tuple(cells),
        holes=(),
        baseline_id=next(c.variant_id for c in cells if c.role is Role.BASELINE),
        instructions=None,
        revisions=None,
        training=tuple(run for run in plan.training if run.build in builds),
        notes=(note, *plan.notes),
        judge=replace(plan.judge, gate=_policy(policy)),
        measure=replace(pairs.measure, seed=plan.measure.seed + number),
    )


def _policy(policy: GatePolicy) -> GatePolicy:
    exact: dict[str, Any] = {metric: None for metric, _ in policy.margins if is_exact(metric)}
    required = tuple(metric for metric in policy.require if metric not in exact)
    return replace(policy, **exact, require=required, budgets=(), chosen=None, cells=None)


def _slowed(cell: Cell, share: float, clock: str) -> tuple[Word, ...]:
    """Return the command of a cell by the wrapper, or with the library `clock`.

    A command of a shell keeps its text: the shell passes it on, because it cannot be quoted before its paths
    are known.
    """
    words: tuple[str, ...] = (
        sys.executable,
        "-IS",
        str(Path(slowed_run.__file__)),
        shortest(share),
    )
    if clock:
        words = with_faster_clock(clock, share)
    if not cell.shell:
        return (*((word,) for word in words), *cell.command)
    start = f"exec {shlex.join(words)} /bin/sh -c \"$(cat <<'{_HEREDOC}'\n"
    joined = tuple(part for word in cell.command for part in (*word, " "))[:-1]
    return ((start, *joined, f'\n{_HEREDOC}\n)"'),)

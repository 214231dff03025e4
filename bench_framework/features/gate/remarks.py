"""Remarks of a gate on its records, in addition to the comparisons."""

import math
from collections.abc import Iterator

from bench_framework.compare.cell_state import first_differences, output_reasons
from bench_framework.compare.data_quality import disturbed
from bench_framework.compare.samples import collect
from bench_framework.errors import EXIT_NOT_JUDGED
from bench_framework.features.gate.outcome import is_timed
from bench_framework.features.gate.question import question_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import lone_benches
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import OTHER_OUTPUT
from bench_framework.model.result.gate import Gating
from bench_framework.store.journal import Contents


def budget_remarks(contents: Contents) -> Iterator[Reason]:
    """Yield which budget would be enough, if that of the record was too small for any verdict.

    Each input has an estimate, and the largest one is enough for all.
    """
    ends = [look.reason for look in contents.looks if look.stopped and look.reason is not None]
    small = [reason for reason in ends if reason.code is ReasonCode.BUDGET_TOO_SMALL]
    yield from sorted(small, key=_minutes)[-1:]


def _minutes(reason: Reason) -> int:
    assert isinstance(reason.detail, tuple)
    return int(str(reason.detail[-1]))


def enough_budget(gating: Gating, contents: Contents) -> Iterator[Reason]:
    """Yield which budget would be enough for the times of an inconclusive gate, if the budget was used up.

    More rounds are not known to help a time with a reason, such as an A/A check that failed.
    """
    ended = {look.reason.code for look in contents.looks if look.stopped and look.reason}
    open_ = [p for p in gating.in_state("not-judged") if is_timed(p.metric)]
    if gating.exit_code != EXIT_NOT_JUDGED or ReasonCode.BUDGET_SPENT not in ended or not open_:
        return
    rounds, factors = 0, list[float]()
    for c in (pair.comparison for pair in open_):
        if c.reason or c.rounds_needed is None or not c.rounds:
            return
        rounds = max(rounds, c.rounds_needed)
        factors.append(c.rounds_needed / c.rounds)
    if max(factors) > 1:
        minutes = math.ceil(contents.elapsed_s * max(factors) / 60)
        yield Reason(ReasonCode.BUDGET_ENOUGH, (rounds, minutes))


def record_remarks(plan: Plan, contents: Contents) -> Iterator[Reason]:
    """Yield remarks on outputs, benchmarks of one side, and other load in the first measurement."""
    gated = {cell.id for cell in question_of(plan).plan.cells}
    yield from output_reasons(plan, contents.events, gated)
    yield from _other_outputs(plan, contents)
    yield from lone_benches(plan.holes)
    yield from _disturbances(contents)


def second_remarks(record_id: str, contents: Contents) -> Iterator[Reason]:
    """Yield remarks on the budget of the second measurement, and on other load in it."""
    for reason in (*budget_remarks(contents), *_disturbances(contents)):
        yield Reason(ReasonCode.IN_RECORD, (record_id, reason))


def _other_outputs(plan: Plan, contents: Contents) -> Iterator[Reason]:
    """Yield the first difference of each output that is not compared, and what to do."""
    events = [event for event in contents.events if event.code == OTHER_OUTPUT and event.cell_id]
    yield from first_differences(plan, events)
    if events and events[0].help:
        yield Reason(ReasonCode.FIX, (events[0].code, events[0].help))


def _disturbances(contents: Contents) -> Iterator[Reason]:
    """Yield that other load disturbed many samples, unless a single round compares no times."""
    blocks = [b for sample in collect(contents.blocks).values() for b in sample.blocks]
    if len({block.round for block in blocks}) > 1 and (remark := disturbed(blocks)) is not None:
        yield remark

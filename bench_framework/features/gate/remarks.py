"""What the reader of a gate should know of its records besides the comparisons."""

from collections.abc import Iterator

from bench_framework.compare.cell_state import output_reasons
from bench_framework.compare.data_quality import contention_events
from bench_framework.compare.samples import collect
from bench_framework.features.gate.question import question_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import lone_benches
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.store.journal import Contents


def record_remarks(plan: Plan, contents: Contents) -> Iterator[Reason]:
    """Yield remarks on outputs, benchmarks of one side, and other load in the first measurement."""
    gated = {cell.id for cell in question_of(plan).plan.cells}
    yield from output_reasons(plan, contents.events, gated)
    yield from lone_benches(plan.holes)
    yield from _disturbances(contents)


def second_remarks(record_id: str, contents: Contents) -> Iterator[Reason]:
    """Yield a remark on other load in the second measurement."""
    for reason in _disturbances(contents):
        yield Reason(ReasonCode.IN_RECORD, (record_id, reason))


def _disturbances(contents: Contents) -> Iterator[Reason]:
    """Yield that other load disturbed many samples, unless a single round compares no times."""
    blocks = [b for sample in collect(contents.blocks).values() for b in sample.blocks]
    if len({block.round for block in blocks}) > 1:
        yield from (message(event.message) for event in contention_events(blocks))

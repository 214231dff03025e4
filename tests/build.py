"""Builders of model objects for tests. A new field of one of them needs a value here only."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from bench_framework.model.plan.plan import Cell, Input, Plan, Variant
from bench_framework.model.plan.policies import AnswerPolicy, JudgePolicy, MeasurePolicy
from bench_framework.model.reasons import Reason
from bench_framework.model.record.profile import Frame, Profile, Sampler, Stack, Unwinding
from bench_framework.model.record.run import Block
from bench_framework.model.result.judgement import Comparison, Family
from bench_framework.model.verdict import Thresholds, Verdict

T = TypeVar("T")


def require(value: T | None) -> T:
    """Return a value that must exist."""
    assert value is not None
    return value


def make_plan(
    variants: Sequence[Variant], inputs: Sequence[Input], cells: Sequence[Cell], **changes: Any
) -> Plan:
    """Return a plan. Its baseline is the first variant; `changes` has the values of other fields."""
    plan = Plan(
        name="study",
        question="?",
        scenario_path="s.yaml",
        scenario_sha256="0" * 64,
        axes=(),
        builds=tuple(dict.fromkeys(v.build for v in variants if v.build is not None)),
        variants=tuple(variants),
        inputs=tuple(inputs),
        cells=tuple(cells),
        holes=(),
        baseline_id=variants[0].id,
        further_baselines=(),
        experiments=(),
        program=None,
        answer=AnswerPolicy(),
        measure=MeasurePolicy(),
        judge=JudgePolicy(),
    )
    return replace(plan, **changes)


def make_block(
    seq: int = 0,
    number: int = 1,
    position: int = 0,
    cell_id: str = "c",
    wall: float | None = None,
    **changes: Any,
) -> Block:
    """Return a block of one good run; with a time `wall`, which is also its CPU time by default."""
    block = Block(seq, number, position, cell_id, warmup=False, status="ok", started_at="")
    if wall is not None:
        block = replace(block, wall_s=(wall,), user_s=wall, sys_s=0.0, exit_codes=(0,))
    return replace(block, **changes)


def make_comparison(
    cell_id: str,
    ref_cell_id: str,
    metric: str,
    family: Family,
    verdict: Verdict,
    reason: Reason | None = None,
    **changes: Any,
) -> Comparison:
    """Return a comparison with a margin of 2 % and a minimum effect size of 1 %."""
    sides, limits = (cell_id, ref_cell_id, metric), Thresholds(0.02, 0.01)
    comparison = Comparison(*sides, family, verdict, reason, thresholds=limits)
    return replace(comparison, **changes)


def make_profile(
    cell_id: str,
    runs: Sequence[int],
    frames: Sequence[Frame],
    stacks: Sequence[Stack],
    **changes: Any,
) -> Profile:
    """Return a profile of perf with a number of samples for each run."""
    perf: tuple[Sampler, str, str, int, Unwinding]
    perf = ("perf", "perf version 6.1", "cpu-clock", 997, "frame-pointers")
    counts, digests = (tuple(runs), 5, 0), ("aa" * 32, "bb" * 32)
    profile = Profile(cell_id, *perf, *counts, *digests, tuple(frames), tuple(stacks))
    return replace(profile, **changes)

"""Builders of model objects for tests. A new field of one of them needs a value here only."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench_framework.model.plan import Cell, Input, Plan, Variant
from bench_framework.model.policies import AnswerPolicy, JudgePolicy, MeasurePolicy


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

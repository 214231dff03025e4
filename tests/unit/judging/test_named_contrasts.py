"""Named contrasts: judged, counted and measured like the comparisons with the baseline."""

from dataclasses import replace

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import judge
from bench_framework.model.plan.declarations import NamedContrast
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import JudgePolicy, MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from tests.unit.judging.conftest import Study, timing

TIMES = {"a": 0.0, "quick": -0.3, "medium": -0.1, "alike": -0.1}


def naming(example: Study, *pairs: tuple[str, str], metric: str = "wall") -> Plan:
    ids = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    inputs = tuple(item.id for item in example.plan.inputs)
    contrasts = (NamedContrast(f"{a} or {b}", ids[a], ids[b], inputs, metric) for a, b in pairs)
    return replace(example.plan, contrasts=tuple(contrasts))


def test_measuring_goes_on_until_a_contrast_is_conclusive() -> None:
    arms = {"a": 0.0, "left": 0.5, "right": 0.46, "far": 1.0}
    policy = MeasurePolicy(rounds_max=200)
    example = Study(arms=tuple(arms), rounds=200, measure=policy, policy=JudgePolicy(("wall",)))
    plan = naming(example, ("left", "right"))
    blocks = [b for b in example.blocks(timing(arms, 0.1, 3)) if b.round <= 18]
    here = plan.inputs[0].id
    assert Analysis(example.plan, blocks, here, 0, 18).report.stop
    outcome = Analysis(plan, blocks, here, 0, 18).report
    assert not outcome.stop
    assert outcome.reason == Reason(ReasonCode.STILL_OPEN, Reason(ReasonCode.SHARE, (1, 4)))
    # The live table shows the comparisons with the baseline, and only `far` may leave.
    assert [c.cell_id for c in outcome.verdicts] == [example.cell(a).id for a in list(arms)[1:]]
    assert outcome.settled == (example.cell("far").id,)


def test_a_contrast_has_the_same_verdict_in_the_best_group() -> None:
    example = Study(arms=tuple(TIMES))
    plan = naming(example, ("medium", "quick"))
    judged = judge(plan, example.blocks(timing(TIMES)), {}, example.inputs(), example.looks())
    (contrast,) = (c for c in judged.comparisons if c.family == "contrast")
    pair = {contrast.cell_id, contrast.ref_cell_id}
    (in_group,) = (c for c in judged.best[0].comparisons if {c.cell_id, c.ref_cell_id} == pair)
    assert in_group.shown is not None
    assert contrast.shown in (in_group.shown, in_group.shown.inverse)

"""The judgement of each synthetic record in judgements.txt: verdicts, groups and facts, no words.

``UPDATE_JUDGEMENTS=1`` writes the judgements again. Their difference is the change.
"""

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from bench_framework.features.gate.compute import first_pass
from bench_framework.features.judge import judge
from bench_framework.model.facts import ResourceChanges
from bench_framework.model.plan.declarations import (
    DerivedRow,
    Experiment,
    Hypothesis,
    NamedCell,
    NamedContrast,
)
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import (
    Accepted,
    Budget,
    GatePolicy,
    JudgePolicy,
    MeasurePolicy,
)
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.record.run import Block
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.result.structure import ContrastResult
from bench_framework.model.verdict import Interval
from bench_framework.report.render.gate import budget_text
from bench_framework.text.reasons import phrase
from tests.approval import approve, text_of
from tests.unit.judging.conftest import Crossed, Study, Timing, timing

FILE = Path(__file__).parents[2] / "fixtures" / "judgements.txt"
Values = Mapping[str, Any]


def factor(value: Any, where: str, number: int) -> float:
    """Return the factor of an arm: one for all inputs, one for each, or those of odd and even rounds."""
    if isinstance(value, Mapping):
        return float(value.get(where, 1.0))
    return float(value[number % 2]) if isinstance(value, list) else float(value)


def times(factors: Values, spread: float) -> Timing:
    draw = timing({}, spread)

    def wall(arm: str, where: str, number: int) -> float:
        return draw(arm, where, number) * factor(factors.get(arm, 1.0), where, number)

    return wall


def planned(example: Study, case: Values) -> Plan:
    """Return the plan of a study with the other keys of a case."""
    plan = example.plan
    ids = {dict(v.values)["arm"]: v.id for v in plan.variants}
    inputs = tuple(item.id for item in plan.inputs)
    bounds = {ids[arm] for arm in case.get("bounds", ())}
    labels = case.get("labels", {})
    return replace(
        plan,
        variants=tuple(replace(v, label=labels.get(v.label, v.label)) for v in plan.variants),
        design=case.get("design", "full"),
        invocation=Invocation(
            quick="quick" in case.get("invocation", ()), gate="gate" in case.get("invocation", ())
        ),
        revisions=Revisions("1" * 40, None) if case.get("revisions") else None,
        choose_from=tuple((("arm", arm),) for arm in case.get("choose-from", ())),
        further_baselines=tuple(ids[arm] for arm in case.get("further", ())),
        answer=replace(plan.answer, check=tuple(case.get("check", ()))),
        cells=tuple(
            replace(c, role=Role.BOUND) if c.variant_id in bounds else c for c in plan.cells
        ),
        experiments=tuple(
            Experiment(arm, ids[arm], (("arm", arm),), decision=decision)
            for arm, decision in case.get("experiments", {}).items()
        ),
        contrasts=tuple(
            NamedContrast(name, ids[arm], ids[against], inputs, *rest)
            for name, arm, against, *rest in case.get("contrasts", ())
        ),
        hypotheses=tuple(
            Hypothesis(
                f"{before} costs time", f"arm: {before} → {arm}", ids[arm], ids[before], *rest
            )
            for arm, before, *rest in case.get("hypotheses", ())
        ),
        named=tuple(NamedCell(arm, ids[arm]) for arm in ids) if "derived" in case else (),
        derived=tuple(DerivedRow(*row) for row in case.get("derived", ())),
    )


def crossed(case: Values) -> tuple[Plan, Judgement]:
    """Judge a record of several axes. A factor belongs to a value, or to values that occur together."""
    only = [set(values) for values in case.get("only", ())]
    example = Crossed(
        case["axes"],
        inputs=case.get("inputs", ("x",)),
        rounds=case.get("rounds", 40),
        drop=lambda values: bool(only) and set(values.values()) not in only,
        design=case.get("design", "full"),
        adopted=[tuple(pair) for pair in case.get("adopted", ())],
        further=[dict(zip(case["axes"], some, strict=True)) for some in case.get("further", ())],
        features=case.get("features", ()),
    )

    def wall(values: Mapping[str, str], where: str, number: int) -> float:
        chance = random.Random(f"{sorted(values.items())}/{where}/{number}")
        noise = math.exp(chance.gauss(0, case.get("spread", 0.004)))
        factors = case.get("time", {}).items()
        return noise * math.prod(f for some, f in factors if {*some.split()} <= {*values.values()})

    return example.plan, example.judge(wall)


def judged(case: Values) -> tuple[Plan, Judgement]:
    if "axes" in case:
        return crossed(case)
    example = study_of(case)
    plan = planned(example, case)
    return plan, judge(plan, blocks_of(example, case), {}, example.inputs(), example.looks())


def study_of(case: Values, gate: GatePolicy | None = None) -> Study:
    most = case.get("rounds", 40)
    return Study(
        arms=case.get("arms", ["a", "b"]),
        sizes=case.get("sizes", (0,)),
        rounds=most,
        control=case.get("control", True),
        measure=MeasurePolicy(rounds_min=min(12, most), rounds_max=most),
        policy=JudgePolicy(
            metrics=tuple(case.get("metrics", ("wall", "cpu"))), gate=gate or GatePolicy()
        ),
    )


def blocks_of(example: Study, case: Values) -> list[Block]:
    wall = times(case.get("time", {}), case.get("spread", 0.01))
    cpu = times(case["cpu"], case.get("cpu-spread", 0.01)) if "cpu" in case else None
    memory = case.get("memory")

    def rss(arm: str, where: str, number: int) -> float:
        assert memory is not None
        return factor(memory.get(arm, 5.0), where, number) * 2**20

    return example.blocks(wall, cpu, rss if memory is not None else None)


def gating_lines(case: Values) -> Iterator[str]:
    """Yield the result of the gate of a record, a line for each pair, and for each budget."""
    given = dict(case["gate"])
    whole = study_of(case)
    budgets = tuple(
        Budget(f"arm={arm}", metric, most, str(most), (whole.cell(arm).id,))
        for arm, metric, most in given.pop("budgets", ())
    )
    accepted = [
        Accepted(f"arm={arm}", metric, level, "it checks more", until, "f:1", (whole.cell(arm).id,))
        for arm, metric, level, until in given.pop("accepted", ())
    ]
    chosen = given.pop("chosen", None)
    policy = GatePolicy(
        **given.pop("margins", {}),
        chosen=None if chosen is None else tuple(whole.cell(arm).id for arm in chosen),
        cells="some" if chosen is not None else "",
        budgets=budgets,
        **{key.replace("-", "_"): as_tuple(value) for key, value in given.items()},
    )
    example = study_of(case, policy)
    contents = example.contents(blocks_of(example, case), day="2026-05-31")
    gating = first_pass(example.plan, contents, accepted=accepted)
    yield f"exit {gating.exit_code}, family {gating.family}: {'; '.join(map(phrase, gating.reasons))}".rstrip(
        ": "
    )
    for pair in gating.pairs:
        arm, verdict = (
            example.arm_of(example.plan.cell(pair.cell_id)),
            pair.comparison.verdict.value,
        )
        reasons = f": {'; '.join(map(phrase, pair.reasons))}" if pair.reasons else ""
        yield f"{arm} {pair.metric}: {pair.state}, {verdict}{interval(pair.comparison.shown)}{reasons}"
    yield from (f"budget {b.state}: {budget_text(b)}" for b in gating.budgets)
    yield from (f"remark: {phrase(remark)}" for remark in gating.remarks)


def as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def interval(value: Interval | None) -> str:
    return f" {value.ratio:.4g} [{value.lo:.4g}, {value.hi:.4g}]" if value is not None else ""


def contrast(value: ContrastResult) -> str:
    reason = f" ({value.reason.code.value})" if value.reason is not None else ""
    return f"{value.verdict.value}{interval(value.shown)}{reason}"


def lines_of(plan: Plan, judgement: Judgement) -> Iterator[str]:
    """Yield a line for the status, each comparison, group, gap, event and claim."""
    yield f"status: {judgement.status}"

    def name(cell_id: str) -> str:
        cell = plan.cell(cell_id)
        label = "control" if cell.role is Role.CONTROL else plan.variant(cell.variant_id).label
        return f"{label} on {plan.input(cell.input_id).label}" if len(plan.inputs) > 1 else label

    def comparison(c: Comparison) -> str:
        reason = f" ({c.reason.code.value})" if c.reason is not None else ""
        pair = f"{name(c.cell_id)} vs {name(c.ref_cell_id)}"
        return f"{c.family} {c.metric}: {pair} {c.verdict.value}{interval(c.shown)}{reason}"

    yield from map(comparison, judgement.comparisons)
    for group in judgement.best:
        yield f"best {group.metric}: {', '.join(map(name, group.cell_ids)) or 'none'}"
    for gap in judgement.gaps:
        yield f"gap: {name(gap.cell_id)} {text_of(gap.before)} → {text_of(gap.after)}, {text_of(gap.closed)}"
    yield from (f"event: {event.code}" for event in judgement.events)
    structure = judgement.structure
    for factorial in structure.factorials:
        yield f"factorial: {text_of(factorial)}"
    for effect in structure.effects:
        changes = " × ".join(change.text for change in effect.changes)
        yield f"effect: {changes}, pooled {effect.pooled}, mean {contrast(effect.mean)}"
        yield from (f"effect in {c.where}: {contrast(c.contrast)}" for c in effect.cells)
    for table in structure.contributions:
        total = contrast(table.total) if table.total is not None else "none"
        yield f"contributions {table.design}: largest {table.largest}, total {total}"
        for steps in (table.steps, table.beyond):
            for step in steps:
                changes = " and ".join(change.text for change in step.changes)
                share = "no" if step.share is None else f"{step.share:.3g}"
                yield f"step {changes}: {contrast(step.contrast)}, share {share}"
        if table.remainder is not None:
            yield f"remainder: {contrast(table.remainder)}"
        if table.unexplained is not None:
            yield f"unexplained: {round(table.unexplained, 3)}"
    for claim in judgement.claims:
        if claim.kind in {"comparison", "control", "noise-floor", "coverage"}:
            continue
        scope = "".join(f" {axis}={value}" for axis, value in claim.scope)
        what = f"{claim.subject or '-'} vs {claim.reference or '-'} {claim.metric or '-'}{scope}"
        verdict = f" {claim.verdict.value}" if claim.verdict is not None else ""
        figures = [f"{x:.4g}" for x in (claim.estimate, claim.lo, claim.hi) if x is not None]
        fact = text_of(claim.fact, omitted=frozenset({"text"}))
        yield f"{claim.kind}: {what}{verdict} {' '.join(figures)}".rstrip() + f" {fact}"


def test_the_judgements_are_those_of_the_approval_file() -> None:
    head, *cases = FILE.read_text(encoding="utf-8").split("\n=== ")
    text = head.rstrip("\n") + "\n"
    for case in cases:
        rest = [line for line in case.split("\n") if line and not line.startswith(">> ")]
        values = YAML(typ="safe").load("\n".join(rest[1:])) or {}
        if "gate" in values:
            text += "\n=== " + "\n".join([*rest, *(f">> {line}" for line in gating_lines(values))])
            text += "\n"
            continue
        plan, judgement = judged(values)
        lines = [*rest, *(f">> {line}" for line in lines_of(plan, judgement))]
        ids = {item.id: item.label for item in plan.inputs}
        ids |= {cell.id: cell.label for cell in plan.cells}
        for old, label in ids.items():
            lines = [line.replace(old, f"‹{label}›") for line in lines]
        text += "\n=== " + "\n".join(lines) + "\n"
    approve(FILE, text, "UPDATE_JUDGEMENTS")


@pytest.mark.parametrize("label", ["v2", "rg (new)", "is", "n×m"])
def test_a_label_is_printed_as_it_is(label: str) -> None:
    case = {"arms": ["base", label], "revisions": True, "memory": {label: 10}, "cpu": {label: 1.1}}
    _, judgement = judged(case)
    (claim,) = (c for c in judgement.claims if isinstance(c.fact, ResourceChanges))
    assert claim.text.startswith(f"{label} uses 2.00")

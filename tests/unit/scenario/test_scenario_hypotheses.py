"""Hypotheses of experiments and assumptions of derived figures: in the plan, and their errors."""

from collections.abc import Callable

from bench_framework.model.declarations import DerivedRow, Hypothesis
from bench_framework.model.plan import Plan

BODY = """
axes: {mode: [read, mmap, ring], threads: ["1", "2"]}
command: ["{bin}", "{mode}", "{threads}", "{block}"]
baseline: {mode: read, threads: "1"}
fixed: {block: 64K}
cells: {plain: {mode: read}, other: {mode: mmap}}
"""


def by_label(plan: Plan) -> dict[str, str]:
    return {variant.label: variant.id for variant in plan.variants}


def test_a_hypothesis_names_the_two_variants_that_differ_in_its_change(
    plans: Callable[..., Plan],
) -> None:
    plan = plans(
        BODY
        + """
experiments:
  - {name: mapping, change: {mode: mmap}, hypothesis: copying, metric: wall}
  - name: one thread
    at: {mode: ring, threads: "2"}
    change: {threads: "1"}
    hypothesis: threads
    expect: worse
    metric: cpu
  - {name: larger, change: {block: 1M}, hypothesis: syscalls, metric: wall}
  - {name: untested, change: {block: 2M}}
"""
    )
    ids = by_label(plan)
    assert plan.hypotheses == (
        Hypothesis(
            "copying",
            "mode: read → mmap",
            ids["mmap + threads=1"],
            ids["read + threads=1"],
            metric="wall",
        ),
        Hypothesis(
            "threads",
            "threads: 2 → 1",
            ids["ring + threads=1"],
            ids["ring + threads=2"],
            "worse",
            "cpu",
        ),
        Hypothesis(
            "syscalls", "block: 64K → 1M", ids["larger"], ids["read + threads=1"], metric="wall"
        ),
    )
    assert [e.name for e in plan.experiments] == ["mapping", "larger", "untested"]


def test_a_change_that_the_matrix_leaves_out_has_no_variant(plans: Callable[..., Plan]) -> None:
    plan = plans(
        BODY
        + "experiments: [{name: e, change: {mode: mmap}, at: {threads: '2'}, hypothesis: h, metric: wall}]\n"
        + "exclude: {mode: mmap, threads: '2'}\n"
    )
    (untested,) = plan.hypotheses
    assert untested.variant_id == ""
    assert untested.reference_id == by_label(plan)["read + threads=2"]


def test_the_only_judged_metric_is_that_of_a_hypothesis(plans: Callable[..., Plan]) -> None:
    text = "judge: [cpu]\nexperiments: [{name: e, change: {mode: mmap}, hypothesis: h}]\n"
    plan = plans(BODY + text)
    assert (plan.hypotheses[0].metric, plan.judge.headline) == ("", "cpu")


def test_a_derived_figure_may_state_an_assumption(plans: Callable[..., Plan]) -> None:
    plan = plans(
        BODY + "derived: {ten: {formula: 10 * time(plain), assuming: it grows}, twice: 2 * ten}\n"
    )
    assert plan.derived == (
        DerivedRow("ten", "10 * time(plain)", "it grows"),
        DerivedRow("twice", "2 * ten"),
    )

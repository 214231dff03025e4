"""Hypotheses of experiments and assumptions of derived figures: in the plan, and their errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench_framework.errors import ScenarioError
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


def hypothesis(keys: str) -> str:
    """Return an experiment with a hypothesis and these further keys."""
    return f"experiments: [{{name: e, hypothesis: h, {keys}}}]"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (hypothesis("change: {mode: mnap}"), "BC206", "axis `mode` has no value `mnap`"),
        (hypothesis("change: {made: mmap}"), "BC206", "no axis or fixed key `made`"),
        (hypothesis("change: {mode: read}"), "BC204", "changes nothing"),
        (hypothesis("change: {mode: ring}, at: {mode: ring}"), "BC204", "changes nothing"),
        (hypothesis("change: {block: 1M}, at: {mode: ring}"), "BC108", "must be of an axis"),
        (hypothesis("change: {mode: mmap}, at: {threads: '3'}"), "BC206", "has no value `3`"),
        (
            hypothesis("change: {mode: mmap, threads: '2'}, metric: wall"),
            "BC108",
            "2 changes, whose effects cannot be separated",
        ),
        (
            hypothesis("change: {mode: mmap}"),
            "BC107",
            "hypothesis `h` needs `metric`: it has one change and one metric",
        ),
        (
            (
                "experiments: [{name: e, hypothesis: the loop, change: {mode: mmap}, metric: wall},"
                " {name: f, hypothesis: the start, change: {mode: mmap}, metric: wall}]"
            ),
            "BC108",
            "already test `the loop`: one comparison cannot separate two causes",
        ),
        (hypothesis("change: {mode: mmap}, expect: more"), "BC102", "more"),
        (
            hypothesis("change: {mode: mmap}, metric: peak_rss"),
            "BC206",
            "`peak_rss` is not in `judge`",
        ),
        (
            hypothesis("change: {mode: mmap}, at: {mode: ring}, decision: adopted"),
            "BC108",
            "starts from another variant",
        ),
        ("experiments: [{name: e, change: {mode: mmap}, expect: worse}]", "BC108", "`hypothesis`"),
        (
            "experiments: [{name: e, change: {mode: mmap}, at: {mode: ring}}]",
            "BC108",
            "`at` has no",
        ),
        (
            "derived: {p: {formula: time(nothing), assuming: x}}",
            "BC209",
            "no cell `nothing`",
        ),
        (
            "derived: {p: {formula: time(plain) + rate(plain), assuming: x}}",
            "BC209",
            "cannot be computed",
        ),
        ("derived: {p: {assuming: x}}", "BC107", "formula"),
        ("derived: {p: [time(plain)]}", "BC102", "must be a mapping"),
        ("causes: []", "BC101", "unknown key `causes`"),
    ],
)
def test_an_error_is_shown_at_its_place(
    refuses: Callable[..., ScenarioError], text: str, code: str, words: str
) -> None:
    problems = refuses(BODY + text + "\n").problems
    assert any(p.code == code and words in p.message for p in problems), problems

"""Published claims and the author's texts: what they select, and their errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.plan import Plan

BODY = """
axes: {mode: [read, mmap, ring, gone], size: [1MiB, 2MiB]}
input: {dataset: prose, size: "{size}"}
command: ["{bin}", "{mode}", "{block}", "{input}"]
baseline: {mode: read}
exclude: [{mode: ring, size: 2MiB}, {mode: gone}]
fixed: {block: 64K}
experiments: [{name: larger, change: {block: 1M}}]
contrasts: [{name: rings, of: {mode: ring}, against: {mode: mmap}, input: {size: 1MiB}}]
cells: {plain: {mode: read}, mapped: {mode: mmap}}
derived: {share: rate(plain) / rate(mapped)}
"""


def published(*claims: str) -> str:
    rows = "".join(f"    - {claim}\n" for claim in claims)
    return f"{BODY}\npublished:\n  title: A report\n  claims:\n{rows}"


def test_a_claim_selects_variant_inputs_and_metric(plans: Callable[..., Plan]) -> None:
    plan = plans(
        published(
            "{claim: a, figure: faster, variant: {mode: mmap}}",
            "{claim: b, figure: 12 MB, variant: {mode: read}, metric: peak_rss, input: {size: 2MiB}}",
            "{claim: c, figure: worse, variant: {experiment: larger}, metric: cpu}",
            "{claim: d, figure: within 0.5 %, contrast: rings}",
            "{claim: e, figure: 60 %, derived: share}",
            "{claim: f, figure: 1.2 GB/s, derived: mapped}",
            "{claim: g, figure: linear, scaling: {}}",
            "{claim: h, not-testable: no such machine}",
        )
    )
    assert plan.published is not None
    rows = [
        (
            c.test,
            c.name or (plan.variant(c.variant_id).label if c.variant_id else ""),
            len(c.input_ids),
            c.metric,
        )
        for c in plan.published.claims
    ]
    assert rows == [
        ("variant", "mmap", 2, "wall"),
        ("variant", "read", 1, "peak_rss"),
        ("variant", "larger", 2, "cpu"),
        ("contrast", "rings", 2, "wall"),
        ("derived", "share", 2, "wall"),
        ("derived", "mapped", 2, "wall"),
        ("scaling", "read", 2, "wall"),
        ("not-testable", "no such machine", 2, "wall"),
    ]


@pytest.mark.parametrize(
    ("claim", "code", "message", "marked"),
    [
        (
            "{claim: a, figure: faster, scaling: {}}",
            "BC108",
            "`scaling` cannot test the figure `faster`",
            "faster",
        ),
        ("{claim: a, figure: faster}", "BC107", "a published claim needs one of ", "{claim"),
        ("{claim: a, contrast: rings}", "BC107", "a published claim needs `figure`", "{claim"),
        (
            "{claim: a, figure: faster, contrast: rings, derived: share}",
            "BC108",
            "a published claim has both `contrast` and `derived`",
            "derived",
        ),
        ("{claim: a, figure: fast, contrast: rings}", "BC102", "`fast` is not a figure", "fast,"),
        (
            "{claim: a, figure: 12 MB, contrast: rings}",
            "BC108",
            "`contrast` cannot test the figure `12 MB`",
            "12 MB",
        ),
        (
            "{claim: a, figure: faster, contrast: rings, metric: cpu}",
            "BC108",
            "`metric` has no effect with `contrast`",
            "metric",
        ),
        (
            "{claim: a, figure: faster, contrast: ring}",
            "BC206",
            "there is no contrast `ring`",
            "ring}",
        ),
        (
            "{claim: a, figure: 60 %, derived: shares}",
            "BC206",
            "there is no derived value `shares`",
            "shares",
        ),
        (
            "{claim: a, figure: 3 s, derived: share}",
            "BC108",
            "the figure is not in the unit of `share` (ratio)",
            "3 s",
        ),
        (
            "{claim: a, figure: faster, variant: {mode: map}}",
            "BC206",
            "axis `mode` has no value `map`",
            "map}",
        ),
        (
            "{claim: a, figure: faster, variant: {experiment: large}}",
            "BC206",
            "there is no experiment `large` that changes the baseline",
            "large}",
        ),
        (
            "{claim: a, figure: faster, variant: {mode: mmap}, input: {mode: read}}",
            "BC206",
            "`mode` is an axis of the variants, not of the input",
            "mode: read}}",
        ),
        (
            "{claim: a, figure: faster, variant: {mode: mmap}, metric: instructions}",
            "BC206",
            "metric `instructions` is not compared with the baseline",
            "instructions",
        ),
        (
            "{claim: a, figure: 12 MB, variant: {mode: mmap}}",
            "BC108",
            "the figure `12 MB` is not in the unit of wall (s)",
            "12 MB",
        ),
        (
            "{claim: a, figure: 12 MB, variant: {mode: mmap}, metric: rss}",
            "BC206",
            "there is no metric `rss`",
            "rss}",
        ),
        (
            "{claim: a, figure: faster, variant: {mode: read}}",
            "BC206",
            "this claim compares the baseline with itself",
            "{mode: read}",
        ),
        (
            "{claim: a, figure: faster, contrast: rings, input: {size: 2MiB}}",
            "BC206",
            "contrast `rings` is not made on this input",
            "rings",
        ),
        (
            "{claim: a, figure: linear, scaling: {mode: gone}}",
            "BC206",
            "the variant of this claim is not measured",
            "{mode: gone}",
        ),
    ],
)
def test_a_claim_that_nothing_tests_is_marked(
    claim: str, code: str, message: str, marked: str, refuses: Callable[..., ScenarioError]
) -> None:
    text = published(claim)
    (problem,) = refuses(text).problems
    assert problem.code == code
    assert problem.message.startswith(message)
    line = next(line for line in text.splitlines() if claim in line)
    assert problem.at is not None
    assert line[problem.at.column - 1 :].startswith(marked)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ('learnings: ["{contrast: ring} costs"]', "there is no contrast `ring`"),
        ('next-steps: ["{experiment: large}"]', "there is no experiment `large`"),
        ('learnings: ["ok", "{derived: shar}"]', "there is no derived value `shar`"),
        (
            'learnings: ["{experiment: larger, metric: rss}"]',
            "metric `rss` is not compared with the baseline",
        ),
    ],
)
def test_a_text_may_refer_only_to_results_that_exist(
    texts: str, message: str, refuses: Callable[..., ScenarioError]
) -> None:
    (problem,) = refuses(f"{BODY}\n{texts}\n").problems
    assert (problem.code, problem.message) == ("BC206", message)
    assert problem.fix


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("{contrast:rings}", "BC102", "`{contrast:rings}` is not a reference to a result"),
        ("{Derived: share}", "BC102", "`{Derived: share}` is not a reference to a result"),
        ("{contrast: }", "BC102", "`{contrast: }` is not a reference to a result"),
        ("{contrast:  }", "BC102", "`{contrast:  }` is not a reference to a result"),
        ("so {derived: share is", "BC102", "`{derived: share is` is not a reference to a result"),
        (
            "{experiment: larger, metrik: cpu}",
            "BC102",
            "`{experiment: larger, metrik: cpu}` is not a reference to a result",
        ),
        ("{contrast: rings, metric: cpu}", "BC108", "`metric` has no effect with `contrast`"),
        ("{derived: share, metric: cpu}", "BC108", "`metric` has no effect with `derived`"),
    ],
)
def test_a_mistaken_reference_is_not_printed_as_text(
    text: str, code: str, message: str, refuses: Callable[..., ScenarioError]
) -> None:
    (problem,) = refuses(f'{BODY}\nlearnings: ["{text}"]\n').problems
    assert (problem.code, problem.message) == (code, message)
    assert problem.fix


def test_texts_keep_their_references_and_other_braces(plans: Callable[..., Plan]) -> None:
    plan = plans(f'{BODY}\nlearnings: ["{{contrast: rings}} {{as is}}"]\nnext-steps: [nothing]\n')
    assert plan.learnings == ("{contrast: rings} {as is}",)
    assert plan.next_steps == ("nothing",)


def test_a_claim_about_values_that_the_command_line_replaces_is_not_measured(
    plans: Callable[..., Plan],
) -> None:
    claims = published(
        "{claim: a, figure: faster, variant: {mode: mmap}, input: {size: 2MiB}}",
        "{claim: b, figure: faster, variant: {experiment: larger}}",
    )
    plan = plans(claims, "axes.size=[3MiB, 4MiB]", "exclude=[{mode: gone}]", "contrasts=[]")
    assert plan.published is not None
    assert [len(c.input_ids) for c in plan.published.claims] == [0, 2]

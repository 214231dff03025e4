"""Published claims and the author's texts: what they select, and their errors."""

from collections.abc import Callable

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

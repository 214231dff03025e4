"""`causes`, `projections`, `platforms`: what a plan holds of them, and what is wrong with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench_framework.model.suspicion import ProjectedRow, Suspicion

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.errors import ScenarioError
    from bench_framework.model.plan import Plan

BODY = """
axes: {mode: [read, mmap, ring], threads: ["1", "2"]}
command: ["{bin}", "{mode}", "{threads}", "{block}"]
baseline: {mode: read, threads: "1"}
fixed: {block: 64K}
experiments: [{name: larger, change: {block: 1M}}]
cells: {plain: {mode: read}, other: {mode: mmap}}
derived: {gain: rate(plain) / rate(other)}
"""


def by_label(plan: Plan) -> dict[str, str]:
    return {variant.label: variant.id for variant in plan.variants}


def test_a_cause_names_the_two_variants_that_differ_in_its_change(plans: Callable[..., Plan]) -> None:
    plan = plans(
        BODY
        + """
causes:
  - {suspected: copying, change: {mode: mmap}}
  - {suspected: threads, change: {threads: "1"}, at: {mode: ring, threads: "2"}, expect: worse}
  - {suspected: syscalls, change: {block: 1M}}
  - {suspected: the moon}
platforms: [Linux, macOS]
"""
    )
    ids = by_label(plan)
    assert plan.causes == (
        Suspicion("copying", "mode: read → mmap", ids["mmap + 1"], ids["read + 1"]),
        Suspicion("threads", "threads: 2 → 1", ids["ring + 1"], ids["ring + 2"], "worse"),
        Suspicion("syscalls", "block: 64K → 1M", ids["larger"], ids["read + 1"]),
        Suspicion("the moon"),
    )
    assert plan.platforms == ("Linux", "macOS")


def test_a_change_that_the_matrix_leaves_out_has_no_variant(plans: Callable[..., Plan]) -> None:
    plan = plans(
        BODY + "causes: [{suspected: s, change: {mode: mmap}, at: {threads: '2'}}]\n"
        "exclude: {mode: mmap, threads: '2'}\n"
    )
    (cause,) = plan.causes
    assert cause.variant_id == ""
    assert cause.ref_variant_id == by_label(plan)["read + 2"]


def test_projections_are_kept_in_their_order(plans: Callable[..., Plan]) -> None:
    plan = plans(
        BODY
        + """
projections:
  ten: {formula: 10 * time(plain), assuming: it grows, measured: other}
  twice: {formula: 2 * ten, assuming: it grows}
"""
    )
    assert plan.projections == (
        ProjectedRow("ten", "10 * time(plain)", "it grows", "other"),
        ProjectedRow("twice", "2 * ten", "it grows", ""),
    )


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("causes: [{suspected: s, change: {mode: mnap}}]", "BC206", "axis `mode` has no value `mnap`"),
        ("causes: [{suspected: s, change: {made: mmap}}]", "BC206", "no axis or fixed key `made`"),
        ("causes: [{suspected: s, change: {mode: read}}]", "BC204", "this change tests nothing"),
        ("causes: [{suspected: s, change: {block: 2M}}]", "BC206", "no experiment changes `block` to `2M`"),
        ("causes: [{suspected: s, change: {mode: mmap}, at: {threads: '3'}}]", "BC206", "has no value `3`"),
        ("causes: [{suspected: s, change: {mode: mmap, threads: '2'}}]", "BC1", "causes"),
        ("causes: [{suspected: s, change: {mode: mmap}, expect: more}]", "BC102", "more"),
        ("projections: {gain: {formula: time(plain), assuming: x}}", "BC209", "measured already"),
        ("projections: {p: {formula: time(nothing), assuming: x}}", "BC209", "no cell called `nothing`"),
        (
            "projections: {p: {formula: time(plain) + rate(plain), assuming: x}}",
            "BC209",
            "cannot be worked out",
        ),
        ("projections: {p: {formula: time(plain), assuming: x, measured: q}}", "BC209", "no cell called `q`"),
        ("projections: {p: {formula: time(plain)}}", "BC107", "assuming"),
        ("platforms: [Plan9]", "BC102", "Plan9"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(
    refuses: Callable[..., ScenarioError], text: str, code: str, words: str
) -> None:
    found = refuses(BODY + text + "\n").problems
    assert any(p.code.startswith(code) and words in p.message for p in found), [
        (p.code, p.message) for p in found
    ]

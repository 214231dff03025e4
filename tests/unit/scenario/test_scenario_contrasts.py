"""Named contrasts: what each side selects, their part of the family, and their errors."""

from collections.abc import Callable

from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import (
    comparisons_planned,
    contrast_cells,
    contrast_pairs,
)

BODY = """
axes: {mode: [read, mmap, ring], threads: ["1", "2"], size: [1MiB, 2MiB]}
input: {dataset: prose, size: "{size}"}
command: ["{bin}", "{mode}", "{threads}", "{block}", "{input}"]
baseline: {mode: read, threads: "1"}
exclude: {mode: mmap, threads: "2"}
bounds: [{mode: ring, threads: "2"}]
fixed: {block: 64K}
experiments: [{name: larger, change: {block: 1M}}, {name: mapped, change: {mode: mmap}}]
"""


def test_contrasts_without_a_baseline_add_to_the_family(plans: Callable[..., Plan]) -> None:
    alone = plans(BODY)
    text = """
contrasts:
  - {name: rings, of: {mode: ring}, against: {mode: mmap}}
  - {name: the same pair, of: {mode: mmap}, against: {mode: ring}}
  - {name: one input, of: {mode: ring}, against: {mode: mmap}, metric: cpu, input: {size: 1MiB}}
  - {name: with the baseline, of: {mode: ring}, against: {mode: read}}
"""
    plan = plans(BODY + text)
    # Two inputs for wall time, one for CPU time; the pair with the baseline is planned anyway.
    assert comparisons_planned(plan) == comparisons_planned(alone) + 2 + 1
    assert looks_of(plan).family == comparisons_planned(plan)
    both = 'baseline: [{mode: read, threads: "1"}, {mode: mmap, threads: "1"}]'
    further = plans(BODY.replace('baseline: {mode: read, threads: "1"}', both) + text)
    assert [contrast_pairs(further, item.id) for item in further.inputs] == [(), ()]


def test_a_selection_without_one_side_has_no_contrast(plans: Callable[..., Plan]) -> None:
    text = "contrasts: [{name: rings, of: {mode: ring}, against: {mode: mmap}}]"
    plan = plans(BODY + text, only="mode=ring")
    assert [contrast_cells(plan, item.id) for item in plan.inputs] == [(), ()]
    assert comparisons_planned(plan) == comparisons_planned(plans(BODY, only="mode=ring"))

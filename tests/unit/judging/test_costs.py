"""Costs of a gain are in the same sentence as the gain. A list has one scale."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench_framework.claims import factory
from bench_framework.claims.factory import Names
from bench_framework.features.pareto import compute as pareto
from bench_framework.features.references import compute as references
from bench_framework.model.facts import Claim, DerivedFact
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.result.judgement import Comparison, Gap, Summary
from bench_framework.model.result.mapped_files import resource_differences
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.text.write import render, say
from tests.build import make_comparison

CPU = make_comparison(
    "map", "read", "cpu", "headline", Verdict.WORSE, shown=Interval(1.25, 1.22, 1.28, 0.95)
)
GROWN = Interval(2.44, 2.31, 2.65, 0.95)
MEMORY = replace(
    CPU, metric="peak_rss", family="memory", shown=GROWN, thresholds=Thresholds(0.05, 0.01)
)
OPEN = make_comparison("pool", "read", "cpu", "headline", Verdict.INCONCLUSIVE)


def names() -> Names:
    return cast("Names", SimpleNamespace(label=str, scope=lambda _: ()))


def test_memory_that_is_pages_of_mapped_files_is_no_cost() -> None:
    def summary(cell_id: str, metric: str, mib: float) -> Summary:
        value = mib * 2**20
        return Summary(cell_id, metric, 40, 40, 0, value, None, None, value, None, 0, 0, None)

    def costs(**mib: float) -> list[Comparison]:
        summaries = [
            *(summary("read", metric, 8) for metric in ("peak_rss", "anon_bytes")),
            *(summary("map", metric, amount) for metric, amount in mib.items()),
        ]
        return [*resource_differences([MEMORY, CPU], summaries)]

    assert costs(peak_rss=60, anon_bytes=9) == [CPU]
    assert costs(peak_rss=60, anon_bytes=40) == [MEMORY, CPU]
    assert costs(peak_rss=15, anon_bytes=8) == [MEMORY, CPU]  # as few as those of a program
    assert costs(peak_rss=60) == [MEMORY, CPU]  # the parts are unknown


def test_a_gain_names_its_costs_and_a_loss_has_none() -> None:
    all_costs = factory.Costs([MEMORY, CPU, OPEN])
    costs = all_costs.of_gain(Verdict.BETTER, "map", "read", "wall")
    assert costs == (
        Evidence(
            metric="peak_rss",
            verdict=Verdict.WORSE,
            margin=0.05,
            estimate=2.44,
            lo=2.31,
            hi=2.65,
            level=0.95,
        ),
        factory.figures(CPU),
    )
    assert render("at_the_cost", costs) == (
        ", at the cost of 2.44× as much memory and 25\u202f% more CPU time"
    )
    assert all_costs.of_gain(Verdict.BETTER_SIZE_UNCERTAIN, "map", "read", "wall")
    assert not all_costs.of_gain(Verdict.WORSE, "map", "read", "wall")
    assert not all_costs.of_gain(Verdict.BETTER, "map", "read", "cpu")
    assert not all_costs.of_gain(Verdict.BETTER, "read", "map", "wall")
    assert not all_costs.of_gain(Verdict.BETTER, "pool", "read", "wall")


@pytest.mark.parametrize(
    ("closed", "lo", "hi", "has_cost"),
    [(0.54, 0.44, 0.72, True), (-0.37, -0.5, -0.07, False), (0.2, -0.1, 0.5, False)],
)
def test_a_gap_is_closed_at_a_cost(closed: float, lo: float, hi: float, has_cost: bool) -> None:
    gap = Gap("i", "wall", "map", "read", "ref", 40, 0.046, 0.021, closed, lo, hi)
    (claim,) = references.gap_claims(names(), [gap], factory.Costs([MEMORY]))
    assert say(claim).endswith("at the cost of 2.44× as much memory.") is has_cost


def test_a_conclusive_cpu_time_is_named_if_all_times_are_inconclusive() -> None:
    (counts,) = factory.counts([CPU, OPEN])
    assert (counts.metric, counts.worse, counts.better, counts.total) == ("cpu", 1, 0, 2)
    assert not factory.counts([OPEN])


def test_a_list_with_small_changes_has_large_ones_in_percent_too() -> None:
    slower = Evidence(
        metric="wall", verdict=Verdict.WORSE, estimate=2.37, lo=2.22, hi=2.55, margin=0.02
    )
    phrases = [render("effect", slower, t) for t in (1.5, math.inf)]
    assert phrases == ["2.37× slower [2.22, 2.55]", "137\u202f% more time [122, 155]"]
    faster = replace(slower, verdict=Verdict.BETTER, estimate=0.5, lo=0.45, hi=0.55)
    less = render("effect", faster, math.inf)
    assert re.match(r"50\u202f% less time \[45, 55\]", less)


def test_rates_of_one_input_have_the_unit_of_their_table() -> None:
    fact = DerivedFact(unit="bytes/s", family="iec", formula="min(a, b)", smallest=863 * 2.0**20)
    ends: dict[str, Any] = {"estimate": 1996 * 2.0**20, "lo": 1790 * 2.0**20, "hi": 2222 * 2.0**20}
    claim = Claim("ideal", rounds=15, fact=fact, **ends)
    assert say(claim).startswith("ideal is 1996 [1790, 2222]\u202fMiB/s")


def test_a_judged_ratio_is_not_printed_as_reaching_one_where_it_does_not() -> None:
    fact = DerivedFact(unit="ratio", family="iec", formula="a / b")
    ends: dict[str, Any] = {"estimate": 1.0819, "lo": 1.0096, "hi": 1.1694}
    claim = Claim("all steps", margin=0.02, rounds=40, fact=fact, **ends)
    assert "1.082 [1.009, 1.170]" in say(claim)


class TestFront:
    """If the record compares two variants, its verdict determines which one needs less."""

    SLOW = pareto.VariantCosts("slow", {"wall": (3.0, 4.0), "peak_rss": (3e6, 4e6)}, {})
    FAST = pareto.VariantCosts("fast", {"wall": (1.0, 2.0), "peak_rss": (1e6, 1.5e6)}, {})

    def judged(self, verdict: Verdict) -> list[tuple[str, ...]]:
        compared = make_comparison("fast", "slow", "wall", "headline", verdict)
        decided = pareto.decisions([compared])
        both = [
            pareto.VariantCosts(c.cell_id, c.measured, {}, decided) for c in (self.FAST, self.SLOW)
        ]
        return [s.least for s in pareto.standings(both)]

    def test_an_inconclusive_pair_shares_the_least_time(self) -> None:
        assert self.judged(Verdict.INCONCLUSIVE) == [("wall", "peak_rss"), ("wall",)]
        assert self.judged(Verdict.EQUIVALENT) == [("wall", "peak_rss"), ("wall",)]

    def test_a_conclusive_pair_does_not(self) -> None:
        assert self.judged(Verdict.BETTER) == [("wall", "peak_rss"), ()]
        assert self.judged(Verdict.WORSE) == [("peak_rss",), ("wall",)]

    def test_memory_below_one_mebibyte_is_no_difference(self) -> None:
        near = replace(self.SLOW, measured={"wall": (1.0, 2.0), "peak_rss": (2.5e6, 4e6)})
        assert not self.FAST.surely_less(near, "peak_rss")
        assert self.FAST.surely_less(self.SLOW, "peak_rss")

    @pytest.mark.parametrize(
        ("memory", "verdict", "beaten"),
        [
            ((1.2e6, 1.6e6), None, True),  # at most 1 MiB less than the faster one
            ((0.1e6, 0.2e6), None, False),
            ((0.1e6, 0.2e6), Verdict.EQUIVALENT, True),
            ((1.2e6, 1.6e6), Verdict.WORSE, False),
        ],
    )
    def test_a_faster_variant_that_needs_no_more_memory_dominates(
        self, memory: tuple[float, float], verdict: Verdict | None, *, beaten: bool
    ) -> None:
        slow = replace(self.SLOW, measured={"wall": (3.0, 4.0), "peak_rss": memory})
        pair = (
            []
            if verdict is None
            else [make_comparison("fast", "slow", "peak_rss", "headline", verdict)]
        )
        fast = replace(self.FAST, decided=pareto.decisions(pair))
        assert fast.beats(slow) is beaten

    def test_the_results_come_before_the_best_groups_pairs(self) -> None:
        best = make_comparison("fast", "slow", "wall", "best", Verdict.INCONCLUSIVE)
        first = make_comparison("fast", "slow", "wall", "headline", Verdict.BETTER)
        for order in ([best, first], [first, best]):
            assert pareto.decisions(order)["wall", "fast", "slow"].better
            assert pareto.decisions(order)["wall", "slow", "fast"].worse

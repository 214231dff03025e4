"""Deterministic counts, their spread, and metrics for which larger values are better."""

import math
import random
from dataclasses import replace

import pytest

from bench_framework.compare.exact_metrics import summaries
from bench_framework.compare.medians import compare_counts, spread
from bench_framework.compare.samples import collect
from bench_framework.model.facts import Claim, Compared
from bench_framework.model.metrics import METRICS
from bench_framework.model.record.run import Observation, Receipt
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.text import words
from bench_framework.text.differences import printed
from bench_framework.text.reasons import phrase
from bench_framework.text.write import say
from tests.build import make_block, require


def compared(counts: list[float], reference: list[float], margin: float = 0.02) -> Comparison:
    draft = Comparison.unjudged("c", "r", "instructions", "exact", Thresholds(margin, 0.0))
    return compare_counts(draft, counts, reference)


def test_equal_repetitions_are_exact() -> None:
    comparison = compared([103.0] * 3, [100.0] * 3)
    assert comparison.shown == Interval(1.03, 1.03, 1.03, 1.0)
    assert (comparison.verdict, comparison.runs, comparison.runs_ref) == (Verdict.WORSE, 3, 3)
    assert compared([100.0] * 3, [100.0] * 3).verdict is Verdict.EQUIVALENT
    assert compared([101.0] * 3, [100.0] * 3).verdict is Verdict.WORSE_SIZE_UNCERTAIN


def test_the_range_of_the_repetitions_widens_the_interval() -> None:
    comparison = compared([110.0, 110.1, 110.0], [100.0, 100.0, 100.2])
    half = 3 * (math.log(110.1 / 110.0) + math.log(100.2 / 100.0))
    interval = require(comparison.shown)
    ends = (1.1 * math.exp(-half), 1.1 * math.exp(half))
    assert (interval.lo, interval.hi) == pytest.approx(ends)
    assert comparison.verdict is Verdict.WORSE


def test_counts_that_vary_more_than_they_differ_decide_nothing() -> None:
    comparison = compared([100.0, 104.0, 102.0], [99.0, 103.0, 101.0])
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert "vary by up to 4" in phrase(comparison.reason)
    assert compared([100.0, 100.01, 100.0], [100.0, 100.02, 100.0]).verdict is Verdict.EQUIVALENT


@pytest.mark.parametrize(("runs", "most"), [(2, 40), (3, 8), (5, 2)])
def test_copies_of_one_program_with_varying_counts_rarely_differ(runs: int, most: int) -> None:
    """The rate is below 1 in 100 with two repetitions, and 1 in 1000 with three (docs/method.md#exact-metrics)."""
    generator = random.Random(7)
    false = 0
    for _ in range(4000):
        sides = [
            [1e6 * math.exp(0.01 * generator.gauss(0, 1)) for _ in range(runs)] for _ in range(2)
        ]
        false += compared(sides[0], sides[1], margin=0.0).verdict.decided
    assert false <= most


def test_no_count_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="instructions"):
        compared([], [1.0])
    assert spread([2.0, 2.0]) == spread([0.0]) == 0
    zero = compared([0.0, 0.0], [0.0, 0.0])
    assert (zero.verdict, zero.shown, zero.runs) == (Verdict.EQUIVALENT, Interval(1, 1, 1, 1), 2)
    for counts in ([0.0, 0.0], [0.0, 1.0]):
        assert phrase(compared(counts, [1.0, 1.0]).reason).startswith("one side counts none")


def test_runs_outside_timing_have_separate_summaries() -> None:
    observations = [
        Observation("c", "observed", 1, "at", "wait4", values={"minor_faults": 7.0}),
        *(
            Observation("c", "instructions", n, "at", "v", values={"instructions": v})
            for n, v in ((1, 9.0), (2, 5.0))
        ),
        Observation("c", "instructions", 3, "at", "v", "failed", message="why"),
    ]
    by_metric = {s.metric: s for s in summaries(observations, ())}
    faults, instructions = by_metric["minor_faults"], by_metric["instructions"]
    assert (faults.median, faults.n_rounds, faults.n_runs) == (7, 0, 1)
    assert (instructions.median, instructions.min, instructions.n_runs) == (7, 5, 2)
    assert [s.metric for s in summaries(observations, [faults])] == ["instructions"]


def test_a_ratio_of_a_metric_that_is_better_when_larger_is_inverted() -> None:
    figures = (Verdict.INCONCLUSIVE, 1 / 1.08, 1 / 1.93, 1 / 0.72)
    given = Claim("A", "B", "requests", (), *figures, direction="higher", fact=Compared())
    assert printed(given) == pytest.approx((1.08, 0.72, 1.93))
    assert "+8" in say(given)


def test_a_verdict_of_a_metric_of_the_user_says_better_in_both_directions() -> None:
    assert (
        words.verdict_text(Verdict.BETTER, "requests_per_second") == "▼ better requests per second"
    )
    assert words.verdict_text(Verdict.BETTER, "instructions") == "▼ fewer instructions"
    assert words.verdict_text(Verdict.WORSE, "cpu") == "▲ more CPU time"


def test_every_metric_has_its_noun_and_a_line() -> None:
    assert all(kind.noun and kind.about and kind.source for kind in METRICS.values())
    assert len({kind.noun for kind in METRICS.values()}) == len(METRICS)


def test_a_derived_metric_is_the_quotient_of_two_metrics_of_a_round() -> None:
    receipt = Receipt(counts={"major_faults": 10})
    block = make_block(wall_s=(0.5,), receipts=(receipt,))
    assert collect([block])["c"].values("major_faults_per_s") == {1: 20.0}
    assert "major_faults_per_s" not in collect([replace(block, receipts=())])["c"].series

"""Words and digits agree with the interval of a sentence. Swapped sides mirror both.

This file tests four thousand intervals. ``nox -s statistics -- words_of_intervals`` tests 200 000.
"""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

sys.path.insert(
    0, str(Path(__file__).parents[1] / "validation/statistics")
)  # the folder is not a package

from interval_words import BETTER, MIRROR, WORSE, claim_of, examine, sentence_agrees

from bench_framework import rounding
from bench_framework.compare import verdict
from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import Case
from bench_framework.model.plan.looks import Looks
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Thresholds, Verdict
from bench_framework.text import words
from bench_framework.text.write import say
from tests.unit.judging.conftest import pair_of_logs

LOOKS = Looks.at((20, 40), family=2, level=0.05)


def test_sentences_of_4_000_random_intervals_agree_with_their_digits_from_both_sides() -> None:
    result = examine(4_000)
    assert result.contradictions == []
    assert result.intervals == 4_000
    assert 2_000 < result.decided < 3_900
    assert result.lowered < 60, "only an end on a threshold may read weaker from one side"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A takes 3.0 % less time than B [1.9, 4.1]", Verdict.WORSE),
        ("A takes 3.0 % less time than B [−0.1, 4.1]", Verdict.BETTER_SIZE_UNCERTAIN),
        ("A is 3.0 % slower than B [1.9, 4.1]", Verdict.WORSE),
        ("A is 2.4 % slower than B [2.2, 2.6]", Verdict.WORSE_SIZE_UNCERTAIN),
        ("A takes as long as B (within ±2 %): +0.4 % [−0.3, +2.1]", Verdict.EQUIVALENT),
        (
            "A vs B is inconclusive: A takes 1 % less time than B [−6.5, +3.2]",
            Verdict.INCONCLUSIVE,
        ),
        ("A is 2.0× slower than B [0.9, 2.4]", Verdict.WORSE),
    ],
)
def test_the_check_itself_sees_a_sentence_that_says_what_its_digits_do_not(
    text: str, name: Verdict
) -> None:
    assert not sentence_agrees(text, name, 0.02)


def test_every_verdict_with_a_direction_has_its_mirror() -> None:
    assert {MIRROR[name] for name in BETTER} == set(WORSE)
    assert {MIRROR[name] for name in WORSE} == set(BETTER)


@given(st.floats(0.2, 5), st.floats(0, 0.5), st.floats(0, 0.5), st.sampled_from([0.01, 0.02, 0.05]))
def test_printed_bounds_enclose_the_real_ones(
    ratio: float, down: float, up: float, margin: float
) -> None:
    lo, hi = ratio * math.exp(-down), ratio * math.exp(up)
    printed = rounding.rounded(ratio, lo, hi, margin=margin)
    assert printed.lo <= rounding.decimal(lo)
    assert printed.hi >= rounding.decimal(hi)
    assert 2 <= printed.decimals <= 6


series = st.integers(0, 2**32 - 1).flatmap(
    lambda seed: st.tuples(
        st.just(seed),
        st.integers(1, 24),
        st.sampled_from([0.0, 0.005, 0.02, 0.2, 3.0]),
        st.sampled_from([0.0, 0.01, 0.1]),
    )
)


def case_of(pair: Pair) -> Case:
    evidence = verdict.examine_looks(pair, (len(pair) // 2 + 1, len(pair)))
    return Case(
        Comparison.unjudged("x", "y", "wall", "headline", Thresholds(0.02, 0.01)), pair, evidence
    )


def pair_of(drawn: tuple[int, int, float, float]) -> Pair:
    seed, n, shift, spread = drawn
    x, y = np.random.default_rng(seed).normal(0, 1, (2, n)) * spread
    return pair_of_logs(x + shift, y)


@example((62036, 2, 0.0, 0.01))  # two rounds are balanced over a range of shifts
@given(series)
def test_exchanging_the_two_sides_mirrors_verdict_and_words(
    drawn: tuple[int, int, float, float],
) -> None:
    pair = pair_of(drawn)
    (one,) = verdict.judge_family([case_of(pair)], LOOKS)
    mirrored = replace(pair, candidate=pair.reference, reference=pair.candidate)
    (two,) = verdict.judge_family([case_of(mirrored)], LOOKS)
    assert two.verdict is MIRROR.get(one.verdict, one.verdict)
    assert (one.p, one.p_adjusted, one.statistic, one.reason) == (
        two.p,
        two.p_adjusted,
        two.statistic,
        two.reason,
    )
    assert one.shown is not None
    assert two.shown is not None
    assert math.log(one.shown.ratio) == pytest.approx(-math.log(two.shown.ratio), abs=3e-8)
    assert words.word(one.verdict, "wall").replace("faster", "slower") == words.word(
        two.verdict, "wall"
    ).replace("faster", "slower")
    if one.verdict.decided:
        for verdicted, comparison in ((one.verdict, one), (two.verdict, two)):
            assert comparison.shown is not None
            text = say(claim_of(comparison.shown, verdicted, 0.02, "cpu"))
            assert sentence_agrees(text, verdicted, 0.02)


@given(series)
def test_a_displayed_interval_never_contradicts_its_verdict(
    drawn: tuple[int, int, float, float],
) -> None:
    (comparison,) = verdict.judge_family([case_of(pair_of(drawn))], LOOKS)
    assert comparison.shown is not None
    assert comparison.shown.lo <= comparison.shown.ratio <= comparison.shown.hi
    if comparison.verdict.decided:
        assert not comparison.shown.lo <= 1 <= comparison.shown.hi
    if comparison.verdict is Verdict.EQUIVALENT:
        assert 1 / 1.02 < comparison.shown.lo <= comparison.shown.hi < 1.02
    interval = comparison.unadjusted
    assert interval is not None
    assert 0 <= interval.lo <= interval.ratio <= interval.hi

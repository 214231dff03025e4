"""Words and digits never contradict the interval of a sentence. Swapped sides mirror both."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_framework import rounding
from bench_framework.compare import decide, paired_test, verdict
from bench_framework.compare.paired_test import Levels
from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import Case, Rules
from bench_framework.features import sentences
from bench_framework.model import words
from bench_framework.model.judgement import Claim
from bench_framework.model.verdict import Interval, Thresholds, Verdict

MIRROR = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.WORSE: Verdict.BETTER,
    Verdict.BETTER_SIZE_UNCERTAIN: Verdict.WORSE_SIZE_UNCERTAIN,
    Verdict.WORSE_SIZE_UNCERTAIN: Verdict.BETTER_SIZE_UNCERTAIN,
}
RULES = Rules(looks=2, size=2, level=0.05, seed=1)
LEVELS = Levels(RULES.strict, 0.025)


def claim_of(interval: Interval, decided: Verdict, margin: float, metric: str = "wall") -> Claim:
    return Claim(
        "c1",
        "comparison",
        "A",
        "B",
        metric,
        (),
        decided,
        estimate=interval.ratio,
        lo=interval.lo,
        hi=interval.hi,
        level=interval.level,
        margin=margin,
        rounds=20,
    )


def numbers(text: str) -> list[float]:
    """Return the bounds in the brackets of a sentence."""
    inner = re.search(r"\[(.*?)\]", text)
    assert inner is not None, text
    return [float(part.replace("\u2212", "-").replace("+", "")) for part in inner[1].split(",")]


def test_20_000_intervals_are_printed_as_they_were_judged() -> None:
    draw = random.Random(20261120)
    contradictions = []
    for _ in range(20_000):
        centre, half = draw.gauss(0, 10 ** draw.uniform(-3, 0.3)), 10 ** draw.uniform(-5, -0.5)
        interval = Interval(
            math.exp(centre), math.exp(centre - half), math.exp(centre + half), 0.99
        )
        margin = draw.choice([0.01, 0.02, 0.05])
        decided = decide.by_interval(interval, margin)
        if not decided.decided:
            continue
        text = sentences.say(claim_of(interval, decided, margin))
        low, high = numbers(text)
        assert low <= high
        if "×" in text:
            fine = low > 1
        else:
            better = decided in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
            fine = low > 0 and ("less time" in text) == better and ("slower than" in text) != better
            if decided is Verdict.WORSE:
                fine = fine and low > margin * 100 - 1e-9
            if decided is Verdict.BETTER:
                fine = fine and low > (1 - 1 / (1 + margin)) * 100 - 1e-9
            if "but below the margin" in text:
                fine = fine and high < margin * 100 + 1e-9
        if not fine:
            contradictions.append(text)
    assert not contradictions


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
    evidence = paired_test.examine_looks(pair, (len(pair) // 2 + 1, len(pair)), LEVELS, 1)
    return Case("x", "y", "wall", "headline", pair, evidence, Thresholds(0.02, 0.01))


def pair_of(drawn: tuple[int, int, float, float]) -> Pair:
    seed, n, shift, spread = drawn
    noise = np.random.default_rng(seed).normal(0, 1, (2, n)) * spread
    return Pair(
        tuple(range(1, n + 1)),
        tuple(np.exp(noise[0] + shift).tolist()),
        tuple(np.exp(noise[1]).tolist()),
    )


@settings(max_examples=60, deadline=None)
@given(series)
def test_exchanging_the_two_sides_mirrors_verdict_and_words(
    drawn: tuple[int, int, float, float],
) -> None:
    pair = pair_of(drawn)
    (one,) = verdict.judge_family([case_of(pair)], RULES)
    (two,) = verdict.judge_family([case_of(pair.mirrored())], RULES)
    assert two.verdict is MIRROR.get(one.verdict, one.verdict)
    assert (one.p, one.p_adjusted, one.statistic, one.reason) == (
        two.p,
        two.p_adjusted,
        two.statistic,
        two.reason,
    )
    assert one.shown is not None
    assert two.shown is not None
    assert math.log(one.shown.ratio) == pytest.approx(-math.log(two.shown.ratio), abs=1e-9)
    assert words.word(one.verdict, "wall").replace("faster", "slower") == words.word(
        two.verdict, "wall"
    ).replace("faster", "slower")
    if one.verdict.decided:
        for verdicted, comparison in ((one.verdict, one), (two.verdict, two)):
            assert comparison.shown is not None
            text = sentences.say(claim_of(comparison.shown, verdicted, 0.02, "cpu"))
            assert ("less" in text.split(" CPU")[0]) == (
                verdicted in (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
            )


@settings(max_examples=60, deadline=None)
@given(series)
def test_a_displayed_interval_never_contradicts_its_verdict(
    drawn: tuple[int, int, float, float],
) -> None:
    (comparison,) = verdict.judge_family([case_of(pair_of(drawn))], RULES)
    assert comparison.shown is not None
    assert comparison.shown.lo <= comparison.shown.ratio <= comparison.shown.hi
    if comparison.verdict.decided:
        assert not comparison.shown.lo <= 1 <= comparison.shown.hi
    if comparison.verdict is Verdict.EQUIVALENT:
        assert 1 / 1.02 < comparison.shown.lo <= comparison.shown.hi < 1.02
    for interval in (comparison.typical, comparison.floor):
        assert interval is None or all(
            math.isfinite(v) and v > 0 for v in (interval.lo, interval.ratio, interval.hi)
        )

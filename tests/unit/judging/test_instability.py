"""The test of a constant ratio, and what a record with a change of the ratio may say."""

from dataclasses import replace

import numpy as np
import pytest

from bench_framework.model.facts import MeansDiffer, UnstableControl
from bench_framework.model.reasons import UNSTABLE
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.stats.instability import FEWEST, examine_phases
from bench_framework.stats.intervals import (
    FEWEST_FOR_BATCHES,
    LabelInverter,
    batch_half_width,
    typical,
    typical_with_batches,
)
from tests.build import require
from tests.unit.judging.conftest import Study

ROUNDS = 60


def logs(rounds: int = ROUNDS, *, step: float = 0.0, at: int = 20, seed: int = 3) -> np.ndarray:
    """Return log values of candidate, baseline and control, with a step of the candidate."""
    values = np.random.default_rng(seed).normal(0, 0.02, (rounds, 3))
    values[at:, 0] += step
    return values


def p_of(values: np.ndarray) -> float:
    return examine_phases(values, LabelInverter(values).estimate).p


def test_a_change_of_the_ratio_is_found_at_its_place() -> None:
    values = logs(step=0.08)
    test = examine_phases(values, LabelInverter(values).estimate)
    assert test.p < 1e-4
    assert test.split == 20


@pytest.mark.parametrize("seed", range(5))
def test_a_change_of_all_programs_alike_is_no_change_of_the_ratio(seed: int) -> None:
    values = logs(seed=seed) + np.linspace(0, 1, ROUNDS)[:, None]
    values[30:] += 0.5
    assert p_of(values) > 0.01


def test_few_rounds_are_not_tested() -> None:
    assert p_of(logs(FEWEST - 1, step=0.5, at=10)) == 1.0


def test_the_jackknife_is_that_of_its_definition() -> None:
    values = logs(step=0.05)
    inverter = LabelInverter(values)
    batches = np.split(np.arange(ROUNDS), 6)
    left_out = [LabelInverter(np.delete(values, part, axis=0)).estimate for part in batches]
    half = batch_half_width(values, lambda part: LabelInverter(part).estimate)
    spread = np.std(left_out, ddof=0) * np.sqrt(6)
    assert half == pytest.approx(2.570582 * np.sqrt(5 / 6) * spread)
    assert inverter.batch_half == pytest.approx(half, rel=5e-3)
    alone, united = inverter.bounds(0.99), inverter.interval(0.99)
    assert united.lo == min(alone.lo, inverter.estimate - inverter.batch_half)
    assert united.hi == max(alone.hi, inverter.estimate + inverter.batch_half)
    assert united.half_width > alone.half_width  # the ratio moves by more than its test sees


def test_few_rounds_and_equal_ratios_have_the_interval_of_the_test() -> None:
    few = LabelInverter(logs(FEWEST_FOR_BATCHES - 1))
    assert few.interval(0.95) == few.bounds(0.95)
    equal = LabelInverter(np.tile([0.1, 0.0, 0.0], (20, 1)))
    assert equal.interval(0.95) == equal.bounds(0.95)
    d = logs(FEWEST_FOR_BATCHES - 1)[:, 0]
    assert typical_with_batches(d, 0.95) == typical(d, 0.95)


def test_a_contrast_whose_size_moves_has_a_wider_interval() -> None:
    d = logs(step=0.08)[:, 0]
    alone, united = typical(d, 0.95), typical_with_batches(d, 0.95)
    assert united.estimate == alone.estimate
    assert united.half_width > 1.5 * alone.half_width


def draw(arm: str, where: str, number: int) -> float:
    """Return times of which those of arm b change from −2 % to +9 % after a third of 60 rounds."""
    rng = np.random.default_rng([number, *map(ord, arm + where)])
    ratio = (0.98 if number <= 20 else 1.09) if arm == "b" else 1.0
    return float(0.1 * ratio * np.exp(0.01 * rng.standard_normal()))


def test_an_unstable_comparison_has_both_phases_and_no_verdict() -> None:
    example = Study(arms=("a", "b", "c"), rounds=ROUNDS)
    judged = example.judge(example.blocks(draw))
    c = example.comparison(judged, "b")
    phases, interval = require(c.phases), require(c.shown)
    assert (c.verdict, c.reason, phases.until) == (Verdict.INCONCLUSIVE, UNSTABLE, 20)
    assert (phases.first.ratio, phases.rest.ratio) == pytest.approx((0.98, 1.09), abs=0.01)
    assert interval.lo <= phases.first.lo
    assert phases.rest.hi <= interval.hi
    assert example.comparison(judged, "c").phases is None
    assert c.mirrored().phases == phases.inverse


def test_the_summary_names_a_ratio_that_changed() -> None:
    example = Study(arms=("a", "b", "c"), rounds=ROUNDS)
    judged = example.judge(example.blocks(draw))
    summary = [claim for claim in judged.claims if claim.kind == "summary"]
    assert "unstable_ratios" in [getattr(claim.fact, "form", "") for claim in summary[:2]]
    timed = [x for x in judged.claims if (x.kind, x.metric) == ("comparison", "wall")]
    (claim,) = [x for x in timed if x.subject == "b"]
    assert "is unstable: −1.9" in claim.text
    assert "up to round 20, +9" in claim.text


def test_means_that_few_slow_rounds_decide_are_stated() -> None:
    def slow_baseline(arm: str, where: str, number: int) -> float:
        """Return times of which every fourth of arm a is 60 % longer, and arm b takes 6 % longer than the others."""
        value = draw("a", arm + where, number)
        return value * (1.06 if arm == "b" else 1.6 if arm == "a" and number % 4 == 0 else 1.0)

    example = Study(arms=("a", "b"), rounds=ROUNDS)
    judged = example.judge(example.blocks(slow_baseline))
    c = example.comparison(judged, "b")
    means = require(c.means)
    assert require(c.shown).ratio == pytest.approx(1.06, abs=0.02)
    assert means.ratio == pytest.approx(1.06 / 1.15, abs=0.01)
    assert means.lo < means.ratio < means.hi
    assert c.mirrored().means == means.inverse
    facts_of = [claim.fact for claim in judged.claims]
    (fact,) = (fact for fact in facts_of if isinstance(fact, MeansDiffer))
    assert (fact.typical.subject, require(fact.widest).label) == ("b", "a")
    assert means.hi < 1
    assert fact.means.verdict is None
    example = Study(arms=("a", "b"), rounds=ROUNDS, sizes=(1, 10))

    def sometimes(arm: str, where: str, number: int) -> float:
        """Return times of which every fourth of arm a is 24 % longer: the means of both arms are equal."""
        value = draw("a", arm + where, number)
        slow = arm == "a" and number % 4 == 0 and where == "1MiB"
        return value * (1.06 if arm == "b" and where == "1MiB" else 1.24 if slow else 1.0)

    judged = example.judge(example.blocks(sometimes))
    (claim,) = (claim for claim in judged.claims if isinstance(claim.fact, MeansDiffer))
    assert isinstance(claim.fact, MeansDiffer)
    assert claim.scope == (("input", "1MiB"),)
    assert claim.fact.means.verdict is Verdict.INCONCLUSIVE
    example = Study(arms=("a", "c"), rounds=ROUNDS)
    steady = example.judge(example.blocks(draw))
    assert not any(isinstance(claim.fact, MeansDiffer) for claim in steady.claims)
    assert not example.comparison(steady, "c").means_differ


@pytest.mark.parametrize(
    ("typical", "means", "differ"),
    [
        ((1.81, 1.46, 2.21), (1.99, 1.84, 2.14), False),  # the typical interval contains 1.99
        ((1.07, 1.05, 1.08), (1.01, 0.96, 1.08), False),
        ((1.07, 1.05, 1.08), (1.01, 0.97, 1.06), True),
        ((1.01, 1.00, 1.02), (1.07, 1.03, 1.12), True),
        ((1.01, 1.00, 1.015), (1.028, 1.02, 1.04), False),  # within the margin of 2 %
    ],
)
def test_means_differ_if_no_interval_contains_the_other_ratio(
    typical: tuple[float, float, float], means: tuple[float, float, float], differ: bool
) -> None:
    of_rounds, of_means = (Interval(*figures, 0.95) for figures in (typical, means))
    limits = Thresholds(0.02, 0.0)
    c = Comparison("", "", "wall", "headline", Verdict.WORSE, thresholds=limits, shown=of_rounds)
    assert replace(c, means=of_means).means_differ is differ
    assert replace(c, means=of_means).mirrored().means_differ is differ


@pytest.mark.parametrize(
    ("control", "of_b", "text", "warning"),
    [
        (1.0, 0.98, "passed", ""),
        (1.09, 0.98, "changed during the record", "; the noise floor is 65\u202f%."),
        (
            1.015,
            0.95,
            "changed",
            "No verdict is on a difference below the noise floor of 3.1\u202f%.",
        ),
        (1.015, 0.98, "changed", "below the noise floor of 3.1\u202f%: the answer."),
    ],
)
def test_a_copy_of_the_baseline_that_changed_is_the_first_warning(
    control: float, of_b: float, text: str, warning: str
) -> None:
    """The A/A check did not pass, although its test finds no difference."""
    example = Study(arms=("a", "b"), rounds=ROUNDS)

    def copied(arm: str, where: str, number: int) -> float:
        factor = {"control": control if number > 20 else 1 / control, "b": of_b}.get(arm, 1.0)
        return draw("c", arm + where, number) * factor

    judged = example.judge(example.blocks(copied))
    (trust,) = [claim for claim in judged.claims if claim.kind == "trust"]
    assert text in trust.text
    unstable = [c.text for c in judged.claims if isinstance(c.fact, UnstableControl)]
    assert len(unstable) == bool(warning)
    assert "".join(unstable).endswith(warning)

"""Figures in blocks: Welch against scipy, verdicts, sittings, and the words that they allow."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench_framework.analysis import welch
from bench_framework.analysis.blocks_in_turn import judge_imported
from bench_framework.model.imported import Arm, Format, Imported, MemoryKind, Series, Sitting
from bench_framework.model.judgement import Comparison, Judgement, Verdict
from bench_framework.store.importers.sittings import series_of


def runs(label: str, values: list[float], failed: int = 0, sitting: str = "s1") -> Arm:
    made = series_of("wall", values)
    return Arm(f"{sitting}-{label}", label, (made,) if made else (), label, failed)


def published(label: str, mean: float, sd: float | None, n: int | None, sitting: str = "s1") -> Arm:
    return Arm(f"{sitting}-{label}", label, (Series("wall", n, mean, sd),))


def sitting(*arms: Arm, number: int = 1, kind: Format = "table", memory: MemoryKind = "none") -> Sitting:
    return Sitting(
        f"s{number}", f"f{number}.csv", f"sources/{number}-f", f"{number}" * 64, kind, arms, memory
    )


def judged(
    *sittings: Sitting, baseline: str = "a", anchors: tuple[str, ...] = (), named: bool = True
) -> Judgement:
    made = Imported(
        1, "r", "set", "2026-01-01T00:00:00Z", "0", baseline, anchors, sittings, anchors_named=named
    )
    return judge_imported(made)


def of(judgement: Judgement, label: str, family: str = "headline", number: int = 1) -> Comparison:
    wanted = f"s{number}-{label}"
    return next(c for c in judgement.comparisons if c.cell_id == wanted and c.family == family)


def noisy(centre: float, n: int, seed: int, spread: float = 0.02) -> list[float]:
    draw = random.Random(seed)
    return [centre * math.exp(draw.gauss(0, spread)) for _ in range(n)]


def test_single_runs_are_welchs_test_of_their_logarithms() -> None:
    a, b = noisy(1.0, 12, 1), noisy(1.07, 9, 2, 0.05)
    found = of(judged(sitting(runs("a", a), runs("b", b), kind="hyperfine-1")), "b")
    expected = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    bounds = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.shown is not None
    assert math.log(found.shown.ratio) == pytest.approx(np.mean(np.log(b)) - np.mean(np.log(a)))
    assert (math.log(found.shown.lo), math.log(found.shown.hi)) == pytest.approx((bounds.low, bounds.high))


def test_published_figures_are_welchs_test_by_the_delta_method() -> None:
    found = of(judged(sitting(published("a", 205.4, 16.7, 20), published("b", 201.7, 14.3, 20))), "b")
    expected = stats.ttest_ind_from_stats(
        math.log(201.7), 14.3 / 201.7, 20, math.log(205.4), 16.7 / 205.4, 20, equal_var=False
    )
    assert found.p == pytest.approx(expected.pvalue)


def test_published_figures_agree_with_the_runs_behind_them() -> None:
    a, b = noisy(1.0, 40, 3, 0.03), noisy(1.05, 40, 4, 0.03)
    raw = of(judged(sitting(runs("a", a), runs("b", b), kind="hyperfine-1")), "b").shown
    slim = [published(n, float(np.mean(v)), float(np.std(v, ddof=1)), 40) for n, v in (("a", a), ("b", b))]
    told = of(judged(sitting(*slim)), "b").shown
    assert raw is not None
    assert told is not None
    assert (told.ratio, told.lo, told.hi) == pytest.approx((raw.ratio, raw.lo, raw.hi), rel=2e-3)


def test_exchanging_the_sides_mirrors_the_interval() -> None:
    one = of(judged(sitting(published("a", 2.0, 0.1, 10), published("b", 2.3, 0.2, 14))), "b").shown
    other = of(judged(sitting(published("b", 2.3, 0.2, 14), published("a", 2.0, 0.1, 10)), baseline="b"), "a")
    assert one is not None
    assert other.shown is not None
    assert (1 / other.shown.lo, 1 / other.shown.hi) == pytest.approx((one.hi, one.lo))


def test_a_spread_of_zero_on_one_side_leaves_the_other_ones_freedom() -> None:
    made = welch.contrast([(1, welch.LogMean(0.1, 1e-4, 9)), (-1, welch.LogMean(0, 0.0, 4))])
    assert made is not None
    assert made.freedom == pytest.approx(9)
    assert made.p == pytest.approx(2 * stats.t.sf(10, 9))


@pytest.mark.parametrize(
    ("arms", "verdict", "words"),
    [
        ((published("a", 1, 0.01, 30), published("b", 1.2, 0.01, 30)), Verdict.WORSE, "more time"),
        ((published("a", 1, 0.01, 30), published("b", 0.8, 0.01, 30)), Verdict.BETTER, "less time"),
        ((published("a", 1, 0.01, 50), published("b", 1.001, 0.01, 50)), Verdict.EQUIVALENT, "differ by less"),
        ((published("a", 1, 0.1, 30), published("b", 1.03, 0.1, 30)), Verdict.UNDECIDED, "do not decide"),
        ((published("a", 1, 0.01, 30), published("b", 1.2, None, 1)), Verdict.SINGLE_RUN, "one run"),
        ((published("a", 1, None, None), published("b", 1.2, None, None)), Verdict.UNDECIDED, "no number"),
        ((published("a", 1, 0.0, 30), published("b", 1.2, 0.0, 30)), Verdict.UNDECIDED, "given as zero"),
        ((published("b", 1, 0.1, 30), published("c", 1.2, 0.1, 30)), Verdict.NOT_COMPARABLE, "baseline is not in"),
    ],
)  # fmt: skip
def test_every_verdict_has_its_sentence_and_every_sentence_says_in_blocks(
    arms: tuple[Arm, ...], verdict: Verdict, words: str
) -> None:
    made = judged(sitting(*arms))
    found = of(made, arms[-1].label)
    assert found.verdict is verdict
    told = [c.text for c in made.claims if c.kind == "block-comparison"]
    assert any(words in text for text in told)
    assert all(c.text.startswith("In one sitting, in blocks") for c in made.claims)
    assert made.status == "exploratory"


def test_one_run_has_no_interval() -> None:
    found = of(judged(sitting(published("a", 1, 0.1, 9), published("b", 1.2, None, 1))), "b")
    assert (found.shown, found.p, found.mde) == (None, None, None)


def test_failed_runs_fail_the_arm_from_one_in_twenty_on() -> None:
    good = noisy(1.0, 19, 5)
    made = judged(sitting(runs("a", good), runs("b", good[:18], failed=1), kind="hyperfine-1"))
    assert of(made, "b").verdict is Verdict.FAILED
    made = judged(sitting(runs("a", good), runs("b", [*good, 1.0], failed=1), kind="hyperfine-1"))
    assert of(made, "b").verdict is Verdict.EQUIVALENT
    made = judged(sitting(runs("a", good, failed=9), runs("b", good), kind="hyperfine-1"))
    assert of(made, "b").verdict is Verdict.NOT_COMPARABLE
    made = judged(sitting(runs("a", []), runs("b", [], failed=3), kind="hyperfine-1"))
    assert made.status == "failed"


def test_holm_runs_over_the_whole_sitting_with_its_planned_size() -> None:
    """Nine candidates of which one has p = 0.02: alone it would be found, in its family it is not."""
    many = [published(name, 1, 0.05, 20) for name in "bcdefghi"]
    close = published("j", 1.038, 0.05, 20)
    alone = of(judged(sitting(published("a", 1, 0.05, 20), close)), "j")
    among = of(judged(sitting(published("a", 1, 0.05, 20), *many, close)), "j")
    assert alone.p == among.p
    assert alone.verdict.decided
    assert among.verdict is Verdict.UNDECIDED
    assert among.shown is not None
    assert among.shown.level == pytest.approx(1 - 0.05 / 9)


def test_the_best_group_is_of_all_pairs_and_never_a_sort() -> None:
    arms = (published("a", 1, 0.2, 10), published("b", 0.95, 0.2, 10), published("c", 3, 0.2, 10))
    made = judged(sitting(*arms))
    assert made.best[0].cell_ids == ("s1-a", "s1-b")
    assert len(made.best[0].comparisons) == 3
    assert made.claims[0].text.startswith("In one sitting, in blocks, best group of 2: a, b; c takes 3.0")


def test_memory_of_version_2_is_judged_by_medians_of_its_runs() -> None:
    def arm(label: str, size: float, n: int) -> Arm:
        peaks = series_of("peak_rss", [size + 1000 * i for i in range(n)])
        assert peaks is not None
        made = runs(label, noisy(1.0, n, 6))
        return replace(made, series=(*made.series, peaks))

    both = (arm("a", 5e7, 12), arm("b", 1e6, 15))
    made = judged(sitting(*both, kind="hyperfine-2", memory="per-run"))
    assert of(made, "b", "memory").verdict is Verdict.BETTER
    hidden = judged(sitting(*both, kind="hyperfine-1", memory="running-maximum"))
    assert not [c for c in hidden.comparisons if c.family == "memory"]
    assert "memory figures are left out" in hidden.claims[-1].text


def test_less_time_tells_in_the_same_sentence_what_it_costs() -> None:
    def arm(label: str, time: float, size: float) -> Arm:
        peaks = series_of("peak_rss", [size + i for i in range(12)])
        assert peaks is not None
        made = runs(label, noisy(time, 12, 6))
        return replace(made, series=(*made.series, peaks))

    both = (arm("a", 1.0, 5e7), arm("b", 0.5, 2e8))
    made = judged(sitting(*both, kind="hyperfine-2", memory="per-run"))
    assert "b is 2.00× as fast [" in made.claims[0].text
    assert ", for 4.00× as much memory (12 runs each)" in made.claims[0].text


def two(anchor_moves: float, change: float, n: int = 400) -> Judgement:
    drift = 1 + anchor_moves
    first = sitting(published("a", 1, 0.02, n), published("b", 2, 0.04, n))
    later = sitting(
        published("a", drift, 0.02, n, "s2"), published("b", 2 * drift * change, 0.04, n, "s2"), number=2
    )
    return judged(first, later, anchors=("a",))


def test_sittings_whose_anchor_moved_are_not_comparable() -> None:
    made = two(0.16, 0.9)
    assert of(made, "a", "bridge", 2).verdict is Verdict.WORSE
    assert of(made, "b", "bridge", 2).verdict is Verdict.NOT_COMPARABLE
    text = next(c.text for c in made.claims if c.kind == "sittings")
    assert text.startswith(
        "The sittings f1.csv and f2.csv are not comparable: unchanged a itself moved +16.0"
    )


def test_unchanged_is_the_users_word_and_not_said_of_an_equal_label() -> None:
    first = sitting(published("a", 1, 0.02, 50))
    later = sitting(published("a", 1.2, 0.02, 50, "s2"), number=2)
    made = judged(first, later, anchors=("a",), named=False)
    told = [c.text for c in made.claims if c.kind in {"sittings", "bridge-anchor"}]
    assert all("a, the same by its label, moved +20.0" in text for text in told)
    assert not any("unchanged" in c.text for c in made.claims)


def test_an_anchor_that_stayed_bridges_and_its_own_drift_is_taken_out() -> None:
    made = two(0.008, 0.9)
    assert of(made, "a", "bridge", 2).verdict is Verdict.EQUIVALENT
    found = of(made, "b", "bridge", 2)
    assert found.verdict is Verdict.BETTER
    assert found.shown is not None
    assert found.shown.ratio == pytest.approx(0.9)
    text = next(c.text for c in made.claims if c.kind == "sittings")
    assert text.startswith("The sittings f1.csv and f2.csv are bridged: unchanged a itself moved +0.8")


def test_an_anchor_that_is_not_shown_to_have_stayed_bridges_nothing() -> None:
    made = two(0.0, 0.9, n=4)
    assert of(made, "a", "bridge", 2).verdict is Verdict.UNDECIDED
    assert of(made, "b", "bridge", 2).verdict is Verdict.NOT_COMPARABLE


def test_without_an_anchor_nothing_joins_two_sittings() -> None:
    first = sitting(published("a", 1, 0.01, 50), published("b", 1, 0.01, 50))
    later = sitting(published("b", 0.5, 0.01, 50, "s2"), published("c", 1, 0.01, 50, "s2"), number=2)
    made = judged(first, later)
    assert of(made, "b", "bridge", 2).verdict is Verdict.NOT_COMPARABLE
    assert "no anchor stands in both" in next(c.text for c in made.claims if c.kind == "sittings")
    assert of(made, "b", "headline", 2).verdict is Verdict.NOT_COMPARABLE


def test_the_error_of_an_anchor_is_part_of_what_is_bridged() -> None:
    """Four centres have their say: the variance of the anchored ratio is the sum of all of them."""
    found = of(two(0.0, 1.0), "b", "bridge", 2).typical
    assert found is not None
    error = 0.02 * 2 / math.sqrt(400)
    half = (math.log(found.hi) - math.log(found.lo)) / 2
    assert half == pytest.approx(stats.t.ppf(0.975, 4 * 399) * error, rel=1e-3)


@pytest.mark.parametrize("spread", [0.01, 0.05])
def test_equal_programs_without_drift_are_told_apart_no_more_often_than_the_level(spread: float) -> None:
    """400 seeded sittings of four equal arms: at 5 % per family, 99.9 % of the time below 36 of them."""
    false = 0
    for seed in range(400):
        arms = [runs(name, noisy(1.0, 12, 97 * seed + k, spread)) for k, name in enumerate("abcd")]
        made = judged(sitting(*arms, kind="hyperfine-1"))
        false += any(c.verdict.decided for c in made.comparisons)
    assert false <= 36


def test_equal_sets_give_equal_judgements() -> None:
    arms = (runs("a", noisy(1, 9, 1)), runs("b", noisy(1.1, 9, 2)))
    assert judged(sitting(*arms, kind="hyperfine-1")) == judged(sitting(*arms, kind="hyperfine-1"))


@pytest.mark.parametrize(("mean", "decided"), [(1.035, False), (1.1, True)])
def test_the_best_group_says_of_a_pair_what_the_headline_says(mean: float, decided: bool) -> None:
    """Time and CPU time are two comparisons, the pairs of two arms one: that could decide more."""
    arms = (published("a", 1.0, 0.05, 20), published("b", mean, 0.05, 20))
    alone = of(judged(sitting(*arms)), "b")
    assert alone.verdict.decided
    assert alone.p is not None
    assert (alone.p > 0.025) is not decided
    both = [replace(arm, series=(*arm.series, Series("cpu", 20, 1.0, 0.05))) for arm in arms]
    found = judged(sitting(*both, kind="hyperfine-2"))
    headline = of(found, "b")
    (pair,) = found.best[0].comparisons
    assert (pair.verdict, pair.p_adjusted) == (headline.verdict, headline.p_adjusted)
    assert headline.verdict.decided is decided
    assert len(found.best[0].cell_ids) == (1 if decided else 2)


def test_a_share_of_an_anchor_brings_its_share_of_the_error() -> None:
    """Var(Σ w·x) = Σ w²·Var(x); the degrees of freedom are those of Welch and Satterthwaite."""
    terms = [
        (1.0, welch.LogMean(0.3, 0.04, 9)),
        (-0.5, welch.LogMean(0.1, 0.08, 19)),
        (-0.5, welch.LogMean(0.2, 0.12, 4)),
    ]
    found = welch.contrast(terms)
    assert found is not None
    variance = 0.04 + 0.25 * 0.08 + 0.25 * 0.12
    assert found.estimate == pytest.approx(0.3 - 0.05 - 0.1)
    assert found.error == pytest.approx(math.sqrt(variance))
    assert found.freedom == pytest.approx(variance**2 / (0.04**2 / 9 + 0.02**2 / 19 + 0.03**2 / 4))

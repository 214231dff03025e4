"""Imported figures: Welch's test against scipy, verdicts, sessions, and the permitted words."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench_framework.extensions.importers.compute import judge_imported
from bench_framework.extensions.importers.model import Imported, plan_of
from bench_framework.model.facts import Best, Nothing
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.record.sessions import HarnessSession, MemoryKind, Series, SessionCommand
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.verdict import Verdict
from bench_framework.stats import welch
from bench_framework.store.sessions import series_of
from tests.build import require


def runs(label: str, values: list[float], failed: int = 0) -> SessionCommand:
    series = series_of("wall", values)
    return SessionCommand(label, (series,) if series else (), failed)


def published(label: str, mean: float, sd: float | None, n: int | None) -> SessionCommand:
    return SessionCommand(label, (Series("wall", n, mean, sd),))


def session(
    *commands: SessionCommand, number: int = 1, kind: str = "table", memory: MemoryKind = "none"
) -> HarnessSession:
    return HarnessSession(
        f"f{number}.csv", f"sources/{number}-f", f"{number}" * 64, kind, commands, memory
    )


def judged(*sessions: HarnessSession, baseline: str = "a") -> Judgement:
    imported = Imported(1, "r", "set", "2026-01-01T00:00:00Z", "0", baseline, sessions)
    return judge_imported(plan_of(imported), imported)


def cell(label: str, number: int = 1) -> str:
    return stable_id("imported", f"{number}" * 64, label)


def comparison_of(
    judgement: Judgement, label: str, family: str = "headline", number: int = 1
) -> Comparison:
    cell_id = cell(label, number)
    return next(c for c in judgement.comparisons if c.cell_id == cell_id and c.family == family)


def noisy(centre: float, n: int, seed: int, spread: float = 0.02) -> list[float]:
    draw = random.Random(seed)
    return [centre * math.exp(draw.gauss(0, spread)) for _ in range(n)]


def test_single_runs_are_welchs_test_of_their_logarithms() -> None:
    a, b = noisy(1.0, 12, 1), noisy(1.07, 9, 2, 0.05)
    comparison = comparison_of(judged(session(runs("a", a), runs("b", b), kind="hyperfine-1")), "b")
    expected = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    bounds = expected.confidence_interval(0.95)
    assert comparison.p == pytest.approx(expected.pvalue)
    interval = require(comparison.shown)
    figures = np.log([interval.ratio, interval.lo, interval.hi])
    mean = np.mean(np.log(b)) - np.mean(np.log(a))
    assert figures == pytest.approx([mean, bounds.low, bounds.high])


def test_published_figures_are_welchs_test_by_the_delta_method() -> None:
    comparison = comparison_of(
        judged(session(published("a", 205.4, 16.7, 20), published("b", 201.7, 14.3, 20))), "b"
    )
    expected = stats.ttest_ind_from_stats(
        math.log(201.7), 14.3 / 201.7, 20, math.log(205.4), 16.7 / 205.4, 20, equal_var=False
    )
    assert comparison.p == pytest.approx(expected.pvalue)


def test_published_figures_agree_with_the_runs_behind_them() -> None:
    a, b = noisy(1.0, 40, 3, 0.03), noisy(1.05, 40, 4, 0.03)
    whole = session(runs("a", a), runs("b", b), kind="hyperfine-1")
    of_runs = require(comparison_of(judged(whole), "b").shown)
    slim = [
        published(n, float(np.mean(v)), float(np.std(v, ddof=1)), 40)
        for n, v in (("a", a), ("b", b))
    ]
    of_figures = require(comparison_of(judged(session(*slim)), "b").shown)
    assert (of_figures.ratio, of_figures.lo, of_figures.hi) == pytest.approx(
        (of_runs.ratio, of_runs.lo, of_runs.hi), rel=2e-3
    )


def test_exchanging_the_sides_mirrors_the_interval() -> None:
    a, b = published("a", 2.0, 0.1, 10), published("b", 2.3, 0.2, 14)
    one = require(comparison_of(judged(session(a, b)), "b").shown)
    other = require(comparison_of(judged(session(b, a), baseline="b"), "a").shown)
    assert (1 / other.lo, 1 / other.hi) == pytest.approx((one.hi, one.lo))


def test_a_spread_of_zero_on_one_side_leaves_the_other_ones_freedom() -> None:
    comparison = require(welch.compare(Series("wall", 10, 1.1, 0.05), Series("wall", 5, 1.0, 0.0)))
    assert comparison.freedom == pytest.approx(9)
    assert comparison.n == 5


def test_a_session_without_the_baseline_has_no_comparisons() -> None:
    first = session(published("a", 1, 0.1, 30), published("b", 1.2, 0.1, 30))
    later = session(published("b", 1, 0.1, 30), published("c", 1.2, 0.1, 30), number=2)
    judgement = judged(first, later)
    assert {c.cell_id for c in judgement.comparisons} == {cell("b")}
    assert "the baseline a is not in f2.csv" in judgement.claims[1].text


@pytest.mark.parametrize(
    ("commands", "verdict", "words"),
    [
        ((published("a", 1, 0.01, 30), published("b", 1.2, 0.01, 30)), Verdict.WORSE, "slower"),
        ((published("a", 1, 0.01, 30), published("b", 0.8, 0.01, 30)), Verdict.BETTER, "less time"),
        (
            (published("a", 1, 0.01, 50), published("b", 1.001, 0.01, 50)),
            Verdict.EQUIVALENT,
            "takes as long as",
        ),
        (
            (published("a", 1, 0.1, 30), published("b", 1.03, 0.1, 30)),
            Verdict.INCONCLUSIVE,
            "is inconclusive",
        ),
        (
            (published("a", 1, 0.01, 30), published("b", 1.2, None, 1)),
            Verdict.SINGLE_RUN,
            "run only once",
        ),
        (
            (published("a", 1, None, None), published("b", 1.2, None, None)),
            Verdict.INCONCLUSIVE,
            "no number",
        ),
        (
            (published("a", 1, 0.0, 30), published("b", 1.2, 0.0, 30)),
            Verdict.INCONCLUSIVE,
            "given as zero",
        ),
    ],
)
def test_every_verdict_has_its_sentence_and_every_sentence_names_the_design(
    commands: tuple[SessionCommand, ...], verdict: Verdict, words: str
) -> None:
    judgement = judged(session(*commands))
    comparison = comparison_of(judgement, commands[-1].label)
    assert comparison.verdict is verdict
    if verdict is Verdict.SINGLE_RUN:
        assert (comparison.shown, comparison.p, comparison.mde) == (None, None, None)
    texts = [c.text for c in judgement.claims if c.kind == "comparison"]
    assert any(words in text for text in texts)
    assert all(c.text.startswith("Within one session, not interleaved") for c in judgement.claims)
    assert judgement.status == "exploratory"


def test_failed_runs_fail_the_arm_from_one_in_twenty_on() -> None:
    good = noisy(1.0, 19, 5)
    judgement = judged(session(runs("a", good), runs("b", good[:18], failed=1), kind="hyperfine-1"))
    assert comparison_of(judgement, "b").verdict is Verdict.FAILED
    judgement = judged(
        session(runs("a", good), runs("b", [*good, 1.0], failed=1), kind="hyperfine-1")
    )
    assert comparison_of(judgement, "b").verdict is Verdict.EQUIVALENT
    judgement = judged(session(runs("a", good, failed=9), runs("b", good), kind="hyperfine-1"))
    assert comparison_of(judgement, "b").verdict is Verdict.NOT_COMPARABLE
    judgement = judged(session(runs("a", []), runs("b", [], failed=3), kind="hyperfine-1"))
    assert judgement.status == "failed"


def test_at_most_three_reasons_are_listed_and_the_others_are_counted() -> None:
    arms = [runs(label, noisy(1.0, 12, n), 4) for n, label in enumerate("bcdef")]
    judgement = judged(session(runs("a", noisy(1.0, 12, 9)), *arms))
    (claim,) = (c for c in judgement.claims if c.kind == "nothing")
    assert isinstance(claim.fact, Nothing)
    assert [label for label, _ in claim.fact.reasons] == ["b", "c", "d"]
    assert claim.fact.more == 2
    assert claim.text.endswith("; d: 4 of its runs failed; and 2 more.")


def test_holm_runs_over_the_whole_session_with_its_planned_size() -> None:
    """One of nine candidates has p = 0.02: significant alone, but not in its family."""
    many = [published(name, 1, 0.05, 20) for name in "bcdefghi"]
    close = published("j", 1.038, 0.05, 20)
    alone = comparison_of(judged(session(published("a", 1, 0.05, 20), close)), "j")
    among = comparison_of(judged(session(published("a", 1, 0.05, 20), *many, close)), "j")
    assert alone.p == among.p
    assert alone.verdict.decided
    assert among.verdict is Verdict.INCONCLUSIVE
    assert require(among.shown).level == pytest.approx(1 - 0.05 / 9)


def test_the_best_group_is_of_all_pairs_and_never_a_sort() -> None:
    commands = (
        published("a", 1, 0.2, 10),
        published("b", 0.95, 0.2, 10),
        published("c", 3, 0.2, 10),
    )
    judgement = judged(session(*commands))
    assert judgement.best[0].cell_ids == (cell("a"), cell("b"))
    assert len(judgement.best[0].comparisons) == 3
    assert judgement.claims[0].text.startswith(
        "Within one session, not interleaved: no variant is significantly faster than a, the "
        "baseline. b has the best estimate: inconclusive in time ["
    )


def test_memory_of_version_2_is_judged_by_medians_of_its_runs() -> None:
    def command(label: str, size: float, n: int) -> SessionCommand:
        peaks = require(series_of("peak_rss", [size + 1000 * i for i in range(n)]))
        times = runs(label, noisy(1.0, n, 6))
        return replace(times, series=(*times.series, peaks))

    both = (command("a", 5e7, 12), command("b", 1e6, 15))
    judgement = judged(session(*both, kind="hyperfine-2", memory="per-run"))
    assert comparison_of(judgement, "b", "memory").verdict is Verdict.BETTER
    hidden = judged(session(*both, kind="hyperfine-1", memory="running-maximum"))
    assert not [c for c in hidden.comparisons if c.family == "memory"]
    assert "memory is omitted" in hidden.claims[-1].text


def test_less_time_and_its_cost_are_in_the_same_sentence() -> None:
    def command(label: str, time: float, size: float) -> SessionCommand:
        peaks = require(series_of("peak_rss", [size + i for i in range(12)]))
        times = runs(label, noisy(time, 12, 6))
        return replace(times, series=(*times.series, peaks))

    both = (command("a", 1.0, 5e7), command("b", 0.5, 2e8))
    judgement = judged(session(*both, kind="hyperfine-2", memory="per-run"))
    claim = judgement.claims[0]
    assert isinstance(claim.fact, Best)
    assert (claim.fact.members, claim.reference) == (("b",), "a")
    assert claim.estimate == pytest.approx(0.5, abs=0.005)
    (memory,) = claim.fact.costs
    assert memory.metric == "peak_rss"
    assert memory.estimate == pytest.approx(4, abs=0.01)
    assert (claim.runs, claim.runs_ref) == (12, 12)


def test_sessions_are_judged_each_by_itself_and_never_against_each_other() -> None:
    first = session(published("a", 1, 0.02, 400), published("b", 2, 0.04, 400))
    later = session(published("a", 1.16, 0.02, 400), published("b", 1.8, 0.04, 400), number=2)
    judgement = judged(first, later)
    assert {(c.cell_id, c.ref_cell_id) for c in judgement.comparisons} == {
        (cell("b"), cell("a")),
        (cell("b", 2), cell("a", 2)),
    }
    text = next(c.text for c in judgement.claims if c.kind == "sessions")
    assert text.startswith("Times of different sessions are not compared")


def test_equal_programs_without_drift_differ_no_more_often_than_the_level() -> None:
    """200 seeded sessions of three equal commands at 5 % per family have at most 21 differences
    with probability 99.9 %. Less noise gives a subset: the same p-values, and smaller estimates.
    """
    false = 0
    for seed in range(200):
        commands = [runs(name, noisy(1.0, 6, 97 * seed + k, 0.05)) for k, name in enumerate("abc")]
        judgement = judged(session(*commands, kind="hyperfine-1"))
        false += any(c.verdict.decided for c in judgement.comparisons)
    assert false <= 21


def test_equal_sets_give_equal_judgements() -> None:
    commands = (runs("a", noisy(1, 9, 1)), runs("b", noisy(1.1, 9, 2)))
    assert judged(session(*commands, kind="hyperfine-1")) == judged(
        session(*commands, kind="hyperfine-1")
    )


@pytest.mark.parametrize(("mean", "decided"), [(1.035, False), (1.1, True)])
def test_the_best_group_says_of_a_pair_what_the_headline_says(mean: float, decided: bool) -> None:
    """The headline family has two comparisons, time and CPU time, and decides the pair.

    The single pair of two commands is a smaller family, which would have more power.
    """
    commands = (published("a", 1.0, 0.05, 20), published("b", mean, 0.05, 20))
    alone = comparison_of(judged(session(*commands)), "b")
    assert alone.verdict.decided
    assert (require(alone.p) > 0.025) is not decided
    both = [
        replace(command, series=(*command.series, Series("cpu", 20, 1.0, 0.05)))
        for command in commands
    ]
    judgement = judged(session(*both, kind="hyperfine-2"))
    headline = comparison_of(judgement, "b")
    (pair,) = judgement.best[0].comparisons
    assert (pair.verdict, pair.p_adjusted) == (headline.verdict, headline.p_adjusted)
    assert headline.verdict.decided is decided
    assert len(judgement.best[0].cell_ids) == (1 if decided else 2)

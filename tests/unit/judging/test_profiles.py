"""Shares of profiler samples: their sums, their intervals, and the permitted statements."""

import random
from dataclasses import replace

import pytest
from scipy import stats

from bench_framework.features.profile.compute import attach, interval, shares_of
from bench_framework.model.record.profile import Frame, Profile, Stack
from bench_framework.model.result.judgement import Judgement
from bench_framework.text.write import lead, say
from tests.build import make_profile, require
from tests.unit.judging.conftest import Study

MAIN, PARSE, COPY, WAIT = (
    Frame("main", "prog"),
    Frame("json::parse", "prog"),
    Frame("memcpy", "libc.so.6"),
    Frame("schedule", "[kernel.kallsyms]", kernel=True),
)
BUCKETS = {"JSON": "json|parse", "memory": "mem(cpy|move)|parse"}


def profile(cell: str = "c", buckets: dict[str, str] = BUCKETS) -> Profile:
    """Return three runs of 200 samples each. main calls parse, which calls itself and memcpy."""
    stacks = []
    for run, self_samples in ((1, 100), (2, 90), (3, 110)):
        stacks += [
            Stack(run, self_samples, (0, 1, 1)),
            Stack(run, 60, (0, 1, 2)),
            Stack(run, 140 - self_samples, (0, 3)),
        ]
    frames = (MAIN, PARSE, COPY, WAIT)
    return make_profile(cell, (200, 200, 200), frames, stacks, buckets=buckets)


def test_a_recursion_counts_once_and_every_sample_has_one_function_that_ran() -> None:
    functions = {f.frame.name: f for f in shares_of(profile()).functions}
    assert functions["json::parse"].own.count == 300
    assert require(functions["json::parse"].inclusive).count == 480, (
        "not 780: its two levels are one function"
    )
    assert functions["main"].own.count == 0
    assert require(functions["main"].inclusive).share.value == 1.0
    assert sum(f.own.count for f in functions.values()) == 600
    assert [f.frame.name for f in shares_of(profile()).functions][:2] == ["json::parse", "memcpy"]


def test_buckets_add_up_and_the_first_that_fits_takes_a_function() -> None:
    shares = shares_of(profile())
    assert [(b.name, b.own.count) for b in shares.buckets] == [
        ("JSON", 300),
        ("memory", 180),
        ("other", 120),
    ]
    assert sum(b.own.share.value for b in shares.buckets) == pytest.approx(1.0)
    assert profile(buckets=dict(reversed(BUCKETS.items()))).bucket_of(PARSE) == "memory"
    assert shares_of(profile(buckets={})).buckets == ()


def test_an_interval_of_one_run_is_wilsons() -> None:
    for hits, total in ((0, 40), (7, 40), (40, 40), (1, 5000)):
        wilson = stats.binomtest(hits, total).proportion_ci(0.95, "wilson")
        assert interval([(hits, total)]) == pytest.approx((wilson.low, wilson.high), abs=1e-12)


def test_runs_that_differ_widen_the_interval_beyond_that_of_their_samples() -> None:
    lo, hi = interval([(10, 100), (30, 100), (50, 100)])
    # With runs of equal length the ratio estimator is the mean of the runs' shares.
    mean = stats.ttest_1samp([0.1, 0.3, 0.5], 0.0).confidence_interval(0.95)
    assert lo == 0.0
    assert hi == pytest.approx(mean.high)
    assert mean.low < 0
    alike = interval([(30, 100)] * 3)
    wilson = stats.binomtest(90, 300).proportion_ci(0.95, "wilson")
    assert alike == pytest.approx((wilson.low, wilson.high)), (
        "agreement by chance adds no certainty"
    )


def test_intervals_cover_shares_that_vary_from_run_to_run() -> None:
    random_ = random.Random(3)
    covered = 0
    for _ in range(400):
        pairs = []
        for _ in range(5):
            share = min(0.95, max(0.05, random_.gauss(0.3, 0.05)))
            pairs.append((sum(random_.random() < share for _ in range(150)), 150))
        lo, hi = interval(pairs)
        covered += lo <= 0.3 <= hi
    assert covered >= 372, "93 % of 400"


def test_callgrind_counts_so_that_nothing_is_uncertain_and_callers_are_not_known() -> None:
    counted = replace(
        profile(),
        sampler="callgrind",
        event="Ir",
        frequency_hz=None,
        unwinding=None,
        runs=(600,),
        stacks=(Stack(1, 450, (1,)), Stack(1, 150, (2,))),
    )
    shares = shares_of(counted)
    assert shares.size.unit == "instructions"
    assert [
        (f.frame.name, f.own.share.value, f.own.share.lo, f.inclusive) for f in shares.functions
    ] == [("json::parse", 0.75, None, None), ("memcpy", 0.25, None, None)]


def judged(study: Study, *profiles: Profile) -> Judgement:
    return attach(study.judge(study.blocks(lambda *_: 0.05)), study.plan, profiles)


def test_every_sentence_says_self_samples_and_runs_and_none_a_time() -> None:
    given = Study(rounds=12)
    judgement = judged(given, profile(given.cell("a").id))
    texts = [c.text for c in judgement.claims if c.kind.startswith("profile")]
    assert texts[0].startswith("50\u202f% [37, 63")
    assert texts[0].endswith("of the samples of a are in json::parse (self, 600 samples, 3 runs).")
    *others, summary = texts
    assert others
    assert all("(self, 600 samples, 3 runs)" in text for text in others)
    assert summary.startswith("Self samples of a by group of functions: ")
    assert not [text for text in texts if "saved" in text or "faster" in text or "because" in text]
    assert [c.text for c in judgement.claims if c.kind.startswith("profile")] == [
        say(c) for c in judgement.claims if c.kind.startswith("profile")
    ]


def test_too_few_samples_rank_nothing() -> None:
    given = Study(rounds=12)
    few = replace(
        profile(given.cell("a").id),
        runs=(33, 33, 33),
        stacks=tuple(Stack(r, 33, (0, 1)) for r in (1, 2, 3)),
    )
    judgement = judged(given, few)
    assert judgement.profiles[0].functions == ()
    assert judgement.profiles[0].buckets == ()
    (claim,) = [c for c in judgement.claims if c.kind.startswith("profile")]
    assert (
        claim.text == "Too few samples of a to rank functions: 99 samples, 3 runs; 100 are needed."
    )
    assert shares_of(replace(few, runs=(34, 33, 33))).enough


def test_before_and_after_need_both_profiles_made_alike() -> None:
    given = Study(rounds=12)
    a, b = profile(given.cell("a").id), profile(given.cell("b").id)
    both = [c for c in judged(given, a, b).claims if c.kind == "profile-before-after"]
    assert [getattr(c.fact, "name", "") for c in both] == ["JSON", "memory", "other"]
    assert both[0].reference == "a"
    assert both[0].text.count("(self, 600 samples, 3 runs)") == 2
    for other in (
        replace(b, event="Ir", sampler="callgrind"),
        replace(b, event="cycles"),
        replace(b, buckets={}),
    ):
        assert not [c for c in judged(given, a, other).claims if c.kind == "profile-before-after"]
    assert not [c for c in judged(given, b).claims if c.kind == "profile-before-after"]


def test_the_summary_has_the_largest_buckets_of_each_profile() -> None:
    given = Study(rounds=12)
    both = [profile(given.cell(name).id) for name in ("a", "b")]
    (claim,) = (c for c in judged(given, *both).claims if c.kind == "profile-summary")
    buckets = [b for b in shares_of(both[0]).buckets if b.name != "other"]
    largest = max(buckets, key=lambda b: b.own.share.value)
    assert lead(claim) == "Where the time goes"
    assert claim.text.startswith(f"Self samples of a by group of functions: {largest.name} ")
    assert f". Self samples of b by group of functions: {largest.name} " in claim.text
    rest = next(b for b in shares_of(both[0]).buckets if b.name == "other")
    assert f", unclassified {100 * rest.own.share.value:.0f}\u202f% [" in claim.text


def test_profiles_change_no_verdict_and_are_replaced_whole() -> None:
    given = Study(rounds=12)
    base = given.judge(
        given.blocks(lambda arm, _, n: 0.05 * (1.2 if arm == "b" else 1) * (1 + n / 1e4))
    )
    once = attach(base, given.plan, [profile(given.cell("a").id)])
    assert replace(once, profiles=(), claims=base.claims) == base
    assert attach(once, given.plan, [profile(given.cell("a").id)]) == once
    assert attach(once, given.plan, []) == base
    assert len({claim.id for claim in once.claims}) == len(once.claims)
    assert not [c for c in once.claims if c.kind in {"main", "trust"} and "samples" in c.text]

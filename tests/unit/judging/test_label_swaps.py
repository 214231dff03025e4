"""Label swaps: the fast count against the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bench_framework.stats import label_swaps, signed_rank


def plain(x: np.ndarray, y: np.ndarray, bits: np.ndarray) -> tuple[float, int]:
    ours, theirs = np.where(bits, y, x), np.where(bits, x, y)
    return label_swaps.floor_difference(ours, theirs), abs(
        int(signed_rank.signed_ranks(ours - theirs).sum())
    )


@pytest.mark.parametrize("n", [1, 2, 3, 7, 13, 40, 126, 127, 128, 300])
def test_both_statistics_under_swaps_are_what_their_definitions_say(n: int) -> None:
    random = np.random.default_rng(n)
    x, y = random.normal(0, 0.1, n), random.normal(0.05, 0.1, n)
    drawn = label_swaps.Swaps(x, y, 1).take(50)
    a, b, _ = label_swaps.centred(x, y)
    floors = label_swaps.floor_under(a, b, drawn)
    ranks = label_swaps.ranks_under(signed_rank.signed_ranks(x - y), drawn)
    expected = [plain(x, y, drawn[:, i].astype(bool)) for i in range(drawn.shape[1])]
    assert floors == pytest.approx([e[0] for e in expected], abs=1e-6)
    assert ranks.tolist() == [e[1] for e in expected]


@pytest.mark.parametrize("n", [9, 127, 128])
def test_ties_and_distant_arms_are_counted_as_the_definition_says(n: int) -> None:
    random = np.random.default_rng(n)
    x = np.round(random.normal(0, 0.1, n), 1)
    for y in (x.copy(), x + 5, np.round(random.normal(0, 0.1, n), 1)):
        drawn = label_swaps.Swaps(x, y, 1).take(60)
        a, b, _ = label_swaps.centred(x, y)
        expected = [plain(x, y, drawn[:, i].astype(bool))[0] for i in range(drawn.shape[1])]
        assert label_swaps.floor_under(a, b, drawn) == pytest.approx(expected, abs=1e-5)


def test_up_to_twelve_rounds_every_swap_is_listed_once_up_to_its_mirror() -> None:
    x, y = np.arange(5.0), np.arange(5.0) + 1
    listed = label_swaps.Swaps(x, y, 0).take(1000)
    distinct = {tuple(column) for column in listed.T.tolist()}
    mirrored = {tuple(1 - bit for bit in column) for column in distinct}
    assert len(distinct) == 2**4 - 1
    assert distinct | mirrored | {(0,) * 5, (1,) * 5} == set(itertools.product([0, 1], repeat=5))


def test_swaps_do_not_depend_on_the_order_of_the_sides() -> None:
    random = np.random.default_rng(3)
    x, y = random.normal(size=30), random.normal(size=30)
    assert np.array_equal(label_swaps.Swaps(x, y, 7).take(99), label_swaps.Swaps(y, x, 7).take(99))


def test_another_seed_gives_other_swaps() -> None:
    x, y = np.arange(30.0), np.arange(30.0) + 1
    assert not np.array_equal(
        label_swaps.Swaps(x, y, 7).take(99), label_swaps.Swaps(x, y, 8).take(99)
    )


def test_swaps_are_fair_coins() -> None:
    x, y = np.arange(20.0), np.arange(20.0) + 1
    share = label_swaps.Swaps(x, y, 7).take(20_000).mean(axis=1)
    assert np.abs(share - 0.5).max() < 0.015

"""Effects, contributions and full products of generated records: swapped sides, shifts and holes."""

import itertools
import math
from collections.abc import Mapping

import numpy as np
from hypothesis import given, settings, strategies as st

from bench_framework.compare.contrasts import Weighted
from bench_framework.features.ablation import compute as ablation
from bench_framework.features.effects import compute
from bench_framework.features.pareto import compute as pareto
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.metrics import LEAST_BYTES
from bench_framework.stats import intervals
from bench_framework.stats.signed_rank import Floats

LEVELS = st.integers(1, 3)


@given(st.tuples(LEVELS, LEVELS, LEVELS), st.data())
def test_the_largest_full_product_is_the_largest(
    sizes: tuple[int, int, int], data: st.DataObject
) -> None:
    planned = [
        tuple(f"{axis}{n}" for n in range(size)) for axis, size in zip("abc", sizes, strict=True)
    ]
    keys = list(itertools.product(*planned))
    present = frozenset(data.draw(st.sets(st.sampled_from(keys)))) | {keys[0]}
    product = compute._largest(planned, present)
    assert product is not None
    assert all(key in present for key in itertools.product(*product))
    assert all(
        kept_levels[0] == levels[0] for kept_levels, levels in zip(product, planned, strict=True)
    )
    subsets = [
        [
            (levels[0], *some)
            for k in range(len(levels))
            for some in itertools.combinations(levels[1:], k)
        ]
        for levels in planned
    ]
    best = max(
        math.prod(map(len, chosen))
        for chosen in itertools.product(*subsets)
        if all(key in present for key in itertools.product(*chosen))
    )
    assert math.prod(map(len, product)) == best


ROWS = st.lists(
    st.lists(st.floats(-0.5, 0.5).map(lambda v: round(v, 4)), min_size=8, max_size=8),
    min_size=8,
    max_size=12,
)


def shapley_value(player: int, worth: Mapping[frozenset[int], Floats]) -> Floats:
    contrasts = {s: Weighted("i", values, {str(sorted(s)): 1.0}) for s, values in worth.items()}
    share = ablation.shapley_value(player, 3, contrasts)
    summed = sum(weight * worth[s] for s in worth for weight in (share.weights[str(sorted(s))],))
    assert np.allclose(share.values, summed)
    return share.values


@given(ROWS)
def test_shapley_shares_make_up_the_total_in_every_round(rows: list[list[float]]) -> None:
    worth = dict(zip(ablation.subsets(3), np.array(rows).T, strict=True))
    shares = [shapley_value(n, worth) for n in range(3)]
    assert np.allclose(np.sum(shares, axis=0), worth[frozenset({0, 1, 2})] - worth[frozenset()])
    # Computed independently: the mean contribution of each player over all orders.
    for player in range(3):
        added = [
            worth[frozenset(o[: o.index(player) + 1])] - worth[frozenset(o[: o.index(player)])]
            for o in list(itertools.permutations(range(3)))
        ]
        assert np.allclose(shares[player], np.mean(added, axis=0))


@given(ROWS, st.floats(-3, 3))
def test_a_factor_for_a_whole_round_changes_no_share(
    rows: list[list[float]], factor: float
) -> None:
    table = np.array(rows)
    shift = factor * np.arange(len(rows))[:, None]
    names = list(ablation.subsets(3))
    plain, moved = (dict(zip(names, t.T, strict=True)) for t in (table, table + shift))
    for n in range(3):
        one, two = (shapley_value(n, w) for w in (plain, moved))
        assert np.allclose(one, two)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.15, 0.85))
def test_exchanging_the_sides_moves_no_crossing(seed: int, place: float) -> None:
    """A line through zero between two sizes, with noise. Its mirror image crosses at the same size."""
    chance = np.random.default_rng(seed)
    places = [0.0, 1.0]
    slope = 0.4
    ratios = np.array([[slope * (x - place) for x in places]] * 20) + chance.normal(
        0, 0.005, (20, 2)
    )
    crossing, mirrored = (scaling.turning(places, r, 0.95) for r in (ratios, -ratios))
    assert crossing is not None
    assert mirrored is not None
    assert np.allclose(crossing, mirrored, atol=2 * scaling.PRECISION)
    assert crossing[1] <= crossing[0] <= crossing[2]
    # The inverted test rejects values outside the interval and does not reject the estimate.
    for outside in (crossing[1] - 0.01, crossing[2] + 0.01):
        if 0 < outside < 1:
            bounds = intervals.typical(scaling.interpolated(places, ratios, outside), 0.95)
            assert not bounds.lo <= 0 <= bounds.hi


COST = st.tuples(
    st.floats(1, 5), st.floats(0, 1), st.floats(1, 5), st.floats(0, 1), st.integers(1, 3)
)


@given(st.lists(COST, min_size=2, max_size=6))
def test_no_variant_is_beaten_by_one_whose_interval_overlaps(rows: list[tuple[float, ...]]) -> None:
    costs = [
        pareto.VariantCosts(
            str(n), {"wall": (t, t + dt), "peak_rss": (m * 1e6, (m + dm) * 1e6)}, {"binary_size": s}
        )
        for n, (t, dt, m, dm, s) in enumerate(rows)
    ]
    by_id = {c.cell_id: c for c in costs}
    standings = list(pareto.standings(costs))
    assert any(s.on_front for s in standings)
    for s in standings:
        costs_of_it = by_id[s.cell_id]
        assert s.on_front is not bool(s.beaten_by)
        for other in (by_id[i] for i in s.beaten_by):
            assert other.measured["wall"][1] < costs_of_it.measured["wall"][0]
            assert (
                other.measured["peak_rss"][1] <= costs_of_it.measured["peak_rss"][0] + LEAST_BYTES
            )
            assert other.exact["binary_size"] <= costs_of_it.exact["binary_size"]
    for metric in ("wall", "peak_rss", "binary_size"):
        assert any(metric in s.least for s in standings)

"""The native label test has the bits of its definition in numpy."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from bench_framework import _native
from bench_framework.stats import run_labels, signed_rank
from tests.unit.judging import label_definition as definition


def same(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Return whether two tables have the same bits; both zeros are the same number."""
    return np.array_equal(ours + 0.0, theirs + 0.0)


@given(
    rounds=st.integers(1, 130),
    runs=st.integers(2, 4),
    sigma=st.sampled_from([0.0, 1e-9, 1e-3, 0.02, 0.7]),
    decimals=st.sampled_from([1, 2, 3, 17]),
    shift=st.sampled_from([0.0, 0.01, -0.3, 1e-7]),
    seed=st.integers(0, 2**32 - 1),
)
@example(rounds=1, runs=2, sigma=0.0, decimals=17, shift=0.0, seed=0)
@example(rounds=500, runs=3, sigma=0.02, decimals=17, shift=0.0, seed=0)
@example(rounds=1001, runs=2, sigma=0.02, decimals=2, shift=0.01, seed=1)
def test_the_native_functions_have_the_bits_of_their_definition(
    rounds: int, runs: int, sigma: float, decimals: int, shift: float, seed: int
) -> None:
    values = np.round(np.random.default_rng(seed).normal(2, sigma, (rounds, runs)), decimals)
    moved = definition.shifted(values, shift)
    assert same(run_labels.shifted(values, shift), moved)
    difference = moved[:, 0] - moved[:, 1]
    ranks = definition.signed_ranks(difference)
    assert signed_rank.signed_ranks(difference).tolist() == ranks.tolist()
    low, high = run_labels.examine(values, shift)
    main = definition.main_score(moved)
    assert same(run_labels.main_score(moved), main)
    assert (low.main, high.main) == definition.tails(main)
    rank = definition.rank_score(moved)
    assert same(run_labels.rank_score(moved), rank)
    if runs > 2:
        assert (low.rank, high.rank) == definition.tails(rank)


def test_a_table_that_is_not_contiguous_is_read_by_rows() -> None:
    values = np.random.default_rng(0).normal(0, 0.02, (20, 3))
    for view in (np.asfortranarray(values), values[:, :2], values[::2]):
        assert run_labels.examine(view) == run_labels.examine(view.copy())


@pytest.mark.parametrize("shape", [(0, 2), (5, 1), (5,), (0, 0)])
def test_a_table_without_rounds_or_with_one_run_is_refused(shape: tuple[int, ...]) -> None:
    table, scale = np.zeros(shape), (4096.0, 500, 1.0, 1.0)
    with pytest.raises(ValueError, match="two columns"):
        _native.label_tail(table, False, scale)
    with pytest.raises(ValueError, match="two columns"):
        _native.main_score(table, np.zeros(100))


def test_too_few_logarithms_are_refused() -> None:
    with pytest.raises(ValueError, match="too few logarithms"):
        _native.main_score(np.zeros((5, 2)), np.zeros(20))

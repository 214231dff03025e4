"""The order of cells, the runs per block, and dropped cells."""

import itertools
from collections import Counter

import pytest

from bench_framework.execution import schedule
from bench_framework.model.record.run import Block, Status

CELLS = ("a", "b", "c", "d")


def order(
    number: int, cells: tuple[str, ...] = CELLS, seed: int = 1, input_id: str = "i"
) -> list[str]:
    return schedule.order_of(seed, input_id, number, cells, warmup=False)


def block(status: Status, wall: float = 0.1) -> Block:
    return Block(0, 1, 0, "c", warmup=True, status=status, started_at="", wall_s=(wall,))


def test_every_round_has_every_cell_once() -> None:
    for number in range(1, 50):
        assert sorted(order(number)) == sorted(CELLS)


def test_the_order_is_reproducible_from_the_seed() -> None:
    assert [order(n) for n in range(20)] == [order(n) for n in range(20)]
    assert [order(n) for n in range(20)] != [order(n, seed=2) for n in range(20)]


def test_the_order_in_which_a_scenario_lists_its_cells_does_not_matter() -> None:
    assert [order(n, ("d", "c", "b", "a")) for n in range(20)] == [order(n) for n in range(20)]


def test_inputs_and_warm_ups_have_different_orders() -> None:
    assert [order(n) for n in range(20)] != [order(n, input_id="j") for n in range(20)]
    warm = [schedule.order_of(1, "i", n, CELLS, warmup=True) for n in range(20)]
    assert warm != [order(n) for n in range(20)]


def test_every_cell_is_equally_often_at_every_position() -> None:
    """Chi-square over 2 000 rounds; 21.67 is the 99 % point at 9 degrees of freedom."""
    rounds = 2000
    counts = Counter(
        (place, cell) for number in range(rounds) for place, cell in enumerate(order(number))
    )
    expected = rounds / len(CELLS)
    chi = sum(
        (counts[place, cell] - expected) ** 2 / expected for place in range(4) for cell in CELLS
    )
    assert chi < 21.67


@pytest.mark.parametrize(("count", "limit"), [(2, 10.83), (4, 27.88), (9, 104.7)])
@pytest.mark.parametrize("seed", [1, 42, 4220082067])
def test_the_place_of_every_cell_is_uniform_over_200_rounds(
    count: int, limit: float, seed: int
) -> None:
    """Chi-square of place × cell; the 99.9 % points at (count - 1)² degrees of freedom."""
    cells, rounds = tuple(f"cell-{number}" for number in range(count)), 200
    orders = [order(number, cells, seed) for number in range(1, rounds + 1)]
    counts = Counter((place, cell) for drawn in orders for place, cell in enumerate(drawn))
    expected = rounds / count
    chi = sum(
        (counts[place, cell] - expected) ** 2 / expected for place in range(count) for cell in cells
    )
    assert chi < limit
    mean = {cell: sum(drawn.index(cell) for drawn in orders) / rounds for cell in cells}
    # Four standard errors of the mean of a uniform place.
    assert (
        max(abs(place - (count - 1) / 2) for place in mean.values())
        < 4 * ((count**2 - 1) / 12 / rounds) ** 0.5
    )


def test_pairs_of_neighbours_are_uniform() -> None:
    """A fixed predecessor would always leave the same cache contents; 99.9 % point at 11."""
    orders = [order(number) for number in range(2000)]
    pairs = Counter(pair for drawn in orders for pair in itertools.pairwise(drawn))
    expected = sum(pairs.values()) / 12
    assert len(pairs) == 12
    assert sum((count - expected) ** 2 / expected for count in pairs.values()) < 31.26


@pytest.mark.parametrize(
    ("walls", "runs"),
    [
        ((), 1),
        ((0.5, 0.4), 1),
        ((0.020,), 1),
        ((0.019,), 2),
        ((0.030, 0.005), 4),
        ((0.001,), 20),
        ((0.0,), schedule.MOST_REPEATS),
        ((1e-7,), schedule.MOST_REPEATS),
    ],
)
def test_short_runs_are_repeated_until_a_block_takes_20_ms(
    walls: tuple[float, ...], runs: int
) -> None:
    assert schedule.repeats_of([walls]) == runs


def test_the_median_cell_sets_the_repeats_of_all_cells() -> None:
    assert schedule.repeats_of([(0.001,), (0.010, 0.012), (5.0,)]) == 2


def test_a_cell_without_a_good_warm_up_is_ignored() -> None:
    assert schedule.repeats_of([(), (0.010,), ()]) == 2


@pytest.mark.parametrize(
    ("statuses", "warmup_over", "dropped"),
    [
        ((), False, False),
        (("failed",), False, False),
        (("failed",), True, True),
        (("failed", "failed"), True, True),
        (("failed", "ok"), True, False),
        (("ok", "failed", "failed"), False, False),
        (("ok", "failed", "failed", "failed"), False, True),
        (("failed", "failed", "ok", "failed"), False, False),
        (("timeout",), False, False),
        (("ok", "timeout", "timeout"), False, True),
        (("timeout", "failed", "timeout"), False, True),
        (("other-output",) * 5, True, False),
    ],
)
def test_a_cell_is_dropped_if_it_always_fails(
    statuses: tuple[Status, ...], warmup_over: bool, dropped: bool
) -> None:
    assert (
        schedule.failed_too_often([block(status) for status in statuses], warmup_over=warmup_over)
        is dropped
    )

"""Tests of the change points of histories, on series with known changes."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import ruptures

from bench_framework.extensions.history import compute
from bench_framework.extensions.history.compute import Readings, Segments

Floats = npt.NDArray[np.float64]
ERROR = 0.005


def readings(values: Floats, programs: npt.NDArray[np.int64] | None = None) -> Readings:
    """Return the readings of an array of log values, shape (configurations, records); NaN: missing."""
    there = ~np.isnan(values)
    cells, records = np.nonzero(there)
    if programs is None:
        programs = np.arange(values.size).reshape(values.shape)
    errors, tasks = np.full(len(cells), ERROR), np.zeros(len(cells), dtype=np.int64)
    return Readings(cells, records, values[there], errors, programs[there], tasks)


def analyse(values: Floats, programs: npt.NDArray[np.int64] | None = None) -> list[Segments]:
    given = readings(values, programs)
    return list(compute.segments(given, compute.linked(given), 0.05))


def noise(seed: int, cells: int, records: int, sd: float = 0.01) -> Floats:
    return np.asarray(sd * np.random.default_rng(seed).standard_normal((cells, records)))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("records", [2, 3, 4, 12, 60])
def test_stable_series_have_no_change(seed: int, records: int) -> None:
    assert not any(one.changes for one in analyse(noise(seed, 24, records)))


@pytest.mark.parametrize("size", [0.05, -0.05, 0.3])
@pytest.mark.parametrize("at", [10, 20, 37])
def test_a_step_is_found_at_its_place_with_its_size(size: float, at: int) -> None:
    values = noise(7, 24, 40)
    values[3, at:] += math.log1p(size)
    changes = {n: one.changes for n, one in enumerate(analyse(values)) if one.changes}
    assert list(changes) == [3]
    (change,) = changes[3]
    assert abs(change.at - at) <= 1
    assert change.before < at <= change.after
    assert change.lo <= 1 + size <= change.hi
    assert change.confidence > 0.95
    assert change.confirmed


def test_two_changes_of_one_configuration_are_found() -> None:
    values = noise(1, 1, 60)
    values[0, 20:] += 0.1
    values[0, 40:] -= 0.07
    (one,) = analyse(values)
    assert [change.at for change in one.changes] == [20, 40]
    assert [change.ratio > 1 for change in one.changes] == [True, False]


def test_a_change_in_the_last_record_is_found_but_not_confirmed() -> None:
    values = noise(2, 24, 30)
    values[5, -1] += math.log1p(0.3)
    (change,) = analyse(values)[5].changes
    assert (change.before, change.at, change.after) == (28, 29, 29)
    assert not change.confirmed


def test_one_record_between_others_is_an_outlier() -> None:
    values = noise(3, 1, 30)
    values[0, 12] += 0.4
    (one,) = analyse(values)
    assert one.changes == ()
    assert one.outliers == {12}
    assert abs(one.fitted[12] - one.fitted[11]) < 1e-9


def test_a_lone_record_next_to_a_change_does_not_hide_it() -> None:
    values = noise(4, 1, 30)
    values[0, 15:] += 0.1
    values[0, 15] += 0.5
    (change,) = analyse(values)[0].changes
    assert (change.before, change.after) == (14, 16)


def test_records_without_a_configuration_are_skipped() -> None:
    values = noise(5, 2, 40)
    values[1, 20:] += 0.1
    values[1, 5:35:3] = np.nan
    (change,) = analyse(values)[1].changes
    there = np.flatnonzero(~np.isnan(values[1]))
    assert there[change.before] < 20 <= there[change.after]


def test_a_machine_that_changes_is_no_change_of_configurations() -> None:
    values = noise(6, 12, 40)
    programs = np.arange(values.size).reshape(values.shape)
    programs[:3] = programs[:3, :1]
    values[:, 25:] += 0.08
    values[7, 25:] += 0.06
    result = analyse(values, programs)
    assert [n for n, one in enumerate(result) if one.changes] == [7]
    assert abs(result[7].changes[0].ratio - math.exp(0.06)) < 0.02


def test_drift_that_all_share_cancels_through_anchors() -> None:
    shared = noise(8, 1, 40, 0.05)
    values = noise(9, 12, 40, 0.005) + shared
    programs = np.arange(values.size).reshape(values.shape)
    programs[:6] = programs[:6, :1]
    values[-1, 20:] += 0.05
    rest = compute.linked(readings(values, programs)).reshape(values.shape)
    assert np.std(rest[-2]) < 0.01 < np.std(values[-2]) / 3
    assert [n for n, one in enumerate(analyse(values, programs)) if one.changes] == [11]
    assert not any(one.changes for one in analyse(values))  # without anchors, the noise hides it


def test_a_program_that_did_not_change_has_no_change() -> None:
    values = noise(10, 1, 30)
    values[0, 15:] += 0.2
    assert analyse(values, np.zeros(values.shape, dtype=np.int64))[0].changes == ()


def test_a_change_is_placed_where_the_program_changed() -> None:
    values = noise(11, 1, 30, 0.02)
    values[0, 15:] += 0.1
    programs = (np.arange(30) // 5).reshape(values.shape)
    (change,) = analyse(values, programs)[0].changes
    assert change.at == 15


def test_other_commands_or_inputs_are_not_compared() -> None:
    values = noise(12, 1, 30)
    values[0, 15:] += 0.3
    given = readings(values)
    task = (np.arange(30) >= 15).astype(np.int64)
    split = Readings(given.series, given.record, given.logs, given.errors, given.program, task)
    (one,) = compute.segments(split, given.logs, 0.05)
    assert one.changes == ()
    assert one.breaks == (15,)
    assert one.fitted[14] < one.fitted[15]


def analyse_pairs(values: Floats) -> Segments:
    """Return the changes of one configuration whose records have two values each, as those of a gate."""
    given = readings(values[None, :])
    given = replace(given, record=given.record // 2)
    (one,) = compute.segments(given, compute.linked(given), 0.05)
    return one


def test_two_values_of_one_record_are_not_two_records() -> None:
    values = noise(15, 1, 32)[0]
    values[-2:] += 0.2
    (change,) = analyse_pairs(values).changes
    assert not change.confirmed
    values[-4:-2] += 0.2
    (change,) = analyse_pairs(values).changes
    assert change.confirmed
    between = noise(15, 1, 32)[0]
    between[14:18] += 0.2
    one = analyse_pairs(between)
    assert one.changes == ()
    assert one.outliers == {14, 15, 16, 17}


def test_three_records_with_two_values_each_are_not_searched() -> None:
    values = noise(16, 1, 8, 0.001)[0]
    values[4:] += 0.3
    assert analyse_pairs(values).changes
    assert not analyse_pairs(values[:6]).changes


@pytest.mark.parametrize("seed", range(40))
def test_partitions_are_those_of_ruptures(seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = chance.standard_normal(int(chance.integers(4, 90)))
    for _ in range(int(chance.integers(0, 4))):
        values[int(chance.integers(1, len(values))) :] += 4 * chance.standard_normal()
    penalty = float(chance.uniform(4, 40))
    model = ruptures.KernelCPD(kernel="linear", min_size=1).fit(values[:, None])
    assert compute.optimal_cuts(values, penalty) == model.predict(pen=penalty)[:-1]


def test_programs_of_one_record_show_no_change_of_the_machine() -> None:
    given = readings(noise(13, 4, 10))
    assert np.array_equal(compute.linked(given), given.logs)

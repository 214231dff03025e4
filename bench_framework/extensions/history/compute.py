"""Change points of all series of a history (docs/method.md#history).

Records are sessions: between them, times vary more than within. The change of the machine is
estimated from anchors, which are programs that several records measured. What is left varies by the
noise between records. A change is reported if it is too large for this noise anywhere in the history.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from bench_framework.extensions.history.model import Shift
from bench_framework.stats.portable_math import exp, expm1, t_quantile, t_tails
from bench_framework.stats.signed_rank import Floats, Ints

FEWEST: Final = 4
"""Fewest records in which changes are searched."""
SHORTEST: Final = 3
"""Fewest records between two changes. Fewer are outliers, as noise has heavy tails."""
NORMAL_MAD: Final = 1.4826 / math.sqrt(2)
"""Standard deviation of normal values ÷ median absolute difference of two of them."""
MEMORY_ERROR: Final = 2.5
"""Allowance for the error of the correlation of successive records, times √(number of values)."""
MOST_MEMORY: Final = 0.9
LOCATION: Final = 7.35
"""Log likelihood ratio, times two, of the places in which a change is with 95 % confidence.

Source: Hinkley 1970, Biometrika 57, for a change of the mean: P(ratio > x) = 1 − (1 − e^(−x/2))².
"""
POWER: Final = 0.8
CERTAIN: Final = 0.999
"""Larger confidences are not printed as a number."""
MOST: Final = 20.0
"""Largest detectable change on the log scale."""
STEPS: Final = 200
"""Largest number of iterations of `linked`."""
PRECISION: Final = 1e-5
FAR: Final = 3.0
"""Distance from an anchor's level, in standard deviations, from which its weight falls."""


@dataclass(frozen=True, slots=True)
class Readings:
    """Values of one metric, ordered by series. Each array has one element per value, shape (n,)."""

    series: Ints
    """Number of the configuration, ascending. Within it, values are in the order of the history."""
    record: Ints
    """Number of the record."""
    logs: Floats
    """Logarithms of the values."""
    errors: Floats
    """Smallest standard deviations of the logarithms between records, with the error within one."""
    program: Ints
    """Equal numbers are the same program, command and input; negative if that is not known."""
    task: Ints
    """Equal numbers are the same command and input."""

    def records(self, values: Ints | slice) -> int:
        """Return the number of records of values. A record of a gate has one value per revision."""
        return len(np.unique(self.record[values]))


@dataclass(frozen=True, slots=True)
class Segments:
    """The result of one series. Indices are those of its values."""

    changes: tuple[Shift, ...]
    fitted: Floats
    """Mean between two changes, on the log scale, shape (n,)."""
    outliers: frozenset[int]
    breaks: tuple[int, ...]
    precision: tuple[float | None, float | None]
    """`HistorySeries.noise` and `HistorySeries.detectable`."""


@dataclass(frozen=True, slots=True)
class _Part:
    """The segments of consecutive values with one command and input."""

    blocks: tuple[Ints, ...]
    """Indices of the values of each segment, without outliers."""
    places: tuple[tuple[int, int, int] | None, ...]
    """First, best and last index of each change; `None` if only the machine changed."""
    noise: float
    freedom: float
    tests: int
    """Number of places of all configurations at which a change is possible."""

    def bound(self, level: float) -> float:
        """Return the smallest t statistic of a change."""
        return -t_quantile(level / self.tests / 2, self.freedom)


def linked(readings: Readings) -> Floats:
    """Return the values without the change of the machine, on the log scale, shape (n,).

    A value is the level of its program, plus the change of its record, plus noise. Programs of
    several records show the change of each record. These changes are random effects: what few
    anchors show is reduced by what their noise explains (Henderson's mixed model; variances by EM).
    Distant values get less weight (Huber). No value is corrected by itself.
    """
    known = readings.program >= 0
    programs, first = np.unique(readings.program, return_inverse=True)
    pairs = np.unique(np.stack((first, readings.record)), axis=1)
    used = known & (np.bincount(pairs[0], minlength=len(programs)) > 1)[first]
    if not used.any():
        return readings.logs.copy()
    count = int(readings.record.max()) + 1
    values, record = readings.logs[used], readings.record[used]
    program = np.unique(first[used], return_inverse=True)[1]
    anchored = np.bincount(record, minlength=count) > 0
    least = float(np.median(readings.errors[used])) ** 2
    level = np.bincount(program, values) / np.bincount(program)
    noise = common = max(least, float(np.median((values - level[program]) ** 2)))
    weights, moved = np.ones(len(values)), np.zeros(count)
    for _ in range(STEPS):
        before, of_record = moved, np.bincount(record, weights, count)
        sums = np.bincount(record, weights * (values - level[program]), count)
        moved = sums / (of_record + noise / common)
        rest = values - moved[record]
        level = np.bincount(program, weights * rest) / np.bincount(program, weights)
        rest = rest - level[program]
        free = len(values) - len(level) - _total(of_record / (of_record + noise / common))
        noise = max(least, _total(weights * rest**2) / free) if free > 1 else least
        uncertain = noise / (of_record + noise / common)
        common = max(1e-12, _total((moved**2 + uncertain)[anchored]) / int(anchored.sum()))
        weights = np.minimum(1.0, FAR * math.sqrt(noise) / np.maximum(np.abs(rest), 1e-12))
        if float(np.abs(moved - before).max()) < PRECISION:
            break
    effects, loads = np.zeros((2, len(known)))
    effects[used], loads[used] = weights * (values - level[program]), weights
    sums = np.bincount(readings.record, effects, count)
    of_record = np.bincount(readings.record, loads, count)
    others = of_record[readings.record] - loads + noise / common
    return readings.logs - (sums[readings.record] - effects) / others


def segments(readings: Readings, levels: Floats, level: float) -> Iterator[Segments]:
    """Yield the changes of each series. `levels` are logarithms without the machine's change.

    The probability of a false change in any series is at most `level`.
    """
    changed = (np.diff(readings.series) != 0) | (np.diff(readings.task) != 0)
    cuts = [0, *(np.flatnonzero(changed) + 1).tolist(), len(levels)]
    ranges = [
        (a, b) for a, b in itertools.pairwise(cuts) if readings.records(slice(a, b)) >= FEWEST
    ]
    memory = _memory([levels[a:b] for a, b in ranges])
    parts = {a: _part(readings, levels, (a, b), len(ranges), memory, level) for a, b in ranges}
    fitted, noise = levels.copy(), np.full(len(levels), math.nan)
    used = np.zeros(len(levels), dtype=bool)
    for a, b in ranges:
        noise[a:b], used[np.concatenate(parts[a].blocks)] = parts[a].noise, True
        starts = [a, *(int(block[0]) for block in parts[a].blocks[1:]), b]
        for block, (c, d) in zip(parts[a].blocks, itertools.pairwise(starts), strict=True):
            fitted[c:d] = _mean(levels[block])
    series = np.searchsorted(readings.series, np.unique(readings.series)).tolist()
    for a, b in itertools.pairwise([*series, len(levels)]):
        firsts = [cut for cut in cuts if a <= cut < b]
        changes = (
            change
            for part in (parts[cut] for cut in firsts if cut in parts)
            for change in _changes(part, readings, levels, np.where(used, noise, math.nan), level)
        )
        last = parts.get(firsts[-1])
        yield Segments(
            tuple(replace(c, before=c.before - a, at=c.at - a, after=c.after - a) for c in changes),
            fitted[a:b],
            frozenset(np.flatnonzero(~used[a:b] & ~np.isnan(noise[a:b])).tolist()),
            tuple(cut - a for cut in firsts[1:]),
            (last.noise, _detectable(last, level)) if last else (None, None),
        )


def _changes(
    part: _Part, readings: Readings, levels: Floats, noise: Floats, level: float
) -> Iterator[Shift]:
    """Yield the changes of a part that are larger than those of the anchors.

    `noise` has the standard deviation of each value, NaN for those that are not used.
    """
    for (before, after), place in zip(itertools.pairwise(part.blocks), part.places, strict=True):
        if place is None:
            continue
        moved, error = _anchors(before, after, readings, levels, noise)
        size = _mean(levels[after]) - _mean(levels[before]) - moved
        spread = math.hypot(part.noise * math.sqrt(1 / len(before) + 1 / len(after)), error)
        p = t_tails(size / spread, part.freedom) * part.tests
        if p <= level:
            reach = t_quantile(0.975, part.freedom) * spread
            ratio, low, high = (exp(x) for x in (size, size - reach, size + reach))
            sure = min(readings.records(before), readings.records(after)) > 1
            yield Shift(*place, ratio, low, high, 1 - p, sure)


def _anchors(
    before: Ints, after: Ints, readings: Readings, levels: Floats, noise: Floats
) -> tuple[float, float]:
    """Return how much programs changed that the records of both segments measured, and its error."""
    record, program = readings.record, readings.program
    side = np.zeros(int(record.max()) + 1, dtype=np.int64)
    side[record[before]], side[record[after]] = 1, 2
    sides = np.where(~np.isnan(noise) & (program >= 0), side[record], 0)
    count = int(program.max(initial=0)) + 1
    first, last = (sides == 1, sides == 2)  # noqa: PLR2004 -- before and after
    numbers = [np.bincount(program[mask], minlength=count) for mask in (first, last)]
    both = (numbers[0] > 0) & (numbers[1] > 0)
    if not both.any():
        return 0.0, 0.0
    means = [
        np.bincount(program[mask], levels[mask], count)[both] / number[both]
        for mask, number in zip((first, last), numbers, strict=True)
    ]
    spread = np.zeros(count)
    spread[program[first]] = noise[first]
    weights = 1 / (spread[both] ** 2 * (1 / numbers[0][both] + 1 / numbers[1][both]))
    return _total(weights * (means[1] - means[0])) / _total(weights), _total(weights) ** -0.5


def _part(
    readings: Readings,
    levels: Floats,
    ends: tuple[int, int],
    family: int,
    memory: float,
    level: float,
) -> _Part:
    """Return the segments of the values between two indices, which are one of `family` parts.

    `memory` is the correlation of successive values.
    """
    a, b = ends
    stretch = (1 + memory) / (1 - memory)
    least = float(np.median(readings.errors[a:b]))
    indices = np.arange(a, b)
    while True:
        z, ids = levels[indices], readings.program[indices]
        rough = max(NORMAL_MAD * float(np.median(np.abs(np.diff(z)))), least)
        may = np.concatenate(([False], (ids[1:] != ids[:-1]) | (ids[1:] < 0)))
        tests = family * max(1, int(may.sum()))
        scale = rough * math.sqrt(stretch)
        bound = t_quantile(level / tests / 2, len(z) - 2)
        cuts = [0, *optimal_cuts((z - z[0]) / scale, bound**2), len(z)]
        inner = itertools.pairwise(cuts[1:-1])
        few = [n for n in inner if readings.records(indices[slice(*n)]) < SHORTEST]
        left = np.delete(indices, [n for c, d in few for n in range(c, d)])
        if not few or readings.records(left) < FEWEST:
            break
        indices = left
    sums, squares = (np.concatenate(([0.0], np.cumsum((z - z[0]) ** k))) for k in (1, 2))
    while True:
        c = np.array(cuts)
        sizes = np.diff(c)
        means = np.diff(sums[c]) / sizes
        rest = float(squares[-1]) - _total(means**2 * sizes)
        free = len(z) - len(sizes)
        noise = max(rough, math.sqrt(max(rest, 0.0) / max(free, 1))) * math.sqrt(stretch)
        part = _Part((), (), noise, max(1.0, free / stretch), tests)
        if len(sizes) == 1:
            break
        t = np.abs(np.diff(means)) / (noise * np.sqrt(1 / sizes[1:] + 1 / sizes[:-1]))
        weakest = int(np.argmin(t))
        if t[weakest] >= part.bound(level):
            break
        del cuts[weakest + 1]
    places: list[tuple[int, int, int] | None] = []
    for n in range(1, len(cuts) - 1):
        place = _placed((z - z[0]) / noise, cuts[n - 1 : n + 2], may)
        cuts[n] = cuts[n] if place is None else place[1]
        if place is not None:
            place = (int(indices[place[0] - 1]), *indices[list(place[1:])].tolist())
        places.append(place)
    blocks = tuple(indices[c:d] for c, d in itertools.pairwise(cuts))
    return replace(part, blocks=blocks, places=tuple(places))


def _detectable(part: _Part, level: float) -> float:
    """Return the smallest change that the next record alone would show, at most `MOST`."""
    reach = part.bound(level) + t_quantile(POWER, part.freedom)
    return expm1(min(MOST, reach * part.noise * math.sqrt(1 + 1 / len(part.blocks[-1]))))


def _memory(series: Sequence[Floats]) -> float:
    """Return the correlation of successive values, at least 0, by differences over one and two.

    A change of the mean is part of few differences, so that it has no effect on their medians. An
    allowance for the error of the estimate is subtracted.
    """
    squares = []
    for values in series:
        near, far = (float(np.median(np.abs(values[k:] - values[:-k]))) for k in (1, 2))
        squares.append(min((far / near) ** 2 - 1, MOST_MEMORY) if near > 0 else 0.0)
    error = MEMORY_ERROR / math.sqrt(max(1, sum(map(len, series))))
    estimate = float(np.median(squares)) if squares else 0.0
    return max(0.0, estimate - error)


def optimal_cuts(values: Floats, penalty: float) -> list[int]:
    """Return where the mean changes, so that squares plus `penalty` per change are the least.

    Source: optimal partitioning, Jackson et al. 2005, IEEE Signal Processing Letters 12. A test compares
    it with the package ruptures, which takes twice the time, and a second to import.
    """
    count = len(values)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    best, last = np.full(count + 1, -penalty), np.zeros(count + 1, dtype=np.int64)
    weights = 1 / np.arange(count, 0, -1.0)
    for end in range(1, count + 1):
        # The sum of all squares is the same for all partitions, and is left out.
        costs = best[:end] - (sums[end] - sums[:end]) ** 2 * weights[count - end :]
        last[end] = np.argmin(costs)
        best[end] = costs[last[end]] + penalty
    cuts, end = [], int(last[count])
    while end > 0:
        cuts.append(end)
        end = int(last[end])
    return cuts[::-1]


def _placed(
    z: Floats, ends: Sequence[int], may: npt.NDArray[np.bool_]
) -> tuple[int, int, int] | None:
    """Return the first, the best and the last place of a change between two others.

    Only places at which the program changes are possible. It is `None` if the values exclude all of
    them: then the machine changed.
    """
    a, k, c = ends
    sums = np.cumsum(z[a:c])
    left = np.arange(1, c - a)
    gain = sums[:-1] ** 2 / left + (sums[-1] - sums[:-1]) ** 2 / (c - a - left)
    places = np.flatnonzero((gain[k - a - 1] - gain <= LOCATION) & may[a + 1 : c])
    if not len(places):
        return None
    best = places[int(np.argmax(gain[places]))]
    return int(places[0]) + a + 1, int(best) + a + 1, int(places[-1]) + a + 1


def _mean(values: Floats) -> float:
    return math.fsum(values) / len(values)


def _total(values: Floats) -> float:
    return float(np.cumsum(values)[-1])

"""Error rates of the judgement on equal programs (A/A) and on a program with known extra work.

The rounds of two equal variants satisfy the null hypothesis. A random exchange of their labels
within rounds gives further families under the null hypothesis from the same rounds. These are valid
for any noise, but they are not new evidence about the machine. The number of independent results is
the number of windows, which are stretches of rounds without overlap.
See docs/method.md#recorded-rounds.
"""

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np

from bench_framework.compare.data_quality import floor_fraction
from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import Case, examine_looks, judge_family
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.policies import Metric
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Thresholds, Verdict
from bench_framework.stats.holm_family import adjust_for_looks, holm
from bench_framework.stats.proportions import at_least, at_most
from bench_framework.stats.signed_rank import Floats

Series = Mapping["Metric", Floats]
"""Metric → times of one variant, one value per round."""

THRESHOLDS: Final = Thresholds(margin=0.02, minimum_effect=0.01)


def judge_looks(
    pairs: Sequence[Sequence[Floats]],
    looks: Looks,
    *,
    metrics: Sequence[Metric] = (),
    stop: bool = False,
    thresholds: Thresholds = THRESHOLDS,
) -> tuple[Comparison, ...]:
    """Judge a family by the interim analyses of a schedule, as a report or a gate does.

    Each pair is (candidate, reference) or (candidate, reference, control), positive times of the
    same rounds, each of shape (rounds,). `metrics` has one for each pair, by default wall time.
    With `stop`, measuring ends when every pair is significant or equivalent.
    """
    comparisons: tuple[Comparison, ...] = ()
    for taken in range(1 if stop else looks.count, looks.count + 1):
        cases = cases_at(pairs, looks, taken, metrics=metrics, thresholds=thresholds)
        comparisons = judge_family(cases, looks)
        if all(c.verdict.settled for c in comparisons):
            break
    return comparisons


def cases_at(
    pairs: Sequence[Sequence[Floats]],
    looks: Looks,
    taken: int,
    *,
    metrics: Sequence[Metric] = (),
    thresholds: Thresholds = THRESHOLDS,
) -> list[Case]:
    """Return the cases of a family after `taken` interim analyses."""
    reached = looks.rounds[:taken]
    names = metrics or (WALL,) * len(pairs)
    cases = []
    for i, (metric, columns) in enumerate(zip(names, pairs, strict=True)):
        n = min(reached[-1], len(columns[0]))
        pair = Pair(tuple(range(1, n + 1)), *(tuple(times[:n].tolist()) for times in columns))
        evidence = examine_looks(pair, reached, looks.needed_with(pair.runs))
        draft = Comparison.unjudged(str(i), "reference", metric, "headline", thresholds)
        cases.append(Case(draft, pair, evidence))
    return cases


def significant_verdicts(cases: Sequence[Case], looks: Looks) -> frozenset[Verdict]:
    """Return the significant verdicts (better, worse) in a family, or an empty set.

    The result agrees with `judge_family`. Without a rejected p-value, no verdict is significant, so
    the intervals, which take most of the time, are not computed.
    """
    p_values = [adjust_for_looks(case.strongest.p, looks.count) for case in cases]
    adjusted = holm(p_values, size=looks.family, level=looks.level)
    if not any(result.rejected for result in adjusted):
        return frozenset()
    return frozenset(c.verdict for c in judge_family(cases, looks) if c.verdict.decided)


def has_difference(comparisons: Sequence[Comparison]) -> bool:
    """Return whether a family has a significant difference."""
    return any(c.verdict.decided for c in comparisons)


def relabelled(first: Series, second: Series, random: np.random.Generator) -> tuple[Series, Series]:
    """Return both series with labels exchanged in half of the rounds, in all metrics or none."""
    rounds = len(next(iter(first.values())))
    swap = random.random(rounds) < 0.5  # noqa: PLR2004 -- a fair coin
    one = {m: np.where(swap, second[m], first[m]) for m in first}
    return one, {m: np.where(swap, first[m], second[m]) for m in first}


@dataclass(frozen=True, slots=True)
class Window:
    """Rounds of one program that belong to no other window.

    `slower` has times of variants by how much more work they do, such as 0.03.
    """

    program: str
    reference: Series
    equal: Series
    slower: Mapping[float, Series] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """Return the number of rounds in the window."""
        return len(next(iter(self.reference.values())))


@dataclass(frozen=True, slots=True)
class WindowVerdicts:
    """The verdicts on the A/A control of a window, and on its slower variants by effect.

    `false` of the relabelled `families` have a significant difference.
    """

    program: str
    rounds: int
    as_measured: Mapping[Metric, Comparison]
    false: int
    families: int
    slower: Mapping[float, Mapping[Metric, Comparison]]

    @property
    def tripped(self) -> bool:
        """Return whether the A/A control, as measured, has a significant difference."""
        return has_difference([*self.as_measured.values()])

    def finds(self, effect: float) -> frozenset[Metric]:
        """Return the metrics on which a variant with more work is significantly worse."""
        return frozenset(metric for metric, c in self.slower[effect].items() if c.verdict.worse)


def judge_window(window: Window, looks: Looks, *, families: int, seed: int) -> WindowVerdicts:
    """Judge a window: the A/A control as measured and relabelled, and every slower variant.

    Each slower variant is a separate family.

    The window has at least as many rounds as the last interim analysis; further ones are not used.
    Equal windows and seeds give equal verdicts.
    """
    random, false = np.random.default_rng(seed), 0
    for _ in range(families):
        first, second = relabelled(window.equal, window.reference, random)
        cases = cases_at([(first[m], second[m]) for m in first], looks, looks.count)
        false += bool(significant_verdicts(cases, looks))
    equal = _family(looks, window.equal, window.reference)
    slower = {
        effect: _family(looks, arm, window.reference, window.equal)
        for effect, arm in window.slower.items()
    }
    return WindowVerdicts(window.program, window.rounds, equal, false, families, slower)


def _family(looks: Looks, *columns: Series) -> dict[Metric, Comparison]:
    pairs = {m: [times[m] for times in columns] for m in columns[0]}
    judged = judge_looks([*pairs.values()], looks, metrics=[*pairs])
    return {c.metric: c for c in judged}


@dataclass(frozen=True, slots=True)
class Rate:
    """A number of successes in a number of tries, with its one-sided 95 % bounds."""

    count: int
    """Number of successes."""
    tries: int
    """Number of tries."""
    at_most: float
    """Upper bound of the rate."""
    at_least: float
    """Lower bound of the rate."""

    @classmethod
    def with_bounds(cls, count: int, tries: int) -> Self:
        """Return a rate with its bounds."""
        return cls(count, tries, at_most(count, tries), at_least(count, tries))


@dataclass(frozen=True, slots=True)
class Floor:
    """The noise floor of a metric over a program's windows; null if it is unbounded."""

    program: str
    """Name of the program."""
    metric: Metric
    """Name of the metric."""
    median: float | None
    """Median over the windows, as a fraction."""
    worst: float | None
    """Largest value of a window, as a fraction."""


@dataclass(frozen=True, slots=True)
class DetectionRate:
    """The windows in which a slower copy of a program was detected as significantly worse."""

    program: str
    """Name of the program."""
    effect: float
    """Additional work, as a fraction."""
    found: Rate
    """Detections by any metric."""
    found_on: Mapping[Metric, Rate]
    """Detections by each metric."""
    estimate: Mapping[Metric, float]
    """Median over the windows of the typical change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseSummary:
    """The results of all windows."""

    level: float
    """Error rate that the check tests."""
    refuted: bool
    """True if there are significantly more false positives than the level allows."""
    false_verdicts_relabelled: Rate
    """Relabelled families with a significant difference."""
    false_verdicts_as_measured: Rate
    """Windows whose A/A control, as measured, has a significant difference."""
    noise_floors: tuple[Floor, ...]
    """Noise floors by program and metric."""
    injected: tuple[DetectionRate, ...]
    """Detections of slower copies."""


def summarise_windows(windows: Sequence[WindowVerdicts], level: float) -> NoiseSummary:
    """Return the combined results of all windows, with programs in order of appearance."""
    by_program = defaultdict[str, list[WindowVerdicts]](list)
    for window in windows:
        by_program[window.program].append(window)
    groups = by_program.values()
    relabelled = Rate.with_bounds(sum(w.false for w in windows), sum(w.families for w in windows))
    as_measured = Rate.with_bounds(sum(w.tripped for w in windows), len(windows))
    return NoiseSummary(
        level=level,
        refuted=max(relabelled.at_least, as_measured.at_least) > level,
        false_verdicts_relabelled=relabelled,
        false_verdicts_as_measured=as_measured,
        noise_floors=tuple(_floor(m, group) for group in groups for m in group[0].as_measured),
        injected=tuple(
            _detection_rate(more, group) for group in groups for more in group[0].slower
        ),
    )


def _floor(metric: Metric, windows: Sequence[WindowVerdicts]) -> Floor:
    floors = [floor_fraction(window.as_measured[metric]) for window in windows]
    # A window without a bound is worse than any other. The median and the worst are unbounded if
    # they reach it.
    every = sorted(math.inf if fraction is None else fraction for fraction in floors)
    middle, worst = (x if x < math.inf else None for x in (statistics.median(every), every[-1]))
    return Floor(windows[0].program, metric, middle, worst)


def _detection_rate(effect: float, windows: Sequence[WindowVerdicts]) -> DetectionRate:
    tries, detections = len(windows), [window.finds(effect) for window in windows]
    rates, estimates = {}, {}
    for metric in windows[0].slower[effect]:
        rates[metric] = Rate.with_bounds(sum(metric in metrics for metrics in detections), tries)
        intervals = (window.slower[effect][metric].shown for window in windows)
        if ratios := [interval.ratio for interval in intervals if interval is not None]:
            estimates[metric] = statistics.median(ratios) - 1
    found = Rate.with_bounds(sum(map(bool, detections)), tries)
    return DetectionRate(windows[0].program, effect, found, rates, estimates)

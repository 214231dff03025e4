"""A/A families: what the judging says of programs that are equal, and of one that is known to do more work.

The rounds of two equal arms are a null family. Exchanging their labels at random within rounds makes further ones
from the same rounds: valid nulls whatever the noise, and no new evidence about the machine. What stands for new
evidence is the number of windows, stretches of rounds that share none (docs/method.md, section 7).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import beta

from bench_framework.compare.interim_analysis import floor_fraction
from bench_framework.compare.paired_test import Levels, examine_looks
from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import Case, Rules, judge_family
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Thresholds, Verdict
from bench_framework.stats.holm_family import adjust_for_looks, holm
from bench_framework.stats.portable_math import drop_unstable_digits

if TYPE_CHECKING:
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.looks import Looks
    from bench_framework.model.policies import Metric

Floats = npt.NDArray[np.float64]
Series = Mapping["Metric", Floats]
"""Metric → times of one arm, one value per round."""

CONFIDENCE: Final = 0.95
"""Of the bounds of rates."""
THRESHOLDS: Final = Thresholds(margin=0.02, minimum_effect=0.01)
MORE: Final = frozenset({Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN})


def at_most(count: int, tries: int, confidence: float = CONFIDENCE) -> float:
    """One-sided upper bound of a rate: `count` successes in `tries` (Clopper and Pearson 1934); 1 without a try."""
    if count >= tries:
        return 1.0
    return drop_unstable_digits(float(beta.ppf(confidence, count + 1, tries - count)))


def at_least(count: int, tries: int, confidence: float = CONFIDENCE) -> float:
    """One-sided lower bound of a rate; 0 without a try."""
    return 1.0 - at_most(tries - count, tries, confidence)


def judge_looks(
    pairs: Sequence[tuple[Floats, Floats]],
    looks: Looks,
    *,
    metrics: Sequence[Metric] = (),
    stop: bool = False,
    thorough: bool = False,
    seed: int = 1,
) -> tuple[Comparison, ...]:
    """Judge a family by the looks of a schedule, as a report or a gate judges its own.

    Args:
        pairs: (candidate, reference), times of the same rounds, positive, shape (rounds,).
        looks: the schedule, with M and the level.
        metrics: one for each pair; wall by default.
        stop: measure no further once every pair is decided or equivalent.
        thorough: see `verdict.Rules`.
        seed: of the label swaps.
    """
    rules = rules_of(looks, seed, thorough=thorough)
    found: tuple[Comparison, ...] = ()
    for taken in range(1 if stop else looks.count, looks.count + 1):
        found = judge_family(cases_at(pairs, looks, taken, metrics=metrics, seed=seed), rules)
        if all(c.verdict.settled for c in found):
            break
    return found


def rules_of(looks: Looks, seed: int, *, thorough: bool = False) -> Rules:
    """The rules of a family that has a schedule of its own."""
    return Rules(looks.count, looks.family, looks.level, seed, thorough=thorough)


def cases_at(
    pairs: Sequence[tuple[Floats, Floats]],
    looks: Looks,
    taken: int,
    *,
    metrics: Sequence[Metric] = (),
    seed: int = 1,
) -> list[Case]:
    """The pairs of a family as they stand after `taken` looks."""
    levels = Levels(looks.level / (looks.count * looks.family), looks.level / looks.count)
    reached = looks.rounds[:taken]
    names = metrics or (WALL,) * len(pairs)
    made = []
    for i, (x, y) in enumerate(pairs):
        n = min(reached[-1], len(x))
        pair = Pair(tuple(range(1, n + 1)), tuple(x[:n].tolist()), tuple(y[:n].tolist()))
        evidence = examine_looks(pair, reached, levels, seed)
        made.append(Case(str(i), "reference", names[i], "headline", pair, evidence, THRESHOLDS))
    return made


def tells_apart(cases: Sequence[Case], rules: Rules) -> frozenset[Verdict]:
    """The verdicts better and worse that a family holds; empty where nothing is told apart.

    As `judge_family`, but for what is not asked here: without a rejected p no verdict can be one of these, and the
    intervals of all the others, nearly all of the work, are not needed.
    """
    p_values = [adjust_for_looks(case.strongest.p, rules.looks) for case in cases]
    if not any(found.rejected for found in holm(p_values, size=rules.size, level=rules.level)):
        return frozenset()
    return frozenset(c.verdict for c in judge_family(cases, rules) if c.verdict.decided)


def told_apart(found: Sequence[Comparison]) -> bool:
    """Whether a family called anything better or worse."""
    return any(c.verdict.decided for c in found)


def relabelled(first: Series, second: Series, random: np.random.Generator) -> tuple[Series, Series]:
    """Both arms with their labels exchanged in about half of the rounds, in all metrics of a round alike."""
    rounds = len(next(iter(first.values())))
    swap = random.random(rounds) < 0.5  # noqa: PLR2004 -- a fair coin
    return (
        {m: np.where(swap, second[m], first[m]) for m in first},
        {m: np.where(swap, first[m], second[m]) for m in first},
    )


@dataclass(frozen=True, slots=True)
class Window:
    """Rounds of one program that no other window has.

    Attributes:
        program: what was run.
        reference: the baseline's times.
        equal: those of its control arm.
        slower: effect such as 0.03 → times of an arm with so much more work.
    """

    program: str
    reference: Series
    equal: Series
    slower: Mapping[float, Series] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """How many it holds."""
        return len(next(iter(self.reference.values())))


@dataclass(frozen=True, slots=True)
class WindowVerdicts:
    """What the judging said of a window.

    Attributes:
        program: what was run.
        rounds: of the window.
        as_measured: verdicts on the equal arm, by metric.
        false: relabelled families in which anything was told apart, of `families`.
        families: how many.
        slower: effect → verdicts on the slower arm, by metric.
    """

    program: str
    rounds: int
    as_measured: Mapping[Metric, Comparison]
    false: int
    families: int
    slower: Mapping[float, Mapping[Metric, Comparison]]

    @property
    def tripped(self) -> bool:
        """Whether the equal arm, as it was measured, was told apart."""
        return told_apart(tuple(self.as_measured.values()))

    def floors(self) -> dict[Metric, float | None]:
        """The noise floor of each metric, as a fraction: see `looking.floor_fraction`."""
        return {metric: floor_fraction(c) for metric, c in self.as_measured.items()}

    def finds(self, effect: float) -> frozenset[Metric]:
        """Metrics on which an arm with more work was called worse."""
        return frozenset(metric for metric, c in self.slower[effect].items() if c.verdict in MORE)


def judge_window(window: Window, looks: Looks, *, families: int, seed: int) -> WindowVerdicts:
    """Judge a window: the equal arm as measured and relabelled, and every slower arm as a family of its own.

    Args:
        window: of at least as many rounds as the last look; more are not used.
        looks: with M = number of metrics.
        families: how many relabelled ones.
        seed: of the labels and the swaps; the same window and seed give the same verdicts.
    """
    random = np.random.default_rng(seed)
    rules, false = rules_of(looks, seed), 0
    for _ in range(families):
        first, second = relabelled(window.equal, window.reference, random)
        cases = cases_at([(first[m], second[m]) for m in first], looks, looks.count, seed=seed)
        false += bool(tells_apart(cases, rules))
    return WindowVerdicts(
        window.program,
        window.rounds,
        _family(window.equal, window.reference, looks, seed),
        false,
        families,
        {
            effect: _family(arm, window.reference, looks, seed)
            for effect, arm in window.slower.items()
        },
    )


def _family(
    candidate: Series, reference: Series, looks: Looks, seed: int
) -> dict[Metric, Comparison]:
    metrics = tuple(candidate)
    pairs = [(candidate[m], reference[m]) for m in metrics]
    return dict(zip(metrics, judge_looks(pairs, looks, metrics=metrics, seed=seed), strict=True))


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    count: int
    tries: int

    @property
    def upper(self) -> float:
        """One-sided 95 % bound from above."""
        return at_most(self.count, self.tries)

    @property
    def lower(self) -> float:
        """One-sided 95 % bound from below."""
        return at_least(self.count, self.tries)


@dataclass(frozen=True, slots=True)
class Floor:
    """The noise floor of a metric over the windows of one program; `None` where no window has an end."""

    program: str
    metric: Metric
    median: float | None
    worst: float | None


@dataclass(frozen=True, slots=True)
class Found:
    """An injected effect: in how many windows it was called worse.

    Attributes:
        program: that was given more work.
        effect: how much more, as a fraction.
        on: metric → rate; `either` counts windows in which any metric found it.
        estimate: metric → median over the windows of the typical change.
    """

    program: str
    effect: float
    on: Mapping[Metric, Rate]
    either: Rate
    estimate: Mapping[Metric, float]


@dataclass(frozen=True, slots=True)
class NoiseSummary:
    """All windows together.

    Attributes:
        level: that was asked of every family.
        relabelled: false verdicts among the families made by exchanging labels.
        as_measured: windows whose equal arm was told apart as it was measured.
        floors: by program and metric.
        found: by program and effect.
    """

    level: float
    relabelled: Rate
    as_measured: Rate
    floors: tuple[Floor, ...]
    found: tuple[Found, ...]

    @property
    def refuted(self) -> bool:
        """Whether equal programs were told apart more often than the level, beyond 95 % doubt."""
        return self.relabelled.lower > self.level or self.as_measured.lower > self.level


def summarise_windows(windows: Sequence[WindowVerdicts], level: float) -> NoiseSummary:
    """Add up what the judging said of the windows; programs in the order in which they came."""
    by_program: dict[str, list[WindowVerdicts]] = {}
    for window in windows:
        by_program.setdefault(window.program, []).append(window)
    return NoiseSummary(
        level,
        Rate(sum(w.false for w in windows), sum(w.families for w in windows)),
        Rate(sum(w.tripped for w in windows), len(windows)),
        tuple(_floor(name, m, own) for name, own in by_program.items() for m in own[0].as_measured),
        tuple(_found(name, e, own) for name, own in by_program.items() for e in own[0].slower),
    )


def _floor(program: str, metric: Metric, windows: Sequence[WindowVerdicts]) -> Floor:
    found = [window.floors()[metric] for window in windows]
    ends = [value for value in found if value is not None]
    # A window without an end is worse than any: the median and the worst are open as soon as they reach it.
    every = sorted(ends) + [float("inf")] * (len(found) - len(ends))
    middle, worst = statistics.median(every), every[-1]
    return Floor(
        program, metric, *(value if value < float("inf") else None for value in (middle, worst))
    )


def _found(program: str, effect: float, windows: Sequence[WindowVerdicts]) -> Found:
    tries, metrics = len(windows), tuple(windows[0].slower[effect])
    typical = {
        m: [c.typical for w in windows if (c := w.slower[effect][m]).typical is not None]
        for m in metrics
    }
    return Found(
        program,
        effect,
        {m: Rate(sum(m in w.finds(effect) for w in windows), tries) for m in metrics},
        Rate(sum(bool(w.finds(effect)) for w in windows), tries),
        {m: statistics.median(t.ratio for t in known) - 1 for m, known in typical.items() if known},
    )

"""The demands of `acceptance.py`, each as a function of the number of replays."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from noise import SIMULATED, WORKS, Floats, Noise, Recorded, recorded

from bench_framework.extensions.doctor.noise_rates import judge_looks
from bench_framework.model.plan.looks import Looks, schedule
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals
from bench_framework.stats.proportions import at_least, at_most

GATE, REPORT = 0.01, 0.05
ROUNDS, MANY_ROUNDS = 40, 60
LENGTHS = (13, 27, 40)
LEVEL = 0.99
FEWEST_STATED = 20
"""Fewest inconclusive verdicts from which a rate is computed."""
SOURCES: Mapping[str, Recorded] = {
    **{name: recorded(work) for work, name in WORKS.items()},
    **{f"{name}, later": recorded(work, kind="later") for work, name in WORKS.items()},
}
"""All recordings of the four programs. Nothing was chosen on those that were made later."""
PAGE_CACHE = [name for name in SOURCES if name.startswith(WORKS["wc"])]


@dataclass(frozen=True)
class Row:
    """A demand and its result.

    Attributes:
        demand: what is required.
        mark: the required rate.
        result: the observed count.
        bound: the one-sided 95 % bound of the rate on the unfavourable side.
        met: whether the mark is met; `None` if there is no mark.
    """

    demand: str
    mark: str
    result: str
    bound: str
    met: bool | None


def few(demand: str, mark: str, count: int, tries: int, most: float | None) -> Row:
    """Return a row of a rate that must be at most `most`; `None` means no mark."""
    bound = f"at most {at_most(count, tries):.2%}"
    met = None if most is None else count <= most * tries
    return Row(demand, mark, f"{count} of {tries}", bound, met)


def many(demand: str, mark: str, count: int, tries: int, least: float | None) -> Row:
    """Return a row of a rate that must be at least `least`; `None` means no mark."""
    bound = f"at least {at_least(count, tries):.1%}"
    met = None if least is None else count >= least * tries
    return Row(demand, mark, f"{count} of {tries} ({count / max(1, tries):.1%})", bound, met)


def random_of(replay: int, *words: str) -> np.random.Generator:
    """Return a generator that is seeded by the replay and the demand."""
    return np.random.default_rng([replay, *"/".join(words).encode()])


# -- real differences --------------------------------------------------------------------------------------------------


def found_differences(count: int) -> Iterator[Row]:
    """Yield how often programs with more work are found slower, on wall or CPU time, in 60 rounds."""
    for effect, arm, least in (("+3 %", "B3", 0.90), ("+5 %", "B5", 0.97)):
        for name, source in SOURCES.items():
            required = name in PAGE_CACHE
            for level, judge in ((REPORT, "report"), (GATE, "gate")):
                looks, hits = schedule(12, MANY_ROUNDS, 2, level), 0
                for replay in range(count):
                    comparisons = _real(source, arm, looks, random_of(replay, name, "found"))
                    hits += any(c.verdict.worse for c in comparisons)
                yield many(
                    f"{effect} found in ≤ {MANY_ROUNDS} rounds, {name} ({judge}, {level:.0%})",
                    f"≥ {least:.0%}" if required else "–",
                    hits,
                    count,
                    least if required else None,
                )


def honesty(count: int) -> Iterator[Row]:
    """Yield how often a true +3 % is called equivalent, with early stopping and with one look."""
    plans, every = (
        (schedule(12, ROUNDS, 2, REPORT), schedule(12, ROUNDS, 2, REPORT, single=True)),
        0,
    )
    for name, source in SOURCES.items():
        equal = 0
        for replay in range(count):
            for looks in plans:
                comparisons = _real(source, "B3", looks, random_of(replay, name, "honesty"))
                equal += any(c.verdict is Verdict.EQUIVALENT for c in comparisons)
        every += equal
        yield few(f"+3 % called equivalent, {name}", "≤ 2 of 200", equal, len(plans) * count, 0.01)
    yield few("… on all recordings", "≤ 2 of 200", every, len(SOURCES) * len(plans) * count, 0.01)
    # At the margin itself, the rate may be as high as the level of the two tests.
    for name, source in SOURCES.items():
        yield _at_margin(name, source, count)


def _at_margin(name: str, source: Recorded, count: int) -> Row:
    looks, equal = schedule(12, ROUNDS, 2, REPORT), 0
    for replay in range(count):
        metrics = source.shuffled(random_of(replay, name, "margin"), ROUNDS)
        triples = [(times[0] * 1.02, times[1], times[2]) for times in metrics]
        comparisons = judge_looks(triples, looks, stop=True)
        equal += sum(c.verdict is Verdict.EQUIVALENT for c in comparisons)
    return few(
        f"+2 %, the margin itself, called equivalent, {name}", "≤ 5 %", equal, 2 * count, 0.05
    )


def _real(
    source: Recorded, arm: str, looks: Looks, rng: np.random.Generator
) -> tuple[Comparison, ...]:
    """Compare wall and CPU time of a program with more work with baseline and control, with early stopping."""
    wall, cpu = source.window(rng, looks.rounds[-1])
    triples = [(metric[arm], metric["A"], metric["Ac"]) for metric in (wall, cpu)]
    return judge_looks(triples, looks, stop=True)


# -- intervals ---------------------------------------------------------------------------------------------------------


def cover(count: int) -> Iterator[Row]:
    """Yield how often 99 % intervals contain the true value, for windows of 13, 27 and 40 rounds."""
    for name, source in SOURCES.items():
        covered = Counter[str]()
        for replay in range(count):
            rng = random_of(replay, name, "cover")
            for metric, times in zip(
                ("wall", "CPU"), source.window(rng, LENGTHS[replay % 3]), strict=True
            ):
                x, y = np.log(times["Ac"] * 1.03), np.log(times["A"])
                bounds = {
                    "Hodges-Lehmann": intervals.typical(x - y, LEVEL),
                    "typical": intervals.LabelInverter(np.stack([x, y], axis=1)).bounds(LEVEL),
                }
                for statistic, b in bounds.items():
                    covered[f"{metric}, {statistic}"] += bool(b.lo <= np.log(1.03) <= b.hi)
        worst = min(covered, key=lambda key: covered[key])
        yield many(
            f"99 % intervals contain the true value, {name} (worst: {worst})",
            "≥ 98 %",
            covered[worst],
            count,
            0.98,
        )


# -- minimum detectable effect -----------------------------------------------------------------------------------------


def stated_difference(count: int) -> Iterator[Row]:
    """Yield how often a difference as large as the MDE of an inconclusive verdict is found.

    It is searched in the same rounds with labels drawn again, and in other rounds of the same recording. The latter has
    no mark, because those rounds may have more noise.
    """
    looks = schedule(12, ROUNDS, 1, REPORT)
    for (name, noise), runs in itertools.product(_noises().items(), (2, 3)):
        same, fresh, tries = 0, 0, 0
        for replay in range(count):
            rng = random_of(replay, name, "stated")
            times = noise(rng, runs, ROUNDS)
            (c,) = judge_looks([[*times]], looks)
            if c.verdict is not Verdict.INCONCLUSIVE or c.mde is None:
                continue  # no MDE was reported
            tries += 1
            same += _is_found(rng.permuted(times, axis=0), c.mde, looks)
            fresh += _is_found(noise(rng, runs, ROUNDS), c.mde, looks)
        enough = tries >= FEWEST_STATED
        mark = "≥ 90 %" if enough else "too few tries"
        what = f"{name}, {'with control' if runs > 2 else 'pairs'}"
        yield many(
            f"power at the stated difference, {what}", mark, same, tries, 0.90 if enough else None
        )
        yield many(f"… in other rounds, {what}", "–", fresh, tries, None)


def _is_found(times: Floats, mde: float, looks: Looks) -> bool:
    (c,) = judge_looks([(times[0] * (1 + mde), *times[1:])], looks)
    return c.verdict.worse


def _noises() -> Mapping[str, Noise]:
    def walls(source: Recorded) -> Noise:
        def draw(rng: np.random.Generator, arms: int, rounds: int) -> Floats:
            return source.shuffled(rng, rounds)[0][:arms]

        return draw

    return {**SIMULATED, **{name: walls(source) for name, source in SOURCES.items()}}


def rows_of(names: Sequence[str], count: int) -> Iterator[Row]:
    """Yield the rows of the given demands, or of all. Each uses a share of `count` replays."""
    demands_by_name = {
        "found": lambda: found_differences(max(1, count // 20)),
        "honesty": lambda: honesty(max(1, count // 10)),
        "cover": lambda: cover(max(1, count // 2)),
        "stated": lambda: stated_difference(max(1, count // 20)),
    }
    for name in names or demands_by_name:
        yield from demands_by_name[name]()

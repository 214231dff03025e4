"""A race against the fixed plan on the same synthetic rounds: saved time, remaining variants, claims."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from bench_framework.compare import stopping
from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import judge
from bench_framework.model.facts import Adjustment
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Role
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.record.run import Look
from bench_framework.model.result import race
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from tests.build import make_comparison, require
from tests.unit.judging.conftest import Study, Timing, timing

ROUNDS = 60
EFFECTS = {"a": 0.30, "b": 0.0, "c": 0.1, "d": 0.3, "e": 0.6, "f": 1.0}
"""The baseline a is itself slower than the best variant."""

WORST_FIRST = {"a": 0.3, "b": 1.0, "c": 0.6, "d": 0.3, "e": 0.1, "f": 0.0}


def race_timing(spread: float, seed: int = 0, effects: Mapping[str, float] = EFFECTS) -> Timing:
    """Return times of the arms. The control equals a unless it has an effect."""
    return timing({"control": effects["a"], **effects}, spread, seed)


LONG = race_timing(0.1, 3, {**EFFECTS, "c": 0.07})
"""Rounds in which b and c differ only late, so that their race continues."""


@dataclass
class Raced:
    """A race that is replayed to its end."""

    judgement: Judgement
    looks: list[Look]
    runs: int


def run(example: Study, wall: Timing) -> Raced:
    """Replay one input as `execution.rounds` measures it."""
    plan, every = example.plan, example.blocks(wall)
    left: dict[str, int] = {}
    taken: list[Look] = []
    here = plan.inputs[0].id
    for index, number in enumerate(looks_of(plan).rounds):
        blocks = [b for b in every if b.round <= left.get(b.cell_id, number)]
        outcome = Analysis(plan, blocks, here, index, number).report
        leaves = (outcome.trailing, outcome.settled or ())
        result = Look(here, index, number, outcome.stop, outcome.reason, *leaves)
        measured = [] if outcome.stop else [c.id for c in plan.cells if c.id not in left]
        leaving = race.leaving(plan, [*taken, result], measured, ())
        taken.append(replace(result, dropped=tuple(leaving)))
        left |= dict.fromkeys(leaving, number)
        if outcome.stop:
            break
    blocks = [b for b in every if b.round <= left.get(b.cell_id, taken[-1].round)]
    return Raced(judge(plan, blocks, {}, (), taken), taken, len(blocks))


def racing(**options: Any) -> Study:
    return Study(arms=tuple(EFFECTS), rounds=ROUNDS, measure=_policy(), **options)


def _policy(strategy: str = "race", until: str = "conclusive") -> MeasurePolicy:
    return MeasurePolicy(rounds_max=ROUNDS, strategy=strategy, until=until)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_a_race_finds_the_best_of_six_in_less_than_half_of_the_runs(seed: int) -> None:
    wall = race_timing(0.08, seed)
    example = racing()
    raced = run(example, wall)
    fixed = run(Study(arms=tuple(EFFECTS), rounds=ROUNDS, measure=_policy("fixed", "rounds")), wall)
    assert fixed.runs == 7 * ROUNDS
    assert raced.runs <= 0.45 * fixed.runs
    (result,), (expected,) = raced.judgement.best, fixed.judgement.best
    assert set(expected.cell_ids) <= set(result.cell_ids)
    assert example.cell("b").id in result.cell_ids
    assert not {example.cell(arm).id for arm in "ef"} & set(result.cell_ids)


def test_the_baseline_and_the_control_are_measured_to_the_end_though_they_lose() -> None:
    example = racing()
    raced = run(example, LONG)
    assert len(raced.looks) > 1
    last = raced.looks[-1].round
    rounds = {s.cell_id: s.rounds for s in raced.judgement.states}
    assert rounds[example.cell("a").id] == rounds[example.cell("control").id] == last
    assert rounds[example.cell("f").id] == raced.looks[0].round
    assert example.cell("a").id not in raced.judgement.best[0].cell_ids


def test_the_reason_for_dropping_a_cell_is_valid_at_the_end() -> None:
    """Its rounds are frozen while others continue. No later interim analysis may change the verdict."""
    for seed in (2, 4, 6):  # in other races all end at the first interim analysis
        raced = run(racing(), race_timing(0.1, seed))
        beaten = {c for result in raced.looks for c in result.trailing}
        assert beaten
        assert not beaten & set(raced.judgement.best[0].cell_ids)
        lost = [each for each in require(raced.judgement.race).lost if each.beaten]
        assert lost
        assert all(each.to_cell_id for each in lost)


def test_the_record_says_what_the_race_spent_and_where_each_cell_stopped() -> None:
    example = racing()
    raced = run(example, LONG)
    spent = require(raced.judgement.race)
    assert (spent.runs, spent.fixed) == (raced.runs, 7 * ROUNDS)
    texts = [c.text for c in raced.judgement.claims if c.kind in ("race", "dropped", "idle")]
    assert texts[0].startswith(f"The race took {raced.runs} runs, ")
    assert "of the 420 runs of all configurations for 60 rounds: " in texts[0]
    (claim,) = (c for c in raced.judgement.claims if c.kind == "dropped" and c.subject == "f")
    assert claim.text.startswith(f"Dropped after {raced.looks[0].round} rounds: ")
    assert claim.reference in {"b", "c"}
    assert require(claim.estimate) > 1.5
    assert claim.adjust == Adjustment("holm", 15, looks_of(example.plan).count)


def test_a_fixed_plan_has_no_race() -> None:
    fixed = run(
        Study(arms=tuple(EFFECTS), rounds=ROUNDS, measure=_policy("fixed")), race_timing(0.05)
    )
    assert fixed.judgement.race is None
    assert not any(result.trailing for result in fixed.looks)


def test_no_variant_is_dropped_while_the_control_differs() -> None:
    raced = run(racing(), race_timing(0.05, effects={**EFFECTS, "control": 0.6}))
    assert not any(result.trailing for result in raced.looks)
    assert [lost for lost in require(raced.judgement.race).lost if lost.beaten] == []


def test_equal_programs_never_leave_as_losers() -> None:
    equal = dict.fromkeys(EFFECTS, 0.0)
    losers = [run(racing(), race_timing(0.1, seed, equal)).judgement.race for seed in range(4)]
    assert [lost for example in losers if example for lost in example.lost if lost.beaten] == []


def test_the_looks_of_a_race_begin_where_a_variant_can_lose() -> None:
    looks = looks_of(racing().plan)
    assert looks.rounds[-1] == ROUNDS
    # 15 pairs share the level. n rounds have 2ⁿ labels, two of them are the most extreme ones, and
    # the main score has 80 % of the level.
    least = 2.5 * 15 * looks.count / looks.level
    assert 2.0 ** looks.rounds[0] >= least
    assert 2.0 ** (looks.rounds[0] - 1) < least or looks.rounds[0] == 12


def test_with_a_control_an_earlier_look_drops_what_is_worse_than_the_baseline() -> None:
    """Three runs per round decide a comparison with the baseline before one of two variants."""
    effects = {"a": 0.0} | dict.fromkeys(map(str, range(20)), 0.5)
    example = Study(arms=tuple(effects), rounds=ROUNDS, measure=_policy())
    raced = run(example, race_timing(0.05, effects=effects))
    assert raced.looks[0].round == 12
    assert len(raced.looks[0].trailing) == 20
    without = replace(example.plan, measure=replace(example.plan.measure, control=False))
    assert looks_of(without).rounds[0] > 12


def test_the_winner_may_come_after_the_dropped_cell_in_the_plan() -> None:
    races = [run(racing(), race_timing(0.1, seed, WORST_FIRST)) for seed in range(6)]
    dropped = [c for raced in races for c in raced.judgement.claims if c.kind == "dropped"]
    assert len(dropped) > 3
    assert all(require(c.adjust).family == 15 for c in dropped if c.reference != "a")


def test_a_comparison_mirrored_twice_is_itself() -> None:
    one = make_comparison(
        "x",
        "y",
        "wall",
        "best",
        Verdict.WORSE,
        shown=Interval(2.0, 1.6, 2.5, 0.99),
        runs=3,
        runs_ref=4,
        unadjusted=Interval(2.0, 0.0, float("inf"), 0.95),
    )
    other = one.mirrored()
    assert (other.cell_id, other.verdict, other.runs) == ("y", Verdict.BETTER, 4)
    assert other.shown == Interval(0.5, 0.4, 0.625, 0.99)
    assert other.mirrored() == one


def test_a_variant_waits_for_the_one_rival_that_it_is_likeliest_to_lose_to() -> None:
    """One significant loss drops it. A second rival would run on without an effect on the result."""
    cells = [c.id for c in racing().plan.cells if c.role is not Role.CONTROL]

    def pair(
        cell: int, ref: int, ratio: float, *, mde: float | None = 0.1, family: str = "best"
    ) -> Comparison:
        return Comparison(
            cells[cell],
            cells[ref],
            "wall",
            family,  # type: ignore[arg-type]
            Verdict.INCONCLUSIVE,
            unadjusted=Interval(ratio, ratio * 0.9, ratio * 1.1, 0.95),
            mde=mde,
            thresholds=Thresholds(0.02, 0.01),
        )

    near, far = pair(3, 1, 1.02), pair(3, 2, 1.08)
    from_the_other_side = pair(1, 4, 0.95)
    unknown, too = pair(5, 1, 1.04, mde=None), pair(5, 2, 1.2)
    headline = pair(3, 0, 1.01, family="headline")
    every = [near, far, from_the_other_side, unknown, too, headline]
    assert stopping.one_rival_each(every) == [far, from_the_other_side, unknown, headline]

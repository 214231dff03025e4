"""Replay of recorded times through the plan, looks, judgement and gate of the product."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from noise import Floats, Recorded

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.gate import compute as gate, measuring, plans
from bench_framework.features.gate.measuring import GateRule
from bench_framework.features.judge import judge
from bench_framework.features.stop_rules import ReportRule, StopRule
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import GatePolicy
from bench_framework.model.record.run import Block, Look
from bench_framework.model.result.gate import Gating
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.result.race import finishing_rounds, includes_finished, leaving
from bench_framework.store import lines
from bench_framework.store.journal import Contents
from bench_framework.workflow.run_options import plan_scenario
from tests.build import make_block

Times = Mapping[str, tuple[Floats, Floats]]
"""Cell id → wall and CPU time, one value per round, in seconds."""
Draw = Callable[[np.random.Generator, Plan, int], Times]
"""Generator, plan, rounds → times of all cells of the plan."""

REPORT = ReportRule()
MICRO = 1e-6
"""Recordings are in µs."""
LONG = 0.05
"""Median of shuffled arms in seconds; they have no unit."""

SCENARIO = """\
version: 1
name: replay
question: Is any of them slower?
worker: {{command: ["/usr/bin/true"]}}
axes:
  arm: [{arms}]
  size: [{sizes}]
input: {{dataset: prose, size: "{{size}}", seed: 42}}
command: ["{{bin}}", "{{arm}}", "{{input}}"]
baseline: {{arm: {baseline}}}
measure: {{rounds: {{min: 12, max: {rounds}}}, seed: {seed}, control: {control}}}
answer: {{compare: none}}
"""


def plan_of(
    arms: Sequence[str],
    sizes: Sequence[str] = ("1MiB",),
    *,
    baseline: str = "",
    rounds: int = 40,
    seed: int = 1,
    control: bool = False,
    gate: GatePolicy | None = None,
) -> Plan:
    """Return the plan of a user's scenario, with default margins, levels and stopping.

    Without `control` it has no A/A control, which can only remove false verdicts.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.yaml"
        text = SCENARIO.format(
            arms=", ".join(arms),
            sizes=", ".join(sizes),
            baseline=baseline or arms[0],
            rounds=rounds,
            seed=seed,
            control=str(control).lower(),
        )
        path.write_text(text, encoding="utf-8")
        # The name of the temporary folder must not be part of the plan.
        plan = replace(plan_scenario(str(path)), scenario_path="replay.yaml")
    return plan if gate is None else replace(plan, judge=replace(plan.judge, gate=gate))


def blocks_of(plan: Plan, times: Times, input_id: str, rounds: int) -> list[Block]:
    """Return the blocks of an input after `rounds` rounds."""
    items: list[Block] = []
    for number in range(rounds):
        for position, cell in enumerate(plan.cells_of(input_id)):
            wall, cpu = (float(metric[number]) for metric in times[cell.id])
            place = (len(items), number + 1, position, cell.id)
            items.append(make_block(*place, wall, user_s=cpu))
    return items


def look_of(input_id: str, index: int, number: int, outcome: LookOutcome) -> Look:
    """Return an interim analysis with its outcome."""
    idle = outcome.settled or ()
    return Look(input_id, index, number, outcome.stop, outcome.reason, idle=idle)


def measured(plan: Plan, times: Times, rule: StopRule = REPORT) -> tuple[list[Block], list[Look]]:
    """Return the blocks and looks of a record, as `execution.rounds` measures it.

    Cells that have no open comparison have every fourth round from then on, and an input stops early.
    """
    looks, blocks, taken = looks_of(plan), list[Block](), list[Look]()
    for item in plan.inputs:
        left: dict[str, int] = {}
        for index, number in enumerate(looks.rounds):
            input_blocks = [
                block
                for block in blocks_of(plan, times, item.id, number)
                if block.round <= left.get(block.cell_id, number)
                or includes_finished(plan.measure.seed, item.id, block.round)
            ]
            outcome = rule.look(Analysis(plan, input_blocks, item.id, index, number, {}, taken))
            now = look_of(item.id, index, number, outcome)
            cells = [cell.id for cell in plan.cells_of(item.id) if cell.id not in left]
            gone = () if outcome.stop else tuple(leaving(plan, [*taken, now], cells, ()))
            taken.append(replace(now, dropped=gone))
            if outcome.stop:
                break
            left |= dict.fromkeys(gone, number)
        blocks += input_blocks
    return [replace(block, seq=place) for place, block in enumerate(blocks)], taken


def judged(plan: Plan, times: Times, rule: StopRule = REPORT) -> Judgement:
    """Return the judgement of such a record."""
    blocks, taken = measured(plan, times, rule)
    return judge(plan, blocks, {}, (), taken)


def continued(plan: Plan, times: Times) -> tuple[list[Block], list[Look]]:
    """Return the blocks and looks of a record of one input that the report ended, and a gate continued."""
    blocks, taken = measured(plan, times)
    dropped = {
        cell_id: lines.Dropped(cell_id, taken[-1].input_id, number, False, "idle")
        for cell_id, number in finishing_rounds(plan, taken).items()
    }
    contents = Contents(
        lines.Header(1, "", plan.name, "", "", "", ""), blocks=blocks, looks=taken, dropped=dropped
    )
    for again in measuring.reopening_looks(plan, contents):
        dropped_ids = (tuple(c for c in look.dropped if c in again.dropped) for look in taken[:-1])
        earlier = [replace(o, dropped=ids) for o, ids in zip(taken[:-1], dropped_ids, strict=True)]
        taken, left, rounds = [*earlier, again], {*again.dropped}, looks_of(plan).rounds
        while not taken[-1].stopped:
            index, item = taken[-1].index + 1, again.input_id
            blocks += [
                block
                for block in blocks_of(plan, times, item, rounds[index])
                if block.round > taken[-1].round
                and (
                    block.cell_id not in left
                    or includes_finished(plan.measure.seed, item, block.round)
                )
            ]
            outcome = GateRule().look(Analysis(plan, blocks, item, index, rounds[index], {}, taken))
            now = look_of(item, index, rounds[index], outcome)
            cells = [cell.id for cell in plan.cells if cell.id not in left]
            gone = () if now.stopped else tuple(leaving(plan, [*taken, now], cells, ()))
            taken.append(replace(now, dropped=gone))
            left |= {*gone}
    return [replace(block, seq=place) for place, block in enumerate(blocks)], taken


def gated(
    plan: Plan, draw: Draw, rng: np.random.Generator, *, later: bool = False
) -> tuple[Gating, int]:
    """Return the result of the gate, and the rounds of the first input in both passes.

    What looks worse is measured again in newly drawn rounds. With `later`, the report ended the record.
    """
    times = draw(rng, plan, plan.measure.rounds_max)
    blocks, taken = continued(plan, times) if later else measured(plan, times, GateRule())
    header = lines.Header(1, "", plan.name, "", "", "", "")
    first = gate.first_pass(plan, Contents(header, blocks=blocks, looks=taken))
    again, rounds = plans.confirmation_plan(plan, first, "first"), _rounds_of(taken)
    if again is None:
        return first, rounds
    blocks, taken = measured(again, draw(rng, again, again.measure.rounds_max), GateRule())
    confirming = judge(again, blocks, {}, (), taken)
    return gate.second_pass(plan, first, confirming, "second"), rounds + _rounds_of(taken)


def _rounds_of(looks: Sequence[Look]) -> int:
    return max(look.round for look in looks if look.input_id == looks[0].input_id)


def relabelled(source: Recorded) -> Draw:
    """Return equal programs: two equal arms, with labels exchanged at random within each round."""

    def draw(rng: np.random.Generator, plan: Plan, rounds: int) -> Times:
        wall, cpu = source.window(rng, rounds)
        arms = zip(plan.cells, ("A", "Ac"), strict=True)
        return {cell.id: (wall[arm] * MICRO, cpu[arm] * MICRO) for cell, arm in arms}

    return draw


def real(source: Recorded, arm: str, scale: float) -> Draw:
    """Return a program with more work, `arm`, its times multiplied by `scale`, against the plain one and its copy."""
    arms = {Role.BASELINE: "A", Role.CONTROL: "Ac", Role.CANDIDATE: arm}

    def draw(rng: np.random.Generator, plan: Plan, rounds: int) -> Times:
        wall, cpu = source.window(rng, rounds)
        items = {}
        for cell in plan.cells:
            factor = MICRO * (scale if cell.role is Role.CANDIDATE else 1)
            items[cell.id] = wall[arms[cell.role]] * factor, cpu[arms[cell.role]] * factor
        return items

    return draw


def shuffled(source: Recorded) -> Draw:
    """Return equal programs: all arms of a round exchanged at random, with one window per input."""

    def draw(rng: np.random.Generator, plan: Plan, rounds: int) -> Times:
        items: dict[str, tuple[Floats, Floats]] = {}
        for item in plan.inputs:
            wall, cpu = source.shuffled(rng, rounds)
            items |= {
                cell.id: (wall[i] * LONG, cpu[i] * LONG)
                for i, cell in enumerate(plan.cells_of(item.id))
            }
        return items

    return draw

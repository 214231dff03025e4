"""Recorded times through the product's own plan, looks, judgement and gate, as if they were being measured."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from noise import Floats, Recorded

from bench_framework.compare.interim_analysis import look
from bench_framework.features.gate import compute as gate
from bench_framework.features.judge import judge
from bench_framework.model.gate import Gating
from bench_framework.model.judgement import Judgement
from bench_framework.model.looks import looks_of
from bench_framework.model.plan import Plan
from bench_framework.model.run import Block, Look
from bench_framework.workflow.scenarios import plan_scenario

Times = Mapping[str, tuple[Floats, Floats]]
"""Cell id → wall and CPU time, one value per round, in seconds."""
Draw = Callable[[np.random.Generator, Plan, int], Times]
"""Generator, plan, rounds → times of all cells of the plan."""

MICRO = 1e-6
"""Recordings are in µs."""
LONG = 0.05
"""What shuffled arms are given for a median, in seconds: they come without a unit."""

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
measure: {{rounds: {{min: 12, max: {rounds}}}, seed: {seed}, control: false}}
answer: {{compare: none}}
"""


def plan_of(
    arms: Sequence[str],
    sizes: Sequence[str] = ("1MiB",),
    *,
    baseline: str = "",
    rounds: int = 40,
    seed: int = 1,
) -> Plan:
    """A plan as a user's scenario gives it: margins, levels and stopping by default.

    Without the control arm: where it is told apart nothing is judged, so that it can only take false verdicts away.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replay.yaml"
        text = SCENARIO.format(
            arms=", ".join(arms),
            sizes=", ".join(sizes),
            baseline=baseline or arms[0],
            rounds=rounds,
            seed=seed,
        )
        path.write_text(text, encoding="utf-8")
        # The folder is gone in a moment and has another name each time.
        return replace(plan_scenario(str(path)), scenario_path="replay.yaml")


def blocks_of(plan: Plan, times: Times, input_id: str, rounds: int) -> list[Block]:
    """What a record holds of an input after so many rounds."""
    made: list[Block] = []
    for number in range(rounds):
        for position, cell in enumerate(plan.cells_of(input_id)):
            wall, cpu = (float(metric[number]) for metric in times[cell.id])
            made.append(
                Block(
                    seq=len(made),
                    round=number + 1,
                    position=position,
                    cell_id=cell.id,
                    warmup=False,
                    status="ok",
                    started_at="2026-03-02T17:04:00.000Z",
                    wall_s=(wall,),
                    user_s=cpu,
                    sys_s=0.0,
                    exit_codes=(0,),
                )
            )
    return made


def measured(plan: Plan, times: Times) -> tuple[list[Block], list[Look]]:
    """A record as `execution.rounds` makes it: each input until a look says that it may stop."""
    looks, blocks, taken = looks_of(plan), list[Block](), list[Look]()
    for item in plan.inputs:
        for index, number in enumerate(looks.rounds):
            own = blocks_of(plan, times, item.id, number)
            seen = look(plan, own, item.id, index, number)
            taken.append(Look(item.id, index, number, seen.stop, seen.reason))
            if seen.stop:
                break
        blocks += own
    return [replace(block, seq=place) for place, block in enumerate(blocks)], taken


def judged(plan: Plan, times: Times) -> Judgement:
    """The judgement of such a record."""
    blocks, taken = measured(plan, times)
    return judge(plan, blocks, {}, (), taken)


def gated(plan: Plan, draw: Draw, rng: np.random.Generator) -> Gating:
    """The gate over such a record; what looks worse is measured again in rounds that are drawn afresh."""
    blocks, taken = measured(plan, draw(rng, plan, plan.measure.rounds_max))
    first = gate.first_pass(plan, blocks, {}, (), taken)
    again = gate.confirmation_plan(plan, first, "first")
    if again is None:
        return first
    confirming = judged(again, draw(rng, again, again.measure.rounds_max))
    return gate.second_pass(plan, first, confirming, "second")


def relabelled(source: Recorded) -> Draw:
    """Equal programs: the two equal arms of a window, their labels exchanged at random within each round."""

    def draw(rng: np.random.Generator, plan: Plan, rounds: int) -> Times:
        wall, cpu = source.window(rng, rounds)
        arms = zip(plan.cells, ("A", "Ac"), strict=True)
        return {cell.id: (wall[arm] * MICRO, cpu[arm] * MICRO) for cell, arm in arms}

    return draw


def shuffled(source: Recorded) -> Draw:
    """Equal programs: every arm of a round exchanged with every other one; each input has a window of its own."""

    def draw(rng: np.random.Generator, plan: Plan, rounds: int) -> Times:
        made: dict[str, tuple[Floats, Floats]] = {}
        for item in plan.inputs:
            wall, cpu = source.shuffled(rng, rounds)
            made |= {
                cell.id: (wall[i] * LONG, cpu[i] * LONG)
                for i, cell in enumerate(plan.cells_of(item.id))
            }
        return made

    return draw

"""What must not move a verdict: names and their order, the process that judges, and a place in a round."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import replays
from demands import ROUNDS, Row, few, random_of
from noise import ARMS, recorded
from scipy.stats import chi2

from bench_framework.execution.schedule import order_of
from bench_framework.features.document import build_document
from bench_framework.features.judge import judge
from bench_framework.model.plan import Plan
from bench_framework.model.run import Host
from bench_framework.report import ReportData
from bench_framework.workflow.pages import render_files

SEEDS = 400
PLACES, ORDERED_ROUNDS = 9, 200
NAMES = {"Ac": "zebra", "B1": "yak", "B2": "mole", "B3": "cat", "B5": "ant", "A": "newt"}
"""Other names, and in alphabetical order another order."""
HOST = Host(
    "h",
    "b",
    "cpu",
    2,
    8 << 30,
    "6.1",
    "linux",
    None,
    None,
    "ext4",
    "ext4",
    "1.20.0",
    None,
    None,
    "3.11",
    "0",
)


def order() -> Row:
    """Chi-square of place × cell over 200 rounds, of many seeds: one in a hundred lies beyond the 99 % point."""
    limit = float(chi2.ppf(0.99, (PLACES - 1) ** 2))
    cells = [f"cell-{n}" for n in range(PLACES)]
    beyond = 0
    for seed in range(SEEDS):
        places = [
            order_of(seed, "input", n, cells, warmup=False) for n in range(1, ORDERED_ROUNDS + 1)
        ]
        again = [
            order_of(seed, "input", n, reversed(cells), warmup=False)
            for n in range(1, ORDERED_ROUNDS + 1)
        ]
        assert places == again  # the same seed gives the same order, however the cells are listed
        counts = Counter((i, cell) for found in places for i, cell in enumerate(found))
        expected = ORDERED_ROUNDS / PLACES
        squares = sum(
            (counts[i, cell] - expected) ** 2 / expected for i in range(PLACES) for cell in cells
        )
        # A round fills every place once: the counts vary less than those of free draws.
        beyond += squares * (PLACES - 1) / PLACES > limit
    demand = f"order: seeds whose {ORDERED_ROUNDS} rounds are not uniform at 1 % ({PLACES} cells)"
    # 10 of 400 or more have a chance below 1 % if the order is uniform.
    return few(demand, "≤ 9 of 400", beyond, SEEDS, 9 / 400)


def renaming(count: int) -> Row:
    """Every arm under another name, listed in another order, on the same rounds: each verdict and figure the same."""
    moved = 0
    first = replays.plan_of(ARMS, baseline="A")
    other = replays.plan_of(sorted(NAMES.values()), baseline=NAMES["A"])
    for replay in range(count):
        work = ("cpu", "wc", "mt", "dio")[replay % 4]
        wall, cpu = recorded(work).window(random_of(replay, "renaming"), ROUNDS)
        told = []
        for plan, names in ((first, {arm: arm for arm in ARMS}), (other, NAMES)):
            own = {
                names[arm]: (wall[arm] * replays.MICRO, cpu[arm] * replays.MICRO) for arm in ARMS
            }
            told.append(_verdicts(plan, own, {name: arm for arm, name in names.items()}))
        moved += told[0] != told[1]
    return few(
        "renamed and reordered variants: records in which a verdict moved", "0", moved, count, 0.0
    )


def _verdicts(
    plan: Plan, own: dict[str, tuple[np.ndarray, np.ndarray]], arm_of: dict[str, str]
) -> object:
    """Verdicts, intervals, p values and the best group, by the recording's names of the arms."""
    label = {c.id: plan.variant(c.variant_id).label for c in plan.cells}
    found = replays.judged(plan, {c.id: own[label[c.id]] for c in plan.cells})
    return (
        {
            (arm_of[label[c.cell_id]], c.metric): (
                str(c.verdict),
                c.shown,
                c.typical,
                c.floor,
                c.p_adjusted,
            )
            for c in found.comparisons
        },
        sorted(arm_of[label[cell]] for group in found.best for cell in group.cell_ids),
        found.status,
    )


def determinism() -> Row:
    """One record judged and reported by processes whose hashes are seeded apart: every byte the same."""
    told = set()
    for seed in ("0", "1", "4711"):
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("acceptance.py")), "--fingerprint"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(done.stdout.strip())
    demand = "determinism: three processes, other hash seeds: different verdicts or reports"
    return Row(
        demand, "0", str(len(told) - 1), told.pop()[:12] if len(told) == 1 else "–", len(told) <= 1
    )


def fingerprint() -> str:
    """SHA-256 over a judgement and over the files of its report."""
    plan = replays.plan_of(ARMS, baseline="A")
    wall, cpu = recorded("wc").window(random_of(0, "determinism"), ROUNDS)
    times = {
        c.id: (wall[name] * replays.MICRO, cpu[name] * replays.MICRO)
        for c in plan.cells
        for name in [plan.variant(c.variant_id).label]
    }
    blocks, taken = replays.measured(plan, times)
    judgement = judge(plan, blocks, {}, (), taken)
    data = ReportData(
        plan=plan,
        judgement=judgement,
        builds=(),
        inputs=(),
        host=HOST,
        blocks=tuple(blocks),
        record_id="20260302T1704Z",
        started="2026-03-02T17:04:00Z",
        finished="2026-03-02T17:05:00Z",
    )
    files = render_files(data, build_document(data))
    made = hashlib.sha256(repr(judgement).encode())
    for name in sorted(files):
        made.update(name.encode() + files[name].encode())
    return made.hexdigest()


def rows(count: int) -> Iterator[Row]:
    """All of them."""
    yield order()
    yield renaming(count)
    yield determinism()

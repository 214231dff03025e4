"""Invariance of verdicts: names and order of variants, process, and position in a round."""

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
from bench_framework.model.plan.plan import Plan
from bench_framework.report.context import ReportData
from bench_framework.store.journal import Contents
from bench_framework.store.lines import Header
from bench_framework.workflow.pages import render_files
from tests.unit.machine import HOST

SEEDS = 400
PLACES, ORDERED_ROUNDS = 9, 200
NAMES = {"Ac": "zebra", "B1": "yak", "B2": "mole", "B3": "cat", "B5": "ant", "A": "newt"}
"""Other names, whose alphabetical order differs."""


def order() -> Row:
    """Test the uniformity of position × cell over 200 rounds, for many seeds, by chi-square at 1 %."""
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
        assert places == again  # the order depends on the seed, not on the order of the cells
        counts = Counter((i, cell) for sequence in places for i, cell in enumerate(sequence))
        expected = ORDERED_ROUNDS / PLACES
        squares = sum(
            (counts[i, cell] - expected) ** 2 / expected for i in range(PLACES) for cell in cells
        )
        # Every round fills each position once, so that counts vary less than in independent draws.
        beyond += squares * (PLACES - 1) / PLACES > limit
    demand = f"order: seeds whose {ORDERED_ROUNDS} rounds are not uniform at 1 % ({PLACES} cells)"
    # If the order is uniform, 10 or more of 400 have a probability below 1 %.
    return few(demand, "≤ 9 of 400", beyond, SEEDS, 9 / 400)


def renaming(count: int) -> Row:
    """Judge the same rounds with other names and another order of the variants."""
    moved = 0
    first = replays.plan_of(ARMS, baseline="A")
    other = replays.plan_of(sorted(NAMES.values()), baseline=NAMES["A"])
    for replay in range(count):
        work = ("cpu", "wc", "mt", "dio")[replay % 4]
        wall, cpu = recorded(work).window(random_of(replay, "renaming"), ROUNDS)
        outcomes = []
        for plan, names in ((first, {arm: arm for arm in ARMS}), (other, NAMES)):
            times_by_name = {
                names[arm]: (wall[arm] * replays.MICRO, cpu[arm] * replays.MICRO) for arm in ARMS
            }
            outcomes.append(
                _verdicts(plan, times_by_name, {name: arm for arm, name in names.items()})
            )
        moved += outcomes[0] != outcomes[1]
    return few(
        "renamed and reordered variants: records in which a verdict moved", "0", moved, count, 0.0
    )


def _verdicts(
    plan: Plan, times_by_name: dict[str, tuple[np.ndarray, np.ndarray]], arm_of: dict[str, str]
) -> object:
    """Return verdicts, intervals, p-values and the best group by the recording's names."""
    label = {c.id: plan.variant(c.variant_id).label for c in plan.cells}
    judgement = replays.judged(plan, {c.id: times_by_name[label[c.id]] for c in plan.cells})
    return (
        {
            (arm_of[label[c.cell_id]], c.metric): (
                str(c.verdict),
                c.shown,
                c.unadjusted,
                c.p_adjusted,
            )
            for c in judgement.comparisons
        },
        sorted(arm_of[label[cell]] for group in judgement.best for cell in group.cell_ids),
        judgement.status,
    )


def determinism() -> Row:
    """Judge and report one record in processes with different hash seeds, and compare the bytes."""
    outcomes = set()
    for seed in ("0", "1", "4711"):
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("acceptance.py")), "--fingerprint"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outcomes.add(done.stdout.strip())
    return Row(
        "determinism: three processes, other hash seeds: different verdicts or reports",
        "0",
        str(len(outcomes) - 1),
        outcomes.pop()[:12] if len(outcomes) == 1 else "–",
        len(outcomes) <= 1,
    )


def fingerprint() -> str:
    """Return the SHA-256 of a judgement and of the files of its report."""
    plan = replays.plan_of(ARMS, baseline="A")
    wall, cpu = recorded("wc").window(random_of(0, "determinism"), ROUNDS)
    times = {
        c.id: (wall[name] * replays.MICRO, cpu[name] * replays.MICRO)
        for c in plan.cells
        for name in [plan.variant(c.variant_id).label]
    }
    blocks, taken = replays.measured(plan, times)
    judgement = judge(plan, blocks, {}, (), taken)
    header = Header(1, "20260302T1704Z", "made", "", "", "2026-03-02T17:04:00Z", "0.1.0")
    data = ReportData(
        plan=plan,
        judgement=judgement,
        contents=Contents(header, HOST, blocks=blocks, ended_at="2026-03-02T17:05:00Z"),
    )
    files = render_files(data, build_document(data))
    digest = hashlib.sha256(repr(judgement).encode())
    for name in sorted(files):
        digest.update(name.encode() + files[name].encode())
    return digest.hexdigest()


def rows(count: int) -> Iterator[Row]:
    """Yield all rows."""
    yield order()
    yield renaming(count)
    yield determinism()

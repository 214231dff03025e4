"""Document 003: two executors, two sessions, five edits. Its figures are imported: mean ± sd
and n.
"""

from __future__ import annotations

import math
import random
import re

from bench_framework.model.policies import MeasurePolicy
from bench_framework.model.verdict import Verdict
from tests.unit.checklist.conftest import of, say, take_over
from tests.unit.judging.conftest import Study

HEAD = "label,mean,sd,n,unit\n"
BEFORE = HEAD + "Smol,177.1,7.5,100,ms\nOptimizedSmol,191.2,13.7,100,ms\n"
AFTER = HEAD + "Smol,205.4,16.7,20,ms\nOptimizedSmol,201.7,14.3,20,ms\n"


def test_1_02x_faster_and_equivalent_is_inconclusive_with_the_runs_that_would_decide() -> None:
    """0.982 [0.935, 1.032] of 20 runs per side. About 280 would be conclusive for the same
    estimate.
    """
    told = take_over(AFTER)
    assert of(told, "OptimizedSmol").verdict is Verdict.INCONCLUSIVE
    text = told.of("comparison")[0]
    assert text.startswith(
        "Within one session, not interleaved: OptimizedSmol vs Smol is inconclusive: "
    )
    assert "−1.8 % [−6.5, +3.2]; " in text
    assert text.endswith("(20 runs each)")
    assert "about 280 runs per command would detect it" in text
    assert "| 0.982 | [0.935, 1.032] |" in told.page
    told.never_says(r"1\.02x", r"equivalent", r"less time", r"improvement", r"best: ")


def test_the_same_in_rounds_is_inconclusive_too() -> None:
    made = Study(arms=("smol", "optimised"), rounds=20, measure=MeasurePolicy(rounds_max=20))
    noisy = random.Random(3)
    told = say(
        made,
        made.blocks(
            lambda a, *_: (0.982 if a == "optimised" else 1) * math.exp(noisy.gauss(0, 0.08))
        ),
    )
    found = of(told, "optimised")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.rounds_needed is None or found.rounds_needed > 100
    text = next(t for t in told.of("comparison") if "CPU" not in t)
    assert text.startswith("optimised vs smol is inconclusive")
    assert re.search(r"this run could only detect differences of \d+ % or more", text)
    told.never_says(r"less time", r"faster by", r"optimised and smol are equivalent")


def test_8_percent_overhead_of_the_first_session_holds_in_that_session() -> None:
    told = take_over(BEFORE)
    assert of(told, "OptimizedSmol").verdict is Verdict.WORSE
    assert told.of("comparison") == [
        (
            "Within one session, not interleaved: "
            "OptimizedSmol is 8.0 % slower than Smol [6.2, 9.8] (100 runs each)"
        )
    ]
    assert told.judged.status == "exploratory"


def test_before_and_after_in_two_sessions_are_not_compared() -> None:
    told = take_over(BEFORE, AFTER)
    assert told.of("sessions")[0].startswith("Times of different sessions are not compared")
    sides = {(c.cell_id, c.ref_cell_id) for c in told.judged.comparisons}
    assert len(sides) == 2
    told.never_says(
        r"OptimizedSmol (is|takes) .* than OptimizedSmol", r"eliminated", r"regression", r"5\.5 %"
    )


def test_primary_cause_is_not_said_of_five_edits_made_at_once() -> None:
    """Published figures and records report how a variant differs, but never a cause."""
    causes = (r"cause", r"because", r"due to", r"overhead", r"thanks to")
    take_over(BEFORE, AFTER).never_says(*causes)
    made = Study(arms=("smol", "five edits"))
    noisy = random.Random(5)
    told = say(
        made,
        made.blocks(
            lambda a, *_: (1.08 if a == "five edits" else 1) * math.exp(noisy.gauss(0, 0.01))
        ),
    )
    assert of(told, "five edits").verdict is Verdict.WORSE
    assert re.search(r"five edits is \d\.\d+ % slower than smol", told.claims)
    told.never_says(*causes)

"""Document 003: two executors, two sessions, five edits. Its figures are imported: mean ± sd and n."""

import math
import random
import re

from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.verdict import Verdict
from tests.unit.checklist.conftest import headline, import_tables, judge_and_report
from tests.unit.judging.conftest import Study

HEAD = "label,mean,sd,n,unit\n"
BEFORE = HEAD + "Smol,177.1,7.5,100,ms\nOptimizedSmol,191.2,13.7,100,ms\n"
AFTER = HEAD + "Smol,205.4,16.7,20,ms\nOptimizedSmol,201.7,14.3,20,ms\n"


def test_1_02x_faster_and_equivalent_is_inconclusive_with_the_runs_that_would_decide() -> None:
    """0.982 [0.935, 1.032] of 20 runs per side. About 280 would be conclusive for the same estimate."""
    report = import_tables(AFTER)
    assert headline(report, "OptimizedSmol").verdict is Verdict.INCONCLUSIVE
    text = report.claims_of("comparison")[0]
    assert text.startswith(
        "Within one session, not interleaved: OptimizedSmol vs Smol is inconclusive: "
    )
    assert "−1.8 % [−6.5, +3.2]; " in text
    assert text.endswith("(20 runs each).")
    assert "about 280 runs per command would detect it" in text
    assert "| 0.982 | [0.935, 1.032] |" in report.page
    report.never_says(r"1\.02x", r"equivalent", r"less time", r"improvement", r"best: ")


def test_the_same_in_rounds_is_inconclusive_too() -> None:
    study = Study(arms=("smol", "optimised"), rounds=20, measure=MeasurePolicy(rounds_max=20))
    noisy = random.Random(3)
    factors = {"optimised": 0.982}
    blocks = study.blocks(lambda a, *_: factors.get(a, 1) * math.exp(noisy.gauss(0, 0.08)))
    report = judge_and_report(study, blocks)
    comparison = headline(report, "optimised")
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.rounds_needed is None  # more than 1000
    text = next(t for t in report.claims_of("comparison") if "CPU" not in t)
    assert text.startswith("optimised vs smol is inconclusive")
    assert re.search(r"this comparison could only detect differences of \d+ % or more", text)
    report.never_says(r"less time", r"faster by", r"optimised is equivalent to smol")


def test_8_percent_overhead_is_reported_for_the_first_session_only() -> None:
    report = import_tables(BEFORE)
    assert headline(report, "OptimizedSmol").verdict is Verdict.WORSE
    assert report.claims_of("comparison") == [
        (
            "Within one session, not interleaved: "
            "OptimizedSmol is 8.0 % slower than Smol [6.2, 9.8] (100 runs each)."
        )
    ]
    assert report.judgement.status == "exploratory"


def test_before_and_after_in_two_sessions_are_not_compared() -> None:
    report = import_tables(BEFORE, AFTER)
    assert report.claims_of("sessions")[0].startswith(
        "Times of different sessions are not compared"
    )
    assert len({(c.cell_id, c.ref_cell_id) for c in report.judgement.comparisons}) == 2
    report.never_says(
        r"OptimizedSmol (is|takes) .* than OptimizedSmol", r"eliminated", r"regression", r"5\.5 %"
    )


def test_primary_cause_of_five_edits_at_once_is_not_reported() -> None:
    """Published figures and records report how a variant differs, but never a cause."""
    causes = (r"cause", r"because", r"due to", r"overhead", r"thanks to")
    import_tables(BEFORE, AFTER).never_says(*causes)
    study = Study(arms=("smol", "five edits"))
    noisy = random.Random(5)
    factors = {"five edits": 1.08}
    blocks = study.blocks(lambda a, *_: factors.get(a, 1) * math.exp(noisy.gauss(0, 0.01)))
    report = judge_and_report(study, blocks)
    assert headline(report, "five edits").verdict is Verdict.WORSE
    assert re.search(r"five edits is \d\.\d+ % slower than smol", report.claims)
    report.never_says(*causes)

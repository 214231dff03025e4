"""Document 004: experiments on one engine, with the reasons for adopting each of them or not."""

import math
import random
from dataclasses import replace

import pytest

from bench_framework.model.plan.declarations import Experiment
from bench_framework.model.record.run import Answer
from bench_framework.model.verdict import Verdict
from tests.build import require
from tests.unit.checklist.conftest import draw, headline, import_tables, judge_and_report
from tests.unit.judging.conftest import Study, changed

T_VALUES = {"200 concurrent": 1.90, "256 KB": 0.83, "10 MB threshold": 1.53}
RUNS, SPREAD, MEAN = 20, 12.0, 239.8


def table() -> str:
    """Return figures with the t values of the three experiments: mean ± sd of 20 runs each."""
    rows = [f"kept,{MEAN},{SPREAD},{RUNS},ms"]
    error = SPREAD / MEAN * math.sqrt(2 / RUNS)
    for name, t in T_VALUES.items():
        mean = MEAN * math.exp(t * error)
        rows.append(f"{name},{mean:.6f},{SPREAD * mean / MEAN:.6f},{RUNS},ms")
    return "label,mean,sd,n,unit\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("experiment", T_VALUES)
def test_made_performance_worse_is_inconclusive_for_experiments_with_a_t_below_2(
    experiment: str,
) -> None:
    report = import_tables(table())
    comparison = headline(report, experiment)
    assert 0.05 < require(comparison.p) < 0.5
    assert comparison.verdict is Verdict.INCONCLUSIVE
    text = next(t for t in report.claims_of("comparison") if f"{experiment} vs kept" in t)
    assert "is inconclusive" in text
    assert "this comparison could only detect" in text
    report.never_says(
        rf"{experiment} (takes|is \d)",
        r"more time",
        r"% slower",
        r"worse",
        r"degrad",
        r"contention",
    )


def test_not_adopted_takes_its_reason_from_the_verdict() -> None:
    """The author calls each "worse". The table reports "inconclusive", and the author's text is separate."""
    study = Study(arms=("kept", *T_VALUES))
    noisy = random.Random(4)
    blocks = study.blocks(lambda *_: math.exp(noisy.gauss(0, 0.1)))
    experiments = tuple(
        Experiment(v.label, v.id, (("arm", v.label),), why="worse", decision="rejected")
        for v in study.plan.variants[1:]
    )
    report = judge_and_report(study, blocks, plan=replace(study.plan, experiments=experiments))
    (line,) = report.claims_of("experiments")
    assert line.startswith("Inconclusive: 200 concurrent, ")
    rows = [
        line for line in report.page.splitlines() if line.startswith("| ") and "; worse |" in line
    ]
    assert len(rows) == len(T_VALUES)
    assert all("inconclusive" in row.lower() and "slower" not in row for row in rows)


def test_an_experiment_that_was_slower_is_not_adopted_as_slower() -> None:
    study = Study(arms=("kept", "256 KB"))
    blocks = study.blocks(lambda a, i, r: draw(a, i, r) * (1.031 if a == "256 KB" else 1))
    experiments = (
        Experiment(
            "larger buffers", study.plan.variants[1].id, (("arm", "256 KB"),), decision="rejected"
        ),
    )
    report = judge_and_report(study, blocks, plan=replace(study.plan, experiments=experiments))
    (line,) = report.claims_of("experiments")
    assert line.startswith("Slower than kept: larger buffers (3.08 % more time [")


def test_mimalloc_1_59x_slower_has_another_output() -> None:
    """One process ran two searches, the other ran one. Their answers differ, so that no ratio
    of their times is reported.
    """
    study = Study(arms=("jemalloc", "mimalloc"))
    other = study.cell("mimalloc").id
    blocks = study.blocks(lambda a, i, r: draw(a, i, r) * (1.59 if a == "mimalloc" else 1))
    report = judge_and_report(study, changed(blocks, other, answer=Answer("two searches", 2)))
    assert headline(report, "mimalloc").verdict is Verdict.OTHER_OUTPUT
    assert (
        "mimalloc printed a different result than jemalloc; its time is not compared"
        in report.claims
    )
    report.never_says(r"1\.59", r"mimalloc (takes|uses|is \d)")


def test_17_percent_and_21_percent_of_bare_means_have_no_verdict() -> None:
    """The document's table has means without spread and number of runs. They are values, and nothing is compared."""
    report = import_tables(
        "label,mean,unit\nRayon,198.2,ms\nTokio (original),288.6,ms\nTokio (optimized),239.8,ms\n",
        baseline="Tokio (original)",
    )
    assert {c.verdict for c in report.judgement.comparisons if c.family == "headline"} == {
        Verdict.INCONCLUSIVE
    }
    for row in ("Rayon | 198 |", "Tokio (optimized) | 240 |", "Tokio (original) | 289 |"):
        assert f"| {row} " in report.page
    report.never_says(r"17 %", r"21 %", r"less time", r"more time", r"% slower", r"best", r"±")

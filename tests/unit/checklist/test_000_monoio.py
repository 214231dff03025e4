"""Document 000: asynchronous input in a word counter."""

import math
import re
from dataclasses import replace

from bench_framework.features.judge import judge
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.record.run import Receipt
from bench_framework.model.verdict import Verdict
from tests.unit.checklist.conftest import draw, headline, judge_and_report
from tests.unit.judging.conftest import Study, changed

NEGATIVE = (
    r"no (performance )?regression",
    r"unchanged",
    r"identical",
    r"negligible",
    r"no overhead",
    r"as fast as",
)
"""Words of a result that only a demonstrated equivalence permits."""


def test_no_performance_regression_needs_the_version_before() -> None:
    """Only the version after the change was measured, so that no claim is about the one before."""
    study = Study(arms=("after",))
    report = judge_and_report(study, study.blocks(draw, rss=lambda *_: 216.9e6))
    report.never_says(*NEGATIVE, r"(?<!after \(control\) )is equivalent to")
    assert report.claims_of("nothing") == ["Nothing is conclusive: there is nothing to compare."]
    assert not report.claims_of("comparison")


def test_no_performance_regression_is_an_equivalence_where_it_was_measured() -> None:
    study = Study(arms=("before", "after"))
    report = judge_and_report(study, study.blocks(draw))
    report.never_says(*NEGATIVE)
    assert headline(report, "after").verdict is Verdict.EQUIVALENT
    assert any(
        text.startswith("after takes as long as before (within ±2 %): ")
        for text in report.claims_of("comparison")
    )


def test_memory_unchanged_needs_a_measured_reference() -> None:
    """The same for memory: 216.9 MB is reported as a value without a comparison."""
    alone = Study(arms=("after",))
    report = judge_and_report(alone, alone.blocks(draw, rss=lambda *_: 216.9e6))
    assert not report.claims_of("memory")
    report.never_says(*NEGATIVE)
    assert report.claims_of("memory-share") == ["after uses 207 MiB of memory at its peak."]
    both = Study(arms=("before", "after"))
    report = judge_and_report(
        both, both.blocks(draw, rss=lambda a, i, r: 216.9e6 * draw(a, i, r, 0.001))
    )
    assert report.claims_of("memory")[0].startswith(
        "after is equivalent to before in memory (within ±5 %): "
    )


def test_monoio_async_io_that_read_with_fs_read_is_refused() -> None:
    """The receipt reports another mode than the requested one. The actual mode is shown, and
    the configuration is not compared.
    """
    study = Study(arms=("stream", "monoio"))
    fake = (Receipt(effective={"arm": "slurp"}),)
    blocks = study.blocks(lambda a, i, r: draw(a, i, r) * (177.1 / 1698 if a == "monoio" else 1))
    blocks = changed(blocks, study.cell("monoio").id, receipts=fake)
    report = judge_and_report(study, blocks)
    assert headline(report, "monoio").verdict is Verdict.NOT_COMPARABLE
    assert "arm: requested monoio, actual slurp" in report.claims
    report.never_says(r"9\.[56]\d*× faster", r"best: monoio", r"use monoio")


SCALING = {
    "10MiB": 0.0,
    "50MiB": 0.74 * math.log(5),
    "200MiB": 0.74 * math.log(5) + 0.96 * math.log(4),
}
"""Logarithms of times with scaling exponents 0.74 and 0.96."""


def test_scales_linearly_is_sub_linear_where_the_exponent_is_0_74() -> None:
    study = Study(arms=("in-memory", "mmap"), sizes=(10, 50, 200))
    report = judge_and_report(
        study, study.blocks(lambda a, i, r: draw(a, i, r) * math.exp(SCALING[i]))
    )
    report.never_says(r"scales linearly", r"from 10MiB to 50MiB.*, linear")
    first = next(t for t in report.claims_of("scaling") if "in-memory, from 10MiB to 50MiB: " in t)
    assert "exponent 0.7" in first
    assert first.endswith(", sub-linear).")


def test_scales_linearly_is_not_classified_where_the_largest_file_is_another_text() -> None:
    study = Study(arms=("in-memory", "mmap"), sizes=(10, 50, 200))
    blocks = study.blocks(lambda a, i, r: draw(a, i, r) * math.exp(SCALING[i]))
    prepared = study.inputs()
    prepared[2] = replace(prepared[2], family="other")
    mixed = judge(study.plan, blocks, {}, prepared, study.looks())
    assert {s.word for s in mixed.scaling} == {"not classified"}
    assert not [c for c in mixed.claims if "linear" in c.text]


def test_scales_linearly_is_super_linear_for_5_1_times_the_time_for_4_times_the_data() -> None:
    study = Study(arms=("stream", "other"), sizes=(10, 50, 200))
    times = {"10MiB": 1.0, "50MiB": 5.0, "200MiB": 5.0 * 5.1}
    report = judge_and_report(study, study.blocks(lambda a, i, r: draw(a, i, r, 0.002) * times[i]))
    last = next(t for t in report.claims_of("scaling") if "stream, from 50MiB to 200MiB: " in t)
    assert last.endswith(", super-linear).")


def test_parallel_stream_1_7_times_faster_changes_sign_between_two_sizes() -> None:
    """7.8 % slower at 10 MB and 40 % faster at 200 MB. No sentence pools the two."""
    study = Study(arms=("stream", "parallel"), sizes=(10, 200))
    ratio = {"10MiB": 1.078, "200MiB": 1012 / 1698}
    report = judge_and_report(
        study, study.blocks(lambda a, i, r: draw(a, i, r) * (ratio[i] if a == "parallel" else 1))
    )
    changes = report.claims_of("sign-change")
    change = next(t for t in changes if t.startswith("parallel vs stream depends on the input"))
    assert "10MiB: +7.79" in change
    assert "200MiB: −40.4" in change
    assert change.endswith("the sign changes between 10MiB and 200MiB.")
    for text in (*report.claims_of("main"), *report.claims_of("recommendation")):
        assert re.match(r"(On|best on) (10|200)MiB", text), text
    report.never_says(r"1\.7x faster")


def test_the_memory_table_of_one_run_per_row_has_values_and_no_verdict() -> None:
    sizes = {"stream": 33.7e6, "parallel": 397.9e6, "in-memory": 216.9e6, "mmap": 218.6e6}
    study = Study(arms=tuple(sizes), rounds=1, measure=MeasurePolicy(rounds_min=1, rounds_max=1))
    report = judge_and_report(study, study.blocks(draw, rss=lambda a, *_: sizes.get(a, 33.7e6)))
    for arm in ("parallel", "in-memory", "mmap"):
        assert headline(report, arm, "peak_rss").verdict is Verdict.SINGLE_RUN
    assert "in-memory uses 207 MiB of memory at its peak." in report.claims_of("memory-share")
    assert all("no verdict" in t for t in report.claims_of("memory"))
    report.never_says(*NEGATIVE, r"(more|less|as much) memory", "±")
    assert report.judgement.status == "exploratory"

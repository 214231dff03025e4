"""Tests of the comparison of several hosts: agreement, random effects, and the page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_framework.extensions.fleet.host_comparison import (
    HostComparison,
    HostRecord,
    compare_hosts,
)
from bench_framework.extensions.fleet.page import document, with_sentences
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import CONTROL_DIFFERS
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.blocks import Table
from bench_framework.report.render import terminal
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from tests.build import make_comparison
from tests.unit.machine import HOST, SCENARIO

PLAN = expand(load(Path("s.yaml"), text=SCENARIO))
NARROW = 0.01
Given = tuple[float, Verdict] | None


def comparison(plan: Plan, ratio: float, verdict: Verdict) -> Comparison:
    base, other = plan.cells[0], plan.cells[1]
    interval = Interval(ratio, ratio * (1 - NARROW), ratio * (1 + NARROW), 0.95)
    adjusted = replace(interval, lo=ratio * 0.98, hi=ratio * 1.02, level=0.998)
    return make_comparison(
        other.id, base.id, "wall", "headline", verdict, shown=adjusted, unadjusted=interval
    )


def judged(plan: Plan, *comparisons: Comparison) -> Judgement:
    return Judgement(looks_of(plan), (), (), comparisons, (), (), (), "conclusive")


def host(number: int, given: Given, *, kernel: str = "6.1", **changed: Any) -> HostRecord:
    """Return the record of a host with one comparison, or with none."""
    judged_pairs = [] if given is None else [replace(comparison(PLAN, *given), **changed)]
    control = replace(comparison(PLAN, 1.0, Verdict.EQUIVALENT), family="control")
    machine = replace(HOST, host_id=f"id-{number}", kernel=kernel)
    judgement = judged(
        PLAN, *judged_pairs, control, replace(control, family="headline", metric="cpu")
    )
    return HostRecord(f"rack-{number}", f"20260302T170{number}Z", machine, PLAN, judgement)


def compared(*given: Given) -> HostComparison:
    return compare_hosts([host(number, one) for number, one in enumerate(given, 1)])


def text(*given: Given) -> str:
    (one,) = with_sentences(compared(*given)).comparisons
    return f"{one.agreement}: {one.text}"


SLOWER, FASTER = (1.2, Verdict.WORSE), (0.8, Verdict.BETTER)
SIZE, OPEN = (1.03, Verdict.WORSE_SIZE_UNCERTAIN), (1.01, Verdict.INCONCLUSIVE)
EQUAL, OTHER = (1.0, Verdict.EQUIVALENT), (1.0, Verdict.OTHER_OUTPUT)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((SLOWER, SLOWER), "agrees: b vs a: slower on both hosts"),
        ((SLOWER, SIZE, SLOWER), "agrees: b vs a: slower on all 3 hosts"),
        ((OTHER, OTHER), "agrees: b vs a: other output on both hosts"),
        (
            (SLOWER, FASTER, SLOWER),
            "depends: b vs a depends on the host: slower on rack-1, rack-3; faster on rack-2",
        ),
        (
            (EQUAL, SIZE),
            (
                "overlap: b vs a: equivalent on rack-1; slower on rack-2. The intervals overlap, so the "
                "ratios may be equal"
            ),
        ),
        (
            (EQUAL, SIZE, SLOWER),
            "depends: b vs a depends on the host: equivalent on rack-1; slower on rack-2, rack-3",
        ),
        (
            (OTHER, SLOWER),
            "depends: b vs a depends on the host: other output on rack-1; slower on rack-2",
        ),
        (
            (SLOWER, OPEN, FASTER),
            (
                "depends: b vs a depends on the host: slower on rack-1; inconclusive on rack-2; "
                "faster on rack-3"
            ),
        ),
        ((SLOWER, OPEN), "inconclusive: b vs a: slower on rack-1; inconclusive on rack-2"),
        ((OPEN, OPEN), "inconclusive: b vs a: inconclusive on both hosts"),
        ((SLOWER, None), "inconclusive: b vs a: slower on rack-1; not measured on rack-2"),
    ],
)
def test_the_sentence_names_the_hosts(given: tuple[Given, ...], expected: str) -> None:
    assert text(*given) == expected


def test_a_page_depends_on_the_host_if_one_comparison_does() -> None:
    assert compared(SLOWER, SLOWER).agreement == "agrees"
    assert compared(SLOWER, FASTER).agreement == "depends"
    assert document(compared(SLOWER, FASTER)).status == "host-dependent"
    assert document(compared(SLOWER, OPEN)).status == "inconclusive"
    assert document(compared(EQUAL, SIZE)).status == "verdicts differ"
    assert document(compared(None, None)).status == "not comparable"


def test_three_hosts_of_one_kind_have_random_effects() -> None:
    """By hand: log ratios ln 1.1, ln 1.2 and ln 1.3 of equal precision, and t(0.975; 2) = 4.303."""
    (one,) = compared((1.1, Verdict.WORSE), SLOWER, (1.3, Verdict.WORSE)).comparisons
    (kind,) = one.kinds
    assert kind.hosts == ("rack-1", "rack-2", "rack-3")
    assert kind.interval.ratio == pytest.approx(1.19722, abs=1e-5)  # the geometric mean
    # The log ratios have the standard deviation 0.08355; error: 0.08355 ÷ √3 = 0.04824.
    assert kind.interval.lo == pytest.approx(1.19722 / 1.23066, rel=2e-5)
    assert kind.interval.hi == pytest.approx(1.19722 * 1.23066, rel=2e-5)
    # √(0.08355² − 0.0051²) = 0.08340, and e to that is 1.0870.
    assert kind.between == pytest.approx(0.0870, abs=1e-4)


def test_two_hosts_or_three_kinds_have_none() -> None:
    assert not compared(SLOWER, SLOWER).comparisons[0].kinds
    kernels = ("6.1", "6.2", "6.3")
    hosts = [host(n, SLOWER, kernel=kernel) for n, kernel in enumerate(kernels, 1)]
    result = compare_hosts(hosts)
    assert not result.comparisons[0].kinds
    page = terminal.render(document(result), width=80)
    assert "it needs 3 hosts of one kind" in page


def test_each_kind_has_its_own_summary() -> None:
    hosts = [host(n, SLOWER, kernel="6.1" if n < 4 else "6.8") for n in range(1, 8)]
    (one,) = compare_hosts(hosts).comparisons
    assert [len(kind.hosts) for kind in one.kinds] == [3, 4]
    assert one.agreement == "agrees"


def test_a_host_whose_control_differs_is_not_in_the_summary() -> None:
    hosts = [host(n, SLOWER) for n in (1, 2, 3)]
    hosts.append(host(4, (1.9, Verdict.INCONCLUSIVE), reason=CONTROL_DIFFERS))
    (one,) = compare_hosts(hosts).comparisons
    assert one.kinds[0].hosts == ("rack-1", "rack-2", "rack-3")
    assert one.results[3].reason == CONTROL_DIFFERS


def test_verdict_and_interval_are_those_of_the_record() -> None:
    """The record has a verdict that no rule would give for this interval."""
    (one,) = compared((1.5, Verdict.EQUIVALENT), (1.5, Verdict.EQUIVALENT)).comparisons
    assert [r.verdict for r in one.results] == [Verdict.EQUIVALENT] * 2
    assert one.results[0].interval == Interval(1.5, 1.5 * 0.98, 1.5 * 1.02, 0.998)


def test_the_page_has_a_row_per_host_and_a_sentence_per_comparison() -> None:
    page = terminal.render(document(compared(SLOWER, FASTER, None)), width=80)
    assert "1 comparison: 1 with verdicts that depend on the host" in page
    rows = [line.split() for line in page.splitlines() if line.startswith(" rack-")]
    assert rows[0] == ["rack-1", "1.200", "[1.176,", "1.224]", "▲", "slower"]
    assert rows[1][:2] == ["rack-2", "0.800"]
    assert rows[2] == ["rack-3", "—", "—"]
    assert "rack-3: not measured" in page
    assert page.count("20260302T170") == 3
    narrow = terminal.render(document(compared(SLOWER, FASTER)), width=60)
    assert max(map(len, narrow.splitlines())) <= 60


def test_the_ratios_of_a_page_are_those_of_the_values() -> None:
    hosts = [host(n, FASTER, direction="higher") for n in (1, 2, 3)]
    page = document(compare_hosts(hosts))
    (table, *_) = [b for s in page.sections for b in s.blocks if isinstance(b, Table)]
    assert [row.cells[1].value for row in table.rows] == [1 / 0.8] * 3
    assert f"{PLAN.variants[1].label} ÷ {PLAN.variants[0].label}" in table.caption
    assert "mean ratio 1.25" in table.note

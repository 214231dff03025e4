"""Pages of the gate: regressions come first and are never cut, hosts' limits are kept, names are escaped."""

import math
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest
from report_sample import gate_page_of, gate_row, sample

from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.builds import BuildChanges
from bench_framework.model.facts.causes import CauseEvidence, Explained, TimePart
from bench_framework.model.facts.functions import FunctionChange, FunctionChanges
from bench_framework.model.metrics import WAITS
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.reasons import (
    BUILT_ALIKE,
    ONE_PROGRAM,
    REACHES_ONE,
    Difference,
    Reason,
    ReasonCode,
    message,
)
from bench_framework.model.result.gate import Explanation, GatedPair, Gating
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.report.render import gate as gate_page, junit
from bench_framework.report.render.gate import GatePage
from bench_framework.report.render.gate_heading import place_of
from bench_framework.report.render.markdown import MOST_COMMENT

ODD = 'a|b <script>alert(1)</script> "x" \x1b[31m ]]>'


PLAN = sample().plan
CELL = next(c for c in PLAN.cells if c.role is Role.CANDIDATE)


def comment(gate: GatePage) -> str:
    return gate_page.markdown(gate, comment=True)


def page_of(*pairs: GatedPair, plan: Plan = PLAN, **changes: Any) -> GatePage:
    """Return the page of a gate with these pairs; `changes` has the values of its other fields."""
    gating = replace(Gating(pairs, 0.01, 2, 11, 12, 1, ()), **changes)
    return gate_page.page_of(plan, gating, (), "20260101T0000Z", "")


def test_the_page_states_the_probability_of_a_false_alarm() -> None:
    plan = replace(PLAN, invocation=replace(PLAN.invocation, results="/tmp/of-job"))
    gate = page_of(plan=plan, exit_code=0)
    assert "/tmp" not in gate.command
    risk = "probability of a false alarm in the first measurement: at most 1\u202f%"
    assert (
        gate.how == f"12 rounds; {risk}, for 2 timed comparisons and 11 interim analyses; "
        "intervals of the report: 95\u202f% CI"
    )


def compared(verdict: Verdict, level: float) -> Comparison:
    interval = Interval(1.0, 0.99, 1.01, level)
    limits = Thresholds(0.02, 0.0)
    return Comparison("", "", "wall", "headline", verdict, thresholds=limits, shown=interval)


def claim(c: Comparison) -> Claim:
    fact = facts.Compared(kind="comparison", costs=(), counted=False)
    return Claim(
        "b", reference="a", metric="wall", verdict=c.verdict, margin=0.02, fact=fact
    ).with_interval(c.shown)


def test_the_page_states_the_level_of_each_interval() -> None:
    worse = compared(Verdict.WORSE, 1 - 1e-6), compared(Verdict.WORSE, 0.995)
    equal = compared(Verdict.EQUIVALENT, 0.967)
    twice = GatedPair(
        CELL.id,
        "wall",
        0.02,
        "worse",
        worse[0],
        claim(worse[0]),
        again=worse[1],
        again_claim=claim(worse[1]),
    )
    once = GatedPair(CELL.id, "cpu", 0.02, "passed", equal, claim(equal))
    other = replace(once, comparison=compared(Verdict.WORSE, 0.999375), state="suspicious")
    one, two = page_of(twice, once).rows[0].sentence.split("; ")
    assert one.startswith("first measurement (99.9999\u202f% CI): ")
    assert two.startswith("second measurement (99.5\u202f% CI): ")
    assert "| one measurement (96.7 % CI): b takes as long as a" in comment(page_of(twice, once))
    assert "| one measurement (99.938 % CI): " in comment(page_of(once, other))
    page = " ".join(gate_page.terminal(page_of(twice, once), 80, unicode=True).split())
    assert page.endswith("interim analyses; intervals of the report: 95 % CI")


@pytest.mark.parametrize(
    ("first", "second", "level"),
    [
        ((1.14, 1.12, 1.84), (1.11, 1.07, 1.16), "16%"),
        ((1.14, 1.12, 1.15), (1.20, 1.16, 1.29), "20%"),
        ((1.14, 1.12, 1.151), None, "16%"),
        ((2.0, 2.0, math.inf), None, "100%"),
    ],
)
def test_the_accepted_size_is_the_smaller_upper_end_but_at_least_both_estimates(
    first: tuple[float, float, float], second: tuple[float, float, float] | None, level: str
) -> None:
    both = [
        replace(compared(Verdict.WORSE, 0.99), shown=Interval(*figures, 0.99))
        for figures in (first, second)
        if figures
    ]
    pair = GatedPair(CELL.id, "wall", 0.02, "worse", both[0], claim(both[0]), again=both[-1])
    assert gate_page.acceptance(PLAN, pair)["level"] == level


def test_a_row_of_one_program_says_so_once_and_has_no_interval() -> None:
    one = replace(compared(Verdict.INCONCLUSIVE, 0.0), reason=ONE_PROGRAM)
    pair = GatedPair(CELL.id, "peak_rss", 0.05, "passed", one, claim(one), (BUILT_ALIKE,))
    text = comment(page_of(pair, exit_code=0))
    assert text.count("same program") == 1
    assert "| the same program: both sides were built to the same code |" in text
    assert "measurement (" not in text


def test_the_reason_of_an_inconclusive_pair_is_stated_once() -> None:
    c = replace(compared(Verdict.INCONCLUSIVE, 0.99), reason=REACHES_ONE)
    pair = GatedPair(
        CELL.id, "wall", 0.02, "not-judged", c, replace(claim(c), reason=c.reason), (REACHES_ONE,)
    )
    text = comment(page_of(pair, exit_code=4))
    assert text.count("not for the average of the record") == 1


def growths(*figures: tuple[str, float, float]) -> list[GatedPair]:
    """Return regressions: the metric, and the estimates of both measurements, for one candidate after another."""
    cells = [c.id for c in PLAN.cells if c.role is Role.CANDIDATE]
    pairs = []
    for cell_id, (metric, *ratios) in zip(cells, figures, strict=False):
        both = [
            replace(
                compared(Verdict.WORSE, 0.99),
                cell_id=cell_id,
                metric=metric,
                shown=Interval(ratio, ratio - 0.05, ratio + 0.05, 0.99),
            )
            for ratio in ratios
        ]
        claims = [replace(claim(c), metric=metric) for c in both]
        pair = GatedPair(cell_id, metric, 0.02, "worse", both[0], claims[0])
        pairs.append(replace(pair, again=both[1], again_claim=claims[1]))
    return pairs


def test_the_heading_has_the_number_and_the_largest_of_several_regressions() -> None:
    one, two, three = growths(("wall", 1.12, 1.1), ("cpu", 1.3, 1.25), ("wall", 1.2, 2.5))
    passed = replace(one, metric="cpu", state="passed", again=None, again_claim=None)
    names = [place_of(PLAN, pair.cell_id) for pair in (one, two, three)]
    assert page_of(one, passed).result == f"regressions found: time of {names[0]} +10\u202f%"
    assert page_of(one, two).result == (
        f"regressions found: CPU time of {names[1]} +25\u202f%, time of {names[0]} +10\u202f%"
    )
    several = page_of(one, passed, two, three)
    assert several.result == (
        f"regressions found: 3 of 4 comparisons, the largest: time of {names[2]} 2.50×"
    )
    text = comment(several)
    assert "the largest: time of " in text.splitlines()[1]
    # Rows and entries have the order of the heading, by the estimate of the second measurement.
    assert [row.cell for row in several.full] == [names[2], names[1], names[0]]
    assert [text.find(f"| {name} |") for name in (names[2], names[1], names[0])] == sorted(
        text.find(f"| {name} |") for name in names
    )
    assert '"level": "150%"' in several.accept[0]
    open_ = [replace(pair, state="not-judged") for pair in (one, two, three)]
    inconclusive = page_of(*open_, passed, exit_code=4)
    assert inconclusive.result == "inconclusive: 3 of 4 comparisons"


def test_equal_causes_are_one_line_that_names_the_configurations() -> None:
    pairs = growths(
        ("wall", 1.1, 1.1), ("wall", 1.3, 1.3), ("wall", 1.2, 1.2), ("wall", 1.05, 1.05)
    )
    names = [place_of(PLAN, pair.cell_id) for pair in pairs]

    def changes(growth: int, name: str = "tool::parse", reference: int = 500) -> FunctionChanges:
        return FunctionChanges(
            instructions=1000 + growth,
            reference=1000,
            functions=(
                FunctionChange(
                    name=name,
                    instructions=reference + growth,
                    reference=reference,
                    calls=2,
                    reference_calls=2,
                ),
            ),
        )

    def lines(*given: FunctionChanges) -> tuple[str, ...]:
        items = tuple(
            Explanation(pair.cell_id, one) for pair, one in zip(pairs, given, strict=False)
        )
        page = page_of(*pairs, explanations=items)
        assert comment(page).count("Why: ") == len(page.causes)
        return page.causes

    text = "instructions +10\u202f%: tool::parse +20\u202f%"
    assert lines(changes(100), changes(100)) == (f"{names[1]} and {names[0]}: {text}",)
    others = f"the same functions differ in {names[2]} and {names[0]}, instructions +10\u202f% to +20\u202f%"
    assert lines(changes(100), changes(300), changes(200), changes(50, "tool::write")) == (
        f"{names[1]}: instructions +30\u202f%: tool::parse +60\u202f%; {others}",
        f"{names[3]}: instructions +5.0\u202f%: tool::write +10\u202f%",
    )
    # A function that is new on one side and more expensive on the other is another cause.
    assert len(lines(changes(100), changes(100, reference=0))) == 2


def test_a_row_that_passed_by_its_interval_says_what_that_excludes() -> None:
    c = replace(
        compared(Verdict.INCONCLUSIVE, 0.99), shown=Interval(0.96, 0.89, 1.015, 0.99), mde=0.498
    )
    within = (Reason(ReasonCode.WITHIN_TOLERANCE),)
    pair = GatedPair(CELL.id, "wall", 0.02, "passed", c, replace(claim(c), mde=0.498), within)
    text = comment(page_of(pair, exit_code=0))
    assert "[−11, +2]; the interval excludes that it is worse by more than 2 %; detecting" in text
    assert "49.8" not in text
    assert "tolerated" not in text


def test_the_page_says_what_differs_in_counted_runs_or_why_nothing_was_counted() -> None:
    changes = FunctionChanges(instructions=1000, reference=1000)
    counted = Explanation(CELL.id, changes)
    missing = Explanation(CELL.id, reason=message("valgrind is not installed"))
    built = BuildChanges(
        settings=(Difference("rustc", "rustc 1.94.0", "rustc 1.95.0"),),
        packages=(Difference("itoa", "1.0.1", "1.0.2"),),
    )
    waiting = TimePart(name="waiting", kind="waiting", value=0.02, reference=0.01, difference=0.01)
    place = CauseEvidence(
        cell_id=CELL.id,
        ref_cell_id="",
        metric="wall",
        rounds=12,
        difference=0.01,
        parts=(waiting,),
        counters=(),
        explained=tuple(
            Explained(part="waiting", metric=metric, share=float(metric == "wait_sleep"))
            for metric in WAITS
        ),
    )
    placed = replace(counted, place=place)
    explanations = (counted, missing, replace(counted, build=built), placed)
    gate = page_of(explanations=explanations)
    same = "same instructions, same calls: waiting, caches, code layout or the machine"
    assert gate.causes == (
        same,
        "not counted by function: valgrind is not installed",
        f"{same}; built differently: rustc 1.94.0 → 1.95.0; packages itoa 1.0.1 → 1.0.2",
        "same instructions, same calls; of the time difference, waiting 100\u202f% (of it, untimed: sleep 100\u202f%)",
    )
    assert "Why: same instructions, same calls" in comment(gate)
    assert "Why: not counted by function" in gate_page.terminal(gate, 80, unicode=True)


def test_passed_rows_are_folded_and_the_others_are_open() -> None:
    text = comment(
        gate_page_of(gate_row("worse"), gate_row("not-judged", 1), gate_row("passed", 2))
    )
    open_, folded = text.split("<details>")
    assert "sentence 0 of worse" in open_
    assert "sentence 1 of not-judged" in open_
    assert "sentence 2 of passed" in folded
    assert "1 passed" in folded
    assert "left out" not in text


def test_a_comment_that_is_too_long_loses_passed_rows_first() -> None:
    rows = [gate_row("worse", n) for n in range(30)] + [gate_row("passed", n) for n in range(3000)]
    text = comment(gate_page_of(*rows))
    assert len(text) <= MOST_COMMENT
    assert text.count("of worse") == 30
    passed = text.count("of passed")
    assert f"{3000 - passed} more are in `gate.json`" in text


def test_a_comment_that_is_still_too_long_loses_its_last_rows() -> None:
    rows = [gate_row("worse", n) for n in range(20)] + [
        gate_row("not-judged", n) for n in range(5000)
    ]
    text = comment(gate_page_of(*rows))
    assert len(text) <= MOST_COMMENT
    assert text.count("of worse") == 20


def test_names_are_data_in_every_format() -> None:
    gate = gate_page_of(gate_row("worse", cell=ODD), result=f"regression: {ODD}")
    text = comment(gate)
    assert "<script>" not in text
    assert "\x1b" not in text
    assert text.count("a\\|b") == 2
    assert "\x1b" not in gate_page.terminal(gate, 80, unicode=True)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit_the_terminal_and_need_no_unicode(width: int) -> None:
    rows = [
        replace(gate_row("worse"), sentence="head is 9.6 % slower than base [9.1, 9.9] " * 5),
        gate_row("passed"),
    ]
    gate = gate_page_of(*rows, confirmation="20260101T0100Z")
    text = gate_page.terminal(gate, width, unicode=True)
    assert max(map(len, text.splitlines())) <= width
    assert text.startswith("▲ Benchmarks: worse\n")
    assert "1 of 2 comparisons passed" in text
    assert "second measurement: 20260101T0100Z" in " ".join(text.split())
    plain = gate_page.terminal(gate, width, unicode=False)
    assert plain.startswith("Benchmarks: worse\n")
    assert "^ head" in plain
    assert plain.isascii()


def test_an_accepted_row_is_open_and_fails_no_check() -> None:
    gate = gate_page_of(
        gate_row("accepted"),
        gate_row("passed", 1),
        exit_code=0,
        result="passed",
        reasons=(),
    )
    assert "sentence 0 of accepted" in comment(gate).split("<details>")[0]
    assert "worse, accepted" in gate_page.terminal(gate, 80, unicode=True)
    assert ET.fromstring(junit.document_of(gate)).get("failures") == "0"


def test_remarks_and_lines_of_the_acceptance_file_are_data() -> None:
    gate = gate_page_of(
        gate_row("worse"), remarks=(ODD,), accept=('{"cell": "a=```b\nc"}',), arms="<b> and c"
    )
    text = comment(gate)
    assert "<script>" not in text
    assert "<b>" not in text
    assert text.count("```") == 2
    assert 'accepted:\n- {"cell": "a=` ` `b c"}' in text
    assert "a|b" in gate_page.terminal(gate, 80, unicode=True)
    assert "```" not in comment(replace(gate, exit_code=0))
    assert "add its entry to the file that `gate.accepted` of the scenario names:" in text
    alone = comment(replace(gate, has_file=False))
    assert (
        "write this to a file, and name it with `-S gate.accepted=FILE` or in the scenario:"
        in alone
    )

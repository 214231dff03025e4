"""Policies of the gate in addition to margins: selected configurations, instructions, budgets, accepted changes."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bench_framework.compare.medians import median_interval
from bench_framework.features.gate import compute as gate, outcome
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import GATE_LEVEL, Accepted, Budget, GatePolicy
from bench_framework.model.reasons import (
    BUILT_ALIKE,
    CONTROL_DIFFERS,
    UNSTABLE,
    Reason,
    ReasonCode,
)
from bench_framework.model.record.run import Build, Event, Observation
from bench_framework.model.result.decision import ChangeKind
from bench_framework.model.result.gate import Failure, Gating
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.render import gate as gate_page, junit, suite as suite_page
from bench_framework.report.render.gate import GatePage
from bench_framework.report.render.suite import SuitePage, SuiteRow
from bench_framework.text.reasons import phrase
from tests.build import require
from tests.documents import card_titles
from tests.unit.judging.conftest import (
    Study,
    changed,
    gate_policy,
    log_normal_timing,
    timing,
    with_builds,
)

MIB = 1 << 20
TIMES = {"wall": 0.02, "cpu": 0.02}


def gated(plan: Plan, **given: object) -> Plan:
    """Return the plan with these keys of its gate's policy."""
    changed: GatePolicy = replace(plan.judge.gate, **given)  # type: ignore[arg-type]
    return replace(plan, judge=replace(plan.judge, gate=changed))


def passed_first(
    example: Study,
    plan: Plan,
    factors: dict[str, float],
    accepted: Sequence[Accepted] = (),
    day: str = "",
) -> Gating:
    contents = example.contents(example.blocks(log_normal_timing(factors)), day=day)
    return gate.first_pass(plan, contents, accepted=accepted)


def suite_row(page: GatePage) -> SuiteRow:
    """Return a scenario of a suite with this gate."""
    measured = ("s", "s.yaml", "r", page.exit_code)
    return SuiteRow(
        *measured, error="", skipped=False, seconds=0, budget_s=None, level=0, page=page
    )


class TestInstructions:
    @staticmethod
    def judged(counts: Mapping[str, Sequence[float]], noted: Sequence[Event] = ()) -> Gating:
        example = Study(policy=gate_policy(**TIMES, instructions=0.01))
        cells = {arm: example.cell(arm).id for arm in counts}
        observed = [
            Observation(cells[arm], "instructions", run, "", "v", values={"instructions": value})
            for arm, values in counts.items()
            for run, value in enumerate(values, start=1)
        ]
        contents = example.contents(example.blocks(log_normal_timing({})))
        contents.observations, contents.events = observed, list(noted)
        return gate.first_pass(example.plan, contents)

    @pytest.mark.parametrize(
        ("ours", "state", "code"),
        [
            ((1005.0, 1005.0), "passed", 0),
            ((1020.0, 1020.0), "worse", 1),
            ((900.0, 900.0), "passed", 0),
            # The counts vary, and 1 % is within their possible range.
            ((1019.0, 1021.0), "not-judged", 4),
            ((1200.0, 1201.0), "worse", 1),
        ],
    )
    def test_they_are_compared_without_a_second_pass(
        self, ours: Sequence[float], state: str, code: int
    ) -> None:
        gating = self.judged({"a": (1000.0, 1000.0), "b": ours})
        assert {p.metric: p.state for p in gating.pairs}["instructions"] == state
        assert gating.exit_code == code

    def test_where_nothing_counts_the_gate_has_not_judged(self) -> None:
        reason = Reason(ReasonCode.NOT_COUNTED, "valgrind is not installed")
        gating = self.judged({}, [Event("BX250", "valgrind is not installed")])
        pair = next(p for p in gating.pairs if p.metric == "instructions")
        assert (pair.state, pair.reasons, gating.exit_code) == ("not-judged", (reason,), 4)
        assert gating.reasons == (Reason(ReasonCode.PAIRS_UNKNOWN, (1,)),)


class TestOneProgram:
    @staticmethod
    def judged(factors: dict[str, float], codes: tuple[str, str]) -> Gating:
        example = Study(policy=gate_policy(**TIMES))
        plan, specs = with_builds(example.plan)
        plan = replace(plan, cells=tuple(replace(cell, command=()) for cell in plan.cells))
        builds = [
            Build(spec.id, ok=True, size_bytes=9, sha256=name, code_sha256=code)
            for (name, spec), code in zip(specs.items(), codes, strict=True)
        ]
        contents = example.contents(example.blocks(log_normal_timing(factors)), builds)
        return gate.first_pass(plan, contents)

    def test_equal_code_cannot_have_become_slower(self) -> None:
        gating = self.judged({"b": 1.2, "control": 1.2}, ("x", "x"))
        assert gating.exit_code == 0
        assert {(p.state, p.reasons) for p in gating.pairs} == {("passed", (BUILT_ALIKE,))}

    def test_other_code_can(self) -> None:
        assert self.judged({"b": 1.2}, ("x", "y")).in_state("suspicious")


class TestBudgets:
    def judged(self, most: float, text: str = "0.1s", metric: str = "wall") -> Gating:
        example = Study(policy=gate_policy(**TIMES))
        budget = Budget("arm=b", metric, most, text, (example.cell("b").id,))
        blocks = example.blocks(
            log_normal_timing({}, spread=0.02), rss=lambda _, __, n: (10 + n % 3) * MIB
        )
        plan = gated(example.plan, budgets=(budget,))
        return gate.first_pass(plan, example.contents(blocks))

    def test_a_budget_is_exceeded_if_the_whole_interval_is_above_it(self) -> None:
        example = Study(policy=gate_policy(**TIMES))
        timing = log_normal_timing({}, spread=0.02)
        values = sorted(timing("b", "", n) for n in range(1, 41))
        (result,) = self.judged(1.0).budgets
        interval = require(median_interval(values, result.level))
        assert (result.lo, result.hi) == interval
        # One configuration has a budget. The level is adjusted for all interim analyses of the
        # record.
        assert result.level == pytest.approx(1 - GATE_LEVEL / len(example.looks()))
        lo, hi = interval
        for most, state, code in (
            (math.nextafter(lo, 0), "over", 1),
            (lo, "not-judged", 4),
            (math.nextafter(hi, 0), "not-judged", 4),
            (hi, "kept", 0),
        ):
            gating = self.judged(most)
            assert (gating.budgets[0].state, gating.exit_code) == (state, code)

    def test_it_is_judged_without_a_candidate(self) -> None:
        example = Study(policy=gate_policy(**TIMES))
        remaining_cells = [cell for cell in example.plan.cells if cell.role is not Role.CANDIDATE]
        budget = Budget("arm=a", "wall", 0.001, "1ms", (example.cell("a").id,))
        plan = gated(replace(example.plan, cells=tuple(remaining_cells)), budgets=(budget,))
        blocks = example.blocks(log_normal_timing({}))
        names = {cell.id for cell in remaining_cells}
        contents = example.contents([block for block in blocks if block.cell_id in names])
        gating = gate.first_pass(plan, contents)
        assert [finding.state for finding in gating.budgets] == ["over"]
        assert gating.exit_code == 1
        page = gate_page.page_of(plan, gating, contents.blocks, "r", "")
        assert page.answer == "▲ Benchmarks: budgets exceeded: time of a"
        assert page.annotations == (
            f"a, budget of time: {gate_page.budget_text(gating.budgets[0])}",
        )
        row = suite_row(page)
        suite = SuitePage("r", "", True, "", 0.01, 1, (row, replace(row, scenario="t")))
        assert suite.heading == "Benchmarks: budgets exceeded in s and t"
        assert suite.annotations[0] == f"s: {page.annotations[0]}"

    def test_a_selection_of_nothing_is_not_judged(self) -> None:
        example = Study(policy=gate_policy(**TIMES))
        judged = Budget("arm=b", "wall", 10.0, "10s", (example.cell("b").id,))
        lost = replace(judged, cells="input~hash", cell_ids=())
        for given, reason in (
            ({"budgets": (judged, lost)}, "the budget of wall for `input~hash` selects no"),
            (
                {"budgets": (judged,), "cells": "input~hash", "chosen": ()},
                "nothing was compared: no candidate among the gated cells (input~hash)",
            ),
        ):
            gating = passed_first(example, gated(example.plan, **given), {})
            assert gating.exit_code == 4
            assert phrase(gating.reasons[0]).startswith(reason)
            assert [finding.state for finding in gating.budgets] == ["kept"]

    def test_rounds_whose_cache_was_not_cold_do_not_count(self) -> None:
        example = Study(policy=gate_policy(**TIMES))
        cold = tuple(replace(cell, cache="cold") for cell in example.plan.cells)
        budget = Budget("arm=b", "wall", 1.0, "1s", (example.cell("b").id,))
        plan = gated(replace(example.plan, cells=cold), budgets=(budget,))
        gating = gate.first_pass(plan, example.contents(example.blocks(log_normal_timing({}))))
        assert [finding.state for finding in gating.budgets] == ["failed"]


@pytest.mark.parametrize("code", [ReasonCode.OUTPUTS_DIFFER, ReasonCode.OUTPUT_VARIES])
def test_only_outputs_that_differ_discard_a_change_and_a_suite_says_so(code: ReasonCode) -> None:
    example = Study(arms=("a", "b"), policy=gate_policy(**TIMES))
    contents = example.contents(example.blocks(log_normal_timing({"b": 0.8})))
    gating = gate.first_pass(example.plan, contents)
    # A baseline with another output in each run can have faster variants.
    discarded = code is ReasonCode.OUTPUTS_DIFFER
    gating = replace(gating, remarks=(Reason(code, ("b" if discarded else "a",)),))
    change = outcome.gate_change(gating, example.plan.judge.gate)
    assert change is (ChangeKind.WORSE if discarded else ChangeKind.BETTER)
    page = gate_page.page_of(example.plan, gating, contents.blocks, "r", "")
    suite = SuitePage(
        "r", "", True, "benchctl gate --dir /tmp/job bench", 0.01, 1, (suite_row(page),)
    )
    remark = phrase(gating.remarks[0])
    texts = (suite_page.terminal(suite, 200, unicode=True), suite_page.index(suite))
    comment = suite_page.markdown(suite, comment=True)
    assert all(remark in text for text in (*texts, comment))
    assert f"⚠ s: {remark}" in texts[0]
    assert "Reproduce: `benchctl gate bench`" in comment
    assert card_titles(texts[1])[0] == ["Result", "Passed", "Time", "Details"]


def test_the_heading_of_a_suite_has_the_size_of_its_largest_regression() -> None:
    rows = []
    for name, slower in (("a", 1.2), ("b", 1.5), ("c", 1.0)):
        example = Study(arms=("base", "head"), policy=gate_policy(wall=0.02))
        contents = example.contents(example.blocks(log_normal_timing({"head": slower})))
        gating = gate.first_pass(example.plan, contents)
        pairs = tuple(
            replace(pair, state="worse") if pair.state == "suspicious" else pair
            for pair in gating.pairs
        )
        gating = outcome.conclude(replace(gating, pairs=pairs), example.plan.judge.gate)
        page = gate_page.page_of(example.plan, gating, contents.blocks, "r", "")
        rows.append(replace(suite_row(replace(page, scenario=name)), scenario=name))

    def heading(*rows: SuiteRow) -> str:
        return SuitePage("r", "", True, "", 0.01, 3, rows).heading

    one, two, same = rows
    sizes = [row.page.largest for row in rows if row.page is not None]
    assert [size.partition(" +")[0] for size in sizes] == ["time of head", "time of head", ""]
    assert heading(one, same) == f"Benchmarks: regressions found in a: {sizes[0]}"
    assert heading(*rows) == f"Benchmarks: regressions found in a and b, the largest: b, {sizes[1]}"
    assert "the largest" not in heading(same, same)
    assert two.page is not None
    twice = replace(two.page, rows=(*two.page.rows, *two.page.rows))
    assert heading(replace(two, page=twice)).endswith(f" in b, the largest: {sizes[1]}")


def test_a_suite_has_the_causes_of_its_regressions() -> None:
    example = Study(arms=("base", "head"), policy=gate_policy(wall=0.02))
    contents = example.contents(example.blocks(log_normal_timing({"head": 1.5})))
    gating = gate.first_pass(example.plan, contents)
    page = gate_page.page_of(example.plan, gating, contents.blocks, "r", "")
    row = suite_row(replace(page, causes=("instructions +50 %: tool::parse",)))
    suite = SuitePage("r", "", True, "", 0.01, 1, (row, replace(suite_row(page), scenario="t")))
    line = "Why, s: instructions +50 %: tool::parse"
    assert line in suite_page.terminal(suite, 200, unicode=True).splitlines()
    for comment in (True, False):
        lines = suite_page.markdown(suite, comment=comment).splitlines()
        place = lines.index(line)
        assert lines[place - 1] == lines[place + 1] == ""
        assert lines[place + 2].startswith("| | scenario | result |")


class TestOtherFailures:
    """A failure without a failed comparison has the exit code of the run, 3."""

    @staticmethod
    def judged(cell_id: str | None, **policy: object) -> tuple[Gating, GatePage]:
        example = Study(arms=("a", "b", "other"), policy=gate_policy(**TIMES))
        plan = gated(example.plan, **policy)
        contents = example.contents(example.blocks(log_normal_timing({})))
        contents.events = [Event("BX201", "it failed in round 3", "error", cell_id)] * 2
        gating = gate.first_pass(plan, contents)
        return gating, gate_page.page_of(plan, gating, contents.blocks, "r", "")

    def test_a_configuration_that_is_not_gated_fails_the_gate(self) -> None:
        example = Study(arms=("a", "b", "other"))
        chosen, other = (example.cell("b").id,), example.cell("other").id
        gating, page = self.judged(other, chosen=chosen)
        assert {pair.cell_id: pair.state for pair in gating.pairs} == {chosen[0]: "passed"}
        assert (gating.exit_code, page.exit_code) == (3, 3)
        assert gating.reasons == (Reason(ReasonCode.UNGATED_FAILED, (1,)),)
        assert outcome.gate_change(gating, GatePolicy()) is ChangeKind.FAILED
        assert page.annotations == ("other, measurement: it failed in round 3",)
        assert ET.fromstring(junit.document_of(page)).get("errors") == "1"
        assert "it failed in round 3" in gate_page.markdown(page, comment=True)
        assert page.compared == len(gating.pairs)

    def test_a_build_that_failed_is_named_for_each_of_its_configurations(self) -> None:
        example = Study(arms=("a", "b", "other"), policy=gate_policy(**TIMES))
        plan, specs = with_builds(gated(example.plan, chosen=(example.cell("b").id,)))
        failed = Build(specs["other"].id, ok=False, message="no such feature")
        contents = example.contents(example.blocks(log_normal_timing({})), [failed])
        gating = gate.first_pass(plan, contents)
        reason = Reason(ReasonCode.BUILD_FAILED, "no such feature")
        other = Failure(example.cell("other").id, gated=False, reason=reason)
        assert (gating.exit_code, gating.failures) == (3, (other,))

    def test_so_does_a_failed_run_of_a_judged_one_or_a_changed_file(self) -> None:
        gating, _ = self.judged(Study(arms=("a", "b", "other")).cell("b").id)
        assert gating.exit_code == 3
        assert gating.reasons == (Reason(ReasonCode.GATED_FAILED, (1,)),)
        gating, page = self.judged(None)
        assert (gating.exit_code, gating.reasons) == (
            3,
            (Reason(ReasonCode.ERROR, ("BX201", "it failed in round 3")),),
        )
        assert page.annotations == ("all configurations, measurement: it failed in round 3",)

    def test_a_failed_comparison_is_not_listed_twice(self) -> None:
        example = Study(policy=gate_policy(**TIMES))
        slow = example.cell("b")
        blocks = example.blocks(log_normal_timing({}))
        failing = changed(blocks, slow.id, status="failed", message="exit status 3")
        contents = example.contents(failing)
        contents.events = [Event("BX201", "b failed", "error", slow.id)]
        gating = gate.first_pass(example.plan, contents)
        assert {pair.state for pair in gating.pairs} == {"failed"}
        assert gating.failures == ()
        assert gating.exit_code == 3


def test_the_time_of_a_build_is_reported_and_never_judged() -> None:
    example = Study(policy=gate_policy(**TIMES, build_time=0.1))
    strict = gated(example.plan, on_inconclusive="fail")
    contents = example.contents(example.blocks(log_normal_timing({})))
    gating = gate.first_pass(strict, contents)
    assert {p.state for p in gating.pairs if p.metric == "build_time"} == {"not-judged"}
    assert not any(gate.time_not_judged(pair) for pair in gating.pairs)
    assert gating.exit_code == 0


def test_a_gate_of_memory_alone_that_judged_nothing_does_not_pass() -> None:
    example = Study(policy=gate_policy(peak_rss=0.05))
    contents = example.contents(example.blocks(log_normal_timing({})))
    gating = gate.first_pass(example.plan, contents)
    assert {(pair.metric, pair.state) for pair in gating.pairs} == {("peak_rss", "not-judged")}
    assert gating.exit_code == 4
    assert gating.reasons == (Reason(ReasonCode.METRICS_NOT_JUDGED, (1,)),)


class TestAccepted:
    DAY = "2026-05-31"

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"metric": "peak_rss"}, Reason(ReasonCode.METRIC_NOT_GATED, "peak_rss")),
            ({"cell_ids": ()}, Reason(ReasonCode.NO_GATED_CELL)),
            ({"cell_ids": (), "unknown": "there is no axis `arm`"}, "there is no axis `arm`"),
        ],
    )
    def test_an_unknown_metric_or_cell_is_reported(
        self, change: dict[str, str], reason: str | Reason
    ) -> None:
        example = Study(policy=gate_policy(**TIMES))
        accepted = Accepted("x", "wall", 0.1, "why", "", "f:1", (example.cell("b").id,))
        entry = replace(accepted, **change)  # type: ignore[arg-type]
        gating = passed_first(example, example.plan, {}, accepted=[entry], day=self.DAY)
        unknown = Reason(ReasonCode.ACCEPTANCE_UNKNOWN, ("f:1", "x", entry.metric, reason))
        assert gating.remarks == (unknown,)
        assert gating.exit_code == 0


@pytest.mark.parametrize("reason", [CONTROL_DIFFERS, UNSTABLE])
def test_an_interval_that_may_not_hold_passes_no_pair(reason: Reason) -> None:
    """The interval excludes a growth beyond the margin, but its ratio changed or the machine was not stable."""
    example = Study()
    judged = example.comparison(example.judge(example.blocks(timing({}, 0.004))), "b")
    narrow = replace(
        judged,
        verdict=Verdict.INCONCLUSIVE,
        reason=None,
        mde=0.2,
        shown=Interval(1.0, 0.985, 1.015, 0.95),
    )
    assert gate.pair_state(narrow, 0.02, GatePolicy(), 0.0)[0] == "passed"
    assert gate.confirmed(narrow, 0.02)[0] == "passed"
    unsure = replace(narrow, reason=reason)
    assert gate.pair_state(unsure, 0.02, GatePolicy(), 0.0) == ("not-judged", reason)
    assert gate.confirmed(unsure, 0.02)[0] == "not-judged"

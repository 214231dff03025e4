"""The gate: suspicious comparisons, missing verdicts, and exit codes 3 before 1 before 4."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bench_framework.features.gate import compute as gate, measuring, outcome, plans
from bench_framework.features.gate.measuring import GateRule
from bench_framework.features.gate.question import question_of, rounds_needed_by_gate
from bench_framework.features.gate.remarks import enough_budget, record_remarks, second_remarks
from bench_framework.features.judge import judge
from bench_framework.model.plan.declared_metrics import COUNTS_OF_GATE
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Role
from bench_framework.model.plan.policies import GATE_LEVEL, Accepted, MeasurePolicy
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.reasons import UNSTABLE, Reason, ReasonCode
from bench_framework.model.record.run import Build, Event, Look, Observation
from bench_framework.model.record.sensors import Sensors
from bench_framework.model.result.decision import ChangeKind
from bench_framework.model.result.gate import Gating
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.verdict import Verdict
from bench_framework.report.render import gate as gate_page
from bench_framework.store import lines
from bench_framework.text.reasons import phrase
from tests.build import make_block, require
from tests.unit.judging.conftest import (
    Study,
    Timing,
    analysis,
    changed,
    gate_policy,
    log_normal_timing,
    reasons_of,
    timing,
    with_builds,
)


def first(example: Study, wall: Timing, **more: Timing) -> Gating:
    blocks = example.blocks(wall, **more)
    return gate.first_pass(example.plan, example.contents(blocks))


def states(gating: Gating, example: Study) -> dict[tuple[str, str], str]:
    return {(example.arm_of(example.plan.cell(p.cell_id)), p.metric): p.state for p in gating.pairs}


@pytest.mark.parametrize("base", ["m", "a", "as", "than", "is"])
def test_a_page_of_two_revisions_names_them_once_and_changes_no_other_word(base: str) -> None:
    example = Study(arms=(base, "new"))
    plan = replace(example.plan, revisions=Revisions("1" * 40, None))

    def rss(arm: str, _: str, number: int) -> float:
        return (1.9 if arm == "new" else 1) * (14_000_000 + number)

    blocks = example.blocks(timing({"new": 0.4}, 0.004), timing({}, 0.004), rss)
    contents = example.contents(blocks)
    page = gate_page.page_of(plan, gate.first_pass(plan, contents), blocks, "r", "2026-03-02")
    sentences = {}
    for row in page.rows:
        level, sentences[row.metric] = row.sentence.split(": ", 1)
        assert re.fullmatch(r"one measurement \(9\d(\.\d+)?\u202f% CI\)", level)
    assert re.match(r"uses 90\.0\u202f% more memory \[", sentences["memory"])
    assert re.match(r"(4\d|3\d)(\.\d)?.% slower \[", sentences["time"])
    assert sentences["CPU time"].startswith(("equivalent in CPU time", "inconclusive in CPU time"))
    for sentence in sentences.values():
        assert not {base, "new"} & {*sentence.split()} - {"as", "is"}
    for text in (
        gate_page.markdown(page, comment=True),
        gate_page.terminal(page, 200, unicode=True),
    ):
        assert "more memory [" in text


def test_the_page_says_that_the_machine_was_disturbed() -> None:
    example = Study(policy=gate_policy(wall=0.02))
    busy = Sensors(cpu_capacity_us=100_000, other_cpu_us=90_000)
    calm = example.contents(example.blocks(log_normal_timing({})))
    loud = replace(calm, blocks=[replace(block, sensors=busy) for block in calm.blocks])
    assert list(record_remarks(example.plan, calm)) == []
    [remark] = record_remarks(example.plan, loud)
    assert remark.code is ReasonCode.DISTURBED
    remarks = (*record_remarks(example.plan, loud), *second_remarks("20260101T0000Z-2", loud))
    gating = replace(gate.first_pass(example.plan, loud), remarks=remarks)
    page = gate_page.page_of(example.plan, gating, loud.blocks, "20260101T0000Z", "")
    count = len(loud.blocks)
    text = f"{count} of {count} samples were disturbed by other load (CPU contention: {count})"
    assert f"\n- {text}\n- in 20260101T0000Z-2: {text}\n" in gate_page.markdown(page, comment=True)


def test_the_comment_of_another_output_has_the_first_difference_and_what_to_do() -> None:
    example = Study(sizes=(1, 2), policy=gate_policy(wall=0.02, peak_rss=0.05))
    cell = example.cell("b", 1)
    blocks = changed(example.blocks(log_normal_timing({})), cell.id, status="other-output")
    lines = "line 1, saved in raw/diff/b.txt\na: 17 unique\nb: 17 <b>numbers</b>"
    event = Event(
        *("BX210", "b prints a different result from a", "error", cell.id),
        help="correct the program",
        details=(("digest", "1 ≠ 2"), ("first difference", lines)),
    )
    contents = replace(example.contents(blocks), events=[event], looks=[])
    gating = gate.first_pass(example.plan, contents)
    gating = replace(gating, remarks=tuple(record_remarks(example.plan, contents)))
    change = outcome.gate_change(gating, example.plan.judge.gate)
    page = gate_page.page_of(example.plan, gating, (), "20260101T0000Z", "", change)
    text = gate_page.markdown(page, comment=True)
    assert page.result == "outputs differ"
    assert "\n- 1 comparison: not compared, because the outputs differ\n" in text
    assert (
        "- 1MiB: the output differs first in line 1, saved in raw/diff/b.txt / a: 17 unique" in text
    )
    assert "<b>" not in text
    assert "\n- correct the program\n" in text
    rows = {(row.cell, row.metric): row.sentence for row in page.rows}
    assert (
        rows["b, 1MiB", "time"] == "b printed a different result than a; its time is not compared"
    )
    assert rows["b, 1MiB", "memory"] == "output differs from the baseline's"
    assert page.how == "nothing was timed"


class TestAContinuedRecord:
    """The looks that let a record go on, which ended before the gate could judge."""

    @staticmethod
    def reopened(example: Study, wall: Timing, left: Sequence[str] = ()) -> list[Look]:
        """Return the looks for a record that ended after 18 rounds. Some arms had left after 12."""
        plan = example.plan
        out = {
            c.id: c for c in plan.cells if c.role is Role.CANDIDATE and example.arm_of(c) in left
        }
        blocks = [b for b in example.blocks(wall) if b.round <= (12 if b.cell_id in out else 18)]
        contents = example.contents(blocks)
        contents.looks = [
            replace(look, stopped=look.round == 18) for look in contents.looks if look.round <= 18
        ]
        contents.dropped = {
            c.id: lines.Dropped(c.id, c.input_id, 12, warmup=False, state="idle")
            for c in out.values()
        }
        return measuring.reopening_looks(plan, contents)

    def test_what_the_gate_cannot_judge_is_measured_again(self) -> None:
        example = Study(arms=("a", "b", "c", "d"))
        cells = {example.arm_of(c): c.id for c in example.plan.cells if c.role is Role.CANDIDATE}
        quiet, loud = log_normal_timing({}), log_normal_timing({}, spread=0.4)

        def wall(arm: str, where: str, number: int) -> float:
            return (loud if arm in ("b", "c") else quiet)(arm, where, number)

        for left in ((), ("c",), ("c", "d")):
            (look,) = self.reopened(example, wall, left)
            assert (look.round, look.stopped) == (18, False)
            assert phrase(look.reason) == "the gate cannot judge 2 configurations yet"
            # c may come back. d has left, or leaves now, because the gate can judge it.
            assert look.dropped == (cells["d"],)
        assert not self.reopened(example, quiet, ("c",))

    def test_a_record_that_reached_its_last_look_stays(self) -> None:
        example = Study(arms=("a", "b"), rounds=18, measure=MeasurePolicy(rounds_max=18))
        assert not self.reopened(example, log_normal_timing({}, spread=0.4))

    def test_more_rounds_cannot_help_if_the_control_differs(self) -> None:
        assert not self.reopened(Study(arms=("a", "b")), log_normal_timing({"control": 1.3}))


def test_failed_comes_before_worse_and_worse_before_not_judged() -> None:
    example = Study(arms=("a", "broken", "slow"), policy=gate_policy(wall=0.02))
    blocks = example.blocks(log_normal_timing({"slow": 1.1}))
    failing = changed(blocks, example.cell("broken").id, status="failed", wall_s=())
    gating = gate.first_pass(example.plan, example.contents(failing))
    assert states(gating, example) == {("broken", "wall"): "failed", ("slow", "wall"): "suspicious"}
    assert gating.exit_code == 3
    assert len(gating.reasons) == 2


def test_a_binary_that_grew_fails_at_once() -> None:
    example = Study(arms=("a", "b"), policy=gate_policy(wall=0.02, binary_size=0.02))
    plan, specs = with_builds(example.plan)
    builds = (
        Build(specs["a"].id, ok=True, size_bytes=1000, sha256="1"),
        Build(specs["b"].id, ok=True, size_bytes=1100, sha256="2"),
    )
    contents = example.contents(example.blocks(log_normal_timing({})), builds)
    gating = gate.first_pass(plan, contents)
    assert {(p.metric, p.state) for p in gating.pairs} == {
        ("wall", "passed"),
        ("binary_size", "worse"),
    }
    assert gating.exit_code == 1
    # An exact value is not an estimate, and no other host confirms it.
    assert gating.reasons == (Reason(ReasonCode.EXACT_WORSE, (1,)),)
    on_hosts = outcome.conclude(replace(gating, hosts=("x", "y")), plan.judge.gate)
    assert on_hosts.reasons == (Reason(ReasonCode.EXACT_WORSE_ON_HOST, (1, "x")),)


def test_too_few_rounds_for_any_finding_are_known_before_the_start() -> None:
    few = Study(rounds=8, measure=MeasurePolicy(rounds_min=8, rounds_max=8))
    needed = require(rounds_needed_by_gate(few.plan))
    assert needed > 8
    enough = Study(measure=MeasurePolicy(rounds_min=needed, rounds_max=needed))
    assert rounds_needed_by_gate(enough.plan) is None


def test_looks_that_the_record_could_take_are_paid_for() -> None:
    """A gate at 1 % discards early interim analyses that the report's 5 % allowed. J counts all of them."""
    for arms, last in (("abcdefghijk", 20), ("abcdef", 60), ("abc", 18)):
        example = Study(
            arms=tuple(arms), rounds=last, measure=MeasurePolicy(rounds_min=12, rounds_max=last)
        )
        regular, strict = looks_of(example.plan), question_of(example.plan).looks
        assert strict.rounds == regular.rounds
        assert (strict.family, strict.level) == (2 * len(arms[1:]), GATE_LEVEL)
        gating = first(example, log_normal_timing({}, spread=0.05))
        assert (gating.looks, gating.family) == (regular.count, strict.family)
        for comparison in (p.comparison for p in gating.pairs if p.metric == "wall"):
            assert comparison.verdict is Verdict.INCONCLUSIVE
            assert require(comparison.shown).level == pytest.approx(
                1 - GATE_LEVEL / (regular.count * strict.family), abs=1e-12
            )


class TestTheSecondPass:
    @staticmethod
    def passes(
        again: dict[str, float], spread: float = 0.005, wall: dict[str, float] | None = None
    ) -> Gating:
        example = Study(arms=("a", "slow", "same"), policy=gate_policy(wall=0.02, cpu=0.02))
        gating = first(
            example,
            log_normal_timing(wall or {"slow": 1.05}),
            cpu=log_normal_timing({} if wall else {"slow": 1.05}, spread=0.03 if wall else 0.005),
        )
        plan = require(plans.confirmation_plan(example.plan, gating, "20260101T0000Z"))
        timing = log_normal_timing(again, spread, seed=8)
        blocks = [
            make_block(
                *(n * len(plan.cells) + k, n + 1, k, cell.id),
                wall=(log_normal_timing({}, 0.3, seed=9) if wall else timing)(
                    example.arm_of(cell), "", n
                ),
                user_s=timing(example.arm_of(cell), "c", n),
            )
            for n in range(plan.measure.rounds_max)
            for k, cell in enumerate(plan.cells)
        ]
        last = plan.measure.rounds_max
        looks = [Look(i.id, 0, last, stopped=True) for i in plan.inputs]
        judged = judge(plan, blocks, {}, example.inputs(), looks)
        return gate.second_pass(example.plan, gating, judged, "20260101T0100Z")

    def test_it_measures_the_suspicious_cells_and_their_baseline_once_more(self) -> None:
        example = Study(
            arms=("a", "slow", "same"), sizes=(1, 2), policy=gate_policy(wall=0.02, cpu=0.02)
        )
        wall = log_normal_timing({})
        gating = first(
            example,
            lambda arm, where, n: (
                wall(arm, where, n) * (1.05 if (arm, where) == ("slow", "2MiB") else 1)
            ),
            cpu=log_normal_timing({}, seed=9),
        )
        plan = require(plans.confirmation_plan(example.plan, gating, "r"))
        assert [(example.arm_of(c), example.plan.input(c.input_id).label) for c in plan.cells] == [
            ("a", "2MiB"),
            ("slow", "2MiB"),
            ("control", "2MiB"),
        ]
        # Any gated time may confirm that the cell is worse.
        assert plan.judge.metrics == ("wall", "cpu")
        assert plan.judge.level == 0.05
        assert plan.measure.rounds_max == example.plan.measure.rounds_max
        assert looks_of(plan).count > 1
        assert plan.measure.seed != example.plan.measure.seed
        assert "record r" in plan.notes[-1].text
        assert {c.role for c in plan.cells} == {Role.BASELINE, Role.CANDIDATE, Role.CONTROL}

    def test_what_is_worse_again_fails_the_gate(self) -> None:
        gating = self.passes({"slow": 1.05})
        assert gating.exit_code == 1
        assert {(p.metric, p.state, reasons_of(p)) for p in gating.in_state("worse")} == {
            ("wall", "worse", "regression confirmed"),
            ("cpu", "worse", "regression confirmed"),
        }
        assert all(require(require(p.again_claim).verdict).worse for p in gating.in_state("worse"))
        assert gating.confirmation == "20260101T0100Z"

    @pytest.mark.parametrize("factor", [1.0, 0.95])
    def test_what_is_not_worse_again_passes(self, factor: float) -> None:
        gating = self.passes({"slow": factor})
        assert gating.exit_code == 0
        assert {p.state for p in gating.pairs if p.metric != "peak_rss"} == {"passed"}
        assert any(
            reasons_of(p) == "worse in the first measurement, but not in the second one"
            for p in gating.pairs
        )

    def test_what_the_second_measurement_cannot_judge_is_not_judged(self) -> None:
        gating = self.passes({"slow": 1.05}, spread=0.6)
        assert gating.exit_code == 4
        assert {p.state for p in gating.pairs if p.again is not None} == {"not-judged"}
        first, second = Reason(ReasonCode.IN_FIRST), Reason(ReasonCode.IN_SECOND)
        assert gating.reasons[0] == Reason(ReasonCode.PAIRS_INCONCLUSIVE, (2, first, second))
        assert all("; in the second one: " in reasons_of(p) for p in gating.pairs if p.again)
        on_hosts = outcome.conclude(replace(gating, hosts=("a", "b")), gate_policy().gate)
        first, second = (Reason(ReasonCode.ON_HOST, host) for host in "ab")
        assert on_hosts.reasons[0] == Reason(ReasonCode.PAIRS_INCONCLUSIVE, (2, first, second))

    @pytest.mark.parametrize(
        ("again", "state", "reason"),
        [
            (1.0, "passed", "the second one is within the tolerance"),
            (1.05, "not-judged", "in the second one: worse"),
        ],
    )
    def test_a_ratio_that_changed_is_measured_again_and_not_confirmed_by_one_measurement(
        self, again: float, state: str, reason: str
    ) -> None:
        example = Study(arms=("a", "moved", "same"), rounds=40, policy=gate_policy(wall=0.02))
        plain = log_normal_timing({})

        def moving(arm: str, where: str, number: int) -> float:
            step = 1.0 if arm != "moved" else 0.96 if number <= 20 else 1.06
            return plain(arm, where, number) * step

        gating = first(example, moving)
        (pair,) = gating.to_repeat
        assert pair.unstable
        assert plans.repetition(gating) == "1 unstable comparison"
        assert gating.exit_code == 4
        plan = require(plans.confirmation_plan(example.plan, gating, "r"))
        repeated = Study(arms=("a", "moved"), rounds=40, policy=plan.judge)
        judged = repeated.judge(repeated.blocks(log_normal_timing({"moved": again}, seed=8)))
        twice = gate.second_pass(example.plan, gating, judged, "20260101T0100Z")
        (pair,) = [p for p in twice.pairs if p.again is not None]
        assert pair.state == state
        assert reasons_of(pair).endswith(reason)
        assert twice.exit_code == (0 if state == "passed" else 4)
        assert not twice.in_state("worse")

    def test_another_time_may_confirm_that_a_candidate_is_worse(self) -> None:
        # First pass: wall time is worse and CPU time inconclusive. Second pass: the reverse.
        gating = self.passes({"slow": 1.05}, wall={"slow": 1.05})
        (worse,) = gating.in_state("worse")
        assert gating.exit_code == 1
        assert worse.metric == "cpu"
        assert reasons_of(worse) == (
            "worse in the second measurement; in the first one, another metric was worse"
        )
        # The growth of the second measurement counts, because the first one showed none.
        assert require(worse.comparison.shown).ratio < 1.04
        entry = Accepted("x", "cpu", 0.1, "why", "", "f:1", (worse.cell_id,))
        assert outcome.accept_pair(worse, [entry], "2026-05-31").state == "accepted"
        less = replace(entry, level=0.04)
        assert outcome.accept_pair(worse, [less], "2026-05-31").state == "worse"

    def test_an_accepted_change_includes_instructions_that_only_it_counted(self) -> None:
        example = Study(arms=("a", "slow"), policy=gate_policy(wall=0.02))
        gating = first(example, log_normal_timing({"slow": 1.05}))
        (slow,) = gating.in_state("suspicious")
        counted = replace(slow, metric="instructions", state="worse")
        entry = Accepted("x", "instructions", 0.1, "why", "", "f:1", (slow.cell_id,))
        judged = example.judge(example.blocks(log_normal_timing({}, spread=0.3)))
        given = (example.plan, gating, judged, "20260101T0100Z", [counted])
        twice = gate.second_pass(*given, accepted=[entry], day="2026-05-31")
        assert [pair.metric for pair in twice.in_state("accepted")] == ["instructions"]
        assert twice.remarks == ()
        assert twice.exit_code == 4
        assert gate.second_pass(*given).exit_code == 1

    def test_a_growth_of_memory_below_1_mib_passes_whatever_its_share(self) -> None:
        example = Study(policy=gate_policy(wall=0.02, peak_rss=0.05))

        def rss(arm: str, _: str, number: int) -> float:
            spread = 150_000 * (number % 5)
            return 2_000_000 + spread + (700_000 if arm == "b" else 0)

        gating = first(example, log_normal_timing({}), rss=rss)
        assert states(gating, example)["b", "peak_rss"] == "passed"

    def test_memory_confirms_no_time(self) -> None:
        """A small growth of memory is tolerated, and no sign that a time was worse."""
        example = Study(arms=("a", "slow", "same"))
        wall = log_normal_timing({})
        grown = 1.1 * 2_000_000

        def rss(arm: str, _: str, number: int) -> float:
            return (grown if arm == "slow" else 2_000_000) + number

        gating = first(
            example,
            lambda arm, where, n: wall(arm, where, n) * (1.05 if arm == "slow" else 1),
            cpu=log_normal_timing({}, seed=9),
            rss=rss,
        )
        assert states(gating, example)["slow", "peak_rss"] == "passed"
        plan = require(plans.confirmation_plan(example.plan, gating, "r"))
        again = Study(arms=("a", "slow"), policy=plan.judge)
        judged = again.judge(again.blocks(log_normal_timing({}, seed=8), rss=rss))
        twice = gate.second_pass(example.plan, gating, judged, "20260101T0100Z")
        assert not twice.in_state("worse")
        assert twice.exit_code == 0

    def test_a_difference_within_the_margin_confirms_nothing(self) -> None:
        example = Study(policy=gate_policy(wall=0.05))
        judged = example.judge(example.blocks(log_normal_timing({"b": 1.012}, spread=0.002)))
        c = replace(example.comparison(judged, "b"), verdict=Verdict.WORSE_SIZE_UNCERTAIN)
        assert require(c.shown).hi < 1.05
        assert gate.confirmed(c, 0.05)[0] == "passed"
        assert gate.confirmed(c, 0.005)[0] == "worse"

    def test_a_control_that_trips_confirms_nothing(self) -> None:
        gating = self.passes({"slow": 1.05, "control": 1.05})
        assert not gating.in_state("worse")
        assert "the A/A control differs significantly" in reasons_of(
            gating.in_state("not-judged")[0]
        )

    def test_nothing_suspicious_needs_no_second_pass(self) -> None:
        example = Study()
        assert (
            plans.confirmation_plan(example.plan, first(example, log_normal_timing({})), "r")
            is None
        )


class TestTheStoppingRule:
    """Measuring goes on until the gate can judge, or until its rounds are used up."""

    @staticmethod
    def look_at(example: Study, wall: Timing, number: int, **more: Timing) -> LookOutcome:
        index = looks_of(example.plan).rounds.index(number)
        return GateRule().look(analysis(example, wall, index, **more))

    def test_it_goes_on_while_a_difference_is_significant_for_the_report_only(self) -> None:
        example = Study(policy=gate_policy(wall=0.01))
        wall = log_normal_timing({"b": 1.025}, spread=0.03, seed=3)
        assert not self.look_at(example, wall, 27).stop
        assert (
            phrase(self.look_at(example, wall, 40).reason) == "this was the last interim analysis"
        )

    def test_a_candidate_that_is_worse_on_one_time_needs_no_more_rounds(self) -> None:
        example = Study(policy=gate_policy(wall=0.02, cpu=0.02))
        quiet, loud = log_normal_timing({"b": 1.05}), log_normal_timing({}, spread=0.4)
        outcome = self.look_at(example, quiet, 18, cpu=loud)
        assert (outcome.stop, phrase(outcome.reason)) == (True, "the gate can judge every variant")
        assert not self.look_at(example, log_normal_timing({}), 18, cpu=loud).stop

    def test_the_control_lets_the_gate_decide_before_pairs_could(self) -> None:
        example = Study(arms=("a", "b"), measure=MeasurePolicy(rounds_min=12, rounds_max=1000))
        assert question_of(example.plan).looks.needed == 13
        assert self.look_at(example, log_normal_timing({"b": 1.05}), 12).stop

    def test_a_small_detectable_effect_is_no_reason_to_stop_early(self) -> None:
        # With detect: 5 %, an inconclusive comparison passes after the last round. A regression of
        # 4 % must not pass earlier.
        example = Study(policy=gate_policy(wall=0.01, detect=0.05))
        wall = log_normal_timing({}, spread=0.02)
        assert not self.look_at(example, wall, 18).stop
        assert first(example, wall).exit_code == 0

    def test_equivalence_within_the_margin_ends_it(self) -> None:
        example = Study(policy=gate_policy(wall=0.02))
        assert self.look_at(example, log_normal_timing({}), 18).stop


class TestTheDecision:
    """A gate that passed says whether to keep the change, by its main metric."""

    @pytest.mark.parametrize(
        ("ratio", "spread", "change"),
        [
            (0.9, 0.01, ChangeKind.BETTER),
            (1.0, 0.01, ChangeKind.SAME),
            (1.01, 0.002, ChangeKind.SAME),  # significant, and tolerated
            (0.985, 0.03, ChangeKind.NOT_WORSE),
            (1.0, 0.4, ChangeKind.OPEN),
            (1.1, 0.01, ChangeKind.OPEN),  # it was not measured again
        ],
    )
    def test_the_verdict_of_the_main_metric_decides(
        self, ratio: float, spread: float, change: ChangeKind
    ) -> None:
        policy = gate_policy(cpu=0.02, wall=0.02)
        timing = log_normal_timing({"b": ratio}, spread=spread)
        gating = first(Study(arms=("a", "b"), policy=policy), timing)
        assert outcome.gate_change(gating, policy.gate) is change

    def test_a_confirmed_regression_precedes_an_improvement(self) -> None:
        policy = gate_policy(wall=0.02)
        gating = first(Study(arms=("a", "b", "c"), policy=policy), log_normal_timing({"b": 0.9}))
        assert outcome.gate_change(gating, policy.gate) is ChangeKind.BETTER
        pairs = tuple(
            replace(p, state="worse") if p.cell_id != gating.pairs[0].cell_id else p
            for p in gating.pairs
        )
        worse = outcome.conclude(replace(gating, pairs=pairs), policy.gate)
        assert outcome.gate_change(worse, policy.gate).decision == "discard"

    def test_only_another_output_is_discarded_where_something_failed(self) -> None:
        policy = gate_policy(wall=0.02)
        gating = first(Study(arms=("a", "b"), policy=policy), log_normal_timing({}))
        for verdict, decision in ((Verdict.OTHER_OUTPUT, "discard"), (Verdict.FAILED, None)):
            pairs = tuple(
                replace(p, state="failed", comparison=replace(p.comparison, verdict=verdict))
                for p in gating.pairs
            )
            failed = outcome.conclude(replace(gating, pairs=pairs), policy.gate)
            assert outcome.gate_change(failed, policy.gate).decision == decision

    def test_measuring_goes_on_until_an_improvement_is_known(self) -> None:
        """-1 % is known to be no regression long before it is known to be equivalent."""
        example = Study(arms=("a", "b"), policy=gate_policy(wall=0.02))
        index = looks_of(example.plan).rounds.index(18)
        at = analysis(example, log_normal_timing({"b": 0.985}, spread=0.02), index)
        assert GateRule().look(at).stop
        assert not GateRule(decides=True).look(at).stop


class TestCountedInstructions:
    """Instructions are counted where no time could be judged."""

    @staticmethod
    def gated(example: Study, grown: float, time: float = 1.0, cpu: float = 0.0) -> Gating:
        plan, loud = example.plan, log_normal_timing({"b": time}, spread=0.4)
        quiet = log_normal_timing({"b": cpu}) if cpu else None
        contents = example.contents(example.blocks(loud, quiet))
        cells = measuring.cells_to_count(plan, contents)
        counts = [
            (cell, 1e9 * (grown if cell.role is Role.CANDIDATE else 1))
            for cell in measuring.counting_plan(plan, cells).cells
            if cell.role is not Role.CONTROL
        ]
        contents.observations += [
            Observation(cell.id, "instructions", run, "", "valgrind", values={"instructions": n})
            for cell, n in counts
            for run in range(1, COUNTS_OF_GATE.runs + 1)
        ]
        return gate.first_pass(plan, contents)

    def test_more_instructions_fail_the_gate(self) -> None:
        example = Study(policy=gate_policy(wall=0.02, cpu=0.03))
        gating = self.gated(example, 1.05)
        (worse,) = gating.in_state("worse")
        assert (worse.metric, worse.margin) == ("instructions", 0.02)
        assert reasons_of(worse) == "counted because a time could not be judged; exact"
        assert gating.exit_code == 1

    @pytest.mark.parametrize(
        ("time", "grown", "state"),
        [(0.9, 4.0, "not-judged"), (0.9, 1.05, "worse"), (1.15, 4.0, "worse")],
    )
    def test_times_that_are_shorter_contradict_a_much_larger_count(
        self, time: float, grown: float, state: str
    ) -> None:
        gating = self.gated(Study(arms=("a", "b"), policy=gate_policy(wall=0.02)), grown, time)
        assert [(p.metric, p.state) for p in gating.pairs] == [
            ("wall", "not-judged"),
            ("instructions", state),
        ]
        assert gating.exit_code == (1 if state == "worse" else 4)

    @pytest.mark.parametrize(("cpu", "state"), [(1.01, "not-judged"), (1.12, "worse")])
    def test_a_cpu_time_that_excludes_so_large_an_increase_contradicts_a_count(
        self, cpu: float, state: str
    ) -> None:
        example = Study(arms=("a", "b"), policy=gate_policy(wall=0.05, cpu=0.05))
        gating = self.gated(example, 1.13, cpu=cpu)
        counted = next(p for p in gating.pairs if p.metric == "instructions")
        assert counted.state == state
        assert (ReasonCode.CPU_CONTRADICTS in {r.code for r in counted.reasons}) == (
            state == "not-judged"
        )
        assert gating.exit_code == (1 if state == "worse" else 4)

    def test_equal_instructions_do_not_show_that_the_times_are_equal(self) -> None:
        gating = self.gated(Study(policy=gate_policy(wall=0.02)), 1.0)
        assert [(p.metric, p.state) for p in gating.pairs] == [
            ("wall", "not-judged"),
            ("instructions", "passed"),
        ]
        assert gating.exit_code == 4

    def test_nothing_is_counted_if_the_times_are_judged(self) -> None:
        example = Study(policy=gate_policy(wall=0.02))
        contents = example.contents(example.blocks(log_normal_timing({})))
        assert not measuring.cells_to_count(example.plan, contents)


def test_an_inconclusive_gate_names_the_budget_for_the_rounds_that_it_needs() -> None:
    example = Study(arms=("a", "b"), policy=gate_policy(wall=0.02))
    contents = example.contents(example.blocks(log_normal_timing({}, spread=0.05)))
    spent = Reason(ReasonCode.BUDGET_SPENT)
    contents.looks[-1] = replace(contents.looks[-1], stopped=True, reason=spent)
    contents.elapsed_s = 120.0
    gating = gate.first_pass(example.plan, contents)
    (pair,) = gating.in_state("not-judged")
    needed, rounds = require(pair.comparison.rounds_needed), pair.comparison.rounds
    assert needed > rounds
    (remark,) = enough_budget(gating, contents)
    minutes = math.ceil(2 * needed / rounds)
    assert remark == Reason(ReasonCode.BUDGET_ENOUGH, (needed, minutes))
    assert f"use --budget {minutes}m" in phrase(remark)
    # None is known to be enough for a time with a reason, or where the rounds ended it.
    for pair_now, reason in (
        (replace(pair, comparison=replace(pair.comparison, reason=UNSTABLE)), spent),
        (replace(pair, comparison=replace(pair.comparison, rounds_needed=None)), spent),
        (pair, Reason(ReasonCode.LAST_ROUND)),
    ):
        contents.looks[-1] = replace(contents.looks[-1], reason=reason)
        assert not [*enough_budget(replace(gating, pairs=(pair_now,)), contents)]

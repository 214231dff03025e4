"""`judge` on whole records: states, families, A/A control, memory, status and claims."""

import random
from dataclasses import replace

import pytest

from bench_framework.compare.cell_state import EMPTY_DIGEST
from bench_framework.features.judge import judge
from bench_framework.model.metrics import LEAST_BYTES
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.reasons import CONTROL_DIFFERS, Reason, ReasonCode
from bench_framework.model.record.run import Answer, Build, Receipt
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from bench_framework.text.write import say
from tests.build import require
from tests.unit.judging.conftest import Study, changed, timing


def test_the_same_record_gives_the_same_judgement_to_the_last_bit() -> None:
    example = Study(arms=("a", "b", "c"))
    blocks = example.blocks(timing({"b": -0.02}, 0.05))
    assert example.judge(blocks) == example.judge(list(reversed(blocks)))


@pytest.mark.parametrize("effect", [0.0, 0.015, 0.03])
def test_names_and_order_of_variants_move_no_verdict(effect: float) -> None:
    """The timing follows the arm. Arms are renamed and reordered, and the baseline stays first."""
    plain = Study(arms=("a", "b", "c", "d"))
    wall = timing({"b": effect, "c": -effect, "d": 2 * effect}, 0.03)
    first = plain.judge(plain.blocks(wall))
    back = {"a": "a", "zz": "b", "m m": "c", "<x>": "d", "control": "control"}
    other = Study(arms=("a", "<x>", "zz", "m m"))
    second = other.judge(other.blocks(lambda arm, i, r: wall(back[arm], i, r)))
    for renamed in ("zz", "m m", "<x>"):
        for metric in ("wall", "cpu"):
            one = plain.comparison(first, back[renamed], metric)
            assert replace(one, cell_id="", ref_cell_id="") == replace(
                other.comparison(second, renamed, metric), cell_id="", ref_cell_id=""
            )


def test_all_claims_say_what_their_fields_say() -> None:
    example = Study(arms=("a", "b", "c", "d"), sizes=(10, 50, 200))
    wall = timing({"b": -0.3, "c": 0.015, "d": 0.2}, 0.03)
    judged = example.judge(
        example.blocks(
            lambda a, i, r: wall(a, i, r) * (0.5 if (a, i) == ("d", "200MiB") else 1),
            timing({"b": 0.2}, 0.005),
            lambda a, _i, r: 5e7 * (1.5 if a == "b" else 1) + 4096 * (r % 3),
        )
    )
    assert len(judged.claims) > 30
    assert {c.kind for c in judged.claims} >= {
        *("main", "comparison", "control", "memory", "sign-change", "noise-floor", "scaling"),
        *("memory-share", "trust", "recommendation", "coverage"),
    }
    for claim in judged.claims:
        assert claim.text
        assert claim.text == say(claim)
        assert claim.text == say(replace(claim, text=""))


def test_no_claim_uses_a_forbidden_word() -> None:
    example = Study(arms=("a", "b", "c"))
    judged = example.judge(example.blocks(timing({"b": -0.4, "c": 0.02}, 0.03), rss=lambda *_: 1e7))
    forbidden = (
        "no difference",
        "insignificant",
        "as fast as",
        "% faster",
        "no regression",
        "unchanged",
    )
    for claim in judged.claims:
        assert not any(word in claim.text for word in forbidden), claim.text


def test_before_the_first_look_there_is_no_verdict() -> None:
    example = Study(rounds=5)
    judged = judge(example.plan, example.blocks(timing({"b": -0.5}, 0.01)), {}, (), ())
    assert {c.verdict for c in judged.comparisons} == {Verdict.INCONCLUSIVE}
    assert {phrase(c.reason) for c in judged.comparisons} == {
        "no interim analysis has taken place yet"
    }
    assert judged.status == "exploratory"
    assert judged.best[0].cell_ids == ()
    assert (
        judged.claims[0].text == "Nothing is conclusive: no interim analysis has taken place yet."
    )


def test_a_cell_with_too_many_void_rounds_has_failed() -> None:
    example = Study(arms=("a", "b", "c"))
    broken = example.cell("b").id
    blocks = [
        replace(b, status="failed", message="exit status 101", wall_s=())
        if b.cell_id == broken and b.round % 10 == 3
        else b
        for b in example.blocks(timing({"c": -0.3}, 0.01))
    ]
    judged = example.judge(blocks)
    assert example.comparison(judged, "b").verdict is Verdict.FAILED
    assert (
        phrase(example.comparison(judged, "b").reason)
        == "exit status 101 (round 3; 4 of 40 rounds)"
    )
    assert example.comparison(judged, "c").verdict is Verdict.BETTER


def test_a_rare_void_round_is_left_out_for_its_pairs_only() -> None:
    example = Study(arms=("a", "b", "c"))
    broken = example.cell("b").id
    blocks = [
        replace(b, status="timeout", wall_s=()) if b.cell_id == broken and b.round == 7 else b
        for b in example.blocks(timing({"b": 0.3}, 0.01))
    ]
    judged = example.judge(blocks)
    assert example.comparison(judged, "b").rounds == 39
    assert example.comparison(judged, "c").rounds == 40


def test_warm_up_and_cut_rounds_are_never_used() -> None:
    example = Study()
    blocks = example.blocks(timing({}, 0.01))
    noise = [replace(b, warmup=True, wall_s=(9.0,), seq=b.seq - 1000) for b in blocks[:9]]
    noise += [replace(b, status="skipped", round=41, wall_s=(9.0,)) for b in blocks[:2]]
    assert example.judge([*noise, *blocks]) == example.judge(blocks)


def test_a_difference_of_memory_below_1_mib_is_none() -> None:
    example = Study()
    wall = timing({}, 0.01)

    def verdict(base: float, more: float) -> Verdict:
        amounts = {"b": base + more}
        blocks = example.blocks(wall, rss=lambda arm, *_: amounts.get(arm, base))
        return example.comparison(example.judge(blocks), "b", "peak_rss").verdict

    assert verdict(4e6, 0.9 * LEAST_BYTES) is Verdict.EQUIVALENT
    assert verdict(4e6, 1.1 * LEAST_BYTES) is Verdict.WORSE
    assert verdict(1e9, 20e6) is Verdict.WORSE_SIZE_UNCERTAIN  # the margin is still 5 %


def test_outputs_are_empty_if_those_of_all_configurations_are() -> None:
    example = Study()
    blocks = example.blocks(timing({}, 0.01))
    empty = Answer(EMPTY_DIGEST, source="stdout")
    silent = [replace(block, answer=empty) for block in blocks]
    assert example.judge(silent).outputs_empty
    assert not example.judge(
        changed(silent, example.cell("b").id, answer=blocks[0].answer)
    ).outputs_empty
    assert not example.judge(blocks).outputs_empty


def test_another_answer_is_not_compared() -> None:
    example = Study()
    blocks = example.blocks(timing({"b": -0.5}, 0.01))
    judged = example.judge(changed(blocks, example.cell("b").id, answer=Answer("zz", 2)))
    assert example.comparison(judged, "b").verdict is Verdict.OTHER_OUTPUT
    assert "printed a different result than a" in " ".join(c.text for c in judged.claims)
    assert example.comparison(example.judge(blocks), "b").verdict is Verdict.BETTER


def test_answers_are_not_compared_if_the_scenario_says_none() -> None:
    example = Study(compare="none")
    blocks = example.blocks(timing({"b": -0.5}, 0.01))
    blocks = changed(blocks, example.cell("b").id, answer=Answer("zz"))
    assert example.comparison(example.judge(blocks), "b").verdict is Verdict.BETTER


def test_a_mode_that_fell_back_is_not_compared_as_the_requested_mode() -> None:
    example = Study(arms=("read", "mmap"))
    blocks = example.blocks(timing({"mmap": -0.5}, 0.01))
    fell = (Receipt(effective={"arm": "read"}),)
    judged = example.judge(changed(blocks, example.cell("mmap").id, receipts=fell))
    results = example.comparison(judged, "mmap")
    differs = Reason(ReasonCode.AXIS_DIFFERS, ("arm", "mmap", "read"))
    assert results.verdict is Verdict.NOT_COMPARABLE
    assert results.reason == Reason(ReasonCode.MODE_DIFFERS, (differs,))
    assert "BX305" in {e.code for e in judged.events}
    assert judged.status == "not comparable"


def test_a_name_that_the_worker_does_not_list_is_no_fallback() -> None:
    example = Study(arms=("plain", "quick"))
    described = {"axes": {"arm": {"values": [{"name": "read"}, {"name": "mmap"}]}}}
    build = Build("program", ok=True, sha256="1", describe=described)
    blocks = [
        replace(b, receipts=(Receipt(effective={"arm": "read"}),))
        for b in example.blocks(timing({}, 0.01))
    ]
    assert {s.state for s in example.judge(blocks, {"program": build}).states} == {"measured"}


def test_the_noise_floor_is_what_the_control_could_not_exclude() -> None:
    example = Study()
    judged = example.judge(example.blocks(timing({}, 0.05)))
    control = example.comparison(judged, "control")
    floor = judged.floors[0]
    interval = require(control.shown)
    assert floor.fraction == pytest.approx(max(interval.hi, 1 / interval.lo) - 1)


def test_drift_of_the_baseline_is_reported_and_does_not_decide() -> None:
    example = Study()
    wall = timing({}, 0.01)
    judged = example.judge(example.blocks(lambda a, i, r: wall(a, i, r) * (1 + 0.01 * r)))
    assert "BX320" in {e.code for e in judged.events}
    assert example.comparison(judged, "b").verdict is Verdict.EQUIVALENT


def test_an_unfinished_family_still_shares_the_planned_level() -> None:
    example = Study(arms=("a", *"bcdefgh"))
    only = {example.cell(arm).id for arm in ("a", "b", "control")}
    judged = example.judge(
        [b for b in example.blocks(timing({"b": -0.3}, 0.01)) if b.cell_id in only]
    )
    results = example.comparison(judged, "b")
    assert require(results.shown).level == pytest.approx(1 - 0.05 / (judged.looks.count * 14))
    assert sum(s.state == "not-started" for s in judged.states) == 6


def test_a_configuration_that_was_not_started_says_so_where_the_control_differs() -> None:
    example = Study(arms=("a", "b", "c"))
    blocks = example.blocks(timing({"control": 0.3}, 0.01))
    judged = example.judge([b for b in blocks if b.cell_id != example.cell("c").id])
    reasons = {arm: example.comparison(judged, arm).reason for arm in ("b", "c")}
    assert reasons == {"b": CONTROL_DIFFERS, "c": Reason(ReasonCode.NO_ROUND)}


def test_a_metric_that_is_better_when_larger_is_judged_the_right_way_round() -> None:
    example = Study(policy=JudgePolicy(metrics=("wall", "rate")))
    described = {"metrics": [{"name": "rate", "direction": "higher"}]}
    blocks = [
        replace(b, receipts=(Receipt(metrics={"rate": 1 / b.wall_s[0]}),))
        for b in example.blocks(timing({"b": -0.3}, 0.01))
    ]
    judged = example.judge(blocks, {"program": Build("program", ok=True, describe=described)})
    assert example.comparison(judged, "b", "rate").verdict is Verdict.BETTER


@pytest.mark.parametrize("seed", range(12))
def test_damaged_rounds_are_judged_without_an_error(seed: int) -> None:
    """Failures, timeouts, cut rounds, missing figures and zeros, in every combination."""
    damage = random.Random(seed)
    example = Study(arms=("a", "b", "c"), sizes=(10, 50, 200), rounds=14)
    blocks = []
    for original in example.blocks(timing({"b": 0.1}, 0.02), rss=lambda *_: 1e7):
        block, roll = original, damage.random()
        if roll < 0.04 * seed:
            block = replace(
                block, status=damage.choice(["failed", "timeout", "skipped", "ok"]), wall_s=()
            )
        elif roll > 0.9:
            block = replace(
                block, user_s=damage.choice([None, 0.0]), peak_rss_bytes=None, answer=None
            )
        if roll < 0.95:
            blocks.append(block)
    judged = example.judge(blocks)
    assert len([c for c in judged.comparisons if c.family == "headline"]) == 12
    assert all(claim.text == say(claim) for claim in judged.claims)


def test_huge_ratios_are_printed_as_factors() -> None:
    example = Study()
    judged = example.judge(example.blocks(lambda a, *_: 5e4 if a == "b" else 5e-7))
    assert example.comparison(judged, "b").verdict is Verdict.WORSE
    assert "b is 100000000000.0" in " ".join(c.text for c in judged.claims)


def test_a_record_without_any_block_is_judged_too() -> None:
    judged = judge(Study(sizes=(10, 50)).plan, (), {}, (), ())
    assert {s.state for s in judged.states} == {"not-started"}
    assert judged.status == "exploratory"
    assert "4 not started" in " ".join(c.text for c in judged.claims)

"""The answer of each kind of question, the key findings, and the recommendation of one variant."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench_framework.features.changed_settings import changed_settings
from bench_framework.features.judge import judge
from bench_framework.model.declarations import DerivedRow, Experiment, NamedCell, NamedContrast
from bench_framework.model.facts import (
    Best,
    ChangeEffects,
    Claim,
    LimitReached,
    LimitShares,
    SingleChanges,
)
from bench_framework.model.invocation import Invocation
from bench_framework.model.judgement import Judgement
from bench_framework.model.plan import BuildSpec, Plan, Role
from bench_framework.model.revisions import Revisions
from bench_framework.model.verdict import Verdict
from bench_framework.report import claim_blocks
from bench_framework.text.write import lead
from tests.unit.judging.conftest import Crossed, Study, timing

THIN = "\u202f"


def texts(judged: Judgement, kind: str) -> list[str]:
    return [c.text for c in judged.claims if c.kind == kind]


def line(judged: Judgement, words: str) -> Claim:
    return next(c for c in judged.claims if lead(c) == words)


def test_a_ladder_is_answered_by_its_total_and_its_steps(crossed: type[Crossed]) -> None:
    example = crossed(
        {"parser": ["old", "new"], "pool": ["none", "fixed"]},
        drop=lambda v: v["parser"] == "old" and v["pool"] == "fixed",
        design="ladder",
    )

    def wall(values: Mapping[str, str], _: str, number: int) -> float:
        noise = random.Random(f"{sorted(values.items())}/{number}").gauss(0, 0.004)
        factor = (0.8 if values["parser"] == "new" else 1) * (
            1.1 if values["pool"] == "fixed" else 1
        )
        return 0.05 * factor * (1 + abs(noise))

    first, second = texts(example.judge(wall), "answer")
    assert first.startswith("With all 2 steps, new fixed takes 12")
    assert second.startswith(f"Less time than the step before: new 20.1{THIN}% [")
    assert ". More time: fixed " in second


def test_single_changes_are_answered_by_the_best_one_and_those_without_effect(
    study: type[Study],
) -> None:
    example = study(arms=("a", "quick", "slow", "same"))
    plan = replace(example.plan, design="one-at-a-time")
    wall = timing({"quick": -0.2, "slow": 1.0}, 0.01)
    judged = judge(plan, example.blocks(wall), {}, example.inputs(), example.looks())
    first, second = (c for c in judged.claims if c.kind == "answer")
    assert first.fact == SingleChanges(count=3, base="a", members=("quick",))
    assert first.estimate == pytest.approx(0.801, abs=0.001)
    assert isinstance(second.fact, ChangeEffects)
    assert (second.fact.role, second.fact.reference) == ("other changes", "a")
    assert [entry.name for entry in second.fact.losses] == ["slow"]
    assert (second.fact.gains, second.fact.equal, second.fact.none) == ((), ("same",), ())
    nothing = timing({"slow": 0.5, "quick": 0.5}, 0.01)
    judged = judge(plan, example.blocks(nothing), {}, example.inputs(), example.looks())
    first = next(c for c in judged.claims if c.kind == "answer")
    assert first.fact == SingleChanges(count=3, base="a")
    example = study(arms=("a", "slow"))
    plan = replace(example.plan, design="one-at-a-time")
    judged = judge(plan, example.blocks(nothing), {}, example.inputs(), example.looks())
    first = next(c for c in judged.claims if c.kind == "answer")
    assert first.fact == SingleChanges(count=1, base="a")


def test_a_limit_is_answered_by_the_share_that_is_reached(study: type[Study]) -> None:
    example = study(arms=("a", "quick", "limit"), sizes=(1,))
    plan = example.plan
    ids = {dict(v.values)["arm"]: v.id for v in plan.variants}
    cells = tuple(
        replace(c, role=Role.BOUND) if c.variant_id == ids["limit"] else c for c in plan.cells
    )
    plan = replace(
        plan,
        cells=cells,
        named=tuple(NamedCell(name, ids[name]) for name in ("a", "quick", "limit")),
        derived=(
            DerivedRow("top", "min(rate(limit), rate(limit))"),
            DerivedRow("share_of_a", "rate(a) / top"),
            DerivedRow("share_of_quick", "rate(quick) / top"),
        ),
    )
    blocks = example.blocks(timing({"quick": -0.2, "limit": -0.28}, 0.01))
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    first, second = (c.fact for c in judged.claims if c.kind == "answer")
    assert isinstance(first, LimitReached)
    assert first.members == ("quick",)
    assert first.share.value == pytest.approx(0.9, abs=0.01)
    assert isinstance(second, LimitShares)
    ((label, share),) = second.shares
    assert label == "a"
    assert share.value == pytest.approx(0.72, abs=0.01)


def test_the_gain_from_overlap_is_stated_with_the_rates_of_the_stages(study: type[Study]) -> None:
    example = study(arms=("both", "first", "second"), sizes=(1,))
    ids = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    plan = replace(
        example.plan,
        named=tuple(NamedCell(name, ids[name]) for name in ids),
        derived=(
            DerivedRow("in_turn", "harmonic(rate(first), rate(second))"),
            DerivedRow("gain", "rate(both) / in_turn"),
        ),
    )
    blocks = example.blocks(timing({"first": -0.2, "second": -0.2}, 0.001))
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    text = line(judged, "Gain from overlap").text
    rate = "25.0\u202fMiB/s"
    assert text.startswith(
        f"Compared with first ({rate}) and second ({rate}) one after the other, "
        "both has 1.600× the rate [1."
    )


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (1.2, "slower than "),
        (0.8, "v2 takes 20.0\u202f% less time than v1 ["),
        (1.0, "Nothing became slower from v1 to v2: 1 of 1 comparison is equivalent"),
    ],
)
def test_two_revisions_are_answered_by_what_became_slower(
    study: type[Study], factor: float, text: str
) -> None:
    example = study(arms=("v1", "v2"))
    names = {"base": "v1", "head": "v2", "base_name": "v1", "head_name": "v2"}
    revisions = Revisions(**{k: names.get(k, "") for k in Revisions.__dataclass_fields__})
    metrics = replace(example.plan.judge, metrics=("wall",))
    plan = replace(example.plan, revisions=revisions, judge=metrics)
    blocks = example.blocks(timing({"v2": factor - 1}, 0.004))
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    (answer,) = texts(judged, "answer")
    assert text in answer
    assert not texts(judged, "recommendation")


def test_memory_and_cpu_time_of_two_revisions_are_in_the_summary(study: type[Study]) -> None:
    example = study(arms=("v1", "v2"))
    plan = replace(
        example.plan, revisions=Revisions("1" * 40, None), invocation=Invocation(gate=True)
    )
    wall, cpu = timing({}, 0.004), timing({"v2": 0.1}, 0.004)

    def rss(arm: str, _: str, number: int) -> float:
        return (1.9 if arm == "v2" else 1) * (14_000_000 + number)

    blocks = example.blocks(wall, cpu, rss)
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    text = line(judged, "Memory and CPU time").text
    assert text.startswith("v2 uses 1.9")
    assert "as much memory as v1 [" in text
    assert "] (13.4 MiB → 25.4 MiB). v2 uses 10.0".replace(" MiB", f"{THIN}MiB") in text
    assert "more CPU time than v1 [" in text
    assert "summary.md" in line(judged, "Gate").text
    same = judge(plan, example.blocks(wall), {}, example.inputs(), example.looks())
    assert not any(lead(c) == "Memory and CPU time" for c in same.claims)


@pytest.mark.parametrize("label", ["v2", "rg (new)", "a", "is", "n×m"])
def test_the_printed_summary_does_not_change_a_label(label: str, study: type[Study]) -> None:
    example = study(arms=("base", label))
    plan = replace(example.plan, revisions=Revisions("1" * 40, None))
    wall = timing({}, 0.004)

    def rss(arm: str, _: str, number: int) -> float:
        return (1.9 if arm == label else 1) * (14_000_000 + number)

    blocks = example.blocks(wall, timing({label: 0.1}, 0.004), rss)
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    printed = claim_blocks.sentence(line(judged, "Memory and CPU time"))
    assert printed.text.startswith(f"{label} uses 1.9")
    assert f"). {label} uses " in printed.text


def test_without_contrasts_the_best_is_compared_with_the_next_and_each_reference(
    study: type[Study],
) -> None:
    example = study(arms=("a", "quick", "second", "reference"))
    plan = example.plan
    reference = next(v.id for v in plan.variants if v.label == "reference")
    plan = replace(plan, further_baselines=(reference,))
    wall = timing({"quick": -0.4, "second": -0.2, "reference": -0.1}, 0.01)
    judged = judge(plan, example.blocks(wall), {}, example.inputs(), example.looks())
    claims = [c for c in judged.claims if c.kind == "contrast"]
    assert [lead(c) for c in claims] == [
        "Fastest against the next",
        "reference against the fastest",
    ]
    assert claims[0].text.startswith(f"quick takes 25.0{THIN}% less time than second [")
    with_contrast = replace(
        plan,
        contrasts=(
            NamedContrast("mine", reference, plan.baseline_id, (plan.inputs[0].id,), "wall"),
        ),
    )
    judged = judge(with_contrast, example.blocks(wall), {}, example.inputs(), example.looks())
    assert [lead(c) for c in judged.claims if c.kind == "contrast"] == ["mine"]


def test_sentences_and_claims_have_the_interval_of_the_verdict(study: type[Study]) -> None:
    example = study(arms=("a", "b", "c", "d"))
    judged = example.judge(example.blocks(timing({"b": -0.2, "c": -0.1}, 0.1)))
    c = example.comparison(judged, "b")
    assert c.shown is not None
    claim = next(x for x in judged.claims if x.kind == "comparison" and x.cells[0] == c.cell_id)
    assert (claim.lo, claim.hi, claim.level) == (c.shown.lo, c.shown.hi, c.shown.level)
    low, high = (float(x) for x in claim.text.split("[")[1].split("]")[0].split(", "))
    assert low == pytest.approx(100 * (1 - c.shown.hi), abs=1)
    assert high == pytest.approx(100 * (1 - c.shown.lo), abs=1)


@pytest.mark.parametrize(
    ("memory", "cpu", "chosen", "reason"),
    [
        ({"b": 9e6, "c": 4e6}, {}, "c", "the least memory (3.81"),
        ({}, {"b": 0.5, "c": 1.0}, "b", "the least CPU time"),
        ({}, {}, None, "the best estimate"),
    ],
)
def test_ties_are_broken_by_memory_then_cpu_time(
    study: type[Study],
    memory: dict[str, float],
    cpu: dict[str, float],
    chosen: str | None,
    reason: str,
) -> None:
    example = study(arms=("a", "b", "c"))
    judged = example.judge(
        example.blocks(
            timing({"b": -0.5, "c": -0.5}, 0.05),
            cpu=lambda arm, *_: cpu.get(arm, 1.0),
            rss=lambda arm, *_: memory.get(arm, 5e6),
        )
    )
    (claim,) = (c for c in judged.claims if c.kind == "recommendation")
    assert claim.subject in ({chosen} if chosen else {"b", "c"})
    other = ({"b", "c"} - {claim.subject}).pop()
    assert claim.text.startswith(
        f"Use {claim.subject}: it is not significantly slower than {other}. Of the two, it has {reason}"
    )


def test_the_answer_and_the_recommendation_choose_from_the_named_variants(
    study: type[Study],
) -> None:
    """A slowed generator, for example, is other work and no alternative."""
    example = study(arms=("a", "b", "other"))
    plan = replace(example.plan, choose_from=((("arm", "a"),), (("arm", "b"),)))
    blocks = example.blocks(timing({"b": -0.2, "other": -0.5}, 0.01))
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    (group,) = judged.best
    assert [plan.variant(plan.cell(c).variant_id).label for c in group.cell_ids] == ["b"]
    assert len(group.comparisons) == 3
    (main,) = (c for c in judged.claims if c.kind == "main")
    assert main.fact == Best(members=("b",), leading=True, among=("arm=a", "arm=b"))
    assert main.estimate == pytest.approx(0.8, abs=0.02)
    (advice,) = texts(judged, "recommendation")
    assert advice == (
        "Use b: it is significantly faster than every other variant with arm=a or arm=b."
    )


def test_the_best_on_every_input_is_named_with_the_variants_that_tie(study: type[Study]) -> None:
    example = study(arms=("a", "b", "c"), sizes=(1, 8))
    draw = timing({"b": -0.5, "c": -0.4}, 0.01)

    def wall(arm: str, where: str, number: int) -> float:
        # On the small input, `c` is nearly as fast as `b`, and the runs do not separate them.
        alike = where == "1MiB" and arm == "c"
        return draw("b" if alike else arm, f"{where} {arm}", number)

    text = line(example.judge(example.blocks(wall)), "Inputs").text
    assert text.startswith(
        "b is fastest on both inputs, with no significant difference from c on 1MiB"
    )


@pytest.mark.parametrize(
    ("small", "text"),
    [
        (0.9, "The order of the variants is the same on both inputs"),
        (0.4985, "No two variants change their order significantly between the inputs"),
        (0.2, "In these pairs, the faster one depends on the input: c and d"),
    ],
)
def test_the_order_of_the_variants_is_compared_between_inputs(
    study: type[Study], small: float, text: str
) -> None:
    example = study(arms=("a", "b", "c", "d"), sizes=(1, 8))
    draw = timing({}, 0.01)

    def wall(arm: str, where: str, number: int) -> float:
        factors = {"b": 0.1, "c": small * 1.001 if where == "1MiB" else 0.7, "d": 0.5}
        return draw(arm, where, number) * factors.get(arm, 1.0)

    assert f". {text}" in line(example.judge(example.blocks(wall)), "Inputs").text


def test_the_settings_of_the_recommended_variant_are_stated(study: type[Study]) -> None:
    example = study(arms=("a", "b", "c"))
    variants = tuple(replace(v, label=f"variant {v.label}") for v in example.plan.variants)
    plan = replace(example.plan, variants=variants)

    def used(plan: Plan, effects: dict[str, float]) -> list[str]:
        blocks = example.blocks(timing(effects, 0.01))
        return texts(judge(plan, blocks, {}, example.inputs(), example.looks()), "use")

    assert used(plan, {"b": -0.5, "c": -0.4}) == [
        "Use variant b: argument b. Other settings as in the baseline."
    ]
    assert not used(plan, {"b": 0.5, "c": 0.4}), "the baseline is best"
    assert not used(example.plan, {"b": -0.5, "c": -0.4}), "the label is the setting"


@pytest.mark.parametrize(
    ("builds", "commands", "envs", "text"),
    [
        (
            (BuildSpec("c", "p"), BuildSpec("c", "p", features=("b",), default_features=False)),
            ("p x", "p x"),
            ("", ""),
            "without default features; feature b",
        ),
        (
            (BuildSpec("c", "p", default_features=False), BuildSpec("c", "p")),
            ("p --safe --fast x", "p -j x"),
            ("A=1 B=2", "B=3"),
            (
                "default features; argument -j; without arguments --safe --fast; environment B=3; "
                "without environment A"
            ),
        ),
        ((None, None), ("p -n 1 x", "p -n 2 x"), ("", "A=1"), "argument -n 2; environment A=1"),
    ],
)
def test_every_changed_setting_is_stated(
    study: type[Study],
    builds: tuple[BuildSpec | None, BuildSpec | None],
    commands: tuple[str, str],
    envs: tuple[str, str],
    text: str,
) -> None:
    plan = study(arms=("a", "b")).plan
    variants = [replace(v, build=b) for v, b in zip(plan.variants, builds, strict=True)]
    cells = [
        replace(
            next(c for c in plan.cells if c.variant_id == v.id and c.role is not Role.CONTROL),
            command=tuple((word,) for word in command.split()),
            env=tuple((name, value) for name, _, value in (w.partition("=") for w in env.split())),
        )
        for v, command, env in zip(variants, commands, envs, strict=True)
    ]
    assert changed_settings(replace(plan, variants=tuple(variants)), *cells) == text


def test_a_contrast_in_another_metric_has_the_medians(study: type[Study]) -> None:
    example = study(arms=("a", "b"))
    plan = example.plan
    b, a = plan.variants[1].id, plan.variants[0].id
    inputs = (plan.inputs[0].id,)
    contrasts = (
        NamedContrast("CPU", b, a, inputs, "cpu"),
        NamedContrast("time", b, a, inputs, "wall"),
    )
    plan = replace(plan, contrasts=contrasts)
    blocks = example.blocks(timing({"b": 0.5}, 0.001), cpu=timing({"b": 2.0}, 0.001))
    cpu, wall = texts(judge(plan, blocks, {}, example.inputs(), example.looks()), "contrast")
    assert cpu.startswith("b uses 3.00× as much CPU time as a [")
    assert cpu.endswith("] (medians 150\u202fms and 50.0\u202fms).")
    assert "medians" not in wall


def test_memory_that_is_equivalent_and_not_equal_is_about_the_same(study: type[Study]) -> None:
    example = study(arms=("a", "b"))
    wall = timing({"b": -0.5}, 0.01)

    def memory(other: float) -> str:
        noise = random.Random(1)
        sizes = {"b": other}
        blocks = example.blocks(
            wall, rss=lambda arm, *_: sizes.get(arm, 6.57 * 2**20) * (1 + noise.random() / 1e4)
        )
        return line(example.judge(blocks), "Memory and CPU time").text

    same = "b and a use about the same memory: 6.60\u202fMiB and 6.57\u202fMiB."
    assert memory(6.6 * 2**20).startswith(same)
    assert memory(6.57 * 2**20).startswith("b and a both use 6.57\u202fMiB of memory.")


def test_memory_of_two_variants_is_compared_if_the_baseline_is_best(study: type[Study]) -> None:
    example = study(arms=("a", "b"))

    def text(other: float) -> str:
        blocks = example.blocks(
            timing({"b": 0.5}, 0.01), rss=lambda arm, *_: (other if arm == "b" else 13.39) * 2**20
        )
        return line(example.judge(blocks), "Memory").text

    assert text(13.36) == "a and b both use 13.4\u202fMiB of memory."
    assert text(20.0) == "a uses 13.4\u202fMiB of memory, b uses 20.0\u202fMiB."


def test_the_summary_gives_the_limits_of_the_limitations(study: type[Study]) -> None:
    example = study()
    text = line(example.judge(example.blocks(timing({}, 0.01))), "Confidence").text
    assert "Not measured: other machines and a cold page cache." in text


def test_experiments_without_a_gain_are_named_by_their_outcome(study: type[Study]) -> None:
    example = study(arms=("a", "quick", "slow", "slower", "same", "also the same"))
    plan = replace(
        example.plan,
        experiments=tuple(
            Experiment(v.label, v.id, (("arm", v.label),), decision="rejected")
            for v in example.plan.variants[1:]
        ),
    )
    blocks = example.blocks(timing({"quick": -0.2, "slow": 0.3, "slower": 0.5}, 0.01))
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    text = line(judged, "Rejected by the author").text
    assert text.startswith(f"Faster than a: quick (19.9{THIN}% less time [")
    assert f"]). Slower: slow (30.2{THIN}% more time [29.8, 30.7]) and slower (1.50× [" in text
    assert text.endswith("]). Equivalent: same and also the same.")


def test_the_counts_of_the_line_on_confidence_add_up(study: type[Study]) -> None:
    """Two are conclusive, one is inconclusive, and one has no verdict."""
    example = study(arms=("a", "b", "c", "d"))
    plan = example.plan
    b, c = (v.id for v in plan.variants[1:3])
    plan = replace(plan, contrasts=(NamedContrast("CPU", b, c, (plan.inputs[0].id,), "cpu"),))
    draw = timing({"b": 0.5, "c": 0.7}, 0.01)

    def wall(arm: str, where: str, number: int) -> float:
        return draw(arm, where, number) * ((0.5, 2.0)[number % 2] if arm == "d" else 1.0)

    blocks = example.blocks(wall, cpu=timing({"control": 0.5}, 0.01))
    text = line(judge(plan, blocks, {}, example.inputs(), example.looks()), "Confidence").text
    assert text.startswith(
        "2 of 4 time comparisons are conclusive (3 with the baseline, 1 named in the scenario). "
        "d vs a is inconclusive: it "
    )
    assert ". 1 has no verdict: the A/A check of CPU time failed. The A/A check passed: " in text
    assert "No comparison of CPU time" not in text


def test_inconclusive_comparisons_of_several_inputs_name_their_input(study: type[Study]) -> None:
    example = study(arms=("a", "b", "c"), sizes=(1, 10))
    draw = timing({"c": 1.0}, 0.01)

    def wall(arm: str, where: str, number: int) -> float:
        return draw(arm, where, number) * ((0.5, 2.0)[number % 2] if arm == "b" else 1.0)

    judged = judge(example.plan, example.blocks(wall), {}, example.inputs(), example.looks())
    text = line(judged, "Confidence").text
    assert text.startswith("2 of 4 time comparisons are conclusive. b vs a on 1MiB is inconclusive")
    assert " or more. b vs a on 10MiB is inconclusive: it could only detect " in text


def test_a_contrast_of_many_times_is_stated_as_a_factor(study: type[Study]) -> None:
    example = study(arms=("a", "b"))
    blocks = example.blocks(timing({"b": 26.5, "control": 0.5}, 0.01))
    (claim,) = (
        c for c in example.judge(blocks).claims if c.kind == "comparison" and c.metric == "wall"
    )
    assert claim.text.startswith("b vs a is inconclusive: 25.0×")
    assert "× [1" in claim.text


def test_outputs_that_a_command_checks_are_not_called_compared(study: type[Study]) -> None:
    example = study(arms=("a", "b"))
    blocks = example.blocks(timing({"b": 0.5}, 0.01))

    def text(plan: Plan) -> str:
        return line(judge(plan, blocks, {}, example.inputs(), example.looks()), "Confidence").text

    assert "Outputs" not in text(example.plan)
    answer = replace(example.plan.answer, check=("grep", "-q", "x"))
    checked = text(replace(example.plan, answer=answer))
    assert ". Outputs were checked by `grep -q x`, and not compared with each other" in checked


def test_the_order_of_the_variants_needs_a_significant_pair_on_each_input(
    study: type[Study],
) -> None:
    example = study(arms=("a", "b", "c"), sizes=(1, 8))
    draw = timing({}, 0.01)
    factors = {"b": 0.5, "c": 0.7}

    def text(*clear: str) -> str:
        def wall(arm: str, where: str, number: int) -> float:
            return draw(arm, where, number) * (factors.get(arm, 1.0) if where in clear else 1.0)

        return line(example.judge(example.blocks(wall)), "Inputs").text

    assert "The order of the variants is the same" in text("1MiB", "8MiB")
    for clear in ((), ("1MiB",), ("8MiB",)):
        assert "order" not in text(*clear)


def test_the_status_follows_the_main_metric(study: type[Study]) -> None:
    example = study(arms=("a", "b", "c", "d"))
    noisy = timing({"b": 0.5, "c": 0.5, "d": 0.5}, 0.5)
    clear = timing({"b": 0.5, "c": 0.5, "d": 0.5}, 0.01)
    judged = example.judge(example.blocks(clear, cpu=timing({}, 2.0)))
    assert {c.verdict for c in judged.comparisons if c.metric == "cpu"} & {Verdict.INCONCLUSIVE}
    assert judged.status == "conclusive"
    assert line(judged, "Confidence").text.startswith("3 of 3 time comparisons are conclusive. The")
    part = timing({"b": 0.5, "c": 0.5, "d": 0.02}, 0.1)
    assert example.judge(example.blocks(part)).status == "mostly conclusive"
    judged = example.judge(example.blocks(timing({"b": 0.02, "c": 0.02, "d": 0.02}, 0.5)))
    assert judged.status == "inconclusive"
    text = line(judged, "Confidence").text
    assert text.startswith("0 of 3 time comparisons are conclusive. They could only detect ")
    assert noisy("a", "", 1) > 0

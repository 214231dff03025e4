"""Changes of sign over every kind of input axis: reported for each input, and never pooled."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench_framework.features.judge import judge
from bench_framework.model.plan import Axis, AxisValue, Dataset, Experiment, Input, Plan
from bench_framework.model.run import PreparedInput

if TYPE_CHECKING:
    from conftest import Study

    from bench_framework.model.judgement import Judgement

MIB = 1 << 20
SMALL, LARGE = 10, 200


def with_inputs(made: Study, inputs: tuple[Input, ...], axes: tuple[Axis, ...]) -> Plan:
    """Return the study's plan with its inputs replaced one for one."""
    plan = made.plan
    new = dict(zip((i.id for i in plan.inputs), inputs, strict=True))
    cells = tuple(replace(c, input_id=new[c.input_id].id) for c in plan.cells)
    return replace(plan, axes=(plan.axes[0], *axes), inputs=inputs, cells=cells)


def judged(made: Study, plan: Plan, ratio: dict[str, float]) -> Judgement:
    """Judge a plan. `ratio` maps the label of an input to the time of the second arm ÷ the
    first.
    """
    labels = dict(
        zip((i.label for i in made.plan.inputs), (i.label for i in plan.inputs), strict=True)
    )

    def wall(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}/{where}/{number}")
        return (
            0.05 * (ratio[labels[where]] if arm == "b" else 1) * (1 + noise.expovariate(1 / 0.01))
        )

    prepared = [
        PreparedInput(i.id, "/f", i.dataset.size_bytes, "0", i.dataset.family, 42)
        for i in plan.inputs
        if i.dataset
    ]
    ids = dict(zip((i.id for i in made.plan.inputs), (i.id for i in plan.inputs), strict=True))
    looks = [replace(look, input_id=ids[look.input_id]) for look in made.looks()]
    return judge(plan, made.blocks(wall), {}, prepared, looks)


def texts() -> tuple[tuple[Input, ...], tuple[Axis, ...]]:
    """Return two families of text at two sizes."""
    sizes = Axis(
        "size", "input", tuple(AxisValue(f"{s}MiB", f"{s}MiB", "", s * MIB) for s in (SMALL, LARGE))
    )
    kinds = Axis("text", "input", (AxisValue("prose", "prose"), AxisValue("cjk", "cjk")))
    inputs = tuple(
        Input(
            f"{kind} {s}MiB",
            (("size", f"{s}MiB"), ("text", kind)),
            Dataset("generated", kind, s * MIB, 42),
        )
        for kind in ("prose", "cjk")
        for s in (SMALL, LARGE)
    )
    return inputs, (sizes, kinds)


def sign_change(found: Judgement) -> str:
    (claim,) = (c for c in found.claims if c.kind == "sign-change" and c.metric == "wall")
    return claim.text


def test_an_answer_that_turns_with_another_axis_names_no_size(study: type[Study]) -> None:
    made = study(sizes=(1, 2, 3, 4))
    plan = with_inputs(made, *texts())
    ratio = {"prose 10MiB": 1.3, "prose 200MiB": 1.3, "cjk 10MiB": 0.7, "cjk 200MiB": 0.7}
    text = sign_change(judged(made, plan, ratio))
    assert "depends on the input" in text
    assert "turns" not in text
    assert all(label in text for label in ratio)


def test_it_turns_only_between_sizes_of_one_family(study: type[Study]) -> None:
    made = study(sizes=(1, 2, 3, 4))
    plan = with_inputs(made, *texts())
    ratio = {"prose 10MiB": 1.3, "prose 200MiB": 0.7, "cjk 10MiB": 0.7, "cjk 200MiB": 0.7}
    text = sign_change(judged(made, plan, ratio))
    assert text.endswith("; the sign changes between prose 10MiB and prose 200MiB")


def test_both_turns_are_told(study: type[Study]) -> None:
    made = study(sizes=(1, 2, 3, 4))
    plan = with_inputs(made, *texts())
    ratio = {"prose 10MiB": 1.3, "prose 200MiB": 0.7, "cjk 10MiB": 0.7, "cjk 200MiB": 1.3}
    assert sign_change(judged(made, plan, ratio)).endswith(
        "; the sign changes between prose 10MiB and prose 200MiB and between cjk 10MiB and cjk 200MiB"
    )


def test_files_of_the_user_have_no_size_to_turn_at(study: type[Study]) -> None:
    made = study(sizes=(1, 2))
    files = Axis("file", "input", (AxisValue("a.txt", "a.txt"), AxisValue("b.txt", "b.txt")))
    inputs = tuple(
        Input(n, (("file", n),), Dataset("file", n, s, path=f"/{n}"))
        for n, s in (("a.txt", 10), ("b.txt", 20))
    )
    text = sign_change(
        judged(made, with_inputs(made, inputs, (files,)), {"a.txt": 1.3, "b.txt": 0.7})
    )
    assert "a.txt: +" in text
    assert "turns" not in text


def test_a_turn_against_a_further_reference_is_told_too(study: type[Study]) -> None:
    made = study(arms=("a", "b", "c"), sizes=(SMALL, LARGE))
    ids = {dict(v.values)["arm"]: v.id for v in made.plan.variants}
    plan = replace(made.plan, further_baselines=(ids["c"],))
    found = judged_with_third(made, plan)
    texts = [c.text for c in found.claims if c.kind == "sign-change" and c.metric == "wall"]
    assert len(texts) == 1
    assert texts[0].startswith("b vs c depends on the input")


def judged_with_third(made: Study, plan: Plan) -> Judgement:
    """Judge three arms: b is better than a everywhere, and changes sign against c."""

    def wall(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}/{where}/{number}")
        third = 0.04 if where == f"{SMALL}MiB" else 0.02
        time = {"a": 0.05, "control": 0.05, "b": 0.03, "c": third}[arm]
        return time * (1 + noise.expovariate(1 / 0.01))

    return judge(plan, made.blocks(wall), {}, made.inputs(), made.looks())


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        ({"10MiB": 1.3, "200MiB": 0.7}, "1 different by input"),
        ({"10MiB": 1.3, "200MiB": 1.3}, "1 slower"),
    ],
)
def test_an_experiment_is_counted_by_one_word_only_if_all_inputs_agree(
    study: type[Study], ratio: dict[str, float], told: str
) -> None:
    made = study(sizes=(SMALL, LARGE))
    plan = replace(
        made.plan,
        experiments=(
            Experiment("try", made.plan.variants[1].id, (("x", "y"),), decision="rejected"),
        ),
    )
    found = judged(made, plan, ratio)
    (claim,) = (c for c in found.claims if c.kind == "experiments")
    assert claim.text == f"1 experiment not adopted: {told}"


def test_no_sentence_of_a_record_that_turns_speaks_of_all_inputs(study: type[Study]) -> None:
    """Every sentence about b names its input, or lists all inputs with their figures."""
    made = study(sizes=(SMALL, LARGE))
    found = judged(made, made.plan, {"10MiB": 1.3, "200MiB": 0.7})
    for claim in found.claims:
        if claim.kind in ("main", "cost", "recommendation", "memory", "noise-floor"):
            assert claim.text.startswith("On "), claim.text
        if claim.kind == "best-by-input":
            assert claim.text == "best by input: 10MiB: a; 200MiB: b"
    assert not [
        c.text for c in found.claims if re.search(r"\bon all\b|\balways\b|\bfastest is\b", c.text)
    ]


def test_a_superlative_needs_a_best_group_of_one(study: type[Study]) -> None:
    made = study(arms=("a", "b", "c"), sizes=(SMALL, LARGE))

    def wall(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}/{where}/{number}")
        time = {
            "a": 0.05,
            "control": 0.05,
            "b": 0.03,
            "c": 0.03 if where == f"{SMALL}MiB" else 0.04,
        }[arm]
        return time * (1 + noise.expovariate(1 / 0.01))

    found = judge(made.plan, made.blocks(wall), {}, made.inputs(), made.looks())
    mains = [c.text for c in found.claims if c.kind == "main"]
    assert mains[0].startswith("On 10MiB: best group of 2: b, c.")
    assert mains[1].startswith("On 200MiB: best: b.")
    (by_input,) = (c.text for c in found.claims if c.kind == "best-by-input")
    assert by_input == "best group by input: 10MiB: b, c; 200MiB: b"


@pytest.mark.parametrize("ratio", [1.0, 0.8])
def test_what_is_decided_one_way_and_nowhere_the_other_turns_nowhere(
    study: type[Study], ratio: float
) -> None:
    """Less time on one input, and no verdict or equivalence on another, is not a change of sign."""
    made = study(sizes=(SMALL, LARGE))
    found = judged(made, made.plan, {f"{SMALL}MiB": 0.7, f"{LARGE}MiB": ratio})
    assert made.comparison(found, "b", size=SMALL).verdict.decided
    assert made.comparison(found, "b", size=LARGE).verdict.decided is (ratio < 1)
    assert not [c for c in found.claims if c.kind == "sign-change"]
    turned = judged(made, made.plan, {f"{SMALL}MiB": 0.7, f"{LARGE}MiB": 1.3})
    assert [c for c in turned.claims if c.kind == "sign-change"]

"""Changes of sign over every kind of input axis: reported for each input, and never pooled."""

import random
import re
from dataclasses import replace

import pytest

from bench_framework.features.judge import judge
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Dataset, Input, Plan
from bench_framework.model.record.run import PreparedInput
from bench_framework.model.result.judgement import Judgement
from bench_framework.text.write import lead
from tests.unit.judging.conftest import Study

MIB = 1 << 20
SMALL, LARGE = 10, 200


def with_inputs(example: Study, inputs: tuple[Input, ...], axes: tuple[Axis, ...]) -> Plan:
    """Return the study's plan with its inputs replaced one for one."""
    plan = example.plan
    new = dict(zip((i.id for i in plan.inputs), inputs, strict=True))
    cells = tuple(replace(c, input_id=new[c.input_id].id) for c in plan.cells)
    return replace(plan, axes=(plan.axes[0], *axes), inputs=inputs, cells=cells)


def judged(example: Study, plan: Plan, ratio: dict[str, float]) -> Judgement:
    """Judge a plan. `ratio` maps the label of an input to the time of the second arm ÷ the first."""
    labels = dict(
        zip((i.label for i in example.plan.inputs), (i.label for i in plan.inputs), strict=True)
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
    ids = dict(zip((i.id for i in example.plan.inputs), (i.id for i in plan.inputs), strict=True))
    looks = [replace(look, input_id=ids[look.input_id]) for look in example.looks()]
    return judge(plan, example.blocks(wall), {}, prepared, looks)


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


def sign_change(judgement: Judgement) -> str:
    (claim,) = (c for c in judgement.claims if c.kind == "sign-change" and c.metric == "wall")
    return claim.text


@pytest.mark.parametrize(
    ("prose", "cjk", "ending"),
    [
        # A change along another axis is at no size.
        ((1.3, 1.3), (0.7, 0.7), None),
        ((1.3, 0.7), (0.7, 0.7), "between prose 10MiB and prose 200MiB"),
        (
            (1.3, 0.7),
            (0.7, 1.3),
            "between prose 10MiB and prose 200MiB and between cjk 10MiB and cjk 200MiB",
        ),
    ],
)
def test_a_sign_changes_only_between_sizes_of_one_family(
    prose: tuple[float, float], cjk: tuple[float, float], ending: str | None
) -> None:
    example = Study(sizes=(1, 2, 3, 4))
    plan = with_inputs(example, *texts())
    ratio = dict(zip((i.label for i in plan.inputs), prose + cjk, strict=True))
    text = sign_change(judged(example, plan, ratio))
    assert "depends on the input (adjusted CIs): " in text
    assert all(label in text for label in ratio)
    if ending is None:
        assert "the sign changes" not in text
    else:
        assert text.endswith(f"; the sign changes {ending}.")


def test_a_sign_change_between_files_of_the_user_names_no_size() -> None:
    example = Study(sizes=(1, 2))
    files = Axis("file", "input", (AxisValue("a.txt", "a.txt"), AxisValue("b.txt", "b.txt")))
    inputs = tuple(
        Input(n, (("file", n),), Dataset("file", n, s, path=f"/{n}"))
        for n, s in (("a.txt", 10), ("b.txt", 20))
    )
    text = sign_change(
        judged(example, with_inputs(example, inputs, (files,)), {"a.txt": 1.3, "b.txt": 0.7})
    )
    assert "a.txt: +" in text
    assert "the sign changes" not in text


def test_with_a_sign_change_no_sentence_is_about_all_inputs() -> None:
    """Every sentence about b names its input, or lists all inputs with their figures."""
    example = Study(sizes=(SMALL, LARGE))
    judgement = judged(example, example.plan, {"10MiB": 1.3, "200MiB": 0.7})
    for claim in judgement.claims:
        if claim.kind in ("main", "recommendation", "memory", "noise-floor"):
            assert re.match(r"On ", claim.text), claim.text
        if lead(claim) == "Inputs":
            assert claim.text == "The fastest by the estimate: a on 10MiB and b on 200MiB."
    assert not [
        c.text
        for c in judgement.claims
        if re.search(r"\bon all\b|\balways\b|\bfastest is\b", c.text)
    ]

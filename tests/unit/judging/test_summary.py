"""The answer of each kind of question, the key findings, and the recommendation of one variant."""

from dataclasses import replace

import pytest

from bench_framework.features.changed_settings import changed_settings
from bench_framework.model.plan import BuildSpec, Role
from tests.unit.judging.conftest import Study, timing


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

"""``-S key=value`` changes one thing. Its errors refer to the command line."""

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.scenario.load import render
from tests.unit.scenario.conftest import Loads

TEXT = (
    'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'
    "measure: {rounds: {min: 12, max: 40}}\nnotes: [{title: t, text: x}]\n"
)


<<<<<<< HEAD
@pytest.mark.parametrize(
    ("overrides", "value", "expected"),
    [
        (["measure.rounds.max=99"], lambda spec: spec.measure.rounds.max, 99),
        (["gate.wall=3%"], lambda spec: spec.gate.margins, (("wall", 0.03),)),
        (["axes.arm=[a, c, d]"], lambda spec: spec.axes["arm"], ["a", "c", "d"]),
        (["notes.0.text=other"], lambda spec: spec.notes[0].text, "other"),
        (["env.A=x=y"], lambda spec: spec.env, {"A": "x=y"}),
        (["measure.warmup=1", "measure.warmup=0"], lambda spec: spec.measure.warmup, 0),
    ],
)
def test_an_override_sets_a_value(
    loads: Loads, overrides: list[str], value: Callable[[Any], object], expected: object
) -> None:
    assert value(loads(TEXT, *overrides).spec) == expected


def test_keys_are_those_of_the_file(loads: Loads, refuses: Refuses) -> None:
    assert loads(TEXT, "gate.min-compared=9").spec.gate.min_compared == 9
    (problem,) = refuses(TEXT, "gate.min_compared=9").problems
    assert problem.message == "unknown key `min_compared` in `gate`"
    assert "did you mean `min-compared`?" in (problem.fix or "")


def test_one_end_of_the_rounds_moves_the_other(plans: Plans) -> None:
    few = plans(TEXT, "measure.rounds.max=5").measure
    assert (few.rounds_min, few.rounds_max) == (5, 5)
    many = plans(TEXT, "measure.rounds.min=50").measure
    assert (many.rounds_min, many.rounds_max) == (50, 50)


def test_a_part_of_a_short_form(plans: Plans) -> None:
    measure = plans(TEXT.replace("{min: 12, max: 40}", "20"), "measure.rounds.max=30").measure
    assert (measure.rounds_min, measure.rounds_max) == (12, 30)


def test_a_merged_value_is_changed_in_its_own_place_only(loads: Loads) -> None:
    spec = loads(
        """
        axes: {arm: {a: &a {env: {K: x}}, b: {<<: *a, args: [-b]}}}
        command: ["{bin}"]
        baseline: {arm: a}
        """,
        "axes.arm.b.env.K=y",
    ).spec
    arm = spec.axes["arm"]
    assert isinstance(arm, dict)
    assert (arm["a"].env, arm["b"].env) == ({"K": "x"}, {"K": "y"})


=======
>>>>>>> 79d30e3f (Write the plans of scenarios into one approval file)
def test_an_override_changes_the_digest_of_the_scenario(loads: Loads) -> None:
    assert loads(TEXT, "margin=1%").sha256 != loads(TEXT).sha256
    assert loads(TEXT, "margin=1%").sha256 == loads(TEXT + "margin: 1%").sha256


<<<<<<< HEAD
@pytest.mark.parametrize(
    ("override", "code", "marked", "message"),
    [
        ("measure.rounds.max=ten", "BC102", "ten", "`measure.rounds.max` must be a whole number"),
        ("measure.runds=3", "BC101", "measure.runds", "unknown key `runds` in `measure`"),
        ("rounds", "BC112", "rounds", "this is not an override"),
        ("=3", "BC112", "=3", "this is not an override"),
        ("a..b=3", "BC112", "a..b=3", "this is not an override"),
        ("margin=", "BC102", "=", "must be a percentage such as 2%, got nothing"),
        ("axes.arm=[a", "BC001", "", "expected `,` or `]`"),
        ("baseline={arm: c}", "BC201", "{arm: c}", "baseline `arm=c` selects no variant"),
    ],
)
def test_errors_point_into_the_override(
    override: str, code: str, marked: str, message: str, refuses: Refuses
) -> None:
    (problem,) = refuses(TEXT, override).problems
    assert problem.code == code
    assert message in problem.message
    assert problem.file == f"-S {override}"
    assert problem.at is not None
    assert override[problem.at.column - 1 :][: problem.at.length].startswith(marked[:1])
    assert problem.at.length in {len(marked), 1}


=======
>>>>>>> 79d30e3f (Write the plans of scenarios into one approval file)
def test_the_snippet_is_the_override(loads: Loads) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(TEXT, "measure.rounds.max=ten")
    assert render(caught.value).splitlines()[1:5] == [
        " --> -S measure.rounds.max=ten:1:20",
        "  |",
        "1 | measure.rounds.max=ten",
        "  |                    ^^^ expected an integer",
    ]

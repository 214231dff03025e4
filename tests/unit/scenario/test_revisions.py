"""A plan at two revisions: every configuration is compared only with itself."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli.console import Console
from bench_framework.cli.measurement import gate_command
from bench_framework.errors import UsageError
from bench_framework.model.plan.plan import Hole, Plan, Role
from bench_framework.model.plan.planned_comparisons import comparisons_planned
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.reasons import ReasonCode, message
from bench_framework.scenario.revisions import at_commits, at_revisions, cell_id
from bench_framework.store import wire
from bench_framework.text.words import plan_size
from bench_framework.workflow.run_options import RunOptions, plan_between, plan_run
from tests.unit.scenario.conftest import Plans

BASE, HEAD = "b" * 40, "a" * 40
CRATE = 'version: 1\nname: n\nquestion: "Is b slower?"\nworker: {git: "https://example.org/c", bin: c}\n'
WHOLE = """
axes:
  mode: {plain: {}, loud: {features: [loud]}}
  threads: [1, 2]
  size: [1MiB, 2MiB]
input: {dataset: prose, size: "{size}"}
command: ["{bin}", "{threads}", "{input}"]
baseline: {mode: plain, threads: 1}
choose-from: {mode: plain}
bounds: [{mode: loud, threads: 2}]
fixed: {block: 1}
env: {BLOCK: "{block}"}
experiments: [{name: larger, change: {block: 2}}]
gate: {wall: 2%}
"""


def cell_words(plan: Plan, role: Role) -> list[tuple[str, str]]:
    return [(c.label, plan.input(c.input_id).label) for c in plan.cells if c.role is role]


def test_each_cell_is_compared_with_itself_and_has_a_control(plans: Plans) -> None:
    plan = at_revisions(plans(WHOLE, head=CRATE), Revisions(BASE, HEAD))
    assert cell_words(plan, Role.BASELINE) == [
        ("plain + threads=1 @ bbbbbbb", "plain + threads=1, 1MiB"),
        ("plain + threads=2 @ bbbbbbb", "plain + threads=2, 1MiB"),
        ("loud + threads=1 @ bbbbbbb", "loud + threads=1, 1MiB"),
        ("plain + threads=1 @ bbbbbbb", "plain + threads=1, 2MiB"),
        ("plain + threads=2 @ bbbbbbb", "plain + threads=2, 2MiB"),
        ("loud + threads=1 @ bbbbbbb", "loud + threads=1, 2MiB"),
    ]
    for item in plan.inputs:
        base, head, control = plan.cells_of(item.id)
        assert (base.role, head.role, control.role) == (Role.BASELINE, Role.CANDIDATE, Role.CONTROL)
        assert base.command == head.command == control.command
        ours, theirs = (plan.variant(c.variant_id) for c in (head, base))
        assert ours.build is not None
        assert theirs.build is not None
        assert (theirs.build.revision, ours.build.revision) == (BASE, HEAD)
        assert ours.build.features == theirs.build.features
        assert dict(ours.values) | {"rev": "base"} == dict(theirs.values)
        assert control.variant_id == base.variant_id
    assert len({item.id for item in plan.inputs}) == len(plan.inputs) == 6
    assert len({cell.id for cell in plan.cells}) == len(plan.cells) == 18
    assert len(plan.builds) == 4
    assert plan_size(plan).startswith(
        "3 variants × 2 revisions × 2 inputs, 12 configurations and 6 "
    )
    # Two times of each head configuration against its base, and nothing else.
    assert comparisons_planned(plan) == 12
    assert wire.load_plan(wire.dump_plan(plan)) == plan


def test_what_is_left_out_is_a_hole_with_its_reason(plans: Plans) -> None:
    plan = at_revisions(plans(WHOLE, head=CRATE), Revisions(BASE, HEAD))
    reasons = Counter(hole.reason.code for hole in plan.holes)
    assert reasons[ReasonCode.BOUND_OF_REVISIONS] == 2
    assert reasons[ReasonCode.EXPERIMENT_OF_REVISIONS] == 2
    assert not plan.experiments
    assert all(map(plan.is_choice, plan.cells)), "no pair of revisions is left out of the answer"
    assert not any(cell.role is Role.BOUND for cell in plan.cells)


def test_one_variant_is_called_by_its_revision_and_the_working_tree_by_its_name(
    plans: Plans,
) -> None:
    text = 'command: ["{bin}"]\n'
    plan = at_revisions(plans(text, head=CRATE), Revisions(BASE, None))
    assert [cell.label for cell in plan.cells] == ["base bbbbbbb", "working tree", "control"]
    assert plan.inputs[0].name == ""
    axes = "axes: {mode: {plain: {}, loud: {features: [loud]}}}\nbaseline: {mode: plain}\n"
    chosen = plans(axes + text, head=CRATE, only="mode=plain")
    of_axis = at_revisions(chosen, Revisions(BASE, None))
    assert [given.name for given in of_axis.inputs] == ["plain"]
    assert [spec.revision for spec in plan.builds] == [BASE, None]
    assert plan.question == "Has anything become slower from bbbbbbb to working tree?"
    assert plan.notes[0].text == "Is b slower?"
    assert plan.command.endswith(f"--base {BASE}")
    numbers = "1 variant × 2 revisions × 1 input, 2 configurations and 1 A/A control"
    assert plan_size(plan) == numbers
    assert plan_size(replace(plan, holes=(Hole((), message("r")),))) == f"{numbers}, 2 left out"
    clean = at_revisions(plans(text, head=CRATE), Revisions(BASE, None, HEAD))
    assert [cell.label for cell in clean.cells] == ["base bbbbbbb", "head aaaaaaa", "control"]
    assert [variant.build and variant.build.revision for variant in clean.variants] == [BASE, None]
    assert clean.command == plan.command
    both = at_revisions(plans(text, head=CRATE), Revisions(BASE, HEAD))
    assert [cell.label for cell in both.cells] == ["base bbbbbbb", "head aaaaaaa", "control"]
    assert both.command.endswith(f"--base {BASE} --head {HEAD}")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("b.yaml", "benchctl gate b.yaml -k mode=loud -S margin=5% --scheduler s --host h"),
        # `benchctl gate b` would look for a record.
        ("b", "benchctl run b -k mode=loud -S margin=5% --gate --scheduler s --host h"),
    ],
)
def test_the_command_of_a_gated_plan_applies_the_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(
        "version: 1\nname: b\nquestion: q?\nworker: {command: [/bin/true]}\n"
        'axes: {mode: [plain, loud]}\nbaseline: {mode: loud}\ncommand: ["{bin}", "{mode}"]\n'
    )
    options = RunOptions(only="mode=loud", overrides=("margin=5%",), gate=True)
    plan = plan_run(name, options)
    assert (
        replace(plan, invocation=replace(plan.invocation, scheduler="s", host="h")).command
        == command
    )
    plan = plan_run(name, replace(options, gate=False))
    assert plan.command == f"benchctl run {name} -k mode=loud -S margin=5%"
    monkeypatch.setenv("BENCHCTL_RESULTS", "temporary")
    for folder in ("results", "temporary"):
        plan = plan_run(name, replace(options, results=Path(folder)))
        given = folder == "results"
        assert plan.invocation.results == ("results" if given else "")
        command = gate_command(Console(results=Path(folder)), Path("r"), decide=False)
        assert command == f"benchctl gate r{' --dir results' if given else ''}"


def test_three_commits_are_compared_with_the_first_one(plans: Plans) -> None:
    scenario = plans(WHOLE, head=CRATE)
    plan = at_commits(scenario, {"candidate": "c" * 40, "good": BASE, "bad": HEAD}, "Which side?")
    expected = ("Which side?", None, scenario.invocation)
    assert (plan.question, plan.revisions, plan.invocation) == expected
    assert [value.name for value in plan.axes[0].values] == ["candidate", "good", "bad"]
    for item in plan.inputs:
        first, good, bad, control = plan.cells_of(item.id)
        assert [c.role for c in (first, good, bad)] == [Role.BASELINE, *[Role.CANDIDATE] * 2]
        assert (control.role, control.variant_id) == (Role.CONTROL, first.variant_id)
        builds = [plan.variant(c.variant_id).build for c in (first, good, bad)]
        assert [spec.revision for spec in builds if spec] == ["c" * 40, BASE, HEAD]
        assert good.label.endswith("@ bbbbbbb")
    assert {cell_id(cell, "bad") for cell in scenario.cells} >= {
        plan.cells_of(item.id)[2].id for item in plan.inputs
    }
    # A candidate and each of the two ends, for two times.
    assert comparisons_planned(plan) == 24


def test_cells_keep_their_ids_from_commit_to_commit(plans: Plans) -> None:
    plan = plans(WHOLE, head=CRATE)
    one, other = (at_revisions(plan, Revisions(c * 40, None)) for c in "cd")
    assert [cell.id for cell in one.cells] == [cell.id for cell in other.cells]
    assert [spec.id for spec in one.builds] != [spec.id for spec in other.builds]


def test_an_axis_of_the_scenario_keeps_its_name(plans: Plans) -> None:
    text = 'axes: {rev: [x, y]}\ncommand: ["{bin}", "{rev}"]\nbaseline: {rev: x}\n'
    plan = at_revisions(plans(text, head=CRATE), Revisions(BASE, HEAD))
    assert [axis.name for axis in plan.axes] == ["revision", "rev"]


@pytest.mark.parametrize(
    ("worker", "axes", "reason"),
    [
        ("{command: [/bin/true]}", "", "a program that is not built has no revision"),
        ("{crate: builtin, bin: tally}", "", "the bundled workers have only the revision"),
        (
            '{git: "https://example.org/c", bin: c}',
            "axes: {at: {old: {revision: v1}, now: {revision: v2}}}\nbaseline: {at: old}\n",
            "an axis of this scenario names revisions",
        ),
    ],
)
def test_what_has_no_two_revisions_is_refused(
    worker: str, axes: str, reason: str, plans: Plans, tmp_path: Path
) -> None:
    head = f'version: 1\nname: n\nquestion: "Is b slower?"\nworker: {worker}\n'
    command = 'command: ["{bin}"]\n' if "builtin" not in worker else 'command: ["{bin}", "x"]\n'
    with pytest.raises(UsageError, match=reason) as caught:
        plan_between(plans(axes + command, head=head), "main")
    assert caught.value.code == "BX110"
    assert not list(tmp_path.iterdir())

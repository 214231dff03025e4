"""The benchmarks of a plan after its builds: inputs, ids of one side, patterns and the budget."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.compare.same_programs import same_cells
from bench_framework.errors import BuildError, UsageError
from bench_framework.execution.benches.screening import left_out
from bench_framework.execution.progress import Message, Update
from bench_framework.execution.schedule import InputProgress
from bench_framework.extensions.history.series import SeriesCell, planned_cells
from bench_framework.features.gate.self_test import self_test_plan
from bench_framework.model.metrics import ITERATION
from bench_framework.model.plan.arguments import Slot, filled
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.planned_comparisons import lone_benches
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.record.run import BenchTarget, Block, Build
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.scenario.revisions import at_revisions
from bench_framework.store import wire
from bench_framework.text.reasons import phrase
from bench_framework.workflow.scenarios.bench_scenario import draft_of_benches
from bench_framework.workflow.scenarios.crate_scenario import CrateOptions, draft_scenario
from bench_framework.workflow.setup.benches import MOST_BUDGET_S, with_benches, with_time_limit
from bench_framework.workflow.setup.trial import Trials, refusals
from tests.build import require

BASE, HEAD = "b" * 40, None
HEADER = "version: 1\nname: n\nquestion: q\n"
Ids = Mapping[str, Sequence[str] | None]
"""The ids of each bench target; `None` for a target that does not exist."""


class Messages:
    """An observer that keeps the messages."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def notify(self, update: Update) -> None:
        if isinstance(update, Message):
            self.texts.append(update.text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "benches").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "c"\nversion = "0.1.0"\n')
    for name in ("one", "two"):
        (tmp_path / "benches" / f"{name}.rs").write_text("")
    return tmp_path


def plan_of(folder: Path, worker: str = "bench: one", more: str = "") -> Plan:
    text = f"{HEADER}worker: {{crate: ., {worker}}}\n{more}"
    return expand(load(folder / "s.yaml", text=text))


def built(plan: Plan, sides: Mapping[str | None, Ids], harness: str = "criterion") -> list[Build]:
    """Return the builds of a plan: the ids by revision and bench target."""
    builds = []
    for spec in plan.builds:
        ids = sides[spec.revision][spec.bin]
        if ids is None:
            text = f"error: no bench target named `{spec.bin}` in default-run packages"
            builds.append(Build(spec.id, ok=False, message=text))
            continue
        target = BenchTarget(harness, tuple(ids), "/c", ("--noplot",), 0.25)
        digest = f"{spec.bin} {','.join(ids)}"
        builds.append(Build(spec.id, ok=True, sha256=digest, path=f"/{spec.bin}", bench=target))
    return builds


def between(plan: Plan, base: Ids, head: Ids) -> tuple[Plan, Sequence[Build]]:
    plan = at_revisions(plan, Revisions(BASE, HEAD))
    return plan, built(plan, {BASE: base, HEAD: head})


def test_init_writes_a_scenario_for_the_benchmarks_of_a_library(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    options = CrateOptions(folder=Path("bench"))
    draft = draft_of_benches(options)
    assert draft is not None
    assert (draft.name, draft.commands) == ("c-benches", ("gate",))
    Path("bench").mkdir()
    plan = expand(load(Path("bench/c-benches.yaml"), text=draft.text))
    assert plan.benches is not None
    assert plan.benches.targets == ("one", "two")
    assert draft_of_benches(replace(options, words=["x"])) is None  # a command is that of a binary


def test_init_asks_for_the_benchmarks_or_the_binary_of_a_crate_with_both(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "src").mkdir()
    (folder / "src" / "main.rs").write_text("fn main() {}")
    options = CrateOptions(folder=Path("bench"))
    left = ("binary", "c: not in this scenario; `benchctl init -- ARGS` writes one for it")
    for ask in (None, lambda what, names, default: default):
        assert require(draft_of_benches(options, ask)).guesses[-1] == left
    assert draft_of_benches(options, lambda what, names, default: names[1]) is None
    guesses = dict(draft_scenario(replace(options, words=["x"]), None).guesses)
    assert guesses["benches"].startswith("one, two: not in this scenario; `benchctl gate --bench")


def test_each_id_is_an_input_with_base_head_and_control(folder: Path) -> None:
    plan, builds = between(plan_of(folder), {"one": ["a", "g/1"]}, {"one": ["a", "g/1"]})
    plan, _ = with_benches(plan, builds, Messages())
    assert [item.label for item in plan.inputs] == ["a", "g/1"]
    for item in plan.inputs:
        roles = [cell.role for cell in plan.cells_of(item.id)]
        assert roles == [Role.BASELINE, Role.CANDIDATE, Role.CONTROL]
    command = [filled(word) for word in plan.cells_of(plan.inputs[1].id)[0].command]
    assert command == ["{bin}", "--bench", "^g/1$", "--noplot"]
    assert len({cell.id for cell in plan.cells}) == len(plan.cells)


def test_a_plan_is_expanded_once(folder: Path) -> None:
    plan, builds = between(plan_of(folder), {"one": ["a"]}, {"one": ["a"]})
    once, builds = with_benches(plan, builds, Messages())
    assert with_benches(once, builds, Messages()) == (once, builds)


def test_an_id_of_one_side_is_a_hole_and_is_named(folder: Path) -> None:
    plan, builds = between(plan_of(folder), {"one": ["a", "old"]}, {"one": ["a", "new"]})
    messages = Messages()
    plan, _ = with_benches(plan, builds, messages)
    assert [item.label for item in plan.inputs] == ["a"]
    holes = {dict(hole.values)["benchmark"]: hole.reason for hole in plan.holes}
    assert {name: reason.code for name, reason in holes.items()} == dict.fromkeys(
        ("old", "new"), ReasonCode.BENCH_ON_ONE_SIDE
    )
    assert str(holes["new"].detail).startswith("base bbbbbbb")
    assert messages.texts[0].endswith("; 2 benchmarks without a counterpart: old, new")
    assert [phrase(reason) for reason in lone_benches(plan.holes)] == [
        "1 benchmark without a counterpart at working tree: old",
        "1 benchmark without a counterpart at base bbbbbbb: new",
    ]


def test_many_ids_of_one_side_are_counted(folder: Path) -> None:
    base: Ids = {"one": ["a", *(f"b{n}" for n in range(20))]}
    plan, _ = with_benches(*between(plan_of(folder), base, {"one": ["a"]}), Messages())
    (lone,) = lone_benches(plan.holes)
    assert phrase(lone).startswith("20 benchmarks without a counterpart at working tree: b0, b1,")
    assert phrase(lone).endswith(", b11, …")


def test_a_target_that_the_base_does_not_have_is_no_failure(folder: Path) -> None:
    both: Ids = {"one": ["a"], "two": ["b"]}
    plan, builds = between(plan_of(folder, "bench: all"), {"one": ["a"], "two": None}, both)
    plan, builds = with_benches(plan, builds, Messages())
    assert [item.label for item in plan.inputs] == ["one: a"]
    assert all(build.ok for build in builds)
    assert {spec.id for spec in plan.builds} == {build.id for build in builds}


def test_a_benchmark_that_changed_its_harness_is_not_compared(folder: Path) -> None:
    plan = at_revisions(plan_of(folder), Revisions(BASE, HEAD))
    base = built(plan, {BASE: {"one": ["a"]}, HEAD: {"one": ["a"]}})[0]
    head = built(plan, {BASE: {"one": ["a"]}, HEAD: {"one": ["a"]}}, "divan")[1]
    with pytest.raises(BuildError) as caught:
        with_benches(plan, [base, head], Messages())
    assert caught.value.code == "BX270"
    assert caught.value.message == (
        "no benchmark can be measured on both sides: "
        "1 benchmark without a counterpart at working tree: a, "
        "1 benchmark without a counterpart at base bbbbbbb: a"
    )


@pytest.mark.parametrize("selection", ["", "benchmark=b"])
@pytest.mark.parametrize(
    ("side", "label", "fix"),
    [
        (0, "base bbbbbbb", "use a base that builds"),
        (1, "working tree", "fix the build and run again"),
    ],
)
def test_a_side_that_cannot_be_built_is_the_reason(
    folder: Path, side: int, label: str, fix: str, selection: str
) -> None:
    ids: Ids = {"one": ["a"], "two": ["b"]}
    plan, all_built = between(plan_of(folder, "bench: all"), ids, ids)
    plan = replace(plan, benches=replace(require(plan.benches), selection=selection))
    revision = (BASE, HEAD)[side]
    broken = {spec.id for spec in plan.builds if spec.revision == revision}
    builds = [
        Build(b.id, ok=False, message="error: x", log="/log") if b.id in broken else b
        for b in all_built
    ]
    # The first target of the side was not found, so the second one is named.
    first = next(b for b in builds if b.id in broken)
    builds[builds.index(first)] = replace(first, message="error: no bench target named `one`")
    with pytest.raises(BuildError) as caught:
        with_benches(plan, builds, Messages())
    assert (caught.value.code, caught.value.message) == ("BX220", f"{label} cannot be built")
    assert caught.value.fix == fix  # -k could exclude one of several variants


def test_patterns_select_ids_and_a_pattern_without_ids_is_refused(folder: Path) -> None:
    def selected(only: str) -> list[str]:
        worker = f"bench: {{target: one, only: {only}}}"
        ids: Ids = {"one": ["parse/1", "parse/2", "x[0]"]}
        plan, builds = between(plan_of(folder, worker), ids, ids)
        return [item.label for item in with_benches(plan, builds, Messages())[0].inputs]

    assert selected("parse/*") == ["parse/1", "parse/2"]
    assert selected('["x[0]"]') == ["x[0]"]
    assert selected('["!parse/*"]') == ["x[0]"]
    assert selected('["parse/*", "!parse/1"]') == ["parse/2"]
    with pytest.raises(UsageError) as caught:
        selected("[parse/2, parse/3]")
    assert caught.value.message == "no benchmark has the id `parse/3`"
    assert "did you mean `parse/" in (caught.value.fix or "")
    with pytest.raises(UsageError):
        selected('["!parse/3"]')


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("benchmark=scan/a", ["one: scan/a"]),
        ("benchmark~'^scan/' f=x", ["one: scan/a", "one: scan/b"]),
        ("benchmark!~scan", ["two: b"]),
        ("target=two", ["two: b"]),
        ("input='x, two: b'", ["two: b"]),
        ("input~hash", []),
        ("f=y", []),
    ],
)
def test_selections_of_a_gate_name_benchmarks(
    folder: Path, words: str, expected: list[str]
) -> None:
    more = (
        "axes: {f: {x: {}, y: {profile: {lto: fat}}}}\nbaseline: {f: x}\nexclude: [{f: y}]\n"
        f'gate: {{cells: "{words}", budgets: [{{cell: "{words}", metric: iteration, max: 1us}}]}}\n'
    )
    ids: Ids = {"one": ["scan/a", "scan/b"], "two": ["b"]}
    plan = plan_of(folder, "bench: all", more)
    plan, _ = with_benches(*between(plan, ids, ids), Messages())
    gate = plan.judge.gate
    (budget,) = gate.budgets
    assert gate.chosen == budget.cell_ids
    cells = [plan.cell(id_) for id_ in budget.cell_ids]
    assert {cell.role for cell in cells} <= {Role.CANDIDATE}  # the head
    assert [plan.input(cell.input_id).label.removeprefix("x, ") for cell in cells] == expected


def test_an_option_selects_benchmarks_after_the_builds(folder: Path) -> None:
    ids: Ids = {"one": ["scan/a", "scan/b"], "two": ["b"]}

    def selected(words: str, base: Ids = ids) -> Plan:
        more = "gate: {budgets: [{cell: target=two, metric: iteration, max: 1us}]}\n"
        text = f"{HEADER}worker: {{crate: ., bench: all}}\n{more}"
        plan = expand(load(folder / "s.yaml", text=text), only=words)
        return with_benches(*between(plan, base, ids), Messages())[0]

    def labels(plan: Plan) -> list[str]:
        return [item.label for item in plan.inputs]

    assert labels(selected("benchmark=scan/a")) == ["one: scan/a"]
    assert labels(selected("benchmark~^scan target=one")) == ["one: scan/a", "one: scan/b"]
    assert labels(selected("target!=one")) == ["two: b"]
    # The budgets of other benchmarks do not apply.
    assert [len(selected(f"target={t}").judge.gate.budgets) for t in ("one", "two")] == [0, 1]
    with pytest.raises(UsageError, match="-k 'benchmark=scan' matches no benchmark") as caught:
        selected("benchmark=scan")
    assert "scan/a, scan/b, b" in (caught.value.fix or "")
    with pytest.raises(BuildError, match="1 benchmark without a counterpart at base bbbbbbb: b"):
        selected("benchmark=b", {"one": ["scan/a"], "two": None})


def test_a_variant_without_the_id_leaves_the_others_compared(folder: Path) -> None:
    more = "axes: {f: {a: {}, b: {profile: {lto: fat}}, c: {profile: {lto: thin}}}}\nbaseline: {f: a}\n"
    plan = plan_of(folder, more=more)
    by_profile = {"": ["x", "y"], "fat": ["x"], "thin": ["x", "y"]}
    builds = [
        Build(s.id, ok=True, bench=BenchTarget("divan", tuple(ids), "/c"))
        for s in plan.builds
        if (ids := by_profile[dict(s.profile_keys).get("lto", "")])
    ]
    plan, _ = with_benches(plan, builds, Messages())
    labels = {item.label: [c.label for c in plan.cells_of(item.id)] for item in plan.inputs}
    assert labels == {"x": ["a", "b", "c", "control"], "y": ["a", "c", "control"]}
    assert [dict(hole.values) for hole in plan.holes] == [{"f": "b", "benchmark": "y"}]


def test_the_budget_grows_with_the_ids_unless_it_is_given(folder: Path) -> None:
    def budget(count: int, more: str = "", given_s: float | None = None) -> float | None:
        ids: Ids = {"one": [f"id{n}" for n in range(count)]}
        plan = plan_of(folder, more=more)
        plan = plan if given_s is None else with_time_limit(plan, given_s)
        plan, builds = between(plan, ids, ids)
        return with_benches(plan, builds, Messages())[0].measure.budget_s

    assert budget(2) == 300
    assert budget(40) == 22 * 40 * 3 * 0.25
    assert budget(400) == MOST_BUDGET_S
    assert budget(400, "measure: {budget: 2m}\n") == 120
    assert budget(400, given_s=60) == 60


def test_a_target_of_equal_programs_is_the_same_program_alone(folder: Path) -> None:
    plan, builds = between(
        plan_of(folder, "bench: all"),
        {"one": ["a"], "two": ["b"]},
        {"one": ["a"], "two": ["b", "c"]},
    )
    plan, builds = with_benches(plan, builds, Messages())
    pairs = same_cells(plan, {build.id: build for build in builds})
    labels = {plan.input(plan.cell(cell).input_id).label for pair in pairs for cell in pair}
    assert labels == {"one: a"}


def test_the_copies_of_a_self_test_run_every_target_with_a_faster_clock(folder: Path) -> None:
    ids: Ids = {"one": ["a"], "two": ["b"]}
    plan, _ = between(plan_of(folder, "bench: all"), ids, ids)
    plan = self_test_plan(plan, 0.25, 0, "/tmp/clock.so")
    plan, builds = with_benches(plan, built(plan, {BASE: ids}), Messages())
    # Base and copy are one build, which is measured nevertheless.
    assert same_cells(plan, {build.id: build for build in builds}) == frozenset()
    for cell in plan.cells:
        shell, _, _, clock, share, program, *arguments = (word[0] for word in cell.command)
        assert (shell, clock, program) == ("/bin/sh", "/tmp/clock.so", Slot("bin"))
        assert share == ("0.25" if cell.role is Role.CANDIDATE else "0")
        assert "--bench" in arguments
    assert {plan.input(cell.input_id).label for cell in plan.cells} == {"one: a", "two: b"}


def test_a_self_test_is_that_of_the_gated_benchmarks(folder: Path) -> None:
    ids: Ids = {"one": ["a", "c"], "two": ["b", "c"]}
    plan, _ = between(plan_of(folder, "bench: all", "gate: {cells: benchmark=c}\n"), ids, ids)
    for selection, expected in (("", ["one: c", "two: c"]), ("target=one", ["one: c"])):
        policy = require(plan.benches)
        selected = replace(plan, benches=replace(policy, selection=selection))
        test = self_test_plan(selected, 0.25, 0, "/tmp/clock.so")
        test, _ = with_benches(test, built(test, {BASE: ids}), Messages())
        assert [item.label for item in test.inputs] == expected


def test_the_history_of_a_benchmark_is_that_of_its_target(folder: Path) -> None:
    def cells(worker: str, ids: Ids) -> dict[str, SeriesCell]:
        plan = plan_of(folder, worker)
        plan = with_benches(plan, built(plan, {None: ids}), Messages())[0]
        listed = planned_cells(wire.dump_plan(plan).encode())[1]
        assert all(cell.build_id == plan.build_id(plan.cell(cell.id)) for cell in listed)
        return {dict(cell.values)["benchmark"]: cell for cell in listed}

    alone = cells("bench: one", {"one": ["a"]})
    both = cells("bench: all", {"one": ["a"], "two": ["b"]})
    assert both["a"].build_id != both["b"].build_id
    # A further bench target does not begin a new history.
    assert both["a"].series == alone["a"].series


def measured(plan: Plan, growths: Sequence[float]) -> list[InputProgress]:
    """Return the progress of the inputs after five rounds; the head takes so much longer each time."""
    states = []
    for item, grown in zip(plan.inputs, growths, strict=True):
        base, head, _ = plan.cells_of(item.id)
        state = InputProgress(item, {}, base.id)
        for cell, seconds in ((base, 1e-6), (head, 1e-6 * grown)):
            state.blocks[cell.id] = [
                Block(0, n, 0, cell.id, warmup, "ok", "", metrics={ITERATION: seconds * n})
                for warmup, n in ((True, 9), (False, 1), (False, 2), (False, 3))
            ]
        states.append(state)
    return states


@pytest.mark.parametrize(
    ("budget", "ended"),
    [
        ("1h", []),  # enough for all
        ("48s", ["id1", "id0"]),  # 20 s more for 10 rounds of two
        ("29s", ["id3", "id1", "id0"]),  # one is kept in any case
    ],
)
def test_the_benchmarks_that_look_slowest_are_measured_further(
    folder: Path, budget: str, ended: list[str]
) -> None:
    ids: Ids = {"one": [f"id{n}" for n in range(4)]}
    more = f"measure: {{budget: {budget}, warmup: 2}}\n"
    plan, builds = between(plan_of(folder, more=more), ids, ids)
    plan, _ = with_benches(plan, builds, Messages())
    states = measured(plan, [0.9, 0.99, 1.2, 1.01])
    looks = Looks((15, 20), 15, decidable=True, family=4, level=0.01)
    # Two warm-up rounds and five rounds of four benchmarks, each of which took 1 s.
    ending = left_out(plan, states, looks, elapsed_s=28)
    assert [state.input.label for state in ending] == ended


@pytest.mark.parametrize("gated", [False, True])
def test_a_trial_refuses_no_budget_with_which_a_gate_measures_the_slowest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, gated: bool
) -> None:
    plan = plan_of(folder, more="gate: {against: merge-base}\n" if gated else "")
    plan, _ = with_benches(plan, built(plan, {None: {"one": ["a", "b"]}}), Messages())
    monkeypatch.setattr(Trials, "round_s", 1000.0)
    monkeypatch.setattr(Trials, "rounds_needed", 12)
    codes = [error.code for error in refusals(Trials(plan, (), None))]
    assert codes == ([] if gated else ["BX123"])

"""The plan of each form of a scenario (plans.txt), and the identity of plans.

``UPDATE_PLANS=1`` writes the plans again. Their difference is the change.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.features.gate.plans import narrowed
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.plan.planned_comparisons import comparisons_planned
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.text.answers import how_compared
from tests.approval import COMMANDS, approve, default_of, text_of
from tests.files import write_files
from tests.unit.scenario.conftest import Loads, Plans

FILE = Path(__file__).parents[2] / "fixtures" / "scenarios" / "plans.txt"
TALLY = (
    "version: 1\nname: n\nquestion: q\nworker: {crate: builtin, bin: tally, features: [mimalloc]}\n"
)
TWO = 'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'
UNSTABLE = frozenset({"id", "input_id", "seed", "scenario_path", "scenario_sha256", "command_line"})
"""Fields that depend on the folder, and digests, which other tests compare."""


@dataclass(frozen=True)
class Case:
    """The text of a scenario before and after a case, and the options of the command line."""

    title: str
    base: str
    text: str
    overrides: tuple[str, ...] = ()
    only: str | None = None


def key_of(item: object, plan: Plan) -> str:
    """Return the name of an item of a list, or nothing if it has none."""
    if isinstance(item, Cell):
        where = plan.input(item.input_id).label
        return f"{item.label}, {where}" if len(plan.inputs) > 1 else item.label
    return str(getattr(item, "label", "") or getattr(item, "name", ""))


def lines_of(plan: Plan, folder: Path) -> dict[str, str]:
    """Return what a plan contains, by name: its fields, those of a policy, the items of a list."""
    lines = {"comparisons": str(comparisons_planned(plan))}
    if plan.answer.edited or plan.answer.check:
        lines["answers are compared"] = how_compared(plan.answer)
    for field in fields(plan):
        value, name = getattr(plan, field.name), field.name
        if name in UNSTABLE or value == default_of(field):
            continue
        if name == "holes":
            for reason in dict.fromkeys(hole.reason for hole in value):
                holes = [hole for hole in value if hole.reason == reason]
                values = (" + ".join(value for _, value in hole.values) for hole in holes)
                lines[f"holes, {reason}"] = f"{len(holes)}: {', '.join(values)}"
        elif isinstance(value, tuple) and name not in COMMANDS:
            for number, item in enumerate(value, start=1):
                key = f"{name} {key_of(item, plan) or number}"
                lines[key if key not in lines else f"{key} ({number})"] = text_of(
                    item, "", UNSTABLE
                )
        elif is_dataclass(value):
            parts = ((part, getattr(value, part.name)) for part in fields(value))
            for part, content in parts:
                if part.name not in UNSTABLE and content != default_of(part):
                    lines[f"{name}.{part.name}"] = text_of(content, "", UNSTABLE)
        else:
            lines[name] = text_of(value, name, UNSTABLE)
    ids = {variant.id: f"‹{variant.label}›" for variant in plan.variants}
    ids |= {item.id: f"‹{item.label}›" for item in plan.inputs}
    ids |= {spec.id: "‹build›" for spec in plan.builds}
    ids |= {cell.id: f"‹cell {cell.label}›" for cell in plan.cells} | {str(folder): "DIR"}
    for old, new in ids.items():
        lines = {name: text.replace(old, new) for name, text in lines.items()}
    return lines


def errors_of(error: ScenarioError, folder: Path) -> str:
    """Return a line for each error, with « and » around what it marks, its message and its fix."""
    lines = ""
    for problem in error.problems:
        assert problem.at is not None
        assert problem.file is not None
        line = error.sources[problem.file].split("\n")[problem.at.line - 1]
        start = problem.at.column - 1
        end = start + problem.at.length
        lines += f"! {problem.code} {line[:start]}«{line[start:end]}»{line[end:]}\n"
        lines += f"!   {problem.message}\n" + (f"!   fix: {problem.fix}\n" if problem.fix else "")
    return lines.replace(str(folder), "DIR")


def outcome(case: Case, folder: Path) -> str:
    """Return what a case changes in the plan, or its errors."""

    def plan_of(text: str, only: str | None, *overrides: str) -> Plan:
        return expand(load(folder / "s.yaml", overrides=overrides, text=text), only=only)

    try:
        after = lines_of(plan_of(case.text, case.only, *case.overrides), folder)
        before = lines_of(plan_of(case.base, None), folder) if case.base else {}
    except ScenarioError as error:
        return errors_of(error, folder)
    gone = "; ".join(name for name in before if name not in after)
    return (f"<< {gone}\n" if gone else "") + "".join(
        f">> {name}: {text}".rstrip() + "\n"
        for name, text in after.items()
        if before.get(name) != text
    )


def cases() -> Iterator[tuple[Case, str]]:
    """Yield the cases of plans.txt, each with its part of the file without the plan."""
    for section in FILE.read_text(encoding="utf-8").split("\n=== ")[1:]:
        base = ""
        for number, part in enumerate(section.split("\n--- ")):
            title, _, body = part.rstrip("\n").partition("\n")
            rest = [
                line
                for line in body.split("\n")
                if not line.startswith((">> ", "<< ", "! ", "!  "))
            ]
            options = [line.removeprefix("$ ") for line in rest if line.startswith("$ ")]
            text = "".join(f"{line}\n" for line in rest if not line.startswith("$ "))
            base = base or text
            yield (
                Case(
                    title,
                    base if number else "",
                    base + text if number else base,
                    tuple(o.removeprefix("-S ") for o in options if o.startswith("-S")),
                    next((o[3:] for o in options if o.startswith("-k")), None),
                ),
                "\n".join([("\n=== " if not number else "--- ") + title, *rest]).rstrip("\n"),
            )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that the scenarios name."""
    crate = {"demo/Cargo.toml": '[package]\nname = "demo"\n', "demo/src/main.rs": "fn main() {}\n"}
    return write_files(tmp_path, {**crate, "in.txt": "x", "fix.diff": "--- a\n"})


def test_the_plans_are_those_of_the_approval_file(folder: Path) -> None:
    text = FILE.read_text(encoding="utf-8").partition("\n=== ")[0].rstrip("\n") + "\n"
    for case, part in cases():
        text += f"{part}\n{outcome(case, folder)}"
    approve(FILE, text, "UPDATE_PLANS")


def test_a_selection_and_the_gate_keep_the_training_of_the_scenario(plans: Plans) -> None:
    text = """
        axes:
          size: [1MiB, 2MiB]
          how: {plain: {}, trained: {pgo: true}}
        input: {dataset: prose, size: "{size}"}
        baseline: {how: plain}
        """
    whole = plans(text, head=TALLY)
    assert [run.input for run in whole.training] == list(whole.inputs)
    (spec,) = {run.build for run in whole.training}
    assert spec.pgo
    part = plans(text, head=TALLY, only="size=1MiB")
    assert len(part.inputs) == 1
    assert part.training == whole.training
    (candidate, *_) = (cell for cell in whole.cells if cell.role is Role.CANDIDATE)
    assert narrowed(whole, frozenset({candidate.id})).training == whole.training


class TestIdentity:
    def test_the_seed_follows_from_what_the_scenario_says(self, plans: Plans) -> None:
        one, two = (
            plans(TWO),
            plans(
                "# a comment\n" + TWO.replace("axes: {arm: [a, b]}", "axes:\n  arm:\n  - a\n  - b")
            ),
        )
        assert one.scenario_sha256 == two.scenario_sha256
        assert one.measure.seed == two.measure.seed
        assert plans(TWO + "margin: 3%").measure.seed != one.measure.seed
        assert plans(TWO + "measure: {seed: 7}").measure.seed == 7
        most = 9223372036854775807
        assert plans(TWO + f"measure: {{seed: {most}}}").measure.seed == most

    def test_what_is_written_out_and_what_is_left_to_the_default_is_the_same(
        self, loads: Loads
    ) -> None:
        assert loads(TWO).sha256 == loads(TWO + "design: full\nmeasure: {warmup: 2}").sha256

    def test_renaming_a_label_changes_no_identity(self, plans: Plans) -> None:
        text = (
            "axes: {arm: {a: {label: %s}, b: {}}}\ncommand: ['{bin}', '{arm}']\nbaseline: {arm: a}"
        )
        assert [c.id for c in plans(text % "x").cells] == [c.id for c in plans(text % "y").cells]

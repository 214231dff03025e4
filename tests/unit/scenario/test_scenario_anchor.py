"""`anchor`: one variant that is the same in every record."""

from pathlib import Path

import pytest

from bench_framework.model.looks import comparisons_planned
from bench_framework.model.plan import Cell, Plan, Role
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

PROGRAM = (
    "version: 1\nname: n\nquestion: q?\nworker: {command: [/bin/echo]}\n"
    "axes: {arm: [a, b, c], size: [1MiB, 2MiB]}\ninput: {dataset: text, size: '{size}'}\n"
    "command: ['{bin}', '{arm}', '{input}']\nbaseline: {arm: a}\n"
)
MANIFEST = '[package]\nname = "prog"\nversion = "0.1.0"\nedition = "2021"\n'


def plan_of(folder: Path, text: str, only: str | None = None) -> Plan:
    path = folder / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return expand(load(path), only=only)


def anchors(plan: Plan) -> list[Cell]:
    return [c for c in plan.cells if c.variant_id == plan.anchor_id]


def test_without_an_anchor_there_is_none(tmp_path: Path) -> None:
    assert plan_of(tmp_path, PROGRAM).anchor_id == ""


@pytest.mark.parametrize(("arm", "role"), [("a", Role.BASELINE), ("c", Role.CANDIDATE)])
def test_a_measured_variant_is_the_anchor_without_another_cell(
    tmp_path: Path, arm: str, role: Role
) -> None:
    plain, plan = (
        plan_of(tmp_path, PROGRAM),
        plan_of(tmp_path, PROGRAM + f"anchor: {{variant: {{arm: {arm}}}}}"),
    )
    assert plan.cells == plain.cells
    assert {c.role for c in anchors(plan)} - {Role.CONTROL} == {role}


def test_a_variant_that_a_rule_leaves_out_is_one_more_cell_on_every_input(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PROGRAM + "exclude: {arm: c}\nanchor: {variant: {arm: c}}")
    assert [c.role for c in anchors(plan)] == [Role.ANCHOR, Role.ANCHOR]
    assert plan.variant(plan.anchor_id).label == "anchor"
    assert comparisons_planned(plan) == comparisons_planned(
        plan_of(tmp_path, PROGRAM + "exclude: {arm: c}")
    )


def test_where_a_rule_leaves_the_variant_out_on_one_input_it_is_an_anchor_there(
    tmp_path: Path,
) -> None:
    plan = plan_of(tmp_path, PROGRAM + "exclude: {arm: c, size: 2MiB}\nanchor: {variant: {arm: c}}")
    assert [c.role for c in anchors(plan)] == [Role.CANDIDATE, Role.ANCHOR]


def test_a_selection_keeps_the_anchor(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, PROGRAM + "anchor: {variant: {arm: c}}", only="arm=b size=1MiB")
    assert [plan.variant(c.variant_id).label for c in plan.cells] == ["a", "b", "c", "a"]
    assert len(plan.inputs) == 1


class TestRevision:
    @pytest.fixture
    def scenario(self, tmp_path: Path) -> str:
        source = tmp_path / "prog" / "src"
        source.mkdir(parents=True)
        (source / "main.rs").write_text("fn main() {}\n", encoding="utf-8")
        (tmp_path / "prog" / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
        return (
            "version: 1\nname: n\nquestion: q?\nworker: {crate: prog, contract: false}\n"
            "axes: {lto: {off: {}, on: {profile: {lto: fat}}}}\nbaseline: {lto: off}\n"
            "command: ['{bin}']\nanchor: {rev: v1.0}\n"
        )

    def test_it_is_built_with_the_settings_of_the_baseline_and_compared_with_nothing(
        self, tmp_path: Path, scenario: str
    ) -> None:
        plan = plan_of(tmp_path, scenario)
        (cell,) = anchors(plan)
        variant = plan.variant(plan.anchor_id)
        assert (cell.role, variant.label, variant.anchor) == (Role.ANCHOR, "anchor v1.0", "v1.0")
        assert variant.build is not None
        assert variant.build.revision == "v1.0"
        assert variant.build in plan.builds
        assert variant.build.profile_keys == ()
        assert comparisons_planned(plan) == 2
        assert len({c.id for c in plan.cells}) == len(plan.cells) == 4

    def test_the_identity_of_other_variants_does_not_depend_on_it(
        self, tmp_path: Path, scenario: str
    ) -> None:
        with_anchor = plan_of(tmp_path, scenario)
        without = plan_of(tmp_path, scenario.replace("anchor: {rev: v1.0}\n", ""))
        assert {c.id for c in without.cells} < {c.id for c in with_anchor.cells}

    def test_another_revision_is_another_anchor(self, tmp_path: Path, scenario: str) -> None:
        first = plan_of(tmp_path, scenario)
        second = plan_of(tmp_path, scenario.replace("v1.0", "v2.0"))
        assert first.anchor_id != second.anchor_id
        assert {c.id for c in anchors(first)}.isdisjoint(c.id for c in anchors(second))

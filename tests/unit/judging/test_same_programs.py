"""Two variants that are one program: an A/A test, never a change or a difference."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench_framework.compare import data_quality, same_programs
from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import judge
from bench_framework.features.summary import command_lines
from bench_framework.model.facts import OneProgram
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.declarations import Axis, AxisValue, Experiment
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.record.run import Build, Preload
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from bench_framework.text.write import render
from tests.build import require
from tests.unit.judging.conftest import Study, with_builds


def built(example: Study, code: Mapping[str, str]) -> tuple[Plan, dict[str, Build]]:
    """Return the plan of a study whose arms are builds with one command, with the digest of each arm."""
    plan, specs = with_builds(example.plan)
    cells = tuple(replace(c, command=((BIN,), ("run",))) for c in plan.cells)
    axes = tuple(replace(a, kind="build") if a.name == "arm" else a for a in plan.axes)
    builds = {
        s.id: Build(s.id, ok=True, sha256=s.id, code_sha256=code[arm]) for arm, s in specs.items()
    }
    return replace(plan, cells=cells, axes=axes), builds


def judged(
    example: Study, plan: Plan, builds: Mapping[str, Build], times: Mapping[str, float]
) -> Judgement:
    def wall(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}/{where}/{number}")
        return times["a" if arm == "control" else arm] * (1 + noise.expovariate(1 / 0.01))

    blocks = example.blocks(wall, rss=lambda arm, *_: 1e8 * (2 if arm == "b" else 1))
    return judge(plan, blocks, builds, example.inputs(), example.looks())


def test_equal_code_is_found_whatever_the_names_of_symbols() -> None:
    plan, builds = built(Study(arms=("a", "b", "c")), {"a": "same", "b": "same", "c": "other"})
    (result,) = same_programs.same_programs(plan, builds)
    assert (result.first, result.second) == (plan.variants[0].id, plan.variants[1].id)
    assert render("no_effect", result.fact) == "arm=b has no effect compared with arm=a"
    (event,) = data_quality.identical_events(plan, builds)
    assert event.code == "BX311"
    assert event.message == "a and b are the same program (same code, same command)"
    assert event.effect == (
        "their comparison is an A/A test; arm=b has no effect compared with arm=a"
    )

    (event,) = data_quality.identical_events(
        replace(plan, revisions=Revisions("1" * 40, None)), builds
    )
    assert require(event.help).startswith(
        "nothing if the change is not meant to affect the program"
    )


def test_an_axis_has_no_effect_if_all_its_values_are_one_program() -> None:
    plan, builds = built(Study(arms=("a", "b", "c")), dict.fromkeys("abc", "same"))
    effects = [render("no_effect", p.fact) for p in same_programs.same_programs(plan, builds)]
    assert effects == ["arm has no effect on this program"] * 3


def test_other_preloaded_allocators_are_other_programs() -> None:
    plan, builds = built(Study(), {"a": "same", "b": "same"})
    first, second = builds.values()
    library = Preload("jemalloc", "/libjemalloc.so", "1a")
    assert not same_programs.equal_code(first, replace(second, preload=library))
    assert (
        same_programs.same_programs(plan, {**builds, second.id: replace(second, preload=library)})
        == ()
    )


def test_equal_bytes_are_equal_code() -> None:
    plan, builds = built(Study(), {"a": "x", "b": "x"})
    same = {name: replace(b, sha256="5a", code_sha256=None) for name, b in builds.items()}
    assert len(same_programs.same_programs(plan, same)) == 1


@pytest.mark.parametrize(
    "lacking", [{"code_sha256": None}, {"ok": False}, {"sha256": None, "code_sha256": None}]
)
def test_what_is_not_known_to_be_equal_is_not_one_program(lacking: dict[str, object]) -> None:
    plan, builds = built(Study(), {"a": "same", "b": "same"})
    unknown = {name: replace(build, **lacking) for name, build in builds.items()}  # type: ignore[arg-type]
    assert same_programs.same_programs(plan, unknown) == ()


def test_one_binary_with_other_arguments_is_two_variants() -> None:
    """A build axis may set arguments, environment or processors too."""
    plan, builds = built(Study(), {"a": "same", "b": "same"})
    second = plan.variants[1].id
    for change in ({"command": ((BIN,), ("walk",))}, {"env": (("THREADS", "2"),)}, {"cpus": "0"}):
        cells = tuple(replace(c, **change) if c.variant_id == second else c for c in plan.cells)
        assert same_programs.same_programs(replace(plan, cells=cells), builds) == ()


def test_a_program_never_differs_from_itself() -> None:
    example = Study(arms=("a", "b", "c"))
    plan, builds = built(example, {"a": "same", "b": "same", "c": "other"})
    result = judged(example, plan, builds, {"a": 0.05, "b": 0.055, "c": 0.04})
    pairs = [c for c in result.comparisons if c.cell_id == example.cell("b").id]
    assert {c.metric for c in pairs} == {"wall", "cpu", "peak_rss"}
    assert {(c.verdict, c.reason) for c in pairs} == {(Verdict.INCONCLUSIVE, ONE_PROGRAM)}
    wall = next(
        c
        for c in result.claims
        if c.kind == "comparison" and c.subject == "b" and c.metric == "wall"
    )
    assert wall.text.startswith(
        "b and a are the same program; their difference is an A/A test: +10.0\u202f% ["
    )
    assert example.cell("c").id in result.best[0].cell_ids
    assert not any("b takes" in c.text for c in result.claims)


def test_one_program_under_two_names_is_no_open_question() -> None:
    example = Study(arms=("a", "b", "c"))
    plan, builds = built(example, {"a": "same", "b": "same", "c": "other"})
    assert judged(example, plan, builds, {"a": 0.05, "b": 0.05, "c": 0.04}).status == "conclusive"


def test_the_same_program_under_two_commands_is_discarded() -> None:
    example = Study(arms=("a", "b"))
    plan, builds = built(example, {"a": "same", "b": "same"})
    assert (
        command_lines.decision(judged(example, plan, builds, {"a": 0.05, "b": 0.06})) == "discard"
    )
    plan, builds = built(example, {"a": "one", "b": "other"})
    assert command_lines.decision(judged(example, plan, builds, {"a": 0.06, "b": 0.05})) == "keep"


def test_its_twin_does_not_push_a_variant_out_of_the_best_group() -> None:
    example = Study(arms=("a", "b"))
    plan, builds = built(example, {"a": "same", "b": "same"})
    result = judged(example, plan, builds, {"a": 0.05, "b": 0.055})
    assert set(result.best[0].cell_ids) == {example.cell("a").id, example.cell("b").id}
    assert not [c for c in result.claims if c.kind == "recommendation"]


@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_the_summary_does_not_name_a_duplicate_of_the_baseline(factor: float) -> None:
    example = Study(arms=("base", "twin", "slow"))
    plan, builds = built(example, {"base": "same", "twin": "same", "slow": "other"})
    times = {"a": 0.05, "base": 0.05, "twin": 0.05 * factor, "slow": 0.15}
    result = judged(example, plan, builds, times | {"control": 0.05})
    claims = {c.kind: c for c in result.claims}
    assert (claims["main"].subject, claims["main"].reference) == ("slow", "base")
    assert claims["recommendation"].subject == "base"
    assert not [
        c for c in claims.values() if c.kind in {"main", "recommendation"} and "twin" in c.text
    ]
    assert not [c for c in result.claims if c.kind in {"contrast", "use"} and "twin" in c.text]


def test_a_duplicate_of_the_baseline_alone_is_not_conclusive() -> None:
    example = Study(arms=("a", "b"))
    plan, builds = built(example, {"a": "same", "b": "same"})
    result = judged(example, plan, builds, {"a": 0.05, "b": 0.05})
    (claim,) = [c for c in result.claims if c.kind in {"main", "nothing"}]
    assert claim.text == f"Nothing is conclusive: {phrase(ONE_PROGRAM)}."


def test_the_stopping_rule_does_not_wait_for_an_a_a_test() -> None:
    example = Study(arms=("a", "b", "c"), rounds=18)
    plan, builds = built(example, {"a": "same", "b": "same", "c": "other"})

    def wall(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}/{where}/{number}")
        return (0.02 if arm == "c" else 0.05) * (1 + noise.expovariate(1 / 0.05))

    blocks = example.blocks(wall)
    first = looks_of(plan).rounds[0]
    assert Analysis(plan, blocks, plan.inputs[0].id, 0, first, builds=builds).report.stop
    assert not Analysis(plan, blocks, plan.inputs[0].id, 0, first).report.stop


def test_the_axis_that_has_no_effect_is_named_with_the_engine() -> None:
    """Document 001: the parser never reached the engine. The other axes are reported too."""
    example = Study(arms=("simd-json", "sonic-rs"))
    plan, builds = built(example, {"simd-json": "same", "sonic-rs": "same"})
    variants = tuple(replace(v, values=(*v.values, ("engine", "rayon"))) for v in plan.variants)
    ids = dict(zip((v.id for v in plan.variants), (v.id for v in variants), strict=True))
    cells = tuple(replace(c, variant_id=ids[c.variant_id]) for c in plan.cells)
    axes = (
        *plan.axes,
        Axis("engine", "run", (AxisValue("rayon", "rayon"), AxisValue("tokio", "tokio"))),
    )
    plan = replace(plan, variants=variants, cells=cells, axes=axes, baseline_id=variants[0].id)
    (claim,) = same_programs.claims(plan, builds)
    assert claim.fact == OneProgram(axes=("arm",), where="engine=rayon")


def test_an_experiment_that_is_the_baseline_is_reported_by_its_change() -> None:
    plan, builds = built(Study(), {"a": "same", "b": "same"})
    variants = (
        plan.variants[0],
        replace(plan.variants[1], values=plan.variants[0].values, experiment="try"),
    )
    ids = dict(zip((v.id for v in plan.variants), (v.id for v in variants), strict=True))
    cells = tuple(replace(c, variant_id=ids[c.variant_id]) for c in plan.cells)
    experiment = Experiment("try", variants[1].id, (("lto", "fat"),), decision="rejected")
    plan = replace(plan, variants=variants, cells=cells, experiments=(experiment,))
    (result,) = same_programs.same_programs(plan, builds)
    assert result.fact.axes == ("lto",)

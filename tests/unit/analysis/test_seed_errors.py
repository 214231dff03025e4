"""Sentences that published reports printed and that no record may give us.

Rows of the second table of the seed documents' checklist that the analysis layer can show. Those
that need published summaries, other sittings, profiles, factorial designs or derived rows are shown where these live.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.analysis.judge import judge
from bench_framework.model.judgement import Verdict
from bench_framework.model.plan import BIN, BuildSpec, Idea, MeasurePolicy, Variant
from bench_framework.model.run import Answer, Build, Receipt

if TYPE_CHECKING:
    from conftest import Study

    from bench_framework.model.judgement import Judgement


def draw(arm: str, where: str, number: int, spread: float = 0.005) -> float:
    return 1 + abs(random.Random(f"{arm}/{where}/{number}").gauss(0, spread))


def sentences(judged: Judgement) -> str:
    return "\n".join(claim.text for claim in judged.claims)


def test_000_memory_unchanged_needs_a_measured_reference(study: type[Study]) -> None:
    """Only one version was measured: no comparison of memory exists, and no sentence about one."""
    made = study(arms=("after",))
    judged = made.judge(made.blocks(draw, rss=lambda *_: 2e8))
    assert not [c for c in judged.claims if c.kind in ("memory", "comparison")]
    assert "differ by less" not in "\n".join(c.text for c in judged.claims if c.kind != "control")
    assert judged.claims[0].kind == "nothing"


def test_000_a_mode_that_ran_another_path_is_refused(study: type[Study]) -> None:
    made = study(arms=("read", "uring"))
    fake = made.cell("uring").id
    blocks = [
        replace(b, receipts=(Receipt(effective={"arm": "slurp"}),)) if b.cell_id == fake else b
        for b in made.blocks(lambda a, i, r: draw(a, i, r) * (0.1 if a == "uring" else 1))
    ]
    judged = made.judge(blocks)
    assert made.comparison(judged, "uring").verdict is Verdict.NOT_COMPARABLE
    assert "uring was asked for, slurp ran" in sentences(judged)


def test_000_scales_linearly(study: type[Study]) -> None:
    """Exponents 0.74 and 0.96, and the largest file is of another family."""
    made = study(sizes=(10, 50, 200))
    steps = {"10MiB": 0.0, "50MiB": 0.74 * math.log(5), "200MiB": 0.74 * math.log(5) + 0.96 * math.log(4)}
    blocks = made.blocks(lambda a, i, r: draw(a, i, r) * math.exp(steps[i]))
    first = [
        s
        for s in made.judge(blocks).scaling
        if s.metric == "wall" and s.from_input_id == made.plan.inputs[0].id
    ]
    assert {s.word for s in first} == {"sub-linear"}
    prepared = made.inputs()
    mixed = judge(made.plan, blocks, {}, [*prepared[:2], replace(prepared[2], family="other")], made.looks())
    assert {s.word for s in mixed.scaling} == {"not resolved"}
    assert "linear" not in sentences(mixed)


def test_000_parallel_stream_is_not_one_factor_over_all_sizes(study: type[Study]) -> None:
    made = study(arms=("stream", "parallel"), sizes=(10, 200))
    ratio = {"10MiB": 1.078, "200MiB": 0.6}
    judged = made.judge(made.blocks(lambda a, i, r: draw(a, i, r) * (ratio[i] if a == "parallel" else 1)))
    assert made.comparison(judged, "parallel", size=10).verdict is Verdict.WORSE
    assert made.comparison(judged, "parallel", size=200).verdict is Verdict.BETTER
    assert "parallel against stream depends on the input" in sentences(judged)


def test_000_a_memory_figure_of_one_run_has_no_verdict(study: type[Study]) -> None:
    made = study(rounds=1, measure=MeasurePolicy(rounds_min=1, rounds_max=1))
    judged = made.judge(made.blocks(draw, rss=lambda a, *_: 2e8 if a == "a" else 1e8))
    assert made.comparison(judged, "b", "peak_rss").verdict is Verdict.SINGLE_RUN


def test_001_a_parser_that_never_reached_the_engine_has_no_effect(study: type[Study]) -> None:
    plain = study(arms=("simd-json", "sonic-rs"))
    specs = [BuildSpec("builtin", "search"), BuildSpec("builtin", "search", features=("sonic",))]
    plan = plain.plan
    variants = tuple(Variant(v.label, v.values, s) for v, s in zip(plan.variants, specs, strict=True))
    cells = tuple(replace(c, command=((BIN,), ("run",))) for c in plan.cells)
    plan = replace(plan, axes=(replace(plan.axes[0], kind="build"),), variants=variants, cells=cells)
    builds = {s.id: Build(s.id, ok=True, sha256="5a") for s in specs}
    faster = plain.blocks(lambda a, i, r: draw(a, i, r) * (0.916 if a == "sonic-rs" else 1))
    judged = judge(plan, faster, builds, (), plain.looks())
    assert "sonic-rs and simd-json are the same program" in sentences(judged)
    assert "arm has no effect on this program; their difference is an A/A test" in sentences(judged)
    assert "less time" not in sentences(judged)
    assert "BX311" in {e.code for e in judged.events}


def test_001_drift_between_sittings_is_no_gain_where_rounds_are_interleaved(study: type[Study]) -> None:
    made = study()
    judged = made.judge(made.blocks(lambda a, i, r: draw(a, i, r) * (1 - 0.084 * (r > 20))))
    assert made.comparison(judged, "b").verdict is Verdict.EQUIVALENT


def test_001_recommendations_name_measured_inputs_only(study: type[Study]) -> None:
    made = study(sizes=(10, 200))
    judged = made.judge(made.blocks(lambda a, i, r: draw(a, i, r) * (0.8 if a == "b" else 1)))
    told = [c for c in judged.claims if c.kind == "recommendation"]
    assert [c.text for c in told] == ["On 10MiB: use b", "On 200MiB: use b"]


def test_003_two_percent_in_that_noise_is_undecided_and_says_what_would_decide(study: type[Study]) -> None:
    """The ratio 0.982 [0.935, 1.032] of 20 runs a side."""
    made = study(arms=("smol", "optimised"), rounds=20, measure=MeasurePolicy(rounds_max=20))
    noisy = random.Random(3)
    judged = made.judge(
        made.blocks(lambda a, *_: (0.982 if a == "optimised" else 1) * math.exp(noisy.gauss(0, 0.08)))
    )
    found = made.comparison(judged, "optimised")
    assert found.verdict is Verdict.UNDECIDED
    assert found.rounds_needed is None or found.rounds_needed > 100
    text = next(c.text for c in judged.claims if c.kind == "comparison" and c.metric == "wall")
    assert text.startswith("The runs do not decide between optimised and smol")
    assert "would have been found" in text


def test_004_other_work_is_not_a_slower_allocator(study: type[Study]) -> None:
    made = study(arms=("system", "mimalloc"))
    other = made.cell("mimalloc").id
    blocks = [
        replace(b, answer=Answer("two searches", 2)) if b.cell_id == other else b
        for b in made.blocks(lambda a, i, r: draw(a, i, r) * (1.59 if a == "mimalloc" else 1))
    ]
    judged = made.judge(blocks)
    assert made.comparison(judged, "mimalloc").verdict is Verdict.OTHER_OUTPUT
    assert "1.59" not in sentences(judged)


def test_004_not_adopted_takes_its_reason_from_the_verdict(study: type[Study]) -> None:
    """Three ideas that the author called worse, none of which is decided."""
    made = study(arms=("kept", "concurrent", "buffers"))
    noisy = random.Random(4)
    blocks = made.blocks(lambda *_: math.exp(noisy.gauss(0, 0.1)))
    plan = made.plan
    ideas = tuple(
        Idea(v.label, v.id, (("arm", v.label),), why="worse", decision="rejected") for v in plan.variants[1:]
    )
    judged = judge(replace(plan, ideas=ideas), blocks, {}, (), made.looks())
    assert "2 ideas not adopted: 2 undecided" in sentences(judged)

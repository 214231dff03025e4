"""A realistic record written by hand: 12 variants × 3 sizes, with every kind of failure.

The figures are invented. They show only the form. Nothing depends on the clock, and the only random
numbers come from a seeded generator.
"""

import math
import random
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree as ET

from bench_framework.compare import causes, contrasts, samples
from bench_framework.compare.stage import Runs
from bench_framework.features.claim_writer import claims_of
from bench_framework.features.experiments import compute as experiments
from bench_framework.features.judge import analyse_axes
from bench_framework.model.formula import FormulaUnit
from bench_framework.model.plan.arguments import BIN, INPUT
from bench_framework.model.plan.build_spec import BuildSpec, stable_id
from bench_framework.model.plan.declarations import (
    Axis,
    AxisValue,
    Experiment,
    Hypothesis,
    NamedContrast,
    Note,
)
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Cell, Dataset, Hole, Input, Plan, Role, Variant
from bench_framework.model.plan.planned_comparisons import reference_pairs
from bench_framework.model.plan.policies import AnswerPolicy, MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode, message
from bench_framework.model.record import run
from bench_framework.model.record.sensors import PageCache, Sensors
from bench_framework.model.result.judgement import (
    BestGroup,
    CellState,
    Comparison,
    Derived,
    Gap,
    Judgement,
    NoiseFloor,
    Scaling,
    Summary,
)
from bench_framework.model.result.structure import Crossing, Structure
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.report.context import ReportData
from tests.build import make_comparison, make_plan, require

# The folder is not a package.
sys.path.insert(0, str(Path(__file__).parents[2] / "validation/bench"))

import made_record

from bench_framework.report.blocks import Block, Document, Table
from bench_framework.report.render import gate as gate_page
from bench_framework.report.render.gate import GatePage, GateRow

builds, contents, prepared = made_record.builds, made_record.contents, made_record.prepared
HOSTILE = 'a"b;$(touch x)<script>alert(1)</script>../é 漢字 %s {{7*7}} | `x` *y* _z_'
MIB = 1 << 20
SVG = "{http://www.w3.org/2000/svg}"
RUNTIMES = {"rayon": 1.0, "smol": 0.985, "tokio": 1.15, "sequential": 1.72}
ALLOCATORS = {"system": 1.0, "jemalloc": 0.908, "mimalloc": 0.921}
SIZES = {"10MiB": 10 * MIB, "50MiB": 50 * MIB, "200MiB": 200 * MIB}
ROUNDS = 40
MARGIN = 0.02
EVENTS = (
    run.Event(
        "BX305", "o_direct was requested, buffered was used on 12 runs", help="put the data on ext4"
    ),
)
"""Events of the execution."""
CORES = {"rayon": 1.91, "smol": 1.93, "tokio": 1.88, "sequential": 1.0}


def spec(allocator: str) -> BuildSpec:
    features = () if allocator == "system" else (allocator,)
    return BuildSpec("builtin", "search", features=features, profile_keys=(("lto", "fat"),))


def variants() -> tuple[Variant, ...]:
    combinations = [
        Variant(
            f"{runtime}+{allocator}",
            (("runtime", runtime), ("allocator", allocator)),
            spec(allocator),
            describe="one thread"
            if runtime == "sequential"
            else "work stealing"
            if runtime == "rayon"
            else "",
        )
        for runtime in RUNTIMES
        for allocator in ALLOCATORS
    ]
    combinations.append(
        Variant(
            HOSTILE,
            (("runtime", "rayon"), ("allocator", "system")),
            spec("system"),
            experiment=HOSTILE,
        )
    )
    return tuple(combinations)


def inputs() -> tuple[Input, ...]:
    return tuple(
        Input(label, (("size", label),), Dataset("generated", "jsonl", size, 42))
        for label, size in SIZES.items()
    )


def cells(plan_variants: tuple[Variant, ...], plan_inputs: tuple[Input, ...]) -> tuple[Cell, ...]:
    planned = []
    for item in plan_inputs:
        for number, variant in enumerate((*plan_variants, plan_variants[0])):
            control = number == len(plan_variants)
            role = Role.CONTROL if control else Role.BASELINE if number == 0 else Role.CANDIDATE
            label = "control" if control else variant.label
            planned.append(
                Cell(
                    stable_id("cell", variant.id, item.id, control),
                    variant.id,
                    item.id,
                    f"{label}, {item.label}",
                    role,
                    (
                        (BIN,),
                        ("run",),
                        ("--runtime", "=", dict(variant.values)["runtime"]),
                        ("--pattern", "=a b'c"),
                        (INPUT,),
                    ),
                    env=(("RUST_LOG", "off"),),
                )
            )
    return tuple(planned)


def plan() -> Plan:
    vs, ins = variants(), inputs()
    return make_plan(
        vs,
        ins,
        cells(vs, ins),
        name="search-matrix",
        question="Which runtime and allocator search JSON lines fastest, and what do they cost in memory?",
        scenario_path="scenarios/search-matrix.yaml",
        scenario_sha256="9f2c41ab" * 8,
        axes=(
            Axis("runtime", "run", tuple(AxisValue(r, r) for r in RUNTIMES)),
            Axis("allocator", "build", tuple(AxisValue(a, a) for a in ALLOCATORS)),
            Axis("size", "input", tuple(AxisValue(s, s, size_bytes=b) for s, b in SIZES.items())),
        ),
        builds=tuple(spec(a) for a in ALLOCATORS),
        holes=(
            Hole(
                (("runtime", "glommio"), ("allocator", "mimalloc")),
                message("io_uring is refused here"),
                "search.yaml:21",
            ),
        ),
        further_baselines=(next(v.id for v in vs if v.label == "rayon+jemalloc"),),
        experiments=(
            Experiment(
                HOSTILE, vs[-1].id, (("block", "256KiB"),), "fewer *syscalls* | <b>", "rejected"
            ),
            Experiment(
                "another allocator",
                vs[1].id,
                (("allocator", tuple(ALLOCATORS)[1]),),
                "many short texts",
                "adopted",
            ),
            Experiment(
                "one thread per file",
                vs[3].id,
                (("runtime", tuple(RUNTIMES)[1]),),
                "less to steal",
                "adopted",
            ),
        ),
        answer=AnswerPolicy(contract=True),
        measure=MeasurePolicy(seed=7),
        hypotheses=(
            Hypothesis(
                "the system allocator's lock", "allocator: system → jemalloc", vs[1].id, vs[0].id
            ),
            Hypothesis("stealing of work", "runtime: rayon → tokio", vs[6].id, vs[0].id),
            Hypothesis("the runtime of rayon", "runtime: rayon → smol", vs[3].id, vs[0].id),
            Hypothesis("<b>the disk</b>", "disk: hdd → ssd", "", ""),
        ),
        contrasts=(
            NamedContrast(
                "smol against rayon", vs[4].id, vs[1].id, tuple(i.id for i in ins[1:]), "wall"
            ),
        ),
        notes=(
            Note(
                "Why this matrix",
                "The index is read once a minute.\n\nNext: <try> `uring` & 2 threads.",
                "read(index)  # <once> a `minute`\n    wait(60)\n",
            ),
        ),
    )


def factor(variant: Variant, size: str) -> float:
    values = dict(variant.values)
    ratio = RUNTIMES[values["runtime"]] * ALLOCATORS[values["allocator"]]
    if size == "10MiB" and values["runtime"] == "tokio":
        ratio *= 1.08
    return ratio * (1.031 if variant.experiment else 1.0)


def refusal(variant: Variant, size: str) -> tuple[str, Reason | None]:
    """Return state and reason of the configurations that failed or were refused."""
    if (variant.label, size) == ("tokio+mimalloc", "200MiB"):
        return "failed", message(
            "round 3: exit status 101: thread 'main' panicked at src/search.rs:88:9"
        )
    if (variant.label, size) == ("smol+mimalloc", "200MiB"):
        return "other-output", message("digest 41ab… instead of 9f2c…")
    if (variant.label, size) == ("sequential+mimalloc", "50MiB"):
        return "not-comparable", Reason(
            ReasonCode.MODE_DIFFERS,
            (Reason(ReasonCode.AXIS_DIFFERS, ("allocator", "mimalloc", "system")),),
        )
    return "measured", None


def state(cell: Cell, p: Plan) -> CellState:
    variant, item = p.variant(cell.variant_id), p.input(cell.input_id)
    name, reason = ("measured", None) if cell.role is Role.CONTROL else refusal(variant, item.label)
    kind: Literal["measured", "failed", "other-output", "not-comparable"] = name  # type: ignore[assignment]
    effective = {"allocator": "system"} if kind == "not-comparable" else dict(variant.values)
    rounds = (3, 1) if kind == "failed" else (ROUNDS, 0)
    return CellState(cell.id, kind, *rounds, reason, effective)


def base_seconds(size: str) -> float:
    return 0.0012 + 0.00117 * SIZES[size] / MIB


def summaries(p: Plan) -> tuple[Summary, ...]:
    rows = []
    for cell in p.cells:
        variant, item = p.variant(cell.variant_id), p.input(cell.input_id)
        if cell.role is not Role.CONTROL and refusal(variant, item.label)[0] == "failed":
            continue
        wall = base_seconds(item.label) * factor(variant, item.label)
        runtime, allocator = dict(variant.values)["runtime"], dict(variant.values)["allocator"]
        rss = (18 * MIB + 0.21 * SIZES[item.label]) * {
            "system": 1.0,
            "jemalloc": 1.21,
            "mimalloc": 1.13,
        }[allocator]
        rss *= 0.55 if runtime == "sequential" else 1.0
        for metric, centre, spread in (
            ("wall", wall, 0.009),
            ("cpu", wall * CORES[runtime] * 1.01, 0.003),
            ("peak_rss", rss, 0.0015),
            ("anon_bytes", 44.0 * MIB, 0.0),
        ):
            around = (centre * (1 - spread), centre * (1 + spread))
            figures = (centre, *around, centre * 1.01, centre * spread * 3, *around, around[1])
            rows.append(Summary(cell.id, metric, ROUNDS, ROUNDS, 0, *figures))
    return tuple(rows)


TEST: dict[str, Any] = {
    "statistic": "typical",
    "p": 0.0001,
    "p_adjusted": 0.004,
    "look": 4,
    "rounds": ROUNDS,
    "runs": ROUNDS,
    "runs_ref": ROUNDS,
    "mde": 0.021,
    "rounds_needed": 46,
}
"""Results of the test of every comparison."""


def judge(ratio: float, half: float) -> Verdict:
    lo, hi = ratio * math.exp(-half), ratio * math.exp(half)
    if hi < 1:
        return Verdict.BETTER if hi < 1 / (1 + MARGIN) else Verdict.BETTER_SIZE_UNCERTAIN
    if lo > 1:
        return Verdict.WORSE if lo > 1 + MARGIN else Verdict.WORSE_SIZE_UNCERTAIN
    return Verdict.EQUIVALENT if lo > 1 / (1 + MARGIN) and hi < 1 + MARGIN else Verdict.INCONCLUSIVE


def interval(ratio: float, half: float, level: float) -> Interval:
    return Interval(ratio, ratio * math.exp(-half), ratio * math.exp(half), level)


def comparisons(p: Plan) -> tuple[Comparison, ...]:
    rows = []
    for item in p.inputs:
        baseline = require(p.baseline_cell(item.id))
        for cell in p.cells_of(item.id):
            if cell.role is Role.BASELINE:
                continue
            for metric, half in (("wall", 0.018), ("cpu", 0.006), ("peak_rss", 0.004)):
                rows.append(_comparison(p, cell, baseline, item, metric, half))
        rows += references(p, item)
    return tuple(rows)


def references(p: Plan, item: Input) -> list[Comparison]:
    """Return the comparisons of wall time with the further reference."""
    rows = []
    for cell, ref in reference_pairs(p, item.id):
        name, reason = refusal(p.variant(cell.variant_id), item.label)
        ratio = factor(p.variant(cell.variant_id), item.label) / factor(
            p.variant(ref.variant_id), item.label
        )
        verdict, results = Verdict(name) if reason else judge(ratio, 0.018), dict[str, Any]()
        if reason is None:
            results = {**TEST, "shown": interval(ratio, 0.018, 0.9989)}
        pair = (cell.id, ref.id, "wall")
        rows.append(make_comparison(*pair, "reference", verdict, reason, **results))
    return rows


def gaps(p: Plan) -> tuple[Gap, ...]:
    """Return gaps of the largest input: one with a share, and one whose share is inconclusive."""
    item = p.inputs[-1]
    baseline = require(p.baseline_cell(item.id))
    first, second = reference_pairs(p, item.id)[:2]
    return tuple(
        Gap(item.id, "wall", cell.id, baseline.id, ref.id, ROUNDS, 0.0214, after, closed, *bounds)
        for (cell, ref), after, closed, bounds in (
            (first, 0.0098, 0.542, (0.481, 0.603)),
            (second, 0.0266, -0.243, (None, None)),
        )
    )


def _comparison(
    p: Plan, cell: Cell, baseline: Cell, item: Input, metric: str, half: float
) -> Comparison:
    variant = p.variant(cell.variant_id)
    control = cell.role is Role.CONTROL
    name, reason = ("measured", None) if control else refusal(variant, item.label)
    family: Literal["headline", "control", "memory"] = (
        "control" if control else "memory" if metric == "peak_rss" else "headline"
    )
    pair = (cell.id, baseline.id, metric, family)
    limits = Thresholds(0.05 if metric == "peak_rss" else MARGIN, 0.01)
    if name != "measured":
        return make_comparison(*pair, Verdict(name), reason, thresholds=limits)
    if control:
        ratio = {"wall": 1.0021, "cpu": 0.9994, "peak_rss": 1.0}[metric]
    elif metric == "peak_rss":
        values = dict(variant.values)
        ratio = {"system": 1.0, "jemalloc": 1.21, "mimalloc": 1.13}[values["allocator"]]
        ratio *= 0.55 if values["runtime"] == "sequential" else 1.0
    elif metric == "cpu":
        ratio = (
            factor(variant, item.label) * CORES[dict(variant.values)["runtime"]] / CORES["rayon"]
        )
    else:
        ratio = factor(variant, item.label)
    half *= 0.6 if control else 1.0
    verdict = Verdict.INCONCLUSIVE if control else judge(ratio, half)
    figures = {**TEST, "shown": interval(ratio, half, 0.9989), "thresholds": limits}
    figures["unadjusted"] = interval(ratio, half * 0.6, 0.95)
    if metric == "peak_rss":
        figures["statistic"] = "median"
    return make_comparison(*pair, verdict, **figures)


def best(p: Plan) -> tuple[BestGroup, ...]:
    groups = []
    for item in p.inputs:
        leaders = {"rayon+jemalloc", "smol+jemalloc"}
        ids = tuple(c.id for c in p.cells_of(item.id) if p.variant(c.variant_id).label in leaders)
        against = tuple(
            c
            for c in comparisons(p)
            if c.metric == "wall"
            and c.family == "headline"
            and p.cell(c.cell_id).input_id == item.id
        )
        groups.append(BestGroup(item.id, "wall", ids, complete=True, comparisons=against))
    return tuple(groups)


def scaling(p: Plan) -> tuple[Scaling, ...]:
    words: dict[str, Literal["linear", "sub-linear"]] = {"10MiB": "sub-linear", "50MiB": "linear"}
    rows = []
    for variant in p.variants[:4]:
        for start, end in zip(p.inputs, p.inputs[1:], strict=False):
            growth = math.log(base_seconds(end.label) / base_seconds(start.label))
            exponent = growth / math.log(SIZES[end.label] / SIZES[start.label])
            figures = (exponent, exponent - 0.013, exponent + 0.012, 0.95)
            ends = (variant.id, "wall", start.id, end.id)
            rows.append(Scaling(*ends, *figures, words[start.label]))
    return tuple(rows)


def derived(p: Plan) -> tuple[Derived, ...]:
    """Return derived figures of the largest input: two rates, a bound, a share, and one without rounds."""
    item = p.inputs[-1]
    first, second = (cell.id for cell in p.cells_of(item.id)[:2])
    both = (first, second)
    rate = 812.0 * MIB

    def row(
        name: str, formula: str, unit: FormulaUnit, cell_ids: tuple[str, ...], value: float | None
    ) -> Derived:
        bounds = (None, None) if value is None else (value * 0.991, value * 1.012)
        measured = len(cell_ids) == 1
        return Derived(
            item.id, name, formula, unit, cell_ids, measured, ROUNDS if value else 0, value, *bounds
        )

    return (
        row("reading", "rate(reading)", "bytes/s", (first,), 2.4 * rate),
        row("counting", "rate(counting)", "bytes/s", (second,), rate),
        row("ideal_overlap", "min(rate(reading), rate(counting))", "bytes/s", both, rate),
        row("share", "rate(counting) / ideal_overlap", "ratio", both, 0.914),
        row("wait", "time(reading) - time(counting)", "s", both, 0.0123),
        row("gone", "rate(reading) / rate(missing)", "ratio", (first,), None),
        replace(
            row("a_terabyte", "1024 * time(reading)", "s", (first,), 252.4),
            measured=False,
            assuming="a terabyte is written as the first gigabyte is",
        ),
    )


def judgement(p: Plan) -> Judgement:
    """Return a judgement whose sentences come from the analysis, so that reports have real words."""
    differing = causes.causes(p, samples.collect(blocks(p)), comparisons(p))
    mute = Judgement(
        looks=Looks((18, 27, 40), 14, decidable=True, family=72, level=0.05),
        states=tuple(state(cell, p) for cell in p.cells),
        summaries=summaries(p),
        comparisons=comparisons(p),
        best=best(p),
        floors=tuple(
            NoiseFloor(i.id, m, f) for i in p.inputs for m, f in (("wall", 0.0132), ("cpu", 0.0042))
        ),
        scaling=scaling(p),
        status="mostly conclusive",
        derived=derived(p),
        causes=differing,
        hypotheses=experiments.hypothesis_tests(p, comparisons(p), differing),
        gaps=gaps(p),
        events=(
            run.Event(
                "BX311",
                "feature `mimalloc` did not change the binary of smol+mimalloc",
                effect="an A/A test",
            ),
        ),
    )
    binaries = {b.id: b for b in builds(p)}
    mute = replace(mute, structure=structure_of(p, mute, binaries))
    return replace(mute, claims=claims_of(p, mute, binaries, prepared(p)))


def structure_of(p: Plan, mute: Judgement, binaries: dict[str, run.Build]) -> Structure:
    """Return the effects of the axes, computed by the analysis from the samples."""
    usable = frozenset(s.cell_id for s in mute.states if s.state == "measured")
    at = contrasts.contrast_data(
        p,
        Runs(samples.collect(blocks(p)), mute.states, usable, frozenset(), frozenset()),
        mute.looks,
        [run.Look(i.id, 2, ROUNDS, stopped=True) for i in p.inputs],
        mute.floors,
        prepared(p),
    )
    pairs = [*mute.comparisons, *(c for group in mute.best for c in group.comparisons)]
    return analyse_axes(at, pairs, mute.summaries, binaries)


def digest(variant: Variant, size: str) -> str:
    return ("41ab" if refusal(variant, size)[0] == "other-output" else "9f2c") * 8


def blocks(p: Plan, rounds: int = ROUNDS) -> tuple[run.Block, ...]:
    chance = random.Random(11)
    measurements: list[run.Block] = []
    second = 0.0
    for item in p.inputs:
        members = list(p.cells_of(item.id))
        for number in range(1, rounds + 1):
            chance.shuffle(members)
            for position, cell in enumerate(members):
                variant = p.variant(cell.variant_id)
                noise = chance.gauss(0.0, 0.02) + (0.11 if chance.random() < 0.01 else 0)
                wall = base_seconds(item.label) * factor(variant, item.label) * math.exp(noise)
                wall = round(wall, 9)  # the C library's last digits differ between machines
                second += wall + 0.02
                minutes, rest = divmod(second, 60)
                measurements.append(
                    run.Block(
                        len(measurements),
                        number,
                        position,
                        cell.id,
                        warmup=False,
                        status="ok",
                        started_at=f"2026-03-02T17:{4 + int(minutes):02d}:{rest:06.3f}+00:00",
                        wall_s=(wall,),
                        user_s=wall * 1.8,
                        sys_s=wall * 0.1,
                        peak_rss_bytes=61 * MIB,
                        answer=run.Answer(digest(variant, item.label), 120_411),
                        sensors=Sensors(
                            steal_ticks=0,
                            mem_available_bytes=5 << 30,
                            swap_in_pages=0,
                            swap_out_pages=0,
                            psi_cpu_us=int(wall * (2e5 if len(measurements) % 40 == 7 else 1e4)),
                            cpu_capacity_us=int(wall * 2e6),
                            other_cpu_us=int(wall * (1e6 if len(measurements) % 40 == 7 else 1e4)),
                            psi_memory_us=0,
                            cpu_mhz=2900.0 + len(measurements) % 3,
                            device_bytes=0,
                        ),
                        page_cache=PageCache("warm", 1.0),
                    )
                )
    return tuple(measurements)


@cache
def sample(rounds: int = ROUNDS) -> ReportData:
    """Return the judged record."""
    p = plan()
    return ReportData(
        plan=p,
        judgement=judgement(p),
        contents=contents(
            "2026-03-02T17:04:00+00:00",
            "2026-03-02T17:22:10+00:00",
            builds=builds(p),
            inputs=prepared(p),
            blocks=[*blocks(p, rounds)],
            events=[*EVENTS],
        ),
        commands=(
            "benchctl run search-matrix",
            "benchctl verify results/search-matrix/20260302T1704Z/report.html",
        ),
        record_dir="results/search-matrix/20260302T1704Z",
        scenario_text="version: 1\nname: search-matrix\nquestion: '</script><script>alert(1)</script>'\n",
    )


def with_plan(data: ReportData, **changes: Any) -> ReportData:
    """Return the record with parts of its plan replaced."""
    return replace(data, plan=replace(data.plan, **changes))


def with_contents(data: ReportData, **changes: Any) -> ReportData:
    """Return the record with other builds, inputs, blocks or events."""
    return replace(data, contents=replace(data.contents, **changes))


def with_judgement(data: ReportData, **changes: Any) -> ReportData:
    """Return the record with parts of its judgement replaced, and with the same claims."""
    return replace(data, judgement=replace(data.judgement, **changes))


def judged_again(data: ReportData, **changes: Any) -> ReportData:
    """Return the record with parts of its judgement replaced, and with new claims."""
    changed = with_judgement(data, **changes)
    binaries = {build.id: build for build in data.contents.builds}
    return with_judgement(
        changed, claims=claims_of(data.plan, changed.judgement, binaries, data.contents.inputs)
    )


def gate_row(state: str, number: int = 0, cell: str = "head, 10MiB") -> GateRow:
    """Return a row of a gate's page in a state."""
    sentence, word = f"sentence {number} of {state}", gate_page.STATE_WORDS[state]
    return GateRow(f"{cell} {number}", "time", state, "▲", "^", sentence, 1.25, word)


def gate_page_of(*rows: GateRow, **changes: Any) -> GatePage:
    """Return the page of a gate with these rows."""
    started, reasons = "2026-01-01T00:00:00.123Z", ("1 comparison: worse",)
    head = ("s", "20260101T0000Z", started, None, "worse", 1)
    return replace(GatePage(*head, reasons, rows, "18 rounds"), **changes)


def svg_texts(svg: str) -> list[str]:
    """Return the texts of a drawing."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def all_tables(document: Document) -> list[Table]:
    return [table for section in document.sections for table in tables_in(section.blocks)]


def tables_in(blocks: Iterable[Block]) -> list[Table]:
    """Return the tables among the blocks of a section."""
    return [block for block in blocks if isinstance(block, Table)]


def with_structure(data: ReportData, **changes: Any) -> ReportData:
    """Return the record with parts of its structure replaced, and with new claims."""
    return judged_again(data, structure=replace(data.judgement.structure, **changes))


def with_sign_change(data: ReportData) -> ReportData:
    """Return a record with a variant that is better on the first input and worse on the last."""
    first, last, variant = data.plan.inputs[0], data.plan.inputs[-1], data.plan.variants[3]
    ids = tuple(c.id for c in data.plan.cells if c.variant_id == variant.id)
    verdicts = {
        first.id: (Verdict.BETTER, Interval(0.9, 0.88, 0.92, 0.99)),
        last.id: (Verdict.WORSE, Interval(1.2, 1.1, 1.3, 0.99)),
    }
    inconclusive = (Verdict.INCONCLUSIVE, Interval(0.99, 0.9, 1.1, 0.99))
    rows = []
    for c in data.judgement.comparisons:
        if c.cell_id in ids and (c.metric, c.family) == ("wall", "headline"):
            verdict, bounds = verdicts.get(data.plan.cell(c.cell_id).input_id, inconclusive)
            rows.append(replace(c, verdict=verdict, shown=bounds))
        else:
            rows.append(c)
    sizes = (62.3 * MIB, 51.2 * MIB, 70.9 * MIB)
    pair = (ids, variant.id, data.plan.baseline_id, "wall", first.id, last.id)
    crossing = Crossing(*pair, *sizes, 0.98, 40)
    structure = replace(data.judgement.structure, crossings=(crossing,))
    return judged_again(data, comparisons=tuple(rows), structure=structure)


@cache
def bare() -> ReportData:
    """Return a record without measurements, in which every section prints its fallback."""
    full = sample(rounds=0)
    names = ("states", "summaries", "comparisons", "best", "floors", "scaling", "claims", "events")
    nothing: dict[str, Any] = dict.fromkeys((*names, "gaps", "causes", "hypotheses"), ())
    empty = replace(full.judgement, **nothing, structure=Structure(), status="failed")
    return replace(
        full,
        plan=replace(full.plan, notes=(), experiments=(), holes=(), hypotheses=()),
        judgement=empty,
        contents=replace(full.contents, blocks=[], builds=(), inputs=(), events=[]),
        commands=(),
        record_dir="",
    )

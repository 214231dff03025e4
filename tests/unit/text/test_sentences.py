"""tests/sentences.txt: each fact, with each combination of its optional fields, and its sentence.

``UPDATE_SENTENCES=1`` writes the file again. Its difference is the change of the wording.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass, replace
from dataclasses import fields as dataclass_fields
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from bench_framework.model import facts
from bench_framework.model.facts import Claim, Fact
from bench_framework.model.facts.answers import Doubling
from bench_framework.model.facts.axes import ContributionPart, Product
from bench_framework.model.facts.causes import CounterDifference, TimePart, TwoDifferences
from bench_framework.model.facts.comparisons import ContrastDetail
from bench_framework.model.facts.evidence import (
    Evidence,
    Quantity,
    SessionFigures,
)
from bench_framework.model.facts.functions import CountChange, FunctionChange
from bench_framework.model.facts.parts import BetterValue
from bench_framework.model.facts.published import Outcome, PublishedTest
from bench_framework.model.facts.records import LargestShares
from bench_framework.model.facts.summary import (
    Counts,
    MixedEffect,
    NoVerdict,
    OpenComparison,
    Overlap,
    RejectedChange,
    RejectedGroup,
    ResourceChange,
)
from bench_framework.model.profile import ProfileSize
from bench_framework.model.published import OtherResult
from bench_framework.model.reasons import (
    CONTROL_DIFFERS,
    ONE_PROGRAM,
    REACHES_ONE,
    UNSTABLE,
    Reason,
    ReasonCode,
    message,
)
from bench_framework.model.structure import Change
from bench_framework.model.verdict import Interval, Phases, Share, Verdict
from bench_framework.text.write import brief, lead, say

FILE = Path(__file__).parents[2] / "sentences.txt"
ON_INPUT = (("input", "10 MiB"),)
COLD = (*ON_INPUT, ("cache", "cold"))
Fields = dict[str, Any]
"""Field → its value, or the values that are combined."""


@dataclass(frozen=True)
class OneOf:
    """The values of a field, each of which is combined with those of the other fields."""

    values: tuple[object, ...]


def one_of(*values: object) -> OneOf:
    return OneOf(values)


BASE: Fields = {"subject": "B", "reference": "A", "metric": "wall"}
FIGURES: Fields = {"estimate": 0.9, "lo": 0.88, "hi": 0.93, "margin": 0.02, "rounds": 40}
SMALL: Fields = {**FIGURES, "estimate": 0.983, "lo": 0.971, "hi": 0.994}
SLOWER: Fields = {**FIGURES, "estimate": 1.148, "lo": 1.127, "hi": 1.17}
TWICE: Fields = {**FIGURES, "estimate": 2.31, "lo": 2.22, "hi": 2.41}
OPEN: Fields = {**FIGURES, "estimate": 0.982, "lo": 0.935, "hi": 1.032}
SAME: Fields = {**FIGURES, "estimate": 1.004, "lo": 0.997, "hi": 1.011}
BETTER, WORSE = {"verdict": Verdict.BETTER}, {"verdict": Verdict.WORSE}
PHASES = Phases(30, Interval(0.978, 0.968, 0.988, 0.95), Interval(1.089, 1.07, 1.11, 0.95))
UNSTABLE_FIELDS: Fields = {
    "verdict": Verdict.INCONCLUSIVE,
    "reason": UNSTABLE,
    "phases": PHASES,
}
COSTS = (
    Evidence(metric="cpu", verdict=Verdict.WORSE, estimate=1.25, lo=1.22, hi=1.28, margin=0.02),
    Evidence(metric="peak_rss", verdict=Verdict.WORSE, estimate=2.44, lo=2.3, hi=2.6, margin=0.02),
)
FASTER = Evidence(
    metric="wall", verdict=Verdict.BETTER, estimate=0.5, lo=0.45, hi=0.55, margin=0.02
)
PRODUCT = Product(
    factors=(Interval(0.92, 0.86, 0.98, 0.95), Interval(0.94, 0.88, 1.0, 0.95)), total=None
)
MEMORY = Quantity(value=12 << 20, unit="bytes", family="iec")
SAMPLES = ProfileSize(total=4213, unit="samples", runs=5)
WRITE = TimePart(name="write", kind="phase", value=0.39, reference=0.28, difference=0.11)
SYSTEM = TimePart(name="sys", kind="sys", value=0.39, reference=0.28, difference=0.11)
DIFFERING = (
    CounterDifference(metric="ctx_vol", value=17160, reference=28),
    CounterDifference(metric="handled_bytes", value=3 << 20, reference=1 << 20),
)
PARSE = FunctionChange(
    name="tool::parse_line",
    instructions=930_000,
    reference=710_000,
    calls=2000,
    reference_calls=1000,
    share=0.71,
)
COPY = FunctionChange(
    name="memcpy",
    module="libc.so.6",
    instructions=90_000,
    reference=0,
    calls=1000,
    reference_calls=0,
    share=0.29,
    caller="tool::store",
)
GONE = replace(COPY, name="tool::mix", instructions=0, reference=40_000, share=-0.13, caller="")
ALLOCATED = CountChange(
    metric="allocations", value=120_010, reference=10, caller="tool::parse_line"
)
WRITTEN = CountChange(metric="system_calls", value=1093, reference=93, function="write")
LESS_MEMORY = Quantity(value=5 << 20, unit="bytes", family="iec")


def difference(ratio: float, lo: float, hi: float) -> Evidence:
    verdict = Verdict.BETTER if ratio < 1 else Verdict.WORSE
    return Evidence(metric="wall", verdict=verdict, estimate=ratio, lo=lo, hi=hi, margin=0.02)


def evidence(**fields: Any) -> Evidence:
    return Evidence(**{**BASE, **FIGURES, **BETTER, **fields})


VALUE = BetterValue(axis="parser", value="sonic", better="simd", evidence=evidence())


def fields(*groups: Fields, **more: Any) -> Fields:
    """Return the fields of some groups and further ones, the last value of each."""
    return {name: value for group in (*groups, more) for name, value in group.items()}


def published_test(ratio: float, lo: float, hi: float, **fields: Any) -> PublishedTest:
    decided = Verdict.INCONCLUSIVE if lo <= 1 <= hi else Verdict.BETTER
    more = {"verdict": decided, "margin": 0.05, **fields}
    return PublishedTest(
        form="ratio",
        outcome=Outcome.IMPRECISE,
        reason=more.get("reason"),
        evidence=Evidence(metric="wall", estimate=ratio, lo=lo, hi=hi, **more),
    )


TABLE: dict[type, list[Fields]] = {
    facts.Compared: [
        fields(FIGURES, BETTER, costs=one_of((), COSTS[:1], COSTS)),
        fields(FIGURES, BETTER, scope=COLD, kind=one_of("memory", "reference")),
        fields(FIGURES, BETTER, kind="control"),
        fields(OPEN, UNSTABLE_FIELDS, metric=one_of("wall", "cpu")),
        fields(SLOWER, WORSE, metric=one_of("wall", "cpu", "instructions", "binary_size")),
        fields(TWICE, WORSE, metric=one_of("wall", "peak_rss", "wait_ms")),
        fields(TWICE, WORSE, metric="requests", direction="higher"),
        fields(FIGURES, BETTER, estimate=0.4, lo=0.39, hi=0.41),
        fields(SMALL, verdict=Verdict.BETTER_SIZE_UNCERTAIN),
        fields(SMALL, hi=0.988, lo=0.982, verdict=Verdict.BETTER_SIZE_UNCERTAIN),
        fields(FIGURES, verdict=Verdict.BETTER_SIZE_UNCERTAIN),
        fields(SAME, verdict=Verdict.EQUIVALENT, metric=one_of("wall", "cpu")),
        fields(SAME, estimate=1, lo=1, hi=1, verdict=Verdict.EQUIVALENT),
        fields(
            OPEN,
            verdict=Verdict.INCONCLUSIVE,
            mde=one_of(None, 0.108),
            rounds_needed=one_of(None, 20, 683, 200_000),
        ),
        fields(
            FIGURES,
            verdict=Verdict.INCONCLUSIVE,
            reason=one_of(
                None, CONTROL_DIFFERS, REACHES_ONE, ONE_PROGRAM, Reason(ReasonCode.TOO_FEW_ROUNDS)
            ),
        ),
        fields(verdict=Verdict.INCONCLUSIVE, reason=ONE_PROGRAM),
        fields(
            OPEN,
            verdict=Verdict.INCONCLUSIVE,
            mde=0.1,
            rounds_needed=60,
            runs=20,
            runs_ref=one_of(20, 30, 0),
            session=one_of(SessionFigures(), SessionFigures(runs_at_estimate=120)),
            scope=one_of((), ON_INPUT),
        ),
        fields(
            verdict=Verdict.SINGLE_RUN,
            session=one_of(None, SessionFigures(value=0.012)),
            runs=one_of(1, 5),
            runs_ref=one_of(1, 5),
        ),
        fields(
            verdict=one_of(
                Verdict.OTHER_OUTPUT, Verdict.FAILED, Verdict.NOT_COMPARABLE, Verdict.EXCLUDED
            ),
            reason=one_of(None, message("exit status 101")),
        ),
        fields(
            FIGURES,
            BETTER,
            metric="instructions",
            runs=one_of(1, 3),
            runs_ref=one_of(1, 3, 5),
            hi=one_of(0.88, 0.93),
            counted=True,
        ),
    ],
    facts.Contrast: [
        fields(
            scope=ON_INPUT,
            name=one_of("next", "reference"),
            main=one_of("wall", "cpu"),
            origin="best variant",
            detail=ContrastDetail(evidence=evidence(), costs=COSTS[:1]),
        ),
        fields(
            name="mine",
            main="wall",
            detail=one_of(
                ContrastDetail(evidence=evidence(), medians=(MEMORY, LESS_MEMORY)),
                ContrastDetail(evidence=evidence(**OPEN, verdict=Verdict.INCONCLUSIVE, mde=0.1)),
            ),
        ),
    ],
    facts.Grouped: [
        fields(
            name="quick",
            members=(
                ContrastDetail(evidence=evidence(scope=ON_INPUT)),
                ContrastDetail(evidence=evidence(subject="C", scope=ON_INPUT)),
            ),
        )
    ],
    facts.Finding: [
        fields(
            name="mine",
            members=tuple(
                evidence(**figures, scope=(("input", label),))
                for label, figures in (("1 MiB", FIGURES), ("2 MiB", SLOWER), ("3 MiB", TWICE))
            ),
        )
    ],
    facts.Best: [
        fields(
            FIGURES,
            BETTER,
            scope=one_of((), ON_INPUT),
            members=one_of(("B",), ("B", "C"), ("B", "C", "D")),
            among=one_of((), ("io=read", "io=mmap")),
            costs=COSTS,
        ),
        fields(
            FIGURES,
            BETTER,
            session=SessionFigures(),
            runs=20,
            runs_ref=20,
            members=("B",),
            costs=COSTS,
        ),
        fields(
            SLOWER,
            verdict=one_of(Verdict.WORSE, Verdict.INCONCLUSIVE, None),
            members=one_of(("A",), ("A", "C")),
            is_baseline=True,
        ),
        fields(
            SLOWER,
            verdict=one_of(Verdict.WORSE, Verdict.INCONCLUSIVE, None),
            metric=one_of("wall", "cpu"),
            members=("B", "C"),
        ),
        fields(members=("B",)),
    ],
    facts.Nothing: [
        fields(
            scope=one_of((), ON_INPUT),
            reasons=one_of(
                (("", CONTROL_DIFFERS),),
                (("B", message("exit status 1")), ("C", message("no such mode"))),
            ),
            more=one_of(0, 2),
            others=one_of(
                (),
                (
                    Counts(metric="cpu", worse=1, better=0, total=1),
                    Counts(metric="peak_rss", worse=2, better=1, total=4),
                ),
            ),
        ),
        fields(rounds_and_needed=(5, 9)),
        fields(mde=0.104),
    ],
    facts.Recommendation: [
        fields(
            scope=ON_INPUT,
            metric=one_of("wall", "cpu"),
            is_baseline=one_of(False, True),
            beats_all=one_of(False, True),
            among=one_of((), ("io=read",)),
        ),
        fields(
            metric=one_of("wall", "cpu"),
            tied=one_of(("C",), ("C", "D")),
            criterion=one_of("memory", "cpu", "dependencies", "estimate"),
        ),
        fields(tied=("C",), criterion="memory", memory=MEMORY, inputs=one_of(2, 3)),
    ],
    facts.RevisionsAnswer: [
        fields(
            SLOWER,
            WORSE,
            base="v1",
            head="v2",
            total=one_of(1, 4),
            worse=1,
            better=one_of(0, 1),
            equal=0,
            margin=0.02,
        ),
        fields(
            subject="",
            base="v1",
            head="v2",
            total=one_of(3, 4),
            worse=0,
            better=one_of(0, 2),
            equal=one_of(1, 2),
            margin=0.02,
        ),
    ],
    facts.LimitReached: [
        fields(
            members=one_of(("B",), ("B", "C")),
            share=one_of(Share(value=0.87), Share(value=0.87, lo=0.85, hi=0.884)),
            rate=2.1e9,
            limit=2.4e9,
            family=one_of("iec", "si"),
        )
    ],
    facts.HeadlineAnswer: [
        fields(
            FIGURES,
            verdict=one_of(Verdict.BETTER, Verdict.INCONCLUSIVE),
            says=one_of("", "yes", "no", "open"),
        ),
        fields(OPEN, UNSTABLE_FIELDS, says="open"),
    ],
    facts.LadderTotal: [
        fields(FIGURES, verdict=one_of(Verdict.BETTER, Verdict.INCONCLUSIVE), steps=3),
        fields(SAME, verdict=Verdict.EQUIVALENT, steps=3),
    ],
    facts.SingleChanges: [
        fields(FIGURES, BETTER, count=one_of(1, 4), base="A", members=one_of((), ("B",)))
    ],
    facts.Growth: [
        fields(
            subject="B",
            kind=one_of("answer", "summary"),
            variants=(
                (
                    "B",
                    (
                        Doubling(smaller="1 MiB", larger="2 MiB", exponent=1.0, lo=0.9, hi=1.1),
                        Doubling(smaller="2 MiB", larger="4 MiB", exponent=1.2, lo=1.1, hi=1.3),
                    ),
                ),
                ("A", (Doubling(smaller="1", larger="2", exponent=1.0, lo=0.9, hi=1.1),)),
            ),
        )
    ],
    facts.UnstableRatios: [
        fields(
            total=19,
            changed=5,
            first=one_of(
                evidence(**UNSTABLE_FIELDS),
                evidence(**UNSTABLE_FIELDS, scope=(("input", "10 MiB"),)),
            ),
        )
    ],
    facts.GateNote: [fields(subject="")],
    facts.ResourceChanges: [
        fields(
            changes=(
                ResourceChange(
                    evidence=evidence(**TWICE, **WORSE, metric="peak_rss"),
                    before=LESS_MEMORY,
                    after=MEMORY,
                ),
                ResourceChange(evidence=evidence(metric="cpu")),
            ),
            more=one_of(0, 2),
        )
    ],
    facts.Resources: [
        fields(
            input=one_of("", "10 MiB"),
            memory=MEMORY,
            other="A",
            other_memory=one_of(LESS_MEMORY, MEMORY),
            equivalent=one_of(False, True),
            main="wall",
        ),
        fields(
            memory=one_of(None, MEMORY),
            most=one_of(None, ("C", MEMORY)),
            least=("D", LESS_MEMORY),
            main=one_of("wall", "cpu"),
            cpu=one_of(None, evidence(metric="cpu")),
        ),
        fields(main="wall", cpu=evidence(metric="cpu")),
    ],
    facts.Overlaps: [
        fields(
            subject="",
            groups=(
                Overlap(
                    stages=(("read", 2e9), ("count", 1e9)),
                    gains=(("B", Share(value=1.2, lo=1.1, hi=1.3)), ("C", Share(value=1.1))),
                ),
                Overlap(stages=(("map", 2e9),), gains=(("D", Share(value=1.5)),)),
            ),
            family="iec",
        )
    ],
    facts.BestByInput: [
        fields(
            subject="",
            metric=one_of("wall", "cpu"),
            leaders=(("B", "1 MiB"), ("C", "2 MiB")),
            inconclusive=one_of(0, 1),
            inputs=3,
            shared=one_of((), ("B",), ("B", "C")),
        )
    ],
    facts.BestEverywhere: [
        fields(
            inputs=one_of(2, 3),
            tied=one_of((), ((("C",), ("1", "2")), (("D", "E"), ("2",)))),
            base="A",
            gains=one_of((), tuple((f"{n} MiB", evidence()) for n in (1, 2))),
        ),
        fields(
            metric=one_of("wall", "cpu"),
            inputs=2,
            swapped=one_of((("B", "C"),), (("B", "C"), ("D", "E"))),
        ),
        fields(inputs=2, order=one_of("same", "open")),
    ],
    facts.MeanEffects: [
        fields(
            effects=one_of((), (replace(FASTER, subject="io mmap", reference="read"),)),
            none=one_of((), ("lto fat", "pgo yes")),
            mixed=one_of(
                (), tuple(MixedEffect(level=f"x {n}", better=1, worse=2, total=4) for n in "abcde")
            ),
        )
    ],
    facts.Rejected: [
        fields(
            metric=one_of("wall", "peak_rss"),
            input=one_of("", "10 MiB"),
            base="A",
            groups=one_of(
                (
                    RejectedGroup(
                        outcome=Verdict.BETTER,
                        changes=(
                            RejectedChange(name="x", evidence=evidence(), costs=COSTS[:1]),
                            RejectedChange(
                                name="y", evidence=evidence(estimate=0.5, lo=0.4, hi=0.6)
                            ),
                        ),
                    ),
                    RejectedGroup(
                        outcome=Verdict.INCONCLUSIVE, changes=(RejectedChange(name="z"),)
                    ),
                ),
                (
                    RejectedGroup(outcome="same program", changes=(RejectedChange(name="x"),)),
                    RejectedGroup(outcome="not measured", changes=(RejectedChange(name="y"),)),
                ),
            ),
            by_original=True,
        )
    ],
    facts.Confidence: [
        fields(
            subject="this record",
            noise_floor=0.012,
            main="wall",
            settled=one_of(1, 6),
            total=8,
            contrasts=one_of(0, 2),
            inputs=one_of(1, 2),
            control="passed",
        ),
        fields(
            subject="this record",
            noise_floor=0.012,
            main="wall",
            settled=6,
            total=8,
            control="passed",
            sessions=3,
            fewest_sessions=one_of(3, 2),
            another=one_of(0.042, None),
        ),
        fields(
            subject="this record",
            main="wall",
            settled=4,
            total=8,
            open=one_of(
                (),
                (OpenComparison(subject="B", reference="A", input="", mde=0.1),),
                (OpenComparison(subject="B", reference="A", input="1 MiB", mde=0.1),) * 3,
                tuple(
                    OpenComparison(subject="B", reference="A", input="", mde=mde)
                    for mde in (0.1, 0.2, 0.1, 0.3)
                ),
            ),
            control=one_of("failed", "too few rounds", "none"),
        ),
        fields(
            subject="this record",
            main="wall",
            settled=0,
            total=one_of(1, 4),
            open=one_of(
                (OpenComparison(subject="B", reference="A", input="", mde=0.1),),
                (OpenComparison(subject="B", reference="A", input="", mde=0.1),) * 4,
            ),
            control="none",
        ),
        fields(
            subject="this record",
            main="cpu",
            settled=0,
            total=4,
            refused=one_of(
                (NoVerdict(count=1, verdict=Verdict.FAILED),),
                (
                    NoVerdict(count=2, verdict=Verdict.INCONCLUSIVE),
                    NoVerdict(count=1, verdict=Verdict.INCONCLUSIVE, control_of="cpu"),
                ),
                (
                    NoVerdict(count=4, verdict=Verdict.INCONCLUSIVE, reason=UNSTABLE),
                    NoVerdict(count=1, verdict=Verdict.INCONCLUSIVE, reason=REACHES_ONE),
                ),
            ),
            control="none",
            failed_metrics=one_of((), ("cpu", "peak_rss")),
            outputs=one_of(None, "", "exact"),
            other_inputs=True,
            cold_cache=one_of(False, True),
        ),
        fields(subject="this record", main="wall", settled=0, total=0, control="none"),
    ],
    facts.NoiseFloorFact: [
        fields(
            estimate=one_of(0.0123, None),
            cells=one_of(("a",), ()),
            scope=COLD,
            control_differs=one_of(False, True),
        )
    ],
    facts.ScalingFact: [
        fields(
            estimate=1.04, lo=1.01, hi=1.07, smaller="1 MiB", larger="10 MiB", word="super-linear"
        )
    ],
    facts.MemoryShare: [
        fields(scope=one_of((), ON_INPUT), estimate=6.1e7, family="iec", share=one_of(None, 0.58))
    ],
    facts.DerivedFact: [
        fields(
            FIGURES, subject="all steps", formula="time(b) / time(a)", unit="ratio", family="iec"
        ),
        fields(
            FIGURES,
            subject="ideal",
            estimate=2.1e9,
            lo=2e9,
            hi=2.2e9,
            margin=None,
            formula="min(a, b)",
            unit="bytes/s",
            family=one_of("iec", "si"),
            assuming=one_of("", "no overlap"),
            smallest=one_of(None, 9e8),
        ),
    ],
    facts.Coverage: [
        fields(subject="this record", planned=1, measured=1),
        fields(
            subject="this record",
            planned=12,
            measured=6,
            failed=1,
            other_output=2,
            not_comparable=1,
            not_started=2,
            not_selected=3,
            excluded=4,
        ),
    ],
    facts.NotMeasured: [fields(subject="io=mmap", reason=message("no such mode"))],
    facts.OneProgram: [
        fields(axes=one_of((), ("parser",), ("parser", "arena")), where=one_of("", "engine=rayon")),
        fields(axes=("arm",), values=("arm=a", "arm=b")),
        fields(axes=("command",), built=False),
    ],
    facts.SignChange: [
        fields(
            margin=0.02,
            cases=(("1 MiB", difference(0.9, 0.88, 0.92)), ("10 MiB", difference(2.5, 2.4, 2.6))),
            turns=one_of((), (("1 MiB", "10 MiB"),), (("a", "b"), ("b", "c"))),
        )
    ],
    facts.RaceCost: [
        fields(
            subject="this race",
            runs=612,
            fixed=one_of(0, 1500),
            rounds=60,
            dropped=one_of(0, 9),
            idle=one_of(0, 2),
        )
    ],
    facts.RaceDropped: [
        fields(SLOWER, WORSE, scope=one_of((), ON_INPUT), after=12),
        fields(reference=None, after=12),
    ],
    facts.RaceIdle: [fields(scope=one_of((), ON_INPUT), after=12)],
    facts.SessionContents: [
        fields(
            session=SessionFigures(),
            scope=ON_INPUT,
            commands=3,
            runs=one_of((), (10,), (10, 20)),
            raw=True,
            memory=one_of("per-run", "one-figure", "running-maximum"),
        )
    ],
    facts.SessionsApart: [fields()],
    facts.AxisEffect: [
        fields(
            FIGURES,
            BETTER,
            scope=one_of((), ON_INPUT),
            combinations=4,
            better=3,
            worse=1,
            significant_in=3,
            pooled=one_of(True, False),
            depends_on=one_of((), ("io", "engine")),
            costs=one_of((), COSTS),
        ),
        fields(
            TWICE,
            WORSE,
            direction=one_of("lower", "higher"),
            combinations=1,
            better=0,
            worse=1,
            significant_in=1,
            pooled=one_of(True, False),
            in_percent=True,
        ),
        fields(
            OPEN,
            verdict=Verdict.INCONCLUSIVE,
            reason=one_of(None, ONE_PROGRAM, REACHES_ONE),
            combinations=2,
            better=1,
            worse=1,
            significant_in=0,
            pooled=True,
        ),
    ],
    facts.Interaction: [
        fields(
            SLOWER,
            verdict=one_of(Verdict.WORSE, Verdict.INCONCLUSIVE, None),
            reason=one_of(None, ONE_PROGRAM),
            pooled=one_of(True, False),
        ),
        fields(SAME, verdict=Verdict.EQUIVALENT, pooled=True),
    ],
    facts.Contributions: [
        fields(
            FIGURES,
            verdict=Verdict.BETTER,
            estimate=one_of(0.9, None),
            design=one_of("ladder", "shapley"),
            parts=one_of(
                (),
                (
                    ContributionPart(
                        evidence=replace(FASTER, subject="lto: off → fat"), share=0.8, costs=COSTS
                    ),
                    ContributionPart(evidence=Evidence("pgo: no → yes", reason=ONE_PROGRAM)),
                ),
            ),
            inconclusive=one_of(1, 2),
            in_percent=one_of(False, True),
            product=PRODUCT,
        ),
        fields(
            FIGURES,
            verdict=Verdict.BETTER,
            design="alone",
            parts=(ContributionPart(evidence=replace(FASTER, subject="lto: off → fat")),),
            inconclusive=0,
            in_percent=False,
            remainder=one_of(ContributionPart(evidence=Evidence()), None),
            largest=one_of(
                None, ContributionPart(evidence=replace(FASTER, subject="lto: off → fat"))
            ),
        ),
    ],
    facts.Crossover: [
        fields(
            estimate=one_of(None, 3 << 20),
            lo=2 << 20,
            hi=5 << 20,
            below="1 MiB",
            above="10 MiB",
            family=one_of("iec", "si"),
        )
    ],
    facts.ParetoFront: [
        fields(
            subject="q",
            scope=one_of((), ON_INPUT),
            least=(("wall", ("B",)), ("peak_rss", tuple("ABCDEFG"))),
            dominated=one_of((), ("C",), tuple("ABCDEFG")),
            better_in=("wall", "peak_rss"),
        )
    ],
    facts.BeforeAfter: [
        fields(
            FIGURES,
            verdict=one_of(Verdict.BETTER, Verdict.INCONCLUSIVE),
            reason=one_of(None, ONE_PROGRAM),
            estimate=one_of(None, 0.9),
            scope=ON_INPUT,
            changes=(Change("rev", "a", "b"), Change("lto", "off", "fat")),
            costs=COSTS[:1],
        )
    ],
    facts.HypothesisResult: [
        fields(
            FIGURES,
            subject="the queue",
            verdict=Verdict.BETTER,
            scope=one_of((), ON_INPUT),
            estimate=one_of(0.9, None),
            reason=one_of(None, REACHES_ONE),
            status=one_of("supported", "not supported", "not tested"),
            change="queue: a → b",
            costs=COSTS[:1],
        ),
        fields(
            FIGURES,
            subject="the queue",
            verdict=Verdict.BETTER,
            status="two differences at once",
            change="queue: a → b",
            second=TwoDifferences(name="the queue", counters=DIFFERING[:1]),
        ),
    ],
    facts.BestParts: [
        fields(
            worse=(VALUE,),
            experiments=one_of((), (VALUE,)),
            measured=one_of("", "simd + jemalloc"),
            command="benchctl run n -k 'parser=simd'",
        ),
        fields(worse=(VALUE, replace(VALUE, value=""))),
        fields(experiments=(VALUE,)),
    ],
    facts.FunctionChanges: [
        fields(
            scope=one_of((), ON_INPUT),
            metric="instructions",
            instructions=1_310_000,
            reference=1_000_000,
            functions=one_of((), (PARSE,), (PARSE, COPY, GONE)),
            counts=one_of((), (ALLOCATED, WRITTEN)),
        ),
        fields(metric="instructions", instructions=1000, reference=1000),
        fields(
            metric="instructions",
            instructions=1000,
            reference=1000,
            functions=(replace(COPY, share=None),),
        ),
    ],
    facts.TwoDifferences: [
        fields(
            scope=one_of((), ON_INPUT),
            metric=one_of("wall", "outside"),
            name="the queue",
            part=one_of(None, WRITE),
            share=0.694,
            counters=DIFFERING,
        ),
        fields(name="the queue", part=one_of(WRITE, SYSTEM), share=0.52),
    ],
    facts.GapClosed: [
        fields(
            estimate=one_of(0.54, -0.3, 0.1),
            lo=one_of(None, 0.44, -0.4),
            hi=one_of(0.72, -0.1),
            before=0.09,
            after=one_of(0.042, -0.003),
            baseline="A0",
            costs=COSTS[:1],
        )
    ],
    facts.ProfileShare: [
        fields(
            estimate=0.123,
            lo=one_of(None, 0.101),
            hi=0.146,
            scope=ON_INPUT,
            kind=one_of("profile-function", "profile-bucket"),
            name="memchr",
            samples=SAMPLES,
        )
    ],
    facts.ProfileChange: [
        fields(
            estimate=0.123,
            lo=0.101,
            hi=0.146,
            name="memory",
            before=one_of(Share(value=0.2), Share(value=0.2, lo=0.18, hi=0.22)),
            before_samples=ProfileSize(total=100, unit="samples", runs=1),
            samples=SAMPLES,
        )
    ],
    facts.ProfileTooSmall: [fields(samples=SAMPLES, needed=100)],
    facts.ProfileSummary: [
        fields(
            profiles=tuple(
                LargestShares(
                    label=label,
                    unit="samples",
                    by_group=by_group,
                    largest=(("memory", Share(value=0.2, lo=0.18, hi=0.22)),),
                    rest=rest,
                    unclassified=unclassified,
                )
                for label, by_group, rest, unclassified in (
                    ("B", True, 0.3, (Share(value=0.1, lo=0.09, hi=0.12),)),
                    ("A", False, 0.0, ()),
                )
            )
        )
    ],
    facts.PublishedResult: [
        fields(
            subject=one_of("", "B against A"),
            outcome=one_of(*Outcome),
            quotes=("the text is 2x faster", "twice as fast"),
            figure="2x faster",
        ),
        fields(
            subject="B against A",
            outcome=Outcome.IMPRECISE,
            quotes=("so fast",),
            figure=one_of("faster", "-17 %", "9.6x faster", "60-70 % less", "equal"),
            tests=one_of((published_test(0.87, 0.8, 0.95),), (published_test(0.4, 0.38, 0.41),)),
            reason=Reason(ReasonCode.TOO_WIDE_FOR_SIZE),
        ),
        fields(
            subject="B against A",
            outcome=Outcome.IMPRECISE,
            quotes=("so fast",),
            figure=one_of("within 0.5 %", "at most 5 % slower", "1.57x"),
            tests=(published_test(1.02, 0.99, 1.06),),
            reason=one_of(None, Reason(ReasonCode.NO_DIRECTION)),
        ),
        fields(
            subject="B against A",
            outcome=Outcome.IMPRECISE,
            quotes=("so fast",),
            figure="-17 %",
            tests=(
                published_test(0.9, 0.8, 1.1, reason=UNSTABLE, phases=PHASES),
                published_test(0.9, 0.8, 0.95, scope=ON_INPUT),
            ),
            reason=UNSTABLE,
            on=one_of(0, 1),
        ),
        fields(
            subject="a share",
            outcome=one_of(Outcome.REPRODUCED, Outcome.REFUTED),
            quotes=("60 %",),
            figure="60 %",
            tests=(replace(published_test(0.544, 0.517, 0.582), form="value"),),
            note=one_of("", "it gives 50 %"),
            other_results=one_of((), (OtherResult("tokio", "x", "+11 %", "2026-11-24", "all"),)),
        ),
        fields(
            subject="scaling",
            outcome=Outcome.SMALLER,
            quotes=("linear",),
            figure="linear",
            tests=(
                replace(published_test(0.63, 0.61, 0.65), form="exponent", sizes=("1 MB", "5 MB")),
            ),
        ),
        fields(
            subject="B against A",
            outcome=Outcome.NOT_TESTED,
            quotes=("so fast",),
            figure="faster",
            tests=(
                PublishedTest(
                    form="ratio",
                    outcome=Outcome.NOT_TESTED,
                    evidence=Evidence(),
                    reason=ONE_PROGRAM,
                ),
            ),
            reason=ONE_PROGRAM,
        ),
    ],
    facts.PublishedCounts: [
        fields(
            subject="A report",
            counts=one_of(
                ((Outcome.REPRODUCED, 1),),
                ((Outcome.REPRODUCED, 2), (Outcome.LARGER, 1), (Outcome.NOT_TESTED, 3)),
                ((Outcome.NOT_TESTED, 1),),
            ),
        )
    ],
    facts.AuthorText: [
        fields(
            subject="text",
            kind=one_of("takeaway", "next-step"),
            parts=("B needs ", "12 %", " more"),
        )
    ],
    facts.Conditions: [
        fields(
            subject="the machine",
            verdict=Verdict.NOT_COMPARABLE,
            differences=("cores: 2 → 4", "kernel"),
            forced=one_of(False, True),
        )
    ],
    facts.AnchorChange: [
        fields(
            FIGURES,
            verdict=one_of(Verdict.BETTER, Verdict.INCONCLUSIVE, Verdict.EQUIVALENT),
            metric=one_of("wall", "cpu"),
            scope=one_of((), ON_INPUT),
        ),
        fields(reason=one_of(None, message("no rounds"))),
    ],
    facts.RecordChange: [
        fields(
            FIGURES,
            verdict=one_of(*Verdict),
            reason=message("other input"),
            mde=0.1,
            before="20260101T0000Z",
            after="20260201T0000Z",
        )
    ],
    facts.ExactChange: [
        fields(FIGURES, metric="binary_size", estimate=one_of(0.9, 1.0)),
        fields(TWICE, metric="binary_size"),
    ],
}
"""Kind of fact → rows of the fields of the claim and of the fact."""


def cases(kind: type) -> Iterator[tuple[str, Claim]]:
    """Yield each combination of the values with the description of those that vary."""
    of_fact = {field.name for field in dataclass_fields(kind)}
    for row in TABLE[kind]:
        names = [name for name, value in row.items() if isinstance(value, OneOf)]
        for values in product(*(row[name].values for name in names)):
            varying = dict(zip(names, values, strict=True))
            name = ", ".join(f"{k} {_short(v)}" for k, v in varying.items()) or "all fields"
            given = row | varying
            fact = kind(**{key: value for key, value in given.items() if key in of_fact})
            rest = {key: value for key, value in given.items() if key not in of_fact}
            yield name, Claim(**{**BASE, **rest}, fact=fact)


def _short(value: object) -> str:
    """Return a value in a few words. Of objects it is their number, because the sentence shows them."""
    if value in (None, (), ""):
        return "none"
    if isinstance(value, Reason):
        return value.code.value
    items = value if isinstance(value, tuple) else (value,)
    if any(is_dataclass(item) for item in items):
        return f"{len(items)} given"
    if isinstance(value, tuple):
        return " + ".join(_short(item) for item in items)
    return str(value)


def table() -> str:
    """Return the contents of tests/sentences.txt."""
    lines = [
        "The sentences of claims. After `===` is the kind of a fact, then each combination of the",
        "fields that vary, and below it the sentence, and its line on the first screen.",
        "UPDATE_SENTENCES=1 writes this file.",
    ]
    for kind in sorted(TABLE, key=lambda kind: kind.__name__):
        lines += ["", f"=== {kind.__name__}"]
        for name, claim in cases(kind):
            before = f"[{words}] " if (words := lead(claim)) else ""
            lines += [name, f"  {before}{say(claim)}"]
            lines += [f"  brief: {line}"] if (line := brief(claim)) != say(claim) else []
    return "\n".join(lines) + "\n"


def test_the_sentences_are_those_of_the_approval_file() -> None:
    text = table()
    if os.environ.get("UPDATE_SENTENCES"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text


def test_every_fact_has_its_rows() -> None:
    assert set(get_args(Fact)) == set(TABLE)


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_a_sentence_has_neither_a_gap_nor_a_missing_value(kind: type) -> None:
    for _, claim in cases(kind):
        sentence = say(claim)
        assert sentence == sentence.strip()
        assert "  " not in sentence
        assert not re.search(r"\bNone\b(?! of the)", sentence)

"""Comparison of two records through their anchors: cancellation, refusals and error rates."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from bench_framework.features.record_comparison import (
    anchors,
    compute as record_comparison,
    section as section_of_records,
)
from bench_framework.features.record_comparison.anchors import (
    Bridge,
    BridgedCell,
    Side,
    UnmatchedCell,
)
from bench_framework.features.record_comparison.claims import record_claims
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.reasons import Difference, Reason, ReasonCode
from bench_framework.model.record.run import Build, Host, PreparedInput
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Fallback
from bench_framework.stats.welch import LogDifference
from bench_framework.text.builds import condition
from bench_framework.text.reasons import phrase
from bench_framework.text.write import say
from tests.build import require
from tests.unit.judging.conftest import Study, with_builds
from tests.unit.machine import HOST

ARMS = ("anchor", "changed")


class Session:
    """One record: times of each arm, noise, effects of the machine on all arms, and the built code."""

    def __init__(
        self,
        example: Study,
        name: str,
        *,
        code: dict[str, str] | None = None,
        seed: int = 0,
        rounds: int = 20,
    ) -> None:
        self.example, self.name, self.seed = replace_rounds(example, rounds), name, seed
        self.code = {arm: arm for arm in example.arms} | (code or {})
        self.times = dict.fromkeys(example.arms, 0.05)
        self.spread = 0.01
        self.machine: Callable[[int], float] = lambda _: 1.0

    def side(self, host: Host = HOST, plan: Callable[[Plan], Plan] = lambda p: p) -> Side:
        example = self.example
        built, specs = with_builds(example.plan)
        cells = tuple(replace(c, command=((BIN,), ("run",))) for c in built.cells)
        built = replace(built, cells=cells)
        builds = [
            Build(s.id, ok=True, sha256=self.code[a], size_bytes=1000 + len(self.code[a]))
            for a, s in specs.items()
        ]

        def wall(arm: str, where: str, number: int) -> float:
            noise = random.Random(f"{self.name}/{self.seed}/{arm}/{where}/{number}")
            arm = example.arms[0] if arm == "control" else arm
            return self.times[arm] * self.machine(number) * (1 + noise.expovariate(1 / self.spread))

        contents = example.contents(example.blocks(wall), builds)
        return anchors.side(self.name, plan(built), contents, host)


def replace_rounds(example: Study, rounds: int) -> Study:
    return type(example)(
        arms=example.arms, sizes=example.sizes, rounds=rounds, control=False, policy=example.policy
    )


def rows(result: Bridge, role: str, metric: str = "wall") -> list[BridgedCell]:
    return [row for row in result.cells if row.role == role and row.comparison.metric == metric]


def pair(arms: tuple[str, ...] = ARMS, seed: int = 0) -> tuple[Session, Session]:
    """Return two sessions. Every arm except the first was rebuilt."""
    example = Study(arms=arms)
    after = Session(
        example,
        "B",
        code={arm: f"{arm}-2" for arm in arms[1:] if arm.startswith("changed")},
        seed=seed,
    )
    return Session(example, "A", seed=seed), after


def test_equal_code_command_and_input_is_an_anchor() -> None:
    before, after = pair()
    result = anchors.matches(before.side(), after.side())
    assert [(m.role, m.change) for m in result] == [("anchor", ()), ("changed", ("code",))]


def test_a_changed_cell_is_compared_with_its_anchor() -> None:
    before, after = pair()
    after.times["changed"] = 0.06
    result = record_comparison.bridge(before.side(), after.side())
    (anchor,), (changed,) = rows(result, "anchor"), rows(result, "changed")
    assert anchor.comparison.verdict is Verdict.EQUIVALENT
    assert changed.comparison.verdict is Verdict.WORSE
    interval = require(changed.comparison.shown)
    assert interval.lo < 1.2 < interval.hi
    texts = [c.text for c in record_claims(result) if c.metric == "wall"]
    assert texts[0].startswith("Anchor anchor changed by ")
    assert texts[0].endswith(" between the records, less than the margin of 2\u202f%.")
    assert texts[1].startswith("Exploratory, relative to the anchors of each record: changed (B) ")


def test_drift_that_hits_both_alike_cancels_round_by_round() -> None:
    """The machine slows down by a third within each record. The ratio to the anchor does not change."""
    before, after = pair()
    after.times["changed"] = 0.055
    still = change_to_anchors(before, after)
    before.machine = after.machine = lambda number: 1 + number / 60
    drifting = change_to_anchors(before, after)
    assert drifting.estimate == pytest.approx(still.estimate, abs=1e-9)
    assert drifting.error == pytest.approx(still.error, abs=1e-9)
    assert still.estimate == pytest.approx(0.0953, abs=0.01)
    (anchor,) = rows(record_comparison.bridge(before.side(), after.side()), "anchor")
    # Its own interval is not that narrow.
    assert anchor.comparison.verdict is not Verdict.EQUIVALENT


def change_to_anchors(before: Session, after: Session) -> LogDifference:
    sides = before.side(), after.side()
    anchor, changed = anchors.matches(*sides)
    ends = require(record_comparison._Records(*sides)._relative(changed, [anchor], "wall"))
    return record_comparison._contrast(*ends)


def test_an_anchor_that_moved_refuses_every_time_with_its_figure() -> None:
    """Document 003: the unchanged program moved by 16 % between the sessions."""
    before, after = pair()
    after.machine = lambda _: 1.16
    result = record_comparison.bridge(before.side(), after.side())
    (changed,) = rows(result, "changed")
    assert "benchctl gate --base" in advice(result)
    assert changed.comparison.verdict is Verdict.NOT_COMPARABLE
    assert changed.comparison.shown is None
    assert phrase(changed.comparison.reason).startswith("the anchor changed: +1")
    assert not [c for c in record_claims(result) if "less time" in c.text or "slower" in c.text]
    assert "Anchor anchor changed by +1" in record_claims(result)[0].text
    assert record_claims(result)[0].text.endswith(
        "the times of these records are not comparable through it."
    )


def test_an_anchor_that_is_not_known_closely_refuses_too() -> None:
    before, after = pair()
    before.spread = after.spread = 0.2
    (changed,) = rows(record_comparison.bridge(before.side(), after.side()), "changed")
    assert changed.comparison.verdict is Verdict.NOT_COMPARABLE
    assert phrase(changed.comparison.reason).startswith(
        "the anchor may have changed by 2\u202f% or more: "
    )


def test_one_of_two_anchors_that_moved_is_enough_to_refuse() -> None:
    before, after = pair(("anchor", "other", "changed"))
    after.times["other"] = 0.06
    (changed,) = rows(record_comparison.bridge(before.side(), after.side()), "changed")
    assert changed.comparison.verdict is Verdict.NOT_COMPARABLE
    assert phrase(changed.comparison.reason).startswith(
        "1 of 2 anchors changed: the largest change is +"
    )


def advice(result: Bridge) -> str:
    """Return the text of the page outside of claims and tables."""
    (section,) = section_of_records.document(result, "demo", "?", "iec").sections
    return " ".join(b.text for b in section.blocks if isinstance(b, Fallback))


def test_without_an_anchor_nothing_is_compared() -> None:
    before, after = pair()
    after.code = {arm: f"{code}-2" for arm, code in after.code.items()}
    result = record_comparison.bridge(before.side(), after.side())
    assert not rows(result, "anchor")
    assert {r.comparison.reason for r in rows(result, "changed")} == {Reason(ReasonCode.NO_ANCHOR)}
    assert "benchctl gate --base" in advice(result)
    before, after = pair()
    assert not advice(record_comparison.bridge(before.side(), after.side()))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"cpu": "Xeon"}, "CPU: EPYC → Xeon"),
        ({"cores": 4}, "cores: 2 → 4"),
        ({"kernel": "7.0.1"}, "kernel: 6 → 7"),
        ({"data_filesystem": "tmpfs"}, "filesystem of the data: ext4 → tmpfs"),
        ({"governor": "powersave"}, "governor: unknown → powersave"),
    ],
)
def test_another_machine_refuses_times_and_keeps_exact_numbers(
    change: dict[str, object], expected: str
) -> None:
    before, after = pair()
    other = replace(HOST, **change)  # type: ignore[arg-type]
    result = record_comparison.bridge(
        before.side(), after.side(other), ("wall", "cpu", "binary_size")
    )
    assert [condition(one) for one in result.conditions] == [expected]
    assert "benchctl gate --base" not in advice(result)
    times = [r for r in result.cells if r.comparison.metric != "binary_size"]
    assert {r.comparison.verdict for r in times} == {Verdict.NOT_COMPARABLE}
    sizes = rows(result, "changed", "binary_size")
    assert [(r.before, r.after) for r in sizes] == [(1007.0, 1009.0)]
    assert sizes[0].comparison.statistic == "exact"
    assert record_claims(result)[0].text.startswith(
        f"The records were measured under different conditions ({expected})"
    )


def test_a_minor_release_of_the_kernel_is_left_to_the_anchors() -> None:
    before, after = pair()
    result = record_comparison.bridge(before.side(), after.side(replace(HOST, kernel="6.1.0-31")))
    assert result.conditions == ()
    assert result.remarks == (Difference("kernel", "6.1.0-28", "6.1.0-31"),)
    assert rows(result, "anchor")[0].comparison.verdict is Verdict.EQUIVALENT


def test_the_changed_cells_of_all_metrics_are_one_family() -> None:
    before, after = pair()
    after.times["changed"] = 0.06
    result = record_comparison.bridge(before.side(), after.side())
    judged = [r.comparison for metric in ("wall", "cpu") for r in rows(result, "changed", metric)]
    assert result.family == len(judged) > 1
    assert len([c.p for c in judged if c.p is not None]) == len(judged)
    ranked = sorted(judged, key=lambda c: c.p or 0.0)
    assert ranked[0].p_adjusted == pytest.approx(min(1.0, len(judged) * (ranked[0].p or 0.0)))
    assert require(ranked[0].shown).level == pytest.approx(1 - 0.05 / len(judged))


def test_a_changed_cell_that_is_refused_is_a_member_of_the_family_all_the_same() -> None:
    before, after = pair(arms=("anchor", "changed", "changed-too"))
    after.times["changed"] = 0.06
    side = after.side()
    other = next(c for c in side.plan.cells if after.example.arm_of(c) == "changed-too")
    side = replace(side, answers={**side.answers, other.id: "d1"})
    result = record_comparison.bridge(before.side(), side)
    judged = [
        r.comparison
        for metric in ("wall", "cpu")
        for r in rows(result, "changed", metric)
        if r.comparison.p is not None
    ]
    assert (len(judged), result.family) == (2, 4)
    first = min(judged, key=lambda c: c.p or 0.0)
    assert first.p_adjusted == pytest.approx(min(1.0, 4 * (first.p or 0.0)))
    assert require(first.shown).level == pytest.approx(1 - 0.05 / 4)


def test_another_environment_is_reported_and_left_to_the_anchors() -> None:
    before, after = pair()
    result = record_comparison.bridge(
        before.side(), after.side(replace(HOST, variables=(("LD_PRELOAD", "x.so"),)))
    )
    assert result.conditions == ()
    assert result.remarks == (Difference("environment", "", "LD_PRELOAD=x.so"),)
    assert condition(result.remarks[0]) == "environment: nothing set → LD_PRELOAD=x.so"


def test_bare_metal_has_no_virtualisation_and_it_is_not_unknown() -> None:
    before, after = pair()
    result = record_comparison.bridge(
        before.side(replace(HOST, virtualised=None)), after.side(replace(HOST, virtualised="KVM"))
    )
    assert condition(result.remarks[0]) == "virtualisation: none → KVM"


def test_another_answer_is_another_work() -> None:
    before, after = pair()
    side = after.side()
    cell = next(c for c in side.plan.cells if c.role is Role.CANDIDATE)
    other = replace(side, answers={**side.answers, cell.id: "d1"})
    (changed,) = rows(record_comparison.bridge(before.side(), other), "changed")
    assert changed.comparison.verdict is Verdict.OTHER_OUTPUT


def test_another_input_is_another_work() -> None:
    example = Study(arms=ARMS, sizes=(10,))
    first, second = Session(example, "A").side(), Session(example, "B").side()
    changed = {i: replace(p, sha256="1") for i, p in second.inputs.items()}
    result = record_comparison.bridge(first, replace(second, inputs=changed))
    assert {(r.change, phrase(r.comparison.reason)) for r in rows(result, "changed")} == {
        (("input",), "another input")
    }


def test_an_input_without_a_digest_anchors_nothing() -> None:
    example = Study(arms=ARMS, sizes=(10,))
    first, second = Session(example, "A").side(), Session(example, "B").side()
    unknown = {i: PreparedInput(i, "/f", 10, None, "prose", 42) for i in second.inputs}
    result = record_comparison.bridge(
        replace(first, inputs=unknown), replace(second, inputs=unknown)
    )
    assert not rows(result, "anchor")


def test_an_anchor_bridges_its_own_input_only() -> None:
    example = Study(arms=ARMS, sizes=(10, 50))
    first, second = Session(example, "A"), Session(example, "B", code={"changed": "new"})
    before, after = first.side(), second.side()
    cells = tuple(
        replace(c, command=((BIN,), ("other",)))
        if c.role is Role.BASELINE and after.plan.input(c.input_id).label == "50MiB"
        else c
        for c in after.plan.cells
    )
    result = record_comparison.bridge(before, replace(after, plan=replace(after.plan, cells=cells)))
    verdicts = {(r.label, r.input): r.comparison for r in rows(result, "changed")}
    assert verdicts["changed", "10MiB"].verdict is Verdict.EQUIVALENT
    assert verdicts["changed", "50MiB"].reason == Reason(ReasonCode.NO_ANCHOR)
    assert verdicts["anchor", "50MiB"].reason == Reason(ReasonCode.NO_ANCHOR)


def test_a_cell_of_one_record_only_is_named() -> None:
    before, after = (
        Session(Study(arms=("anchor", "old")), "A"),
        Session(Study(arms=("anchor", "young")), "B"),
    )
    result = record_comparison.bridge(before.side(), after.side())
    assert result.unmatched == (UnmatchedCell("old", "A"), UnmatchedCell("young", "B"))


def test_too_few_rounds_decide_nothing() -> None:
    example = Study(arms=ARMS)
    result = record_comparison.bridge(
        Session(example, "A", rounds=5).side(), Session(example, "B", rounds=20).side()
    )
    assert {r.comparison.reason for r in rows(result, "anchor")} == {record_comparison.TOO_FEW}


def test_every_sentence_follows_from_its_claim() -> None:
    before, after = pair(("anchor", "changed", "changed-too"))
    after.times |= {"changed": 0.06, "changed-too": 0.0507}
    result = record_comparison.bridge(before.side(), after.side(), ("wall", "cpu", "binary_size"))
    assert all(claim.text == say(claim) for claim in record_claims(result))
    assert [claim.id for claim in record_claims(result)] == [
        f"b{i}" for i in range(1, len(record_claims(result)) + 1)
    ]


def test_a_drifting_series_has_a_larger_error_than_its_rounds_alone_say() -> None:
    noise = random.Random(5)
    steady = [noise.gauss(0, 0.01) for _ in range(40)]
    drifting = [v + 0.03 * (i > 20) for i, v in enumerate(steady)]
    first, second = (require(record_comparison.estimate(v)) for v in (steady, drifting))
    assert second.error > 2 * first.error
    assert record_comparison.estimate(steady[:5]) is None


class TestRates:
    """Simulated sessions: the error rate under shifts that affect all configurations, and the power."""

    PAIRS = 120

    def verdicts(self, effect: float, *, placement: float = 0.0) -> list[Verdict]:
        """Count the verdicts of comparable changed configurations. Most sessions must be comparable."""
        example = Study(arms=ARMS, policy=JudgePolicy(metrics=("wall",)))
        blank = Session(example, "A").side(), Session(example, "B", code={"changed": "new"}).side()
        result = []
        for seed in range(self.PAIRS):
            chance = random.Random(f"{seed}/{effect}/{placement}")
            before, after = (
                self.drawn(side, chance, effect * number, placement)
                for number, side in enumerate(blank)
            )
            (changed,) = rows(record_comparison.bridge(before, after, metrics=("wall",)), "changed")
            result.append(changed.comparison.verdict)
        judged: list[Verdict] = [v for v in result if v is not Verdict.NOT_COMPARABLE]
        assert len(judged) > self.PAIRS / 2
        return judged

    @staticmethod
    def drawn(side: Side, chance: random.Random, effect: float, placement: float) -> Side:
        """Return a session with a shift and a wave that affect every configuration, and skewed noise in each."""
        shift, wave = 1 + chance.gauss(0, 0.004), chance.uniform(0, 0.003)
        samples = {}
        for sample in side.samples.values():
            variant = side.plan.variant(side.plan.cell(sample.cell_id).variant_id)
            factor = (1 + effect * (variant.label == "changed")) * (1 + chance.gauss(0, placement))
            level = 0.05 * shift * factor
            wall = {
                number: level * (1 + wave * (number % 7)) * (1 + chance.expovariate(100))
                for number in range(1, 21)
            }
            samples[sample.cell_id] = replace(sample, series={"wall": wall})
        return replace(side, samples=samples)

    def test_equal_programs_rarely_differ(self) -> None:
        judged = self.verdicts(0.0)
        assert sum(v.decided for v in judged) <= 0.05 * len(judged)

    def test_other_memory_pages_in_each_session_are_no_difference(self) -> None:
        """Each configuration of each session moves independently by 0.25 %, as copies of a binary do."""
        judged = self.verdicts(0.0, placement=0.0025)
        assert sum(v.decided for v in judged) <= 0.05 * len(judged)

    def test_a_true_change_is_found_and_never_called_equivalent(self) -> None:
        judged = self.verdicts(0.05)
        assert sum(v in (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN) for v in judged) >= 0.9 * len(
            judged
        )
        assert Verdict.EQUIVALENT not in judged

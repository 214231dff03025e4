"""A scenario expanded: variants, inputs, builds and cells, with the holes and their reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bench_framework.errors import Problem
from bench_framework.model.plan import DerivedRow, Hole, Input, Note, Plan, Variant
from bench_framework.model.policies import AnswerPolicy, JudgePolicy, MeasurePolicy
from bench_framework.model.profile import Bucket, ProfilePolicy
from bench_framework.scenario import template
from bench_framework.scenario.checks.metrics import declared_metrics, instruction_policy
from bench_framework.scenario.expansion import Expansion, size_texts, unique
from bench_framework.scenario.gate_policy import with_gate
from bench_framework.scenario.matrix import combine
from bench_framework.scenario.schema.measure import Precision
from bench_framework.scenario.schema.worker import BUILTIN
from bench_framework.scenario.selection import OPTION, parse_selection, refusal, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.scenario.axes import AxisView
    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.schema.profile import ProfilePart

_DEFAULT_MIN, _DEFAULT_MAX = 12, 40
_SI_UNITS = ("kB", "KB", "MB", "GB", "TB")


def expand(scenario: Scenario, *, only: str | None = None) -> Plan:
    """The plan of a scenario that `load` found valid; equal scenarios give equal plans.

    Args:
        scenario: from `load`.
        only: the words behind ``-k``. What they leave out becomes holes; every baseline stays on each input
            that keeps a cell.

    Raises:
        ScenarioError: `only` cannot be read (BC113) or selects nothing (BC207).
    """
    made = Expansion(scenario, combine(scenario))
    pairs = made.pairs()
    holes = list(made.matrix.holes)
    if only is not None:
        pairs, left_out = _select(made, pairs, only)
        holes += left_out
    measured = unique(variant for variant, _ in pairs)
    variants = measured if made.baseline in measured else (made.baseline, *measured)
    plan = Plan(
        name=scenario.name,
        question=scenario.question,
        scenario_path=scenario.path,
        scenario_sha256=scenario.sha256,
        axes=tuple(axis.plan_axis() for axis in made.axes),
        builds=unique(variant.build for variant in measured if variant.build is not None),
        variants=variants,
        inputs=unique(given for _, given in pairs),
        cells=tuple(made.cells(pairs)),
        holes=tuple(holes),
        baseline_id=made.baseline.id,
        further_baselines=tuple(v.id for v in made.further_baselines if v in variants),
        anchor_id=made.anchor.id if made.anchor is not None and made.anchor in variants else "",
        experiments=tuple(
            experiment
            for experiment in made.experiments
            if any(v.id == experiment.variant_id for v in variants)
        ),
        program=_program(scenario),
        answer=_answer(scenario),
        measure=_measure(scenario),
        judge=_judge(scenario),
        notes=_notes(scenario),
        named=tuple(
            cell for cell in made.named_cells() if any(v.id == cell.variant_id for v in variants)
        ),
        derived=tuple(
            DerivedRow(name, part.formula, part.assuming)
            for name, part in scenario.spec.derived.items()
        ),
        hypotheses=tuple(made.hypotheses),
        unit_family=_unit_family(scenario, made.axes),
        profile=_profile_policy(scenario, variants, made.baseline.id),
        metrics=declared_metrics(scenario),
        instructions=instruction_policy(scenario),
        tuning=tuple(
            template.fill(word, scenario.spec.fixed) for word in scenario.spec.tuning or ()
        ),
        data_dir=scenario.resolve(scenario.spec.data_dir) if scenario.spec.data_dir else None,
        design=scenario.spec.design,
    )
    return with_gate(scenario, plan)


def _select(
    made: Expansion, pairs: list[tuple[Variant, Input]], only: str
) -> tuple[list[tuple[Variant, Input]], list[Hole]]:
    """The cells that ``-k`` takes, the baselines beside them, and a hole for each cell left out."""
    names = {axis.name: axis.values for axis in made.axes}
    selection = parse_selection(only, names, open_names=("variant", "input", "experiment"))

    def takes(variant: Variant, given: Input) -> bool:
        words = {
            "variant": variant.label,
            "input": given.label,
            **dict(made.values_of(variant, given)),
        }
        return selection.takes(
            words | ({"experiment": variant.experiment} if variant.experiment else {})
        )

    chosen = {(variant.id, given.id) for variant, given in pairs if takes(variant, given)}
    if not chosen:
        problem = Problem(
            "BC207", "the selection takes no cell of this plan", file=OPTION, at=whole(only)
        )
        raise refusal(only, problem)
    inputs = {given_id for _, given_id in chosen}
    always = {made.baseline.id, *(variant.id for variant in made.further_baselines)}
    always |= {made.anchor.id} if made.anchor is not None else set()
    kept, left_out = [], []
    for variant, given in pairs:
        if (variant.id, given.id) in chosen or (variant.id in always and given.id in inputs):
            kept.append((variant, given))
        elif variant.experiment is None:
            left_out.append(
                Hole(
                    made.values_of(variant, given),
                    f"left out by -k {only}; the baseline is always kept",
                )
            )
    return kept, left_out


def _program(scenario: Scenario) -> tuple[str, ...] | None:
    words = scenario.spec.worker.command
    if words is None:
        return None
    # A bare name is found on PATH when it is run; anything with a slash is a file beside the scenario.
    first = scenario.resolve(words[0]) if "/" in words[0] else words[0]
    return (first, *words[1:])


def _answer(scenario: Scenario) -> AnswerPolicy:
    part, worker = scenario.spec.answer, scenario.spec.worker
    return AnswerPolicy(
        compare=part.compare,
        file=scenario.resolve(part.file) if part.file is not None else None,
        contract=worker.contract if worker.contract is not None else worker.crate == BUILTIN,
        exit_codes=tuple(scenario.spec.exit_codes),
        stdout=part.stdout,
    )


def _measure(scenario: Scenario) -> MeasurePolicy:
    part = scenario.spec.measure
    least, most = part.rounds.min, part.rounds.max
    # The default that is left gives way to the number that is written.
    low = least if least is not None else min(_DEFAULT_MIN, most or _DEFAULT_MIN)
    high = most if most is not None else max(_DEFAULT_MAX, low)
    until: Literal["conclusive", "rounds", "precision"] = "precision"
    precision = part.until.precision if isinstance(part.until, Precision) else None
    if part.until in {"conclusive", "rounds"}:
        until = "conclusive" if part.until == "conclusive" else "rounds"
    return MeasurePolicy(
        rounds_min=low,
        rounds_max=high,
        until=until,
        precision=precision,
        budget_s=part.budget,
        warmup_rounds=part.warmup,
        timeout_s=part.timeout,
        seed=part.seed if part.seed is not None else int(scenario.sha256[:8], 16),
        control=part.control,
        strategy=part.strategy,
    )


def _judge(scenario: Scenario) -> JudgePolicy:
    spec, default = scenario.spec, JudgePolicy()
    margin, margins = _per_metric(spec.margin, default.margin, default.margins)
    epsilon, epsilons = _per_metric(spec.epsilon, default.epsilon, default.epsilons)
    return JudgePolicy(tuple(spec.judge), margin, epsilon, margins, epsilons, spec.level)


def _per_metric(
    given: float | dict[str, float] | None, default: float, named: tuple[tuple[str, float], ...]
) -> tuple[float, tuple[tuple[str, float], ...]]:
    if isinstance(given, dict):
        return default, tuple((dict(named) | given).items())
    return (default if given is None else given), named


def _notes(scenario: Scenario) -> tuple[Note, ...]:
    about = (Note("About", scenario.spec.about),) if scenario.spec.about else ()
    return (*about, *(Note(note.title, note.text) for note in scenario.spec.notes))


def _unit_family(scenario: Scenario, axes: Iterable[AxisView]) -> Literal["iec", "si"]:
    texts = size_texts(scenario, axes)
    si = [text for text in texts if text.rstrip().endswith(_SI_UNITS)]
    return "si" if si and len(si) == len(texts) else "iec"


def _profile_policy(
    scenario: Scenario, variants: Sequence[Variant], baseline_id: str
) -> ProfilePolicy | None:
    """Return what to profile; `None` if the scenario has no `profile`."""
    part = scenario.spec.profile
    if part is None:
        return None
    return ProfilePolicy(
        variant_ids=tuple(v.id for v in variants if _is_profiled(part, v, baseline_id)),
        after_run=part.when == "after-run",
        runs=part.runs,
        frequency_hz=part.frequency,
        sampler=part.sampler,
        unwinding=part.stacks,
        timeout_s=part.timeout,
        buckets=tuple(Bucket(name, pattern) for name, pattern in part.buckets.items()),
    )


def _is_profiled(part: ProfilePart, variant: Variant, baseline_id: str) -> bool:
    if part.variants == "all":
        return True
    if part.variants == "baseline":
        return variant.id == baseline_id
    return variant.experiment is None and any(_has(variant, wanted) for wanted in part.variants)


def _has(variant: Variant, wanted: Mapping[str, str] | str) -> bool:
    return not isinstance(wanted, str) and wanted.items() <= dict(variant.values).items()

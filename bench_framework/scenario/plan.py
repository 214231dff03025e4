"""Expansion of a scenario to a plan: variants, inputs, builds, cells and holes."""

from collections.abc import Iterable, Sequence
from typing import Literal, cast

from bench_framework.errors import Problem, ScenarioError
from bench_framework.model import policies
from bench_framework.model.declarations import DerivedRow, Note
from bench_framework.model.looks import GRID
from bench_framework.model.plan import Hole, Input, Plan, Role, TrainingRun, Variant
from bench_framework.model.profile import Bucket, ProfilePolicy
from bench_framework.scenario import template
from bench_framework.scenario.axes import AxisView
from bench_framework.scenario.checks.metrics import declared_metrics, instruction_policy
from bench_framework.scenario.contrasts import named_contrasts, published_of
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.expansion import Expansion, unique
from bench_framework.scenario.gate_policy import with_gate
from bench_framework.scenario.matrix import combine
from bench_framework.scenario.schema.measure import Precision
from bench_framework.scenario.schema.parts import ProfilePart
from bench_framework.scenario.schema.worker import BUILTIN
from bench_framework.scenario.selection import OPTION, parse_selection, whole, words_of
from bench_framework.units import is_size

_DEFAULT_MIN = 12
_SI_UNITS = ("kB", "KB", "MB", "GB", "TB")


def expand(scenario: Scenario, *, only: str | None = None) -> Plan:
    """Return the plan of a valid scenario. Equal scenarios give equal plans.

    `only` is the selection of ``-k``. Other cells become holes, except baselines on inputs with a
    selected cell.

    Raises `ScenarioError` (BC207): `only` is invalid (BC113) or selects nothing.
    """
    expansion = Expansion(scenario, combine(scenario))
    everything = pairs = expansion.pairs()
    holes = list(expansion.matrix.holes)
    if only is not None:
        pairs, left_out = _select(expansion, pairs, only)
        holes += left_out
    measured = unique(variant for variant, _ in pairs)
    variants = measured if expansion.baseline in measured else (expansion.baseline, *measured)
    plan = Plan(
        name=scenario.spec.name,
        question=scenario.spec.question,
        scenario_path=scenario.path,
        scenario_sha256=scenario.sha256,
        axes=tuple(axis.plan_axis() for axis in expansion.axes),
        builds=unique(variant.build for variant in measured if variant.build is not None),
        variants=variants,
        inputs=unique(given for _, given in pairs),
        cells=tuple(expansion.cells(pairs)),
        holes=tuple(holes),
        baseline_id=expansion.baseline.id,
        further_baselines=tuple(v.id for v in expansion.further_baselines if v in variants),
        choose_from=tuple(tuple(given.items()) for given in scenario.spec.choose_from),
        anchor_id=expansion.anchor.id
        if expansion.anchor is not None and expansion.anchor in variants
        else "",
        experiments=tuple(
            experiment
            for experiment in expansion.experiments
            if any(v.id == experiment.variant_id for v in variants)
        ),
        program=_program(scenario),
        answer=_answer(scenario),
        measure=_measure(scenario),
        judge=_judge(scenario),
        notes=_notes(scenario),
        named=tuple(
            cell
            for cell in expansion.named_cells()
            if any(v.id == cell.variant_id for v in variants)
        ),
        derived=tuple(
            DerivedRow(name, part.formula, part.assuming)
            for name, part in scenario.spec.derived.items()
        ),
        hypotheses=tuple(expansion.hypotheses),
        contrasts=tuple(named_contrasts(expansion)),
        published=published_of(expansion),
        learnings=tuple(scenario.spec.learnings),
        next_steps=tuple(scenario.spec.next_steps),
        unit_family=_unit_family(scenario, expansion.axes),
        profile=_profile_policy(scenario, variants, expansion.baseline.id),
        metrics=declared_metrics(scenario),
        instructions=instruction_policy(scenario),
        tuning=tuple(
            template.fill(word, scenario.spec.fixed) for word in scenario.spec.tuning or ()
        ),
        data_dir=scenario.resolve(scenario.spec.data_dir) if scenario.spec.data_dir else None,
        design=scenario.spec.design,
        training=_training(expansion, everything),
        hosts=_hosts(scenario),
    )
    return with_gate(scenario, plan)


def _select(
    expansion: Expansion, pairs: list[tuple[Variant, Input]], only: str
) -> tuple[list[tuple[Variant, Input]], list[Hole]]:
    """Return the selected cells with their baselines, and a hole for each other cell."""
    selects = parse_selection(only, {axis.name: axis.values for axis in expansion.axes})

    chosen = {
        (variant.id, given.id) for variant, given in pairs if selects(words_of(variant, given))
    }
    if not chosen:
        message = "the selection matches no configuration of this plan"
        fix = "remove a condition, or separate alternatives with |"
        problem = Problem("BC207", message, file=OPTION, at=whole(only), fix=fix)
        raise ScenarioError((problem,), {OPTION: only})
    inputs = {given_id for _, given_id in chosen}
    required = {expansion.baseline.id, *(variant.id for variant in expansion.further_baselines)}
    required |= {expansion.anchor.id} if expansion.anchor is not None else set()
    selected, left_out = [], []
    for variant, given in pairs:
        if (variant.id, given.id) in chosen or (variant.id in required and given.id in inputs):
            selected.append((variant, given))
        elif variant.experiment is None:
            left_out.append(Hole(expansion.values_of(variant, given), f"not selected by -k {only}"))
    return selected, left_out


def _training(
    expansion: Expansion, pairs: Sequence[tuple[Variant, Input]]
) -> tuple[TrainingRun, ...]:
    trained = [(v, i) for v, i in pairs if v.build is not None and v.build.pgo]
    return tuple(
        TrainingRun(v.build.program, expansion.cell(v, i, Role.CANDIDATE, v.label), i)
        for v, i in trained
        if v.build is not None
    )


def _program(scenario: Scenario) -> tuple[str, ...] | None:
    words = scenario.spec.worker.command
    if words is None:
        return None
    return (scenario.resolve_program(words[0]), *words[1:])


def _answer(scenario: Scenario) -> policies.AnswerPolicy:
    part, worker = scenario.spec.answer, scenario.spec.worker
    contract = worker.contract if worker.contract is not None else worker.crate == BUILTIN
    stored = contract or part.file is not None or part.stdout == "file"
    share = part.differs if isinstance(part.differs, float) else 0.0

    def command(words: list[str]) -> tuple[str, ...]:
        return (scenario.resolve_program(words[0]), *words[1:]) if words else ()

    return policies.AnswerPolicy(
        compare=part.kind if stored else "none",
        file=scenario.resolve(part.file) if part.file is not None else None,
        contract=contract,
        exit_codes=tuple(scenario.spec.exit_codes),
        stdout=part.stdout,
        differs="refuse" if isinstance(part.differs, float) else part.differs,
        filter=command(part.filter),
        extract=part.extract or "",
        ignore=tuple(part.ignore),
        json_ignore=tuple(part.json_part.ignore) if part.json_part is not None else (),
        tolerance=part.tolerance,
        tolerated_share=share,
        check=command(part.check),
    )


def _measure(scenario: Scenario) -> policies.MeasurePolicy:
    part = scenario.spec.measure
    least, most = part.rounds.min, part.rounds.max
    # A default adapts to the other number if that is given.
    low = least if least is not None else min(_DEFAULT_MIN, most or _DEFAULT_MIN)
    high = most if most is not None else max(GRID[-1], low)
    return policies.MeasurePolicy(
        rounds_min=low,
        rounds_max=high,
        by_budget=most is None,
        until="precision"
        if isinstance(part.until, Precision)
        else cast("Literal['conclusive', 'rounds']", part.until),
        precision=part.until.precision if isinstance(part.until, Precision) else None,
        budget_s=policies.DEFAULT_BUDGET_S
        if (most is None and part.budget is None)
        else part.budget,
        warmup_rounds=part.warmup,
        timeout_s=part.timeout,
        seed=part.seed if part.seed is not None else int(scenario.sha256[:8], 16),
        control=part.control,
        strategy=part.strategy,
    )


def _judge(scenario: Scenario) -> policies.JudgePolicy:
    spec, default = scenario.spec, policies.JudgePolicy()
    margin, margins = _per_metric(spec.margin, default.margin, default.margins)
    epsilon, epsilons = _per_metric(spec.epsilon, default.epsilon, default.epsilons)
    return policies.JudgePolicy(tuple(spec.judge), margin, epsilon, margins, epsilons, spec.level)


def _hosts(scenario: Scenario) -> policies.HostPolicy | None:
    part = scenario.spec.hosts
    if part is None or isinstance(part, str):
        return policies.HostPolicy(everyone=True) if part else None
    return policies.HostPolicy(
        labels=tuple(part.label),
        per_kind=part.per_kind or 0,
        any=part.any or 0,
        split_inputs=part.split_inputs or 0,
    )


def _per_metric(
    given: float | dict[str, float] | None, default: float, by_metric: tuple[tuple[str, float], ...]
) -> tuple[float, tuple[tuple[str, float], ...]]:
    if isinstance(given, dict):
        return default, tuple((dict(by_metric) | given).items())
    return (default if given is None else given), by_metric


def _notes(scenario: Scenario) -> tuple[Note, ...]:
    about = (Note("About", scenario.spec.about),) if scenario.spec.about else ()
    return (*about, *(Note(note.title, note.text, note.code) for note in scenario.spec.notes))


def _unit_family(scenario: Scenario, axes: Iterable[AxisView]) -> Literal["iec", "si"]:
    texts = [value for axis in axes if axis.is_size for value in axis.values]
    if (part := scenario.spec.input) and part.size is not None and is_size(part.size):
        texts.append(part.size)
    si = [text for text in texts if text.rstrip().endswith(_SI_UNITS)]
    return "si" if si and len(si) == len(texts) else "iec"


def _profile_policy(
    scenario: Scenario, variants: Sequence[Variant], baseline_id: str
) -> ProfilePolicy | None:
    """Return the profile policy, or `None` if the scenario has no `profile`."""
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
    values = dict(variant.values).items()
    given = [item for item in part.variants if isinstance(item, dict)]
    return variant.experiment is None and any(item.items() <= values for item in given)

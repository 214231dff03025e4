"""Expansion of a scenario to a plan: variants, inputs, builds, cells and holes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from bench_framework.errors import Problem, ScenarioError
from bench_framework.model.metrics import ITERATION
from bench_framework.model.plan import policies
from bench_framework.model.plan.declarations import Mechanism, NamedCell, NamedContrast, Note
from bench_framework.model.plan.looks import GRID, MOST_SESSION_ROUNDS
from bench_framework.model.plan.plan import Hole, Input, Plan, Role, TrainingRun, Values, Variant
from bench_framework.model.plan.published import Published, PublishedClaim
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.scenario import template
from bench_framework.scenario.checks.metrics import declared_metrics, instruction_policy
from bench_framework.scenario.crates import bench_policy
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.expansion import Expansion, unique
from bench_framework.scenario.gate_policy import gate_policy
from bench_framework.scenario.schema.measure import Precision
from bench_framework.scenario.selection import BENCH_NAMES, OPTION, parse_selection, whole, words_of
from bench_framework.units import SIZE_UNITS, UnitFamily, is_size

_DEFAULT_MIN = 12
_SI_UNITS = tuple(unit for unit, size in SIZE_UNITS.items() if size % 1000 == 0)


def expand(scenario: Scenario, *, only: str | None = None) -> Plan:
    """Return the plan of a valid scenario. Equal scenarios give equal plans.

    `only` is the selection of ``-k``. Other cells become holes, except baselines on inputs with a
    selected cell.

    Raises `ScenarioError`: BC113, `only` is invalid; BC207, it selects nothing.
    """
    spec, expansion, benches = scenario.spec, Expansion(scenario), bench_policy(scenario)
    everything = pairs = expansion.pairs()
    holes = list(expansion.matrix.holes)
    if only is not None:
        pairs, left_out = _select(expansion, pairs, only)
        holes += left_out
    measured = unique(variant for variant, _ in pairs)
    variants = measured if expansion.baseline in measured else (expansion.baseline, *measured)
    ids = {variant.id for variant in variants}
    plan = Plan(
        name=spec.name,
        question=spec.question,
        scenario_path=scenario.path,
        scenario_sha256=scenario.sha256,
        axes=tuple(axis.plan_axis() for axis in scenario.axes.values()),
        builds=(),
        variants=variants,
        inputs=unique(given for _, given in pairs),
        cells=tuple(expansion.cells(pairs)),
        holes=tuple(holes),
        baseline_id=expansion.baseline.id,
        further_baselines=tuple(v.id for v in expansion.further_baselines if v.id in ids),
        choose_from=_choices(scenario, expansion),
        experiments=tuple(e for e in expansion.experiments if e.variant_id in ids),
        program=_command(scenario, spec.worker.command) or None,
        answer=_answer(scenario),
        measure=_measure(scenario),
        judge=_judge(scenario),
        notes=_notes(scenario),
        named=tuple(
            NamedCell(name, variant.id)
            for name, given in spec.cells.items()
            if (variant := expansion.selected(given)) is not None and variant.id in ids
        ),
        derived=tuple(replace(row, name=name) for name, row in spec.derived.items()),
        hypotheses=tuple(expansion.hypotheses),
        contrasts=tuple(_contrasts(expansion)),
        published=_published(expansion),
        headline=spec.headline,
        takeaways=tuple(spec.takeaways),
        next_steps=tuple(spec.next_steps),
        unit_family=_unit_family(scenario),
        profile=spec.profile,
        metrics=declared_metrics(scenario),
        instructions=instruction_policy(scenario),
        tuning=template.fill_words(spec.tuning or (), spec.fixed),
        data_dir=scenario.resolve(spec.data_dir) if spec.data_dir else None,
        design=spec.design,
        training=tuple(
            TrainingRun(v.build.program, expansion.cell(v, given, Role.CANDIDATE, v.label), given)
            for v, given in everything
            if v.build is not None and v.build.pgo
        ),
        hosts=spec.hosts,
        benches=benches and replace(benches, selection=only or ""),
    )
    return replace(
        plan,
        builds=plan.programs_of(measured),
        judge=replace(plan.judge, gate=gate_policy(scenario, plan, whole=only is None)),
    )


def _choices(scenario: Scenario, expansion: Expansion) -> tuple[Values, ...]:
    """Return the values that the answer may choose, by default those with the baseline's page cache.

    A user cannot choose a page cache. Values that set something else, too, are all choices.
    """
    if scenario.spec.choose_from:
        return tuple(tuple(given.items()) for given in scenario.spec.choose_from)
    values = expansion.baseline.values
    fixed = tuple((name, value) for name, value in values if scenario.axes[name].is_page_cache)
    return (fixed,) if fixed else ()


def _select(
    expansion: Expansion, pairs: list[tuple[Variant, Input]], only: str
) -> tuple[list[tuple[Variant, Input]], list[Hole]]:
    """Return the selected cells with their baselines, and a hole for each other cell."""
    known = {name: axis.values for name, axis in expansion.axes.items()}
    later = BENCH_NAMES if expansion.scenario.spec.worker.bench else ()
    selects = parse_selection(only, known, later=later)
    chosen = {(v.id, given.id) for v, given in pairs if selects(words_of(v, given))}
    if not chosen:
        problem = Problem.create("BC207", OPTION, whole(only))
        raise ScenarioError((problem,), {OPTION: only})
    inputs = {given_id for _, given_id in chosen}
    required = (expansion.baseline, *expansion.further_baselines)
    selected, left_out = [], []
    for variant, given in pairs:
        if (variant.id, given.id) in chosen or (variant in required and given.id in inputs):
            selected.append((variant, given))
        elif variant.experiment is None:
            values = expansion.values_of(variant, given)
            left_out.append(Hole(values, Reason(ReasonCode.UNSELECTED, only)))
    return selected, left_out


def _contrasts(expansion: Expansion) -> Iterator[NamedContrast]:
    for part in expansion.scenario.spec.contrasts:
        candidate, reference = map(expansion.selected, (part.candidate, part.reference))
        assert candidate is not None
        assert reference is not None
        mechanism = None
        if part.phases is not None or part.counters is not None:
            mechanism = Mechanism(part.phases or (), part.counters or ())
        yield replace(
            part,
            variant_id=candidate.id,
            reference_id=reference.id,
            input_ids=expansion.input_ids(part.input),
            metric=part.metric or _judge(expansion.scenario).headline,
            mechanism=mechanism,
        )


def _published(expansion: Expansion) -> Published | None:
    part = expansion.scenario.spec.published
    if part is None:
        return None
    return replace(part, claims=tuple(_claim(expansion, claim) for claim in part.claims))


def _claim(expansion: Expansion, claim: PublishedClaim) -> PublishedClaim:
    variant = expansion.selected(claim.selection) if claim.selection is not None else None
    return replace(
        claim,
        variant_id=variant.id if variant is not None else "",
        input_ids=expansion.input_ids(claim.input),
        metric=claim.metric or _judge(expansion.scenario).headline,
    )


def _command(scenario: Scenario, words: list[str] | None) -> tuple[str, ...]:
    """Return a command of the user with the path of its program; empty without one."""
    return (scenario.resolve_program(words[0]), *words[1:]) if words else ()


def _answer(scenario: Scenario) -> policies.AnswerPolicy:
    part, contract = scenario.spec.answer, scenario.spec.worker.follows_protocol
    stored = contract or part.file is not None or part.stdout == "file"
    stored = stored and scenario.spec.worker.bench is None  # benchmarks print times
    share = part.differs if isinstance(part.differs, float) else 0.0
    return policies.AnswerPolicy(
        compare=part.kind if stored else "none",
        file=scenario.resolve(part.file) if part.file is not None else None,
        contract=contract,
        exit_codes=tuple(scenario.spec.exit_codes),
        stdout=part.stdout,
        differs="refuse" if isinstance(part.differs, float) else part.differs,
        filter=_command(scenario, part.filter),
        extract=part.extract or "",
        ignore=tuple(part.ignore),
        json_ignore=tuple(part.json_part.ignore) if part.json_part is not None else (),
        tolerance=part.tolerance,
        tolerated_share=share,
        check=_command(scenario, part.check),
    )


def _measure(scenario: Scenario) -> policies.MeasurePolicy:
    part = scenario.spec.measure
    least, most = part.rounds.min, part.rounds.max
    # A default adapts to the other number if that is given.
    low = least if least is not None else min(_DEFAULT_MIN, most or _DEFAULT_MIN)
    count, fewest = part.sessions.max, part.sessions.min
    usual = GRID[-1] if count == 1 else MOST_SESSION_ROUNDS
    high = most if most is not None else max(usual, low)
    exact = part.until if isinstance(part.until, Precision) else None
    return policies.MeasurePolicy(
        rounds_min=low,
        rounds_max=count * high,
        by_budget=most is None,
        until="precision" if exact else cast("Literal['conclusive', 'rounds']", part.until),
        precision=exact.precision if exact else None,
        budget_s=part.budget or (policies.DEFAULT_BUDGET_S if most is None else None),
        sessions=count,
        sessions_min=fewest if fewest < count else None,
        every_s=part.every or 0.0,
        warmup_rounds=part.warmup,
        timeout_s=part.timeout,
        seed=part.seed if part.seed is not None else int(scenario.sha256[:8], 16),
        control=part.control,
        strategy=part.strategy,
    )


def _judge(scenario: Scenario) -> policies.JudgePolicy:
    policy, given = policies.JudgePolicy(_judged(scenario)), scenario.spec.margin
    if isinstance(given, dict):
        return replace(policy, margins=tuple((dict(policy.margins) | given).items()))
    return policy if given is None else replace(policy, margin=given)


def _judged(scenario: Scenario) -> tuple[str, ...]:
    """Return the metrics that get a verdict; of benchmarks, that is the time per iteration."""
    spec = scenario.spec
    usual = spec.worker.bench is not None and "judge" not in spec.model_fields_set
    return (ITERATION,) if usual else tuple(spec.judge)


def _notes(scenario: Scenario) -> tuple[Note, ...]:
    about = (Note("About", scenario.spec.about),) if scenario.spec.about else ()
    return (*about, *scenario.spec.notes)


def _unit_family(scenario: Scenario) -> UnitFamily:
    texts = [value for axis in scenario.axes.values() if axis.is_size for value in axis.values]
    if (part := scenario.spec.input) and part.size is not None and is_size(part.size):
        texts.append(part.size)
    si = [text for text in texts if text.rstrip().endswith(_SI_UNITS)]
    return "si" if si and len(si) == len(texts) else "iec"

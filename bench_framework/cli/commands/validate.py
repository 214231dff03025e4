"""``benchctl validate``: check scenarios and report all errors."""

from typing import Annotated, Final

import typer
from typer import Argument

from bench_framework.cli.arguments import Overrides
from bench_framework.cli.console import Console, one_line
from bench_framework.errors import EXIT_USAGE, Problem, ScenarioError, UsageError
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Event
from bench_framework.text.errors import new_event
from bench_framework.text.words import plan_size

NAMED_LABELS: Final = 5
"""Number of long labels that a note names."""
EXAMPLES = """
benchctl validate bench/
benchctl validate bench/io.yaml -S measure.rounds.max=5
"""


def validate(
    context: typer.Context,
    names: Annotated[
        list[str],
        Argument(
            metavar="FILE...",
            help="Scenario files, names of bundled scenarios, or folders, which stand for the scenarios in them.",
        ),
    ],
    overrides: Overrides = None,
) -> None:
    """Check scenarios and report all errors; nothing is built or run."""
    from dataclasses import asdict

    from bench_framework.model.documents.plan import ValidateDocument, ValidatedScenario
    from bench_framework.workflow.run_options import plan_scenario, require_outside
    from bench_framework.workflow.scenarios.suite_files import require_names, suite_files

    console: Console = context.obj
    checked: list[ValidatedScenario] = []
    plans: list[Plan] = []
    for file in suite_files(names):
        try:
            plan = plan_scenario(file, overrides=overrides or ())
            require_outside(plan, console.results)
        except UsageError as error:
            console.error(error)
            problems = _problems(error, file)
            texts = tuple(asdict(problem) for problem in problems)
            checked.append(ValidatedScenario(file, ok=False, problems=texts))
            console.annotate([_annotation(problem) for problem in problems])
            continue
        plans.append(plan)
        note = _long_labels(plan)
        notes = (note.message,) if note else ()
        digest = plan.scenario_sha256
        checked.append(
            ValidatedScenario(
                file, ok=True, cells=len(plan.cells), notes=notes, scenario_sha256=digest
            )
        )
        if not console.json:
            suffix = f", digest {digest}" if console.verbosity > 0 else ""
            console.emit(one_line(f"{file}: ok, {plan_size(plan)}{suffix}"))
        if note:
            console.warn(note)
    require_names(plans)
    if console.json:
        console.emit_json(ValidateDocument(tuple(checked)))
    raise typer.Exit(0 if all(scenario.ok for scenario in checked) else EXIT_USAGE)


def _long_labels(plan: Plan) -> Event | None:
    """Return a note that names the labels that are longer than `LONGEST_LABEL`."""
    from bench_framework.text.names import LONGEST_LABEL, first_items

    long = [f'"{v.label}"' for v in plan.variants if len(v.label) > LONGEST_LABEL]
    if not long:
        return None
    names = first_items(long, NAMED_LABELS, ", ")
    return new_event("BX348", "note", most=str(LONGEST_LABEL), labels=names)


def _problems(error: UsageError, file: str) -> tuple[Problem, ...]:
    if isinstance(error, ScenarioError):
        return error.problems
    return (Problem(error.code, error.message, file, fix=error.fix),)


def _annotation(problem: Problem) -> tuple[dict[str, str], str]:
    properties = {"file": problem.file or "", "title": problem.code}
    if (at := problem.at) is not None:
        places = {"line": at.line, "col": at.column, "endColumn": at.column + at.length}
        properties |= {name: str(number) for name, number in places.items()}
    return properties, problem.message

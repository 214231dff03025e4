"""``benchctl validate``: check scenarios and report all errors."""

from typing import Annotated

import typer
from typer import Argument

from bench_framework.cli.arguments import Overrides
from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_USAGE, ScenarioError

EXAMPLES = """
benchctl validate bench/*.yaml
benchctl validate bench/io.yaml -S measure.rounds.max=5
"""


def validate(
    context: typer.Context,
    files: Annotated[
        list[str], Argument(metavar="FILE", help="Scenario files, or names of bundled scenarios.")
    ],
    overrides: Overrides = None,
) -> None:
    """Check scenarios and report all errors; nothing is built or run."""
    from dataclasses import asdict

    from bench_framework.cli.github import annotation_lines, on_github
    from bench_framework.cli.plan_page import counts
    from bench_framework.workflow.run_options import plan_scenario, require_outside

    console: Console = context.obj
    failed = False
    verdicts: list[dict[str, object]] = []
    for file in files:
        try:
            plan = plan_scenario(file, overrides=overrides or ())
            require_outside(plan, console.results)
        except ScenarioError as error:
            failed = True
            console.error(error)
            problems = [asdict(problem) for problem in error.problems]
            verdicts.append({"file": file, "ok": False, "problems": problems})
            if on_github():
                console.say("\n".join(annotation_lines(error)), level=-1)
            continue
        verdicts.append({"file": file, "ok": True, "cells": len(plan.cells)})
        if not console.json:
            console.emit(f"{file}: ok, {counts(plan)}")
    if console.json:
        console.emit_json(verdicts)
    if failed:
        raise typer.Exit(EXIT_USAGE)

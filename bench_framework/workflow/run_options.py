"""The options of a run, and the plan that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework.errors import UsageError
from bench_framework.workflow.scenarios import plan_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.accepted import Accepted
    from bench_framework.model.plan import Plan


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    Attributes:
        results: folder of the records.
        only: filter of ``-k``.
        overrides: scenario keys, such as ``measure.rounds.max=5``.
        fresh: start a new record even if there is an interrupted one.
        profile: profile after measuring; `None`: as the scenario specifies.
        embed_runs: store the runs in ``report.html``; `None`: if they are small.
        base: revision at which every variant is measured too.
        head: revision to compare with `base`; `None`: the working tree.
        gate: apply the scenario's gate, whose `against` is the default of `base`.
        template: folder with templates that replace the shipped ones.
    """

    results: Path = Path("results")
    only: str | None = None
    overrides: Sequence[str] = ()
    fresh: bool = False
    profile: bool | None = None
    embed_runs: bool | None = None
    base: str | None = None
    head: str | None = None
    gate: bool = False
    template: Path | None = None


def plan_run(name: str, options: RunOptions) -> Plan:
    """Return the plan of a run.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: the run is not possible; nothing was built.
    """
    plan = plan_scenario(name, overrides=options.overrides, only=options.only)
    base = options.base or (plan.judge.gate.against if options.gate else "")
    if base:
        from bench_framework.workflow.revision_plan import plan_between

        plan = plan_between(plan, base, options.head)
    elif options.head is not None:
        raise UsageError(
            "--head needs --base", effect="nothing was measured", help="add --base REV"
        )
    if options.gate:
        require_decidable(plan)
    return plan


def _rounds(count: int) -> str:
    return f"{count} round{'s' if count != 1 else ''}"


def require_decidable(plan: Plan) -> None:
    """Refuse a gate that can never detect a regression, or whose accepted changes cannot be read.

    Raises:
        UsageError: BX108, too few rounds; BX112, the file of accepted changes is missing or damaged.
    """
    from bench_framework.features.gate.compute import rounds_needed

    if (needed := rounds_needed(plan)) is not None:
        raise UsageError(
            f"the gate cannot detect anything in {_rounds(plan.measure.rounds_max)}: it needs "
            f"{needed}",
            code="BX108",
            effect="the gate would always pass, so nothing was checked",
            help=f"use -S measure.rounds.max={needed}, or fewer candidates, inputs or gated "
            "metrics",
        )
    accepted_changes(plan)


def accepted_changes(plan: Plan) -> tuple[Accepted, ...]:
    """Read the accepted changes of the gate. Raises `UsageError`, BX112."""
    from bench_framework.scenario.accepted import read_accepted

    return read_accepted(Path(plan.judge.gate.accepted), plan) if plan.judge.gate.accepted else ()

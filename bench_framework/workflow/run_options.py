"""The options of a run, and the plan that it measures."""

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
    """What a run may be told beside its scenario.

    Attributes:
        results: folder of the records.
        only: words of ``-k``.
        overrides: such as ``measure.rounds.max=5``.
        fresh: start a new record even if one was interrupted.
        profile: whether to profile after measuring; `None`: if the scenario says so.
        embed_runs: whether ``report.html`` contains the runs; `None`: if they are small.
        base: measure every variant at this revision too, and compare it with itself there.
        head: the other revision; `None`: the crate's files as they lie there.
        gate: the record is for the scenario's gate, whose `against` is the base unless `base` names one.
        template: a folder whose templates replace the shipped ones.
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
    """What `run` measures.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: what `run` raises before anything is built.
    """
    plan = plan_scenario(name, overrides=options.overrides, only=options.only)
    base = options.base or (plan.judge.gate.against if options.gate else "")
    if base:
        from bench_framework.workflow.revision_plan import plan_between

        plan = plan_between(plan, base, options.head)
    elif options.head is not None:
        raise UsageError(
            "--head needs --base: what is it compared with?", effect="nothing was measured"
        )
    if options.gate:
        require_decidable(plan)
    return plan


def _rounds(count: int) -> str:
    return f"{count} round{'s' if count != 1 else ''}"


def require_decidable(plan: Plan) -> None:
    """Refuse a gate that can never find anything, or whose accepted changes cannot be read, before measuring.

    Raises:
        UsageError: BX108, its rounds are too few; BX112, the file of accepted changes is not there or damaged.
    """
    from bench_framework.features.gate.compute import rounds_needed

    if (needed := rounds_needed(plan)) is not None:
        raise UsageError(
            f"this gate can find nothing in {_rounds(plan.measure.rounds_max)}: it needs {needed}",
            code="BX108",
            effect="nothing was judged: such a gate would always pass",
            help=f"-S measure.rounds.max={needed}, or fewer candidates, inputs or gated metrics",
        )
    accepted_changes(plan)


def accepted_changes(plan: Plan) -> tuple[Accepted, ...]:
    """The entries of the gate's file of accepted changes, as it is now. Raises `UsageError`, BX112."""
    from bench_framework.scenario.accepted import read_accepted

    return read_accepted(Path(plan.judge.gate.accepted), plan) if plan.judge.gate.accepted else ()

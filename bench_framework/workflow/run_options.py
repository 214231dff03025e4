"""The options of a run, and the plan that follows from them, also between two revisions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import GateError, UsageError
from bench_framework.model.revisions import MERGE_BASE, Revisions
from bench_framework.units import counted
from bench_framework.workflow.scenarios import plan_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.execution.build.revisions import Git
    from bench_framework.model.plan import Plan
    from bench_framework.model.policies import Accepted

BUILTIN: Final = "builtin"
NOTHING: Final = "nothing was built or measured"
_TARGETS: Final = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""Environment variables in which GitHub and GitLab store the target branch of a change."""
_MAIN: Final = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


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
        idle: load average of the last minute below which measuring starts; `None`: do not wait.
        record: a record to continue until the gate can judge, even if it is complete.
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
    idle: float | None = None
    record: Path | None = None


def plan_run(name: str, options: RunOptions) -> Plan:
    """Return the plan of a run.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: the run is not possible; nothing was built.
    """
    if options.idle is not None and not 0 < options.idle < float("inf"):
        message = f"--idle must be a load average above 0, got {options.idle:g}"
        raise UsageError(message, effect="nothing was measured", fix="write --idle 0.3")
    plan = plan_scenario(name, overrides=options.overrides, only=options.only)
    base = options.base or (plan.judge.gate.against if options.gate else "")
    if base:
        plan = plan_between(plan, base, options.head)
    elif options.head is not None:
        raise UsageError("--head needs --base", effect="nothing was measured", fix="add --base REV")
    if options.gate:
        require_decidable(plan)
    return plan


def require_decidable(plan: Plan) -> None:
    """Refuse a gate that can never detect a regression, or whose accepted changes cannot be read.

    Raises:
        UsageError: BX108, too few rounds; BX112, the file of accepted changes is missing or damaged.
    """
    from bench_framework.features.gate.plans import rounds_needed

    if (needed := rounds_needed(plan)) is not None:
        raise UsageError(
            f"the gate cannot detect anything in {counted(plan.measure.rounds_max, 'round')}: it needs "
            f"{needed}",
            code="BX108",
            effect="the gate would always pass, so nothing was checked",
            fix=f"use -S measure.rounds.max={needed}, or fewer candidates, inputs or gated metrics",
        )
    accepted_changes(plan)


def accepted_changes(plan: Plan) -> tuple[Accepted, ...]:
    """Read the accepted changes of the gate. Raises `UsageError`, BX112."""
    from bench_framework.scenario.gate_policy import read_accepted

    return read_accepted(Path(plan.judge.gate.accepted), plan) if plan.judge.gate.accepted else ()


def plan_between(plan: Plan, base: str, head: str | None = None) -> Plan:
    """Return the plan that measures every variant at two revisions and compares it with itself.

    `base` is a branch, tag, commit, or ``merge-base`` (of the head and the main branch). Without
    `head`, it is the working tree; for a crate that is given by a URL, the revision of the
    scenario, or HEAD of the remote.

    Raises:
        UsageError: BX110, the scenario cannot be measured at two revisions.
        BuildError: BX224, git is missing; BX225, a revision is missing.
        GateError: BX111, base and head are the same commit.
    """
    from bench_framework.execution import process
    from bench_framework.execution.build import revisions
    from bench_framework.execution.machine import host
    from bench_framework.scenario.revisions import at_revisions

    source = _source(plan)
    env = host.environment()
    with process.Launcher() as launcher:
        resolver = _RevisionResolver(
            revisions.Git(launcher, env), host.cache_root(env), source, env
        )
        return at_revisions(plan, resolver.revisions(base, head))


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of a crate: a folder, or a URL with the revision that the scenario names."""

    crate: Path | None
    url: str | None
    revision: str | None


def _source(plan: Plan) -> _Source:
    """Return the common source of all builds. Raises `UsageError`, BX110."""
    reason = ""
    if plan.revisions is not None:
        reason = "it has two revisions already"
    elif plan.program is not None:
        reason = "its program is not built"
    elif any(spec.crate == BUILTIN for spec in plan.builds):
        reason = "the bundled workers have one revision: the one of this benchctl"
    elif len({spec.revision for spec in plan.builds}) > 1:
        reason = "one of its axes names revisions"
    if reason or not plan.builds:
        raise UsageError(
            f"{plan.scenario_path} cannot be measured at two revisions: "
            f"{reason or 'it builds nothing'}",
            code="BX110",
            effect=NOTHING,
            fix="use --base and --head only with a scenario that builds one revision of your own "
            "crate",
        )
    spec = plan.builds[0]
    return _Source(None if spec.git else Path(spec.crate), spec.git, spec.revision)


@dataclass(frozen=True, slots=True)
class _RevisionResolver:
    """Resolution of revisions of one crate with git."""

    git: Git
    cache: Path
    source: _Source
    env: Mapping[str, str]

    def revisions(self, base: str, head: str | None) -> Revisions:
        if self.source.url is not None and head is None:
            head = self.source.revision or "HEAD"
        head_id = None if head is None else self._commit(head)
        base_id = self._merge_base(head_id) if base == MERGE_BASE else self._commit(base)
        same, dirty = self._same(base_id, head_id)
        if same and not dirty:
            raise GateError(
                f"base and head are the same commit, {base_id[:12]}",
                code="BX111",
                details=(
                    ("base", base),
                    ("head", head or "the working tree, which has no changes"),
                ),
                effect=NOTHING,
                fix="on the main branch, compare with the previous commit: --base HEAD~1",
            )
        return Revisions(base_id, head_id, base)

    def _commit(self, name: str) -> str:
        from bench_framework.execution.build import revisions

        return revisions.commit_of(
            self.git, self.cache, crate=self.source.crate, url=self.source.url, revision=name
        )

    def _merge_base(self, head: str | None) -> str:
        from bench_framework.execution.build import revisions

        if self.source.crate is None:
            message = "`merge-base` needs a crate in a repository on this machine"
            fix = "give --base as a branch, tag or commit"
            raise UsageError(message, code="BX110", effect=NOTHING, fix=fix)
        return revisions.merge_base(
            self.git,
            self.cache,
            crate=self.source.crate,
            head=head or "HEAD",
            branches=self._branches(),
        )

    def _branches(self) -> Sequence[str]:
        target = next((self.env[name] for name in _TARGETS if self.env.get(name)), None)
        return (f"origin/{target}", target, *_MAIN) if target else _MAIN

    def _same(self, base: str, head: str | None) -> tuple[bool, bool]:
        """Return two flags: the head is the commit of the base; the working tree has changes."""
        from bench_framework.execution.build import revisions

        if head is not None or self.source.crate is None:
            return head == base, False
        commit, _ = revisions.state_of(self.git, self.source.crate)
        return commit == base, revisions.has_changes(self.git, self.source.crate)

"""From a plan and the names of two revisions to the plan that compares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import GateError, UsageError
from bench_framework.model.revisions import MERGE_BASE, Revisions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.execution.revisions import Git
    from bench_framework.model.plan import Plan

BUILTIN: Final = "builtin"
NOTHING: Final = "nothing was built or measured"
_TARGETS: Final = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""Variables in which GitHub and GitLab name the branch that a change is meant for."""
_MAIN: Final = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


def plan_between(plan: Plan, base: str, head: str | None = None) -> Plan:
    """The plan that measures every variant at two revisions, each against itself.

    Args:
        plan: of a scenario that builds a crate.
        base: branch, tag, commit, or ``merge-base``: where the head left the main branch.
        head: branch, tag or commit; `None`: the crate's files as they lie there. A crate that is only known by
            its URL has none, so that `None` is there the revision that the scenario names, or the remote's HEAD.

    Raises:
        UsageError: BX110, this scenario has no two revisions.
        BuildError: BX224 and BX225, git is missing, or a commit is.
        GateError: BX111, base and head are one commit.
    """
    from bench_framework.execution import host, process, revisions
    from bench_framework.scenario.revisions import at_revisions

    source = _source(plan)
    env = host.environment()
    with process.Launcher() as launcher:
        asked = _Asking(revisions.Git(launcher, env), host.cache_root(env), source, env)
        return at_revisions(plan, asked.revisions(base, head))


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a crate comes from: a folder, or a URL with the revision that the scenario names."""

    crate: Path | None
    url: str | None
    revision: str | None


def _source(plan: Plan) -> _Source:
    """The one source of all builds. Raises `UsageError`, BX110."""
    why = ""
    if plan.revisions is not None:
        why = "it is one of two revisions already"
    elif plan.program is not None:
        why = "its program is not built"
    elif any(spec.crate == BUILTIN for spec in plan.builds):
        why = "the bundled workers have one revision: the one of this benchctl"
    elif len({spec.revision for spec in plan.builds}) > 1:
        why = "an axis of it names revisions"
    if why or not plan.builds:
        raise UsageError(
            f"{plan.scenario_path} cannot be measured at two revisions: {why or 'it builds nothing'}",
            code="BX110",
            effect=NOTHING,
            help="--base and --head are for a scenario whose worker is a crate of yours, at one revision; "
            "without them the scenario's own baseline is compared",
        )
    spec = plan.builds[0]
    return _Source(None if spec.git else Path(spec.crate), spec.git, spec.revision)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Questions to git about one crate."""

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
                f"base and head are one commit, {base_id[:12]}: there is nothing to compare",
                code="BX111",
                details=(
                    ("base", base),
                    ("head", head or "the working tree, which has no changes"),
                ),
                effect=NOTHING,
                help="on the main branch itself, compare with the commit before: --base HEAD~1",
            )
        return Revisions(base_id, head_id, base)

    def _commit(self, name: str) -> str:
        from bench_framework.execution import revisions

        return revisions.commit_of(
            self.git, self.cache, crate=self.source.crate, url=self.source.url, revision=name
        )

    def _merge_base(self, head: str | None) -> str:
        from bench_framework.execution import revisions

        if self.source.crate is None:
            raise UsageError(
                "`merge-base` needs a crate in a repository on this machine",
                code="BX110",
                effect=NOTHING,
                help="name the base by a branch, tag or commit",
            )
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
        """Whether the head is the base's commit, and whether it has changes of its own."""
        from bench_framework.execution import revisions

        if head is not None or self.source.crate is None:
            return head == base, False
        commit, _ = revisions.state_of(self.git, self.source.crate)
        return commit == base, revisions.has_changes(self.git, self.source.crate)

"""The options and the context of a run, and its plan, also between two revisions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework import assets
from bench_framework.errors import BuildError, GateError, UsageError
from bench_framework.execution.machine.host import cache_root, environment
from bench_framework.foreign import scenario_files
from bench_framework.masking import masked
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.build_spec import UNBUILT, BuildSpec, without_revisions
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.revisions import MERGE_BASE, Revisions
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.scenario.document import suggest
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.store.layout import NUMBERS
from bench_framework.text.numbers import shortest
from bench_framework.text.reasons import phrase_of
from bench_framework.units import counted

if TYPE_CHECKING:
    from bench_framework.features.stop_rules import StopRule
    from bench_framework.model.plan.policies import Accepted
    from bench_framework.model.record.run import Build

QUICK: Final = (
    "measure.rounds={min: 3, max: 3}",
    "measure.until=rounds",
    "measure.warmup=1",
    "measure.sessions=1",
)
"""The overrides of ``--quick``."""
RESULTS: Final = Path("results")
"""The default folder of the records."""
DIGEST: Final = re.compile("[0-9a-fA-F]{16,64}")
"""A digest in hexadecimal digits, or its beginning."""
_TARGETS: Final = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""Environment variables in which GitHub and GitLab store the target branch of a change."""
_MAIN: Final = ("origin/HEAD", "origin/main", "origin/master", "main", "master")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    Attributes:
        only: filter of ``-k``.
        fresh: start a new record even if there is an interrupted one.
        profile: profile after measuring; `None`: as the scenario specifies.
        embed_runs: store the runs in ``report.html``; `None`: if they are small.
        base: revision at which every variant is measured too.
        head: revision to compare with `base`; `None`: the working tree.
        gate: apply the scenario's gate, whose `against` is the default of `base`.
        decide: measure until the gate can also say whether the candidates are better.
        expect: digest of the scenario, or at least its first 16 digits; `None`: any scenario.
        template: folder with templates that replace the shipped ones.
        idle: load average of the last minute below which measuring starts; `None`: do not wait.
        sign: SSH key that signs the finished record; `None`: do not sign.
        command: the command line that resumes this run; empty: that of the plan.
        setup: commands that run once, before programs are built or copied, also if the run is resumed.
        cleanup: commands that run once after the measurement, unless it was interrupted.
        text: text of the scenario if a command makes it, so that it has no file.
    """

    results: Path = RESULTS
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
    sign: Path | None = None
    command: str = ""
    setup: Sequence[Sequence[str]] = ()
    cleanup: Sequence[Sequence[str]] = ()
    text: str = ""
    decide: bool = False
    expect: str | None = None


@dataclass(frozen=True, slots=True)
class RunContext:
    """The place of a run in a larger measurement, such as a gate, a bisection or a fleet.

    Attributes:
        record: a record to continue until the gate can judge, even if it is complete.
        first_pass: builds of the record that this run confirms, which must be the same programs.
        explain_s: time in addition to that of its own rounds in which the confirmation may count what explains
            a regression.
        counted: cells whose functions are counted already.
        builds: all builds of the plan, made on another machine, in place of building.
        pages: write the pages of the record. The second pass of a gate has only results.
        host: name of this machine in a fleet, empty without one.
        numbers: numbers of which the record has one, if its minute has several records. Hosts that measure
            for one client at the same time have different ones.
        rule: rule that stops an input; `None`: that of the report and of the gate.
        counts: count instructions where the gate cannot judge times.
    """

    record: Path | None = None
    first_pass: Sequence[Build] = ()
    explain_s: float = 0.0
    counted: frozenset[str] = frozenset()
    builds: Sequence[Build] = ()
    pages: bool = True
    host: str = ""
    numbers: range = NUMBERS
    rule: StopRule | None = None
    counts: bool = True


ALONE: Final = RunContext()
"""A run of its own."""


def words_that_resume(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a command line without ``--fresh``, with masked secrets."""
    end = words.index("--") if "--" in words else len(words)
    options = (word for word in words[:end] if word != "--fresh")
    return tuple(masked(word) for word in (*options, *words[end:]))


def folder_of_option(results: Path) -> str:
    """Return the folder of the records if an option gave it; empty for the default."""
    default = Path(environment().get("BENCHCTL_RESULTS") or RESULTS)
    return str(results) if results != default else ""


def find_scenario(name: str) -> Path:
    """Return the file of a scenario from its path, or from the name of a shipped one (``-`` or ``_``).

    Raises `UsageError` (BX102): there is neither; the message suggests the nearest name.
    """
    if not name.strip():
        raise UsageError("BX102.no-name")
    path = Path(name)
    shipped = assets.shipped_scenarios()
    key = name.replace("_", "-")
    if path.exists() or path.suffix in {".yaml", ".yml"}:
        return path
    if key in shipped:
        return shipped[key]
    details = (("shipped", ", ".join(shipped) or "none"),)
    files = scenario_files()
    near = suggest(path.name, files) or suggest(key, shipped)
    near = files.get(near or "", near)
    raise UsageError("BX102.no-scenario", details=details, name=name, near=near)


def plan_scenario(name: str, *, overrides: Sequence[str] = (), only: str | None = None) -> Plan:
    """Load and expand. Raises `ScenarioError`: it has errors; `UsageError` (BX102): no file."""
    plan = expand(load(find_scenario(name), overrides=overrides), only=only)
    # The report prints the command with the name that the user gave.
    quick = {*QUICK} <= {*overrides}
    typed = (override for override in overrides if not (quick and override in QUICK))
    given = Invocation(only=only or "", overrides=tuple(map(masked, typed)), quick=quick)
    return replace(plan, scenario_path=name, invocation=given)


def require_outside(plan: Plan, results: Path) -> None:
    """Require that benchctl writes into no input folder. Raises `UsageError`, BC414."""
    folders = {i.dataset.path for i in plan.inputs if i.dataset and i.dataset.kind == "folder"}
    data = Path(plan.data_dir) if plan.data_dir else cache_root()
    for folder in sorted(path for path in folders if path):
        for what, path, key in (
            (Phrase(PhraseCode.RESULTS_FOLDER), results, "--dir FOLDER"),
            (Phrase(PhraseCode.OWN_CACHE), cache_root(), "BENCHCTL_CACHE=FOLDER"),
            ("data-dir", data, "data-dir: FOLDER"),
        ):
            if path.resolve().is_relative_to(Path(folder).resolve()):
                raise UsageError("BC414", what=what, path=path, folder=folder, key=key)


def require_digest(plan: Plan, expected: str | None) -> None:
    """Refuse a scenario that has changed. Raises `UsageError`: BX104, no digest; BX139, another one."""
    if expected is None:
        return
    if not DIGEST.fullmatch(expected):
        raise UsageError("BX104.not-a-digest", digest=expected)
    if not plan.scenario_sha256.startswith(expected.lower()):
        raise UsageError(
            "BX139",
            details=(("expected", expected.lower()), ("found", plan.scenario_sha256)),
            name=plan.scenario_path or plan.name,
        )


def plan_given(name: str, options: RunOptions) -> Plan:
    """Load and expand the scenario of a run: its text, or the file. Raises: see `plan_scenario`."""
    if not options.text:
        return plan_scenario(name, overrides=options.overrides, only=options.only)
    scenario = load(Path(name), overrides=options.overrides, text=options.text)
    given = Invocation(words=tuple(shlex.split(options.command)[1:]))
    return replace(expand(scenario, only=options.only), scenario_path="", invocation=given)


def plan_run(name: str, options: RunOptions, *, one_revision: bool = False) -> Plan:
    """Return the plan of a run. With `one_revision`, base and head may be the same commit.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: the run is not possible; nothing was built.
    """
    if options.idle is not None and not 0 < options.idle < float("inf"):
        raise UsageError("BX100.not-a-load", idle=shortest(options.idle))
    plan = plan_given(name, options)
    if not plan.invocation.words:
        given = replace(plan.invocation, results=folder_of_option(options.results))
        plan = replace(plan, invocation=given)
    require_outside(plan, options.results)
    require_digest(plan, options.expect)
    if options.base is not None and not options.base.strip():
        raise UsageError("BX100.base-empty")
    base = options.base or (plan.judge.gate.against if options.gate else "")
    if base:
        fresh = options.fresh or one_revision
        plan = plan_between(
            plan,
            base,
            options.head,
            records=options.results,
            one_revision=one_revision,
            fresh=fresh,
        )
    elif options.head is not None:
        raise UsageError("BX100.head-without-base")
    if options.gate:
        plan = replace(plan, invocation=replace(plan.invocation, gate=True))
        require_decidable(plan)
    return plan


def require_decidable(plan: Plan) -> None:
    """Refuse a gate that can never detect a regression, or whose accepted changes cannot be read.

    Raises:
        UsageError: BX108, too few rounds; BX112, the file of accepted changes cannot be read.
    """
    from bench_framework.features.gate.question import rounds_needed_by_gate

    if (needed := rounds_needed_by_gate(plan)) is not None:
        most = counted(plan.measure.rounds_max, "round")
        raise UsageError("BX108", most=most, needed=needed)
    accepted_changes(plan)


def accepted_changes(plan: Plan) -> tuple[Accepted, ...]:
    """Read the accepted changes of the gate. Raises `UsageError`, BX112."""
    from bench_framework.scenario.gate_policy import read_accepted

    return read_accepted(Path(plan.judge.gate.accepted), plan) if plan.judge.gate.accepted else ()


def plan_between(
    plan: Plan,
    base: str,
    head: str | None = None,
    *,
    records: Path = RESULTS,
    one_revision: bool = False,
    fresh: bool = False,
) -> Plan:
    """Return the plan that measures every variant at two revisions and compares it with itself.

    `base` is a branch, tag, commit, or ``merge-base`` (of the head and the main branch). Without
    `head`, it is the working tree; for a crate that is given by a URL, the revision of the
    scenario, or HEAD of the remote. Changes in the folder `records` do not count. With
    `one_revision`, both may be the same commit. Unless `fresh`, the working tree has the name that it
    has in an interrupted record.

    Raises:
        UsageError: BX110, the scenario cannot be measured at two revisions.
        BuildError: BX224, git is missing; BX225, a revision is missing.
        GateError: BX111, base and head are the same commit.
    """
    from bench_framework.execution import process
    from bench_framework.execution.build import revisions
    from bench_framework.execution.machine import host
    from bench_framework.scenario.revisions import at_revisions

    spec, env = source_of_revisions(plan), host.environment()
    crate = None if spec.git else Path(spec.crate)
    with process.Launcher() as launcher:
        git, cache = revisions.Git(launcher, env), host.cache_root(env)
        commit_of = partial(revisions.commit_of, git, cache, crate=crate, url=spec.git)
        if crate is None and head is None:
            head = spec.revision or "HEAD"
        head_id = None if head is None else commit_of(revision=head)
        if base != MERGE_BASE:
            base_id = commit_of(revision=base)
        elif crate is None:
            raise UsageError("BX110.merge-base-without-repository")
        else:
            target = next((env[name] for name in _TARGETS if env.get(name)), None)
            branches = (f"origin/{target}", target, *_MAIN) if target else _MAIN
            base_id = revisions.merge_base(
                git, cache, crate=crate, head=head_id or "HEAD", branches=branches
            )
        clean = ""
        if head_id is None and crate is not None:
            clean = revisions.clean_commit(git, crate, records)
        if base_id in (head_id, clean) and not one_revision:
            previous = f"{head or 'HEAD'}~1"
            try:
                commit_of(revision=previous)
            except BuildError:
                previous = ""
            details = (("base", base), ("head", head or phrase_of(PhraseCode.UNCHANGED_TREE)))
            raise GateError("BX111", details=details, base_id=base_id[:12], previous=previous)
    revisions_now = Revisions(base_id, head_id, clean)
    return at_revisions(
        plan, revisions_now if fresh else _named_as_before(plan, revisions_now, records)
    )


def _named_as_before(plan: Plan, now: Revisions, results: Path) -> Revisions:
    """Return the revisions as an interrupted record names them, which this run would resume.

    The programs can be equal although a file or a commit was added since. `require_same` checks them.
    """
    from bench_framework.store import finding, layout

    folders = finding.find_records(results, plan.name)
    if not folders or (folders[-1] / layout.MANIFEST).is_file():
        return now
    from bench_framework.store.resuming import find_resumable

    record = find_resumable(results, plan)
    before = record.plan.revisions if record is not None else None
    return before if before and replace(before, clean=now.clean) == now else now


def source_of_revisions(plan: Plan) -> BuildSpec:
    """Return a build, all of which have the same source. Raises `UsageError`, BX110."""
    specs = plan.builds
    reason = next(filter(None, (without_revisions(s.crate, s.registry) for s in specs)), None)
    if plan.revisions is not None:
        reason = Reason(ReasonCode.AT_TWO_REVISIONS)
    elif plan.program is not None:
        reason = UNBUILT
    elif not specs:
        reason = Reason(ReasonCode.NO_BUILD)
    elif not reason and len({spec.revision for spec in specs}) > 1:
        reason = Reason(ReasonCode.AXIS_OF_REVISIONS)
    if not reason:
        return specs[0]
    raise UsageError("BX110.not-at-two-revisions", scenario_path=plan.scenario_path, reason=reason)

"""The search for the commit that changed a configuration: builds, records and the stored steps."""

import glob
import weakref
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from bench_framework import errors
from bench_framework.compare.same_programs import equal_code
from bench_framework.errors import MeasureError, UsageError
from bench_framework.execution import process, progress
from bench_framework.execution.build import revisions
from bench_framework.execution.machine import host
from bench_framework.execution.machine.lock import locked
from bench_framework.extensions.bisect import Find, compute, sentences
from bench_framework.extensions.bisect.model import (
    Bisection,
    Outcome,
    SearchDocument,
    SearchStep,
)
from bench_framework.foreign import read_regular
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import COUNTED, SIMULATED, is_exact
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.benches import Bench
from bench_framework.model.plan.build_spec import stable_id
from bench_framework.model.plan.declared_metrics import InstructionPolicy
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.plan.policies import GatePolicy
from bench_framework.model.plan.revisions import Commit, Revisions
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.machine import fingerprint
from bench_framework.model.result.judgement import WITH_BASELINE, Comparison, Judgement
from bench_framework.scenario.revisions import HEAD, at_commits, at_revisions, cell_id
from bench_framework.scenario.selection import BENCH_NAMES, select_cells
from bench_framework.store import wire
from bench_framework.store.layout import write_whole, writing
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase, phrase_of
from bench_framework.text.write import clause
from bench_framework.workflow.run import run_plan_anew
from bench_framework.workflow.run_options import (
    ALONE,
    RunContext,
    RunOptions,
    find_scenario,
    plan_given,
    require_outside,
    source_of_revisions,
)
from bench_framework.workflow.setup.benches import bench_cell_id, with_time_limit
from bench_framework.workflow.setup.preparation import build_programs, open_driver
from bench_framework.workflow.suites.planning import seconds_of

STATE: Final = "bisect.json"
FOLDER: Final = "bisect"
"""Folder in that of all records with a folder of each search (`store.finding.find_steps`)."""
SIDE_CODES: Final[dict[Outcome, int]] = {"good": 0, "bad": 1}
NO_SIDE: Final = 125
"""Exit codes for ``git bisect run``, which skips a commit with 125."""


@dataclass(frozen=True, slots=True)
class _Built:
    """An observer of a plan whose builds were shown before."""

    observer: progress.Observer

    def notify(self, update: progress.Update) -> None:
        if not isinstance(update, progress.PlanReady | progress.BuildFinished):
            self.observer.notify(update)


class Search:
    """A search with its plan and its stored steps.

    `options` has the good end as `base` and the bad one as `head`. Of several configurations, the one with
    the largest change is searched, by `metric` or the main metric of the scenario. `budget` is the
    measuring time of a step, such as ``2m``.

    With `fixed_ends`, another program chooses the commits, also those of merged branches, and each is
    compared with the ends of the whole range.

    Raises:
        ScenarioError, UsageError: BX110, the scenario has no revisions; BX125, the ends are no range.
        BuildError: an end does not exist.
    """

    def __init__(
        self,
        name: str,
        options: RunOptions,
        observer: progress.Observer,
        find: Find = "regression",
        metric: str | None = None,
        budget: str | None = None,
        *,
        fixed_ends: bool = False,
    ) -> None:
        plan = _planned(name, options, metric, budget)
        commits, self._here, machine = _commits(plan, options, fixed_ends=fixed_ends)
        judge, cells = plan.judge, [cell.id for cell in plan.cells]
        question = (commits[0].id, commits[-1].id, find, judge.headline, cells, fixed_ends)
        key = stable_id(plan.scenario_sha256, *question, machine)
        self.plan = replace(plan, name=f"{FOLDER}/{plan.name}-{key[:6]}")
        self._again = partial(
            Search, name, observer=observer, find=find, metric=metric, budget=budget
        )
        self._text = options.text or find_scenario(name).read_text(encoding="utf-8")
        self._observer, self._options, self._fixed = observer, options, fixed_ends
        self._stopped = False
        self._file = options.results / self.plan.name / STATE
        lock = ExitStack()
        weakref.finalize(self, lock.close)
        # Steps of a process with the same search are awaited and read, not repeated.
        with writing(self._file):
            waits = partial(self.say, phrase_of(ExtensionCode.SEARCH_WAITS))
            lock.enter_context(locked(self._file.parent, waits))
        scenario = plan.name if options.text else name
        self.state = Bisection(1, scenario, find, judge.headline, judge.level, commits)
        if self._file.is_file() and not options.fresh:
            self.state = wire.load(
                Bisection,
                "bisect.json",
                read_regular(self._file),
                key="BX411.search-not-readable",
            )
            self.say(phrase_of(ExtensionCode.SEARCH_CONTINUES, len(self.state.steps)))

    def retry_skipped(self) -> None:
        """Allow to measure the commits again that an earlier call skipped."""
        self.state = compute.without_skipped(self.state)

    @property
    def commit(self) -> Commit | None:
        """The commit with the change, `None` if the search has no answer."""
        end = compute.conclude(self.state)
        return self.state.commits[end.hi] if end.status == "found" else None

    def say(self, text: str) -> None:
        """Pass a line to the observer."""
        self._observer.notify(progress.Message(f"bisect: {text}"))

    def run(self) -> None:
        """Measure until the answer is known, or inconclusive after all attempts. Each step is stored.

        Raises:
            BuildError, MeasureError: BX127, an end cannot be measured; or a tool is missing.
            Interrupted: the decided steps are kept.
        """
        attempts = compute.attempts_of(self.state)
        while (step := compute.next_step(self.state, attempts)) is not None:
            self._do(step)

    def branch(self) -> "Search | None":
        """Return the search of the branch that the found commit merged, `None` if it is no merge."""
        if self.commit is None or len(self.commit.parents) == 1:
            return None
        base, head, *others = self.commit.parents
        line = Phrase(ExtensionCode.SEARCHING_BRANCH, (self.commit.short, head[:9]))
        if others:
            rest = ", ".join(parent[:9] for parent in others)
            line = Phrase(ExtensionCode.NOT_SEARCHED, (line, rest))
        self.say(phrase(line))
        return self._again(options=replace(self._options, base=base, head=head))

    def judge_head(self) -> tuple[SearchStep, int]:
        """Measure the commit that is checked out in the current folder, for ``git bisect run``.

        Returns:
            The step of the commit, and the exit code: 0 good, 1 bad, 125 neither was shown.

        Raises:
            UsageError: BX125, the commit is not in the range.
            GateError: BX126, the ends are not shown to differ. The other errors are those of `run`.
        """
        numbers = {commit.id: number for number, commit in enumerate(self.state.commits)}
        if (number := numbers.get(self._here)) is None:
            if not self._here:
                raise UsageError("BX125.no-repository")
            raise UsageError("BX125.not-in-range", commit=self._here[:12])
        attempts = compute.attempts_of(self.state)
        while (step := compute.next_step(self.state, attempts)) and step.kind == "ends":
            self._do(step)
        ends = [step for step in self.state.steps if step.kind == "ends"][-1]
        if ends.outcome != "differs":
            raise errors.GateError("BX126", text=ends.text or ends.reason)
        if number in (0, len(numbers) - 1):
            return ends, SIDE_CODES["bad" if number else "good"]
        while (step := compute.next_step_of(self.state, number)) is not None:
            self._do(step)
        step = compute.steps_of(self.state, number)[-1]
        return step, SIDE_CODES.get(step.outcome, NO_SIDE)

    def _do(self, step: SearchStep) -> None:
        try:
            self.say(sentences.line_before(self.state, step))
            step = self._commit(step) if step.kind == "commit" else self._pair(step)
            self.state = replace(self.state, steps=(*self.state.steps, step))
            write_whole(self._file, wire.dump(Bisection, self.state))
            self.say(sentences.line_after(self.state, step))
            if self._stopped:
                raise self._interrupted()
        except KeyboardInterrupt:  # between two measurements
            raise self._interrupted() from None

    def _interrupted(self) -> errors.Interrupted:
        return errors.Interrupted(
            "BX130.bisection",
            steps=len(self.state.steps),
            several=len(self.state.steps) != 1,
            command=self._options.command,
        )

    def _pair(self, step: SearchStep) -> SearchStep:
        """Compare two ends. The first time, choose the configuration with the largest change."""
        good, bad = (self.state.commits[number] for number in (step.lo, step.hi))
        plan = at_revisions(self._narrowed(), Revisions(good.id, bad.id))
        plan = compute.scheduled(plan, step)
        record, judgement, measured = self._measure(plan, ALONE, self._observer)
        comparisons = self._of_metric(judgement)
        compared = [c for c in comparisons if not c.verdict.refused]
        refused = [c for c in comparisons if c.verdict.refused]
        if not compared or (refused and compute.of_ends(compared, self.state.find)[0] == "same"):
            # Without these configurations, "no regression" would be an answer to another question.
            cause = refused[0].reason if refused else Reason(ReasonCode.NOT_AVAILABLE)
            some = Phrase(ReasonCode.SHARE, (len(refused), len(comparisons))) if compared else ""
            raise MeasureError(
                "BX127.not-compared", good=good.short, bad=bad.short, cause=cause, some=some
            )
        outcome, largest = compute.of_ends(compared, self.state.find)
        if not self.state.cell_id and outcome == "differs":
            bench = measured.input(measured.cell(largest.cell_id).input_id).bench
            cell = next(c for c in self.plan.cells if _id_of(c, bench) == largest.cell_id)
            label, item = self.plan.variant(cell.variant_id).label, self.plan.input(cell.input_id)
            names = [label] if bench is None or len(self.plan.cells) > 1 else []
            names += [item.name] if item.name else []
            names += [f"{bench.target}: {bench.id}"] if bench is not None else []
            name = ", ".join(names)
            self.state = replace(self.state, cell_id=cell.id, configuration=name, bench=bench)
        ids, kinds = (largest.cell_id, largest.ref_cell_id), ("comparison", "memory")
        texts = (clause(c) for c in judgement.claims if c.cells == ids and c.kind in kinds)
        step = replace(step, text=next(texts, ""), reason=largest.reason)
        return replace(step, outcome=outcome, record=record, comparisons=(largest,))

    def _commit(self, step: SearchStep) -> SearchStep:
        """Measure a commit in the same rounds as both ends, unless its code is that of one of them."""
        commit, good, bad = (self.state.commits[n] for n in (step.candidate, step.lo, step.hi))
        ids = dict(zip(compute.SIDES, (commit.id, good.id, bad.id), strict=True))
        names = (commit.short, good.short, bad.short)
        question = phrase_of(ExtensionCode.WHICH_SIDE, *names)
        plan = at_commits(self._narrowed(), ids, question)
        if not self._options.text:
            words = ("bisect", self.state.scenario, "--good", good.id, "--bad", bad.id)
            plan = replace(plan, scenario_path="", invocation=Invocation(words=words))
        plan = compute.scheduled(plan, step)
        rule = None
        if not is_exact(self.state.metric):
            rule = compute.SideRule(self.state.find, nearer=self._fixed)
        untested = replace(step, level=0.0, outcome="skipped")
        try:
            if (end := self._same_code(plan)) is not None:
                return replace(untested, outcome=end, reason=Reason(ReasonCode.SAME_CODE))
            built = _Built(self._observer)
            context = RunContext(pages=False, rule=rule)
            record, judgement, measured = self._measure(plan, context, built)
        except (errors.BuildError, errors.CellError, errors.AnswerError) as error:
            text = error.details[0][1] if error.details else error.message
            cause = Reason(ReasonCode.ERROR, (error.code, text.strip().partition("\n")[0]))
            return replace(untested, reason=cause)
        pair = compute.comparisons_of(measured, self._of_metric(judgement))
        refused = [c.reason for c in pair or () if c.verdict.refused]
        if pair is None or refused:
            reason = next(iter(refused), None) or Reason(ReasonCode.NOT_COMPARABLE)
            return replace(untested, record=record, reason=reason)
        outcome = compute.side(*pair, self.state.find, nearer=self._fixed) or "inconclusive"
        step = replace(step, outcome=outcome, reason=pair[0].reason)
        return replace(step, record=record, comparisons=pair)

    def _same_code(self, plan: Plan) -> Outcome | None:
        """Build a commit and both ends, and return the end that is the same program."""
        with open_driver(plan, self._observer) as driver:
            builds = {build.id: build for build in build_programs(plan, driver)}
        driver.stop.check()
        specs = [plan.programs(v.build)[0] for v in plan.variants if v.build is not None]
        commit, good, bad = (builds[spec.id] for spec in specs)
        for end in (good, bad):
            if not end.ok:
                details = (("build", phrase(end.failure)),)
                raise MeasureError("BX127.end-not-built", details=details)
        return "good" if equal_code(commit, good) else "bad" if equal_code(commit, bad) else None

    def _narrowed(self) -> Plan:
        """Return the plan of the configuration that is searched, as soon as it is known."""
        cells = tuple(c for c in self.plan.cells if self.state.cell_id in ("", c.id))
        plan, bench = replace(self.plan, cells=cells), self.state.bench
        if plan.benches is None or bench is None:
            return plan
        # An id may contain the signs of a pattern.
        one = replace(plan.benches, targets=(bench.target,), only=(glob.escape(bench.id),))
        return replace(plan, benches=one)

    def _of_metric(self, judgement: Judgement) -> list[Comparison]:
        comparisons = [c for c in judgement.comparisons if c.family in WITH_BASELINE]
        return [c for c in comparisons if c.metric == self.state.metric]

    def _measure(
        self, plan: Plan, context: RunContext, observer: progress.Observer
    ) -> tuple[str, Judgement, Plan]:
        given = self._options
        options = RunOptions(given.results, fresh=given.fresh, profile=False)
        outcome = run_plan_anew(plan, self._text, options, observer, context)
        if outcome.judgement is None or outcome.record is None:
            raise self._interrupted()
        self._stopped = outcome.exit_code == errors.EXIT_INTERRUPTED
        with Record.open(outcome.record) as record:
            measured = record.plan
        return f"{plan.name}/{outcome.record.name}", outcome.judgement, measured


def _id_of(cell: Cell, bench: Bench | None) -> str:
    """Return the id that a cell of the scenario, or a benchmark of it, has at the bad end."""
    return cell_id(cell, HEAD) if bench is None else bench_cell_id(cell_id(cell, HEAD), bench)


def _planned(name: str, options: RunOptions, metric: str | None, budget: str | None) -> Plan:
    """Return the scenario's plan with the selected configurations, judged by one metric."""
    plan = plan_given(name, options)
    require_outside(plan, options.results)
    source_of_revisions(plan)
    cells, later = plan.cells, () if plan.benches is None else BENCH_NAMES
    if options.only:
        cells = select_cells(plan, options.only, later=later)
    roles = (Role.BASELINE, Role.CANDIDATE)
    measured = [c for c in cells if c.role in roles and not plan.variant(c.variant_id).experiment]
    if not measured:
        raise UsageError("BX110.no-such-configuration", name=name)
    if plan.benches is not None and metric not in (None, plan.judge.headline):
        raise UsageError("BX110.metric-of-benches", metric=metric, name=name)
    metric = metric or plan.judge.headline
    if plan.server and metric in COUNTED:
        raise UsageError("BX110.metric-of-server", metric=metric, name=name)
    if budget is not None:
        plan = with_time_limit(plan, seconds_of(budget))
    measure = replace(plan.measure, until="conclusive", precision=None, strategy="fixed")
    counts = replace(plan.instructions or InstructionPolicy(), optional=False)
    counts = replace(counts, cache_sim=counts.cache_sim or metric in SIMULATED)
    return replace(
        plan.without_texts(),
        cells=tuple(measured),
        measure=measure,
        judge=replace(plan.judge, metrics=(metric,), gate=GatePolicy()),
        instructions=counts if metric in COUNTED else None,
    )


def _commits(
    plan: Plan, options: RunOptions, *, fixed_ends: bool
) -> tuple[tuple[Commit, ...], str, str]:
    """Return the commits from the good to the bad end, the one that is checked out, and the machine."""
    spec, env, results = source_of_revisions(plan), host.environment(), options.results
    crate, ends = None if spec.git else Path(spec.crate), (options.base or "", options.head or "")
    for end in ends if fixed_ends else ():
        if end.startswith(("HEAD", "@", "bisect/", "refs/bisect/")):
            raise UsageError("BX125.relative-end", end=end)
    with process.Launcher() as launcher:
        git, cache = revisions.Git(launcher, env), host.cache_root(env)
        commits = revisions.commits_between(
            git, cache, crate=crate, url=spec.git, ends=ends, first_parent=not fixed_ends
        )
        here = git.try_run("rev-parse", "HEAD") or ""
        facts = host.facts(
            launcher, hyperfine="", results=results, data=cache, env=env, builds=False
        )
    return commits, here, fingerprint(facts).digest


def document(search: Search) -> SearchDocument:
    """Return the JSON document of a search."""
    state, end = search.state, compute.conclude(search.state)
    return SearchDocument(
        scenario=state.scenario,
        find=state.find,
        metric=state.metric,
        level=state.level,
        cell_id=state.cell_id,
        configuration=state.configuration,
        commits=tuple(commit.id for commit in state.commits),
        status=end.status,
        commit=state.commits[end.hi] if end.status == "found" else None,
        range=state.commits[end.lo : end.hi + 1],
        text=sentences.change(end.evidence) if end.evidence else None,
        record=end.evidence.record if end.evidence else None,
        steps=state.steps,
    )

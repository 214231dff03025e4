"""The self-test of a gate: gates of its base against equal and slower copies, in records of their own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench_framework.errors import Interrupted, UsageError
from bench_framework.execution.build.preloads import compiled_library
from bench_framework.execution.machine.host import environment, seconds, this_host_id, utc_now
from bench_framework.execution.machine.programs import loader_of
from bench_framework.execution.process import Launcher, scratch_folder
from bench_framework.execution.progress import Message, Observer
from bench_framework.features.gate.outcome import main_metric
from bench_framework.features.gate.self_test import (
    EXIT_CODES,
    SMALLEST,
    required_slowdown,
    self_test_plan,
    trial_of,
)
from bench_framework.model.documents.gate import (
    Detections,
    FalseAlarms,
    SelfTestDocument,
    SuiteSelfTestDocument,
)
from bench_framework.model.documents.plan import SCHEMA_VERSION
from bench_framework.model.plan.plan import Plan
from bench_framework.model.result.self_test import SelfTest, SuiteSelfTest, Trial
from bench_framework.report.render import self_test as page
from bench_framework.stats.proportions import CONFIDENCE, at_least, at_most
from bench_framework.store import layout
from bench_framework.store.records import Record
from bench_framework.text.documents import document_text
from bench_framework.workflow.gate import confirm_here, gate_record
from bench_framework.workflow.run import run_plan
from bench_framework.workflow.run_options import (
    RunContext,
    RunOptions,
    find_scenario,
    plan_run,
    require_decidable,
)
from bench_framework.workflow.self_test_results import RESULT, SELF_TESTS, SUITE_RESULT
from bench_framework.workflow.suites.planning import plan_suite, with_budget


@dataclass(frozen=True, slots=True)
class SelfTestResult:
    """A self-test of a gate or suite, and the file with its document."""

    file: Path
    test: SelfTest | SuiteSelfTest


def self_test(
    name: str,
    options: RunOptions,
    observer: Observer,
    *,
    repetitions: int,
    slowdown: float | None = None,
) -> SelfTestResult:
    """Test the gate of a scenario on this machine.

    Base against base, and base against a copy that is slower by `slowdown`, are gated `repetitions` times each;
    without `slowdown`, by `required_slowdown`. Then the slowdown is halved until a gate does not find it.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: see `plan_run`; BX140, the gate cannot be tested.
        MachineError: this machine cannot measure, or BX245: it cannot compile the library that slows benchmarks down.
        Interrupted: measuring was interrupted. The self-test has no result.
    """
    plan = plan_run(name, options, one_revision=True)
    gate = _Gate(plan, _text_of(name, options), slowdown)
    with _clock(plan) as clock:
        folder, test = _test(gate, clock, options, observer, repetitions)
    return SelfTestResult(folder / RESULT, test)


def self_test_suite(
    names: Sequence[str],
    options: RunOptions,
    observer: Observer,
    *,
    budget: str | None,
    repetitions: int,
    slowdown: float | None = None,
) -> SelfTestResult:
    """Test the gate of each scenario of a suite, with its share of the error rate and of the budget.

    Raises: see `self_test` and `plan_suite`.
    """
    suite = plan_suite(names, options, budget, gated=True, one_revision=True)
    gates = []
    for member, budget_s in zip(suite.members, suite.budgets(), strict=True):
        plan = member.plan if suite.budget_s is None else with_budget(member.plan, budget_s)
        gates.append(_Gate(plan, _text_of(member.file, options), slowdown))
    tests = []
    with _clock(*(gate.plan for gate in gates)) as clock:
        for place, gate in enumerate(gates, 1):
            observer.notify(Message(page.scenario(gate.plan.name, place, len(gates))))
            tests.append(_test(gate, clock, options, observer, repetitions)[1])
    test = SuiteSelfTest(tuple(tests))
    with layout.new_folder(options.results / SELF_TESTS, utc_now()) as (folder, draft):
        layout.write_all(draft, {SUITE_RESULT: document_text(suite_self_test_document(test))})
    return SelfTestResult(folder / SUITE_RESULT, test)


class _Gate:
    """The gate of a scenario that is tested."""

    def __init__(self, plan: Plan, text: str, slowdown: float | None) -> None:
        """Raises `UsageError`: BX140, the gate cannot be tested; BX108, it has too few rounds."""
        policy = plan.judge.gate
        self.plan, self.text = plan, text
        self.share = required_slowdown(policy) if slowdown is None else slowdown
        self.margin = policy.tolerated[main_metric(policy)]
        require_decidable(self_test_plan(plan, self.share, 0))


def _text_of(name: str, options: RunOptions) -> str:
    return options.text or find_scenario(name).read_text(encoding="utf-8")


@contextmanager
def _clock(*plans: Plan) -> Iterator[str]:
    """Yield the path of the library that slows benchmarks down, empty if no plan has benchmarks.

    Raises: `MachineError` (BX245): there is no compiler; `UsageError` (BX140): the loader would not accept the path.
    """
    if all(plan.benches is None for plan in plans):
        yield ""
        return
    # `LD_PRELOAD` separates paths by colons and spaces, and the results can be in any folder.
    with scratch_folder() as folder, Launcher() as launcher:
        if {":", " "} & set(folder):
            raise UsageError("BX140.folder", folder=folder)
        yield compiled_library("faster_clock.c", folder, launcher, environment())


def _test(
    gate: _Gate, clock: str, options: RunOptions, observer: Observer, repetitions: int
) -> tuple[Path, SelfTest]:
    """Measure the trials of a gate, and write their result. Return its folder, too."""
    with layout.new_folder(options.results / SELF_TESTS, utc_now()) as (folder, _):
        pass
    with layout.in_use(folder):  # `clean` does not remove it meanwhile
        within = replace(options, results=folder, fresh=True, profile=False)
        plan, left = gate.plan, [0.0, gate.share] * repetitions
        level, only = plan.judge.gate.level, plan.invocation.only
        test = SelfTest(plan.name, plan.scenario_sha256, only, gate.share, gate.margin, level, ())
        while left:
            number, share = len(test.trials), left.pop(0)
            observer.notify(Message(page.progress(share, number + 1, 2 * repetitions)))
            trial = self_test_plan(plan, share, number, clock)
            done = _trial(trial, gate.text, share, within, observer)
            test = replace(test, trials=(*test.trials, done))
            if done.state == "failed":
                break
            if not left and test.missed is None and test.smallest is not None:
                left = [half] if (half := test.smallest / 2) >= SMALLEST else []
        layout.write_all(folder, {RESULT: document_text(self_test_document(test))})
    return folder, test


def _trial(trial: Plan, text: str, share: float, options: RunOptions, observer: Observer) -> Trial:
    """Measure and gate copies that are slower by `share`. Raises `Interrupted`."""
    begin = seconds()
    outcome = run_plan(trial, text, options, observer, RunContext(pages=False, counts=False))
    if outcome.record is None or outcome.judgement is None or outcome.resume is not None:
        raise Interrupted("BX130.self-test")
    _require_clock(trial, outcome.record)
    result = gate_record(
        options.results,
        str(outcome.record),
        observer=observer,
        measure_again=partial(confirm_here, options, observer, counts=False),
    )
    policy, name = trial.judge.gate, outcome.record.name
    return trial_of(share, result.gating, policy, seconds() - begin, name)


def _require_clock(trial: Plan, folder: Path) -> None:
    """Refuse a bench target that is statically linked. Raises `UsageError`, BX140."""
    if trial.benches is None:
        return
    with Record.open(folder) as record:
        paths = [Path(build.path) for build in record.contents.builds if build.path]
    if (path := next((path for path in paths if loader_of(path) == ""), None)) is not None:
        raise UsageError("BX140.statically-linked", path=path)


def suite_self_test_document(test: SuiteSelfTest) -> SuiteSelfTestDocument:
    """Return the result of a suite as a JSON document, for `SUITE_RESULT` and ``--json``."""
    alarms, judged = test.alarms
    return SuiteSelfTestDocument(
        schema_version=SCHEMA_VERSION,
        exit_code=EXIT_CODES[test.outcome],
        outcome=test.outcome,
        answer=page.suite_answer(test),
        confidence=CONFIDENCE,
        false_alarms=FalseAlarms(alarms, judged, at_most(alarms, judged)),
        seconds=test.seconds,
        self_tests=tuple(self_test_document(one) for one in test.tests),
    )


def self_test_document(test: SelfTest) -> SelfTestDocument:
    """Return the result as a JSON document, for `RESULT` and ``--json``."""
    shares = (0.0, test.share)
    equal, slower = (test.count(share, "passed", "worse") for share in shares)
    alarms, detected = (test.count(share, "worse") for share in shares)
    return SelfTestDocument(
        schema_version=SCHEMA_VERSION,
        scenario=test.scenario,
        scenario_sha256=test.scenario_sha256,
        only=test.only,
        host_id=this_host_id(),
        exit_code=EXIT_CODES[test.outcome],
        outcome=test.outcome,
        answer=page.answer(test),
        margin=test.margin,
        level=test.level,
        slowdown=test.share,
        confidence=CONFIDENCE,
        false_alarms=FalseAlarms(alarms, equal, at_most(alarms, equal)),
        detections=Detections(detected, slower, at_least(detected, slower)),
        smallest_found=test.smallest,
        largest_missed=test.missed,
        seconds=test.seconds,
        trials=test.trials,
    )

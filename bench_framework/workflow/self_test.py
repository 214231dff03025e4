"""The self-test of a gate: gates of its base against equal and slower copies, in records of their own."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from bench_framework.errors import Interrupted
from bench_framework.execution.machine.host import seconds, this_host_id, utc_now
from bench_framework.execution.progress import Message, Observer
from bench_framework.features.gate.outcome import main_metric
from bench_framework.features.gate.self_test import (
    EXIT_CODES,
    SMALLEST,
    required_slowdown,
    self_test_plan,
    trial_of,
)
from bench_framework.model.documents import SCHEMA_VERSION
from bench_framework.model.gate_documents import (
    Detections,
    FalseAlarms,
    SelfTestDocument,
)
from bench_framework.model.plan import Plan
from bench_framework.model.self_test import SelfTest
from bench_framework.report.render import self_test as page
from bench_framework.stats.proportions import CONFIDENCE, at_least, at_most
from bench_framework.store import layout, wire
from bench_framework.workflow.gate import confirm_here, gate_record
from bench_framework.workflow.run import run_plan
from bench_framework.workflow.run_options import (
    RunContext,
    RunOptions,
    find_scenario,
    plan_run,
    require_decidable,
)
from bench_framework.workflow.self_test_results import RESULT, SELF_TESTS


@dataclass(frozen=True, slots=True)
class SelfTestResult:
    """A self-test, and the folder with its records and `RESULT`."""

    folder: Path
    test: SelfTest


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
        MachineError: this machine cannot measure.
        Interrupted: measuring was interrupted. The self-test has no result.
    """
    plan = plan_run(name, options, one_revision=True)
    share = required_slowdown(plan.judge.gate) if slowdown is None else slowdown
    require_decidable(self_test_plan(plan, share, 0))
    with layout.new_folder(options.results / SELF_TESTS, utc_now()) as (folder, _):
        pass
    text = options.text or find_scenario(name).read_text(encoding="utf-8")
    within = replace(options, results=folder, fresh=True, profile=False)
    margin = plan.judge.gate.tolerated[main_metric(plan.judge.gate)]
    test = SelfTest(plan.name, share, margin, ())
    left = [0.0, share] * repetitions
    while left:
        number = len(test.trials) + 1
        more = f" of at least {2 * repetitions}" if number <= 2 * repetitions else ""
        observer.notify(Message(page.progress(left[0], f"{number}{more}")))
        test = _with_trial(test, plan, text, left.pop(0), within, observer)
        if test.trials[-1].state == "failed":
            break
        if not left and test.missed is None and test.smallest is not None:
            left = [half] if (half := test.smallest / 2) >= SMALLEST else []
    layout.write_all(folder, {RESULT: wire.indented(self_test_document(test))})
    return SelfTestResult(folder, test)


def _with_trial(
    test: SelfTest, plan: Plan, text: str, share: float, options: RunOptions, observer: Observer
) -> SelfTest:
    """Measure and gate copies that are slower by `share`. Raises `Interrupted`."""
    begin, number = seconds(), len(test.trials)
    trial = self_test_plan(plan, share, number)
    outcome = run_plan(trial, text, options, observer, RunContext(pages=False, counts=False))
    if outcome.record is None or outcome.judgement is None or outcome.resume is not None:
        raise Interrupted("BX130.self-test")
    record = str(outcome.record)
    result = gate_record(
        options.results,
        record,
        observer=observer,
        measure_again=partial(confirm_here, options, observer, counts=False),
    )
    policy, name = trial.judge.gate, outcome.record.name
    done = trial_of(share, result.gating, policy, seconds() - begin, name)
    return replace(test, trials=(*test.trials, done))


def self_test_document(test: SelfTest) -> SelfTestDocument:
    """Return the result as a JSON document, for `RESULT` and ``--json``."""
    shares = (0.0, test.share)
    equal, slower = (test.count(share, "passed", "worse") for share in shares)
    alarms, detected = (test.count(share, "worse") for share in shares)
    return SelfTestDocument(
        schema_version=SCHEMA_VERSION,
        scenario=test.scenario,
        host_id=this_host_id(),
        exit_code=EXIT_CODES[test.outcome],
        outcome=test.outcome,
        answer=page.answer(test),
        margin=test.margin,
        slowdown=test.share,
        confidence=CONFIDENCE,
        false_alarms=FalseAlarms(alarms, equal, at_most(alarms, equal)),
        detections=Detections(detected, slower, at_least(detected, slower)),
        smallest_found=test.smallest,
        largest_missed=test.missed,
        seconds=test.seconds,
        trials=test.trials,
    )

"""The stored results of self-tests."""

from pathlib import Path
from typing import Final

from bench_framework.features.gate.outcome import main_metric
from bench_framework.foreign import parse_json
from bench_framework.model.documents.gate import SelfTestDocument
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.store import wire
from bench_framework.store.records import Record

SELF_TESTS: Final = "self-tests"
"""Folder in that of all records with a folder of each self-test."""
RESULT: Final = "self-test.json"
SUITE_RESULT: Final = "suite-self-test.json"
"""Both in a folder of `SELF_TESTS`: each scenario of a suite has a self-test of its own, too."""


def self_test_remarks(results: Path, record: Record) -> tuple[Reason, ...]:
    """Return a remark about the newest self-test of a record's scenario, selection, margin and machine, or nothing."""
    plan, machine = record.plan, record.contents.host
    host = machine.host_id if machine else None
    policy = plan.judge.gate
    margin, only = policy.tolerated[main_metric(policy)], plan.invocation.only
    gate = (plan.scenario_sha256, only, margin, host)
    for path in sorted((results / SELF_TESTS).glob(f"*/{RESULT}"), reverse=True):
        try:
            document = wire.read(SelfTestDocument, parse_json(path.read_bytes()))
        # It can be damaged or of another version. A line on a page is not worth an error.
        except (OSError, ValueError):
            continue
        tested = (document.scenario_sha256, document.only, document.margin, document.host_id)
        if tested == gate:
            remark = Reason(ReasonCode.SELF_TEST, (path.parent.name, document.answer))
            if policy.level != document.level:
                remark = Reason(ReasonCode.OTHER_ERROR_RATE, (remark, document.level))
            if (smallest := document.smallest_found) is not None:
                remark = Reason(ReasonCode.SMALLEST_DETECTED, (remark, smallest))
            return (remark,)
    return ()

"""The stored results of self-tests."""

from pathlib import Path
from typing import Final

from bench_framework.execution.machine.host import this_host_id
from bench_framework.features.gate.outcome import main_metric
from bench_framework.foreign import parse_json
from bench_framework.model.gate_documents import SelfTestDocument
from bench_framework.model.plan import Plan
from bench_framework.report.render.self_test import remark
from bench_framework.store import wire

SELF_TESTS: Final = "self-tests"
"""Folder in that of all records with a folder of each self-test."""
RESULT: Final = "self-test.json"


def self_test_remarks(results: Path, plan: Plan) -> tuple[str, ...]:
    """Return a line about the newest self-test of this scenario, margin and machine; nothing without one."""
    margin, host = plan.judge.gate.tolerated[main_metric(plan.judge.gate)], this_host_id()
    for path in sorted((results / SELF_TESTS).glob(f"*/{RESULT}"), reverse=True):
        try:
            document = wire.read(SelfTestDocument, parse_json(path.read_bytes()))
        except (
            OSError,
            ValueError,
        ):  # damaged, or of another version: a remark is not worth an error
            continue
        if (document.scenario, document.margin, document.host_id) == (plan.name, margin, host):
            return (remark(document, path.parent.name),)
    return ()

"""Numbers in the output of a run, and the reasons for missing ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.answers import AnswerReader, signature
from bench_framework.execution.declared_metrics import MetricReader
from bench_framework.execution.process import Launcher
from bench_framework.execution.target import Target
from bench_framework.model.json_path import parse
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Cell, Role
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.model.record.run import Block, Receipt

CELL = Cell("c", "v", "i", "c", Role.CANDIDATE, ())
TARGET = Target(CELL, (), {}, None, None, (), None, (), ())
NO_READER = AnswerReader(Launcher(), AnswerPolicy(), 1.0)  # starts nothing
BLOCK = Block(0, 1, 0, "c", warmup=False, status="ok", started_at="", wall_s=(0.1,))


def read(folder: Path, *metrics: DeclaredMetric, text: str, timeout_s: float = 60.0) -> Block:
    (folder / "out").write_text(text)
    with Launcher() as launcher:
        reader = AnswerReader(launcher, AnswerPolicy(), timeout_s)
        return MetricReader(metrics, folder / "out", None, reader).read(TARGET, BLOCK)


def printed(**fields: Any) -> DeclaredMetric:
    return DeclaredMetric("x", "stdout", **fields)


@pytest.mark.parametrize(
    ("text", "metric", "value"),
    [
        ("requests/s: 12.5\n", printed(regex=r"requests/s: ([0-9.]+)"), 12.5),
        ("a\nt=3\nb", printed(regex=r"^t=(\d+)$", unit="s", scale=1e-3), 0.003),
        ("v=-1e3 v=-1e3", printed(regex=r"v=(\S+)"), -1000.0),
        ('{"a": {"b": [1, 2.5]}}', printed(path=parse("a.b[1]"), scale=2.0), 5.0),
        ('log line\n{"a": 7}\n', printed(path=("a",)), 7.0),
        ('{"a": 7, "b": 1, "b": 2, "a": 7}', printed(path=("a",)), 7.0),
        ("v=1_000", printed(regex=r"v=(\S+)"), 1000.0),
        ("v=0", printed(regex=r"v=(\S+)"), 0.0),
        ("v=1e18", printed(regex=r"v=(\S+)"), 1e18),
    ],
)
def test_a_number_is_read_in_stored_units(
    tmp_path: Path, text: str, metric: DeclaredMetric, value: float
) -> None:
    assert read(tmp_path, metric, text=text).metrics == {"x": pytest.approx(value)}


@pytest.mark.parametrize(
    ("text", "metric", "words"),
    [
        ("", printed(regex="(a)"), "matches nothing in stdout"),
        ("v=1 v=2", printed(regex=r"v=(\d)"), "matches different values: 1, 2"),
        ("v=fast", printed(regex=r"v=(\w+)"), 'matches "fast", which is not a number'),
        ("v=", printed(regex=r"v=(\d)?"), "matches null"),
        ('{"a": "12ms"}', printed(path=("a",)), '`a` is "12ms", which is not a number'),
        ('{"a": true}', printed(path=("a",)), "which is not a number"),
        ('{"a": NaN}', printed(path=("a",)), "not a finite number"),
        ('{"a": 1e999}', printed(path=("a",)), "not a finite number"),
        ("v=1.8e308", printed(regex=r"v=(\S+)"), "not a finite number"),
        ("v=1.7e308", printed(regex=r"v=(\S+)"), "1.7e+308 is out of range"),
        ('{"a": -1e25}', printed(path=("a",)), "-1e+25 is out of range"),
        ('{"a": 5e-324}', printed(path=("a",)), "5e-324 is out of range"),
        ('{"a": 1e-12}', printed(path=("a",), unit="s", scale=1e-9), "1e-12 is out of range"),
        ('{"b": 1}', printed(path=("a",)), "there is no `a` at its top"),
        ("no json", printed(path=("a",)), "neither the whole text nor its last line is JSON"),
        ("", printed(path=("a",)), "there is no `a`"),
        ("v=1_", printed(regex=r"v=(\S+)"), 'matches "1_", which is not a number'),
        ("v=1__0", printed(regex=r"v=(\S+)"), "which is not a number"),
        ('{"a": 1, "a": 2}', printed(path=("a",)), "`a` is a duplicate key with different values"),
        ('{"a": {"b": 1}, "a": {"b": 2}}', printed(path=("a", "b")), "there is no `b` in `a`"),
        ("[" * 200_000, printed(path=("a",)), "neither the whole text nor its last line is JSON"),
    ],
)
def test_an_unreadable_number_is_missing_with_a_reason(
    tmp_path: Path, text: str, metric: DeclaredMetric, words: str
) -> None:
    assert words in read(tmp_path, metric, text=text).missing["x"]


def test_an_expression_that_never_ends_is_stopped(tmp_path: Path) -> None:
    metrics = (printed(regex="((?:a+)+)$"), DeclaredMetric("y", "stdout", path=()))
    block = read(tmp_path, *metrics, text="a" * 40 + "b", timeout_s=0.3)
    assert block.missing["x"] == "metrics.x (((?:a+)+)$) exceeded the time limit of 0.3 s"
    assert "neither the whole text" in block.missing["y"]


def test_a_block_has_its_metrics_and_the_reasons_for_missing_ones(tmp_path: Path) -> None:
    metrics = (printed(regex=r"x=(\d)"), DeclaredMetric("y", "stdout", regex=r"y=(\d)"))
    block = read(tmp_path, *metrics, text="x=5")
    assert block.metrics == {"x": 5.0}
    assert block.missing == {"y": r"`y=(\d)` matches nothing in stdout"}
    assert (block.metric("x"), block.metric("y")) == (5.0, None)


def test_an_answer_file_of_an_earlier_run_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    file.write_text('{"x": 1}')
    metric = DeclaredMetric("x", "answer", path=("x",))
    readings = MetricReader((metric,), tmp_path / "none", file, NO_READER)
    readings.before = signature(file)
    assert "did not write" in readings.read(TARGET, BLOCK).missing["x"]
    file.write_text('{"x": 22}')
    assert readings.read(TARGET, BLOCK).metrics == {"x": 22.0}
    file.unlink()
    assert "cannot be read" in readings.read(TARGET, BLOCK).missing["x"]


def test_a_number_may_be_anywhere_in_a_workers_line(tmp_path: Path) -> None:
    metrics = (
        DeclaredMetric("deep", "worker", scale=1e-3, path=("phases_s", "count")),
        DeclaredMetric("own", "worker"),
        DeclaredMetric("lacking", "worker"),
    )
    readings = MetricReader(metrics, tmp_path / "none", None, NO_READER)
    line = json.dumps({"phases_s": {"count": 250}, "metrics": {"own": 3, "other": 4}}).encode()
    receipts, missing = readings.of_replies([line], [Receipt(metrics={"own": 3.0, "other": 4.0})])
    assert [receipt.metrics for receipt in receipts] == [{"own": 3.0, "other": 4.0, "deep": 0.25}]
    assert missing == {"lacking": "`metrics.lacking`: there is no `lacking` in `metrics`"}
    assert not readings.needs_stdout

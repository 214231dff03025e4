"""Tests of the gate from a scenario to the exit code and the files for CI."""

import csv
import json
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from bench_framework.model.result.race import includes_finished
from bench_framework.store.finding import find_records
from bench_framework.store.records import Record
from tests.documents import valid
from tests.integration.processes import (
    Done,
    Process,
    benchctl,
    count_rounds,
    executable,
    fake_hyperfine,
    isolated,
    start,
    wait_for,
)
from tests.unit.report.test_gate_junit import validate

SCENARIO = """
version: 1
name: gated
question: Is the head slower than the base?
worker: {command: [/bin/echo]}
axes: {rev: [base, head, "<b>odd | name</b>"]}
command: ["{bin}", "rev-{rev}"]
baseline: {rev: base}
measure: {rounds: 24, until: rounds, warmup: 1, seed: 5}
gate: {wall: 2%, cpu: 2%}
"""


class Folder:
    """A folder with the scenario and a hyperfine that answers from a script."""

    def __init__(self, path: Path, head_s: float) -> None:
        self.path = path
        (path / "gated.yaml").write_text(SCENARIO)
        rules = [
            {"match": "rev-head", "wall_s": head_s, "stdout": "42\n"},
            {"match": "rev-", "wall_s": 0.05, "stdout": "42\n"},
        ]
        fake_hyperfine(path, rules)

    def __call__(self, *words: str, code: int | None = None, **env: str) -> Done:
        return benchctl(self.path, *words, env=isolated(self.path, **env), code=code)

    def start(self, *words: str, **env: str) -> Process:
        return start(self.path, *words, env=isolated(self.path, **env))

    def text_of(self, name: str) -> str:
        return (self.records[0] / name).read_text(encoding="utf-8")

    @property
    def records(self) -> list[Path]:
        return find_records(self.path / "results")

    @property
    def document(self) -> dict[str, Any]:
        return valid("gate", self.text_of("gate.json"))


@pytest.fixture
def slower(tmp_path: Path) -> Folder:
    return Folder(tmp_path, 0.055)


def test_a_confirmed_regression_fails_the_gate_in_every_file(
    slower: Folder, tmp_path: Path
) -> None:
    step = tmp_path / "step.md"
    done = slower(
        "run", "gated.yaml", "--gate", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(step), code=1
    )
    first, second = slower.records
    document = slower.document
    expected = (1, first.name, second.name)
    assert (document["exit_code"], document["record_id"], document["confirmation"]) == expected
    states = {(pair["variant"], pair["metric"]): pair["state"] for pair in document["pairs"]}
    assert states["head", "wall"] == "worse"
    assert states["<b>odd | name</b>", "wall"] == "passed"
    assert re.search(r" is (9|10)\b.* slower than ", document["pairs"][0]["text"])

    # Only the possible regression is measured again, with its baseline and the A/A control.
    plan = json.loads((second / "plan.json").read_text())
    assert sorted(cell["role"] for cell in plan["cells"]) == ["baseline", "candidate", "control"]
    # Its pages are written on request.
    assert not (second / "report.html").exists()
    assert slower("verify", str(second)).returncode == 0
    assert slower("report", str(second)).returncode == 0
    assert (
        f"possible regressions of record {first.name} again, in new rounds"
        in (second / "appendix.md").read_text()
    )
    assert slower("verify", str(second)).returncode == 0

    assert "▲ Benchmarks: regressions found" in done.stdout
    assert "head, time: worse" in done.stdout
    assert "regression confirmed" in done.stdout
    assert f"second measurement: {second.name}" in " ".join(done.stdout.split())
    assert document["result"].startswith("regressions found")
    assert f" · gate: {document['result']} · " in slower.text_of("report.md").split("\n")[0]
    assert done.stderr.count("::error title=benchctl gate::") == len(
        [s for s in states.values() if s == "worse"]
    )

    comment = slower.text_of("comment.md")
    assert comment.startswith(
        "<!-- benchctl:gate scenario=gated -->\n### ▲ Benchmarks: regressions found"
    )
    assert "<b>" not in comment
    assert step.read_text() == slower.text_of("summary.md")
    suite = validate(slower.text_of("junit.xml"))
    assert suite.get("failures") == str(len([s for s in states.values() if s == "worse"]))
    assert suite.get("tests") == str(len(states))
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "slower than base" in failure.get("message", "")

    # Without a name, the record of the scenario is used, not its confirmation.
    assert valid("report", slower("report", "@last", "--json").stdout)["record"] == str(first)
    assert slower("baseline", "save", "main").returncode == 0
    (saved,) = first.parent.glob("baselines/main.json")
    assert json.loads(saved.read_text())["record"] == first.name
    refused = slower("baseline", "save", "other", str(second), code=2)
    assert f"measures only possible regressions of gated/{first.name} again" in refused.stderr

    # The second measurement decides again.
    gone = slower(
        "gate",
        str(second),
        "--no-confirm",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(tmp_path / "no" / "x"),
        code=1,
    )
    assert "cannot write the step summary" in gone.stderr
    # The gate uses the first record of a confirmation.
    assert f"{second.name} is the confirmation of {first.name}; using {first.name}" in gone.stderr
    assert slower.document == document
    assert slower("verify", str(first)).returncode == 0
    assert json.loads(slower("gate", "--no-confirm", "--json").stdout) == slower.document
    shutil.rmtree(first)
    lost = slower("gate", code=2)
    assert "that record is missing" in lost.stderr


def test_a_second_measurement_is_used_again_and_not_repeated(slower: Folder) -> None:
    text = SCENARIO.replace("cpu: 2%}", "cpu: 2%, accepted: a.yaml}")
    (slower.path / "gated.yaml").write_text(text)
    accepted = slower.path / "a.yaml"
    accepted.write_text("accepted: []\n")
    slower("run", "gated.yaml", "--gate", code=1)
    first, second = slower.records
    document = slower.document
    # Of what is accepted now, nothing is measured again. Later it can be more than is accepted.
    slower("baseline", "accept", "--until", "never", "--reason", "x", code=0)
    slower("gate", "--no-confirm", code=0)
    assert slower.document["confirmation"] == second.name
    accepted.write_text("accepted: []\n")
    for words in ((), ("--no-confirm",)):
        slower("gate", *words, code=1)
        assert slower.document == document
    assert slower.records == [first, second]
    shutil.rmtree(second)
    slower("gate", "--no-confirm", code=4)
    assert slower.document["confirmation"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "word", "code"),
    [
        ({"wall_s": 0.045}, "keep", 0),
        ({"wall_s": 0.0501, "spread": 0.001}, "discard", 1),
        ({"wall_s": 0.055}, "discard", 1),
        ({"wall_s": 0.045, "stdout": "43\n"}, "discard", 1),
        ({"wall_s": 0.05, "spread": 0.5}, "more-data", 4),
        ({"exit_code": 7}, "", 3),
    ],
)
def test_a_decision_is_one_word_and_its_exit_code(
    tmp_path: Path, head: dict[str, Any], word: str, code: int
) -> None:
    folder = Folder(tmp_path, 0.05)
    text = SCENARIO.replace(', "<b>odd | name</b>"', "").replace(
        "rounds: 24, until: rounds", "rounds: 24"
    )
    (tmp_path / "gated.yaml").write_text(text)
    steady = {"wall_s": 0.05, "stdout": "42\n", "spread": 0.001}
    rules = [{"match": "rev-head", **steady, **head}, {"match": "rev-base", **steady}]
    fake_hyperfine(tmp_path, rules)
    digest = valid("plan", folder("plan", "gated.yaml", "--json").stdout)["scenario_sha256"]
    done = folder("gate", "gated.yaml", "--decide", "--expect-scenario", digest, code=code)
    if word:
        assert done.stdout == f"{word}\n"
    else:
        assert done.stdout.startswith("✕ Benchmarks: not everything could be measured")
    assert folder.document["decision"] == (word or None)
    # An existing record is decided by the same rule.
    assert folder("gate", "--no-confirm", "--decide").returncode == code


@pytest.mark.slow
def test_a_changed_scenario_is_refused_before_anything_is_measured(slower: Folder) -> None:
    digest = valid("validate", slower("validate", "gated.yaml", "--json").stdout)["scenarios"][0][
        "scenario_sha256"
    ]
    text = (slower.path / "gated.yaml").read_text()
    (slower.path / "gated.yaml").write_text(text.replace("wall: 2%", "wall: 50%"))
    for words in (("gate", "gated.yaml"), ("run", "gated.yaml", "--gate")):
        done = slower(*words, "--expect-scenario", digest[:16], code=2)
        assert "error[BX139]: the scenario gated.yaml has changed since" in done.stderr
    # The digest does not depend on comments, and includes -S.
    (slower.path / "gated.yaml").write_text(f"# why\n{text}")
    for override, code in (("gate.wall=2%", 1), ("gate.wall=50%", 2)):
        done = slower("gate", "gated.yaml", "-S", override, "--expect-scenario", digest, code=code)


@pytest.mark.slow
def test_a_gate_with_too_few_rounds_is_refused_before_measuring(slower: Folder) -> None:
    done = slower("run", "gated.yaml", "--gate", "--rounds", "6", code=2)
    assert "the gate cannot detect anything in 6 rounds: it needs" in done.stderr
    assert not slower.records
    assert slower("run", "gated.yaml", "--rounds", "6").returncode == 0
    done = slower("gate", code=2)
    assert "the gate cannot detect anything in 6 rounds" in done.stderr


def test_a_budget_that_is_too_small_is_followed_by_one_that_is_enough_in_every_file(
    tmp_path: Path,
) -> None:
    short = Folder(tmp_path, 0.055)
    text = SCENARIO.replace("rounds: 24, until: rounds, warmup: 1", "budget: 1ms")
    (tmp_path / "gated.yaml").write_text(text)
    done = short("run", "gated.yaml", "--gate", PATH=str(tmp_path / "nothing"), code=4)
    (remark,) = (r for r in short.document["remarks"] if r["code"] == "budget-too-small")
    assert re.fullmatch(
        r"the time budget is used up: a verdict needs at least \d+ rounds, and a round takes .* s; "
        r"use --budget \d+m, or fewer configurations \(-k\)",
        remark["text"],
    )
    assert remark["text"] in " ".join(done.stdout.split())
    assert remark["text"] in " ".join(done.stderr.split())
    assert f"\n- {remark['text']}\n" in short.text_of("comment.md")
    assert f"\n- {remark['text']}\n" in short.text_of("summary.md")
    # Each of its comparisons has the same reason, and none has a minimum detectable effect.
    times = [pair for pair in short.document["pairs"] if pair["metric"] in ("wall", "cpu")]
    assert {pair["verdict"] for pair in times} == {"inconclusive"}
    assert {pair["mde"] for pair in times} == {None}
    assert {r["text"] for pair in times for r in pair["reasons"]} == {
        "too few rounds for any verdict"
    }


@pytest.mark.slow
def test_without_valgrind_only_instructions_are_not_compared(tmp_path: Path) -> None:
    even = Folder(tmp_path, 0.05)
    text = SCENARIO.replace("cpu: 2%}", "cpu: 2%, instructions: 1%}")
    (tmp_path / "gated.yaml").write_text(text.replace("rounds: 24", "rounds: 14"))
    done = even("run", "gated.yaml", "--gate", PATH=str(tmp_path / "nothing"), code=4)
    states = {(pair["variant"], pair["metric"]): pair["state"] for pair in even.document["pairs"]}
    assert states["head", "wall"] == states["head", "cpu"] == "passed"
    assert states["head", "instructions"] == "not-judged"
    assert "valgrind is not installed" in done.stdout
    assert "warning[BX250]" in done.stderr
    judged = text.replace("gate:", "judge: [wall, instructions]\ngate:")
    (tmp_path / "gated.yaml").write_text(judged)
    # If the scenario judges them, a missing valgrind is an error before the measurement.
    done = even("run", "gated.yaml", "--gate", PATH=str(tmp_path / "nothing"), code=3)
    assert "error[BX250]" in done.stderr


@pytest.mark.slow
def test_instructions_are_counted_where_times_cannot_be_judged(tmp_path: Path) -> None:
    noisy = Folder(tmp_path, 0.055)
    script = json.loads((tmp_path / "script.json").read_text())
    for rule in script["commands"]:
        rule["spread"] = 0.5
    (tmp_path / "script.json").write_text(json.dumps(script))
    text = SCENARIO.replace(
        'axes: {rev: [base, head, "<b>odd | name</b>"]}', "axes: {rev: [base, head]}"
    )
    loop = "i=0; n=1000; case $0 in *head) n=1200;; esac; while [ $i -lt $n ]; do i=$((i+1)); done; echo 42"
    text = text.replace("[/bin/echo]", "[/bin/sh]").replace(
        '["{bin}", "rev-{rev}"]', json.dumps(["{bin}", "-c", loop, "rev-{rev}"])
    )
    (tmp_path / "gated.yaml").write_text(text.replace("rounds: 24", "rounds: 14"))
    noisy("run", "gated.yaml", "--gate", code=1)
    states = {pair["metric"]: pair["state"] for pair in noisy.document["pairs"]}
    assert states == {"wall": "not-judged", "cpu": "not-judged", "instructions": "worse"}
    assert "counted because a time could not be judged" in noisy.text_of("gate.json")
    assert noisy("gate", "@last").returncode == 1


@pytest.mark.slow
def test_a_confirmed_regression_is_explained_or_the_comment_says_why_not(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0.055)
    loop = "i=0; n=1000; case $0 in *head) n=1500;; esac; while [ $i -lt $n ]; do i=$((i+1)); done; echo 42"
    text = SCENARIO.replace(', "<b>odd | name</b>"]', "]").replace("[/bin/echo]", "[/bin/sh]")
    text = text.replace('["{bin}", "rev-{rev}"]', json.dumps(["{bin}", "-c", loop, "rev-{rev}"]))
    text = text.replace("rounds: 24", "rounds: 14")
    (tmp_path / "gated.yaml").write_text(text)

    done = folder("run", "gated.yaml", "--gate", PATH=str(tmp_path / "nothing"), code=1)
    assert "Why: not counted by function: valgrind is not installed" in done.stdout
    assert "Why: not counted by function" in folder.text_of("comment.md")
    assert "BX250" not in done.stderr
    shutil.rmtree(tmp_path / "results")

    assert folder("run", "gated.yaml", "--gate").returncode == 1
    (explained,) = folder.document["explanations"]
    assert re.match(r"instructions \+\d+\s%: ", explained["text"])
    assert explained["changes"]["instructions"] > 1.1 * explained["changes"]["reference"]
    line = f"Why: {explained['text'].split(':')[0]}"
    assert line.replace("\u202f", " ") in folder.text_of("comment.md")
    record, again = folder.records
    for name in (record, again):
        assert folder("verify", str(name)).returncode == 0
    shutil.rmtree(tmp_path / "results")

    (tmp_path / "gated.yaml").write_text(text.replace("cpu: 2%}", "cpu: 2%, explain: false}"))
    assert folder("run", "gated.yaml", "--gate").returncode == 1
    assert folder.document["explanations"] == []
    assert "Why:" not in folder.text_of("comment.md")


@pytest.fixture
def early(tmp_path: Path) -> Folder:
    """Return a folder with a record without the key `gate`, which ended when the report was conclusive.

    After 12 rounds, head (+5 %) goes on and third (+20 %) leaves. After 18 rounds, the report is conclusive. The
    gate cannot judge third, because without a control it needs 13 rounds.
    """
    folder = Folder(tmp_path, 0.052)
    program = tmp_path / "program"
    executable(program, "#!/bin/sh\necho 42\n")
    text = SCENARIO.replace('"<b>odd | name</b>"', "third").partition("gate:")[0]
    text = text.replace("rounds: 24, until: rounds", "rounds: {min: 12, max: 60}, control: false")
    (tmp_path / "gated.yaml").write_text(text.replace("/bin/echo", str(program)))
    rules = [
        {"match": match, "wall_s": wall, "stdout": "42\n", "spread": 0.12}
        for match, wall in {"rev-head": 0.0525, "rev-third": 0.06, "rev-": 0.05}.items()
    ]
    script = {"seed": 4, "clock": "rounds", "commands": rules}
    (tmp_path / "script.json").write_text(json.dumps(script))
    done = folder("run", "gated.yaml", code=0)
    assert "after 18 rounds, every comparison is conclusive" in done.stderr
    return folder


def rounds_of(record: Path, variant: str) -> list[int]:
    """Return the rounds in which a variant was measured to the end, in order."""
    with (record / "runs.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "timed"]
    return [
        int(row["round"])
        for row in rows
        if row["variant"] == variant and row["warmup"] == "false" and row["status"] == "ok"
    ]


def finished_rounds(record: Path, after: int, until: int) -> list[int]:
    """Return the rounds in which the finished configurations of a record are measured."""
    plan = Record.open(record).plan
    seed, item = plan.measure.seed, plan.inputs[0].id
    return [n for n in range(after + 1, until + 1) if includes_finished(seed, item, n)]


@pytest.mark.slow
def test_a_record_that_ended_early_is_measured_until_the_gate_can_judge(early: Folder) -> None:
    (record,) = early.records
    assert rounds_of(record, "third") == [*range(1, 13), *finished_rounds(record, 12, 18)]
    alone = early("gate", "--no-confirm", code=4)
    assert "`benchctl gate` without --no-confirm goes on" in " ".join(alone.stdout.split())
    assert "resuming" not in alone.stderr

    done = early("gate", code=1)
    assert "with 18 completed rounds (the gate needs more rounds)" in done.stderr
    assert "after 27 rounds, the gate can judge every variant" in done.stderr
    assert "ended-early" not in {remark["code"] for remark in early.document["remarks"]}
    states = {(pair["variant"], pair["metric"]): pair["state"] for pair in early.document["pairs"]}
    assert states["head", "cpu"] == states["third", "cpu"] == "worse"
    # Only what the gate could not judge was measured in every round again, and the baseline with it.
    between = finished_rounds(record, 12, 18)
    assert rounds_of(record, "third") == [*range(1, 13), *between, *range(19, 28)]
    assert rounds_of(record, "head") == [*range(1, 28)]
    assert early("verify", str(record)).returncode == 0
    sealed = (record / "journal.jsonl").read_bytes()
    assert early("gate", str(record)).returncode == 1
    assert (record / "journal.jsonl").read_bytes() == sealed  # nothing is measured twice


def interrupt_gate(folder: Folder, record: Path, sent: int) -> tuple[int, str]:
    """Send a signal after three more rounds. Return the exit code and what was printed."""
    journal = record / "journal.jsonl"
    expected = count_rounds(journal) + 3
    process = folder.start("gate", str(record))
    wait_for(lambda: count_rounds(journal) >= expected, process)
    process.send_signal(sent)
    return process.wait(), process.errors


@pytest.mark.slow
def test_a_continued_record_survives_kills(early: Folder) -> None:
    (record,) = early.records
    untouched = early.path / "untouched"
    shutil.copytree(record, untouched)
    before = (record / "journal.jsonl").read_text()
    for sent, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        ended, stderr = interrupt_gate(early, record, sent)
        assert ended == code, stderr
    assert "interrupted while the record was measured further" in stderr
    assert (record / "journal.jsonl").read_text().startswith(before)
    # The results of the shorter record must not pass for the new ones.
    assert not (record / "claims.json").exists()
    unfinished = early("gate", "--no-confirm", code=2)
    assert "finish it with `benchctl gate RECORD`" in unfinished.stderr

    early("gate", str(record), code=1)
    assert early("verify", str(record)).returncode == 0
    cut = early.document["pairs"]
    between = finished_rounds(record, 12, 18)
    assert rounds_of(record, "third") == [*range(1, 13), *between, *range(19, 28)]
    for path in early.records:
        shutil.rmtree(path)
    untouched.rename(record)
    assert early("gate", str(record)).returncode == 1
    assert early.document["pairs"] == cut


@pytest.mark.slow
def test_a_record_is_not_continued_under_other_conditions(early: Folder) -> None:
    (record,) = early.records
    program, journal = early.path / "program", record / "journal.jsonl"
    files = {path: path.read_bytes() for path in record.rglob("*") if path.is_file()}
    content = program.read_text()
    program.write_text(content.replace("42", "43"))
    done = early("gate", code=2)
    assert "error[BX410]: cannot continue: binary of build" in done.stderr
    assert {path: path.read_bytes() for path in files} == files
    program.write_text(content)

    host_id = json.loads(journal.read_text().splitlines()[1])["host"]["host_id"]
    journal.write_text(journal.read_text().replace(host_id, "0123456789ab"))
    done = early("gate", code=2)
    assert "error[BX109]" in done.stderr
    assert "was measured on another machine" in done.stderr
    assert early("gate", "--no-confirm").returncode == 4
    journal.write_bytes(files[journal])
    assert early("gate").returncode == 1

"""Tests of several scenarios in one command: one budget, one error rate, one result."""

import json
import re
import shutil
import signal
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.integration.processes import (
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
name: {name}
question: Is the head of {name} slower?
worker: {{command: [{program}]}}
axes: {{rev: [base, head]}}
command: ["{{bin}}", "{name}-{{rev}}"]
baseline: {{rev: base}}
measure: {{rounds: 24, until: rounds, warmup: 1, seed: 5}}
gate: {{wall: 2%, cpu: 2%}}
"""


def write(folder: Path, *names: str, program: str = "/bin/echo") -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.yaml").write_text(SCENARIO.format(name=name, program=program))


def rule(match: str, wall_s: float = 0.05, **more: Any) -> dict[str, Any]:
    return {"match": match, "wall_s": wall_s, "stdout": "42\n", **more}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a folder with two scenarios, of which `slow` has a regression, and a file that is no scenario."""
    write(tmp_path / "bench", "even", "slow")
    (tmp_path / "bench" / "accepted.yaml").write_text("accepted: []\n")
    fake_hyperfine(tmp_path, [rule("slow-head", 0.055), rule("-base"), rule("-head")])
    return tmp_path


def document_of(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "results" / "suites").glob("*/suite.json")
    return valid("gate", path.read_text())


def text_of(folder: Path, name: str) -> str:
    (path,) = (folder / "results" / "suites").glob(f"*/{name}")
    return path.read_text()


def scenarios_of(folder: Path) -> list[str]:
    return [record.parent.name for record in find_records(folder / "results")]


@pytest.mark.slow
def test_a_gate_of_a_folder_has_one_result(suite: Path) -> None:
    write(suite / "bench", "broken", program="/no/such/program")
    done = benchctl(suite, "gate", "bench", env=isolated(suite, COLUMNS="120"), code=3)
    # A scenario that fails does not prevent the others.
    answer = "✕ Benchmarks: not everything could be measured in broken; regressions found in slow"
    assert done.stdout.startswith(answer)
    rows = {line.split()[1]: line for line in done.stdout.splitlines()[2:6]}
    assert re.search(r"^✓ +even +passed +2/2 ", rows["even"])
    assert re.search(r"^▲ +slow +regressions found +0/2 ", rows["slow"])
    assert re.search(r"^✕ +broken +failed ", rows["broken"])
    assert "✕ broken: BX234: the program /no/such/program does not exist" in done.stdout
    assert scenarios_of(suite) == ["even", "slow", "slow"]

    document = document_of(suite)
    assert (document["exit_code"], document["comparisons"]) == (3, 6)
    by_name = {row["scenario"]: row for row in document["scenarios"]}
    assert [row["exit_code"] for row in by_name.values()] == [3, 0, 1]
    # The error rate is that of the suite, and each record was judged at its share.
    assert document["level"] == pytest.approx(0.01)
    assert by_name["slow"]["gate"]["level"] == pytest.approx(0.01 / 3)
    assert "at most 1 % for the 6 comparisons by rounds of 3 scenarios together" in " ".join(
        done.stdout.split()
    )

    junit = ET.fromstring(text_of(suite, "junit.xml"))
    tests = {one.get("name"): validate(ET.tostring(one, "unicode")) for one in junit}
    assert [*tests] == ["broken", "even", "slow"]
    assert [tests[name].get("failures") for name in tests] == ["0", "0", "2"]
    assert tests["broken"].get("errors") == "1"

    comment = text_of(suite, "comment.md")
    assert comment.startswith("<!-- benchctl:gate suite=")
    assert f"### {answer}" in comment
    assert "| ▲ | slow | head | time | first measurement (99.83 % CI): " in comment
    assert "Reproduce: `benchctl gate bench`" in comment
    index = text_of(suite, "index.html")
    record = by_name["even"]["record"]
    assert f'<a href="../../even/{record}/report.html">even</a>' in index
    assert (suite / "results" / "even" / record / "report.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("even_s", "slow_s", "word", "code"),
    [
        (0.05, 0.045, "keep", 0),
        pytest.param(0.05, 0.05, "discard", 1, marks=pytest.mark.release),
        (0.045, 0.055, "discard", 1),
    ],
)
def test_all_scenarios_decide_together(
    suite: Path, even_s: float, slow_s: float, word: str, code: int
) -> None:
    steady = {"spread": 0.001}
    rules = [rule("even-head", even_s, **steady), rule("slow-head", slow_s, **steady)]
    fake_hyperfine(suite, [*rules, rule("-base", **steady)])
    assert benchctl(suite, "gate", "bench", "--decide", code=code).stdout == f"{word}\n"
    assert document_of(suite)["decision"] == word


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head_s", "words", "code"),
    [(0.05, ("--json",), 0), (0.055, ("--json",), 1), (0.055, ("--json", "--no-confirm"), 4)],
)
def test_the_exit_code_is_that_of_the_worst_scenario(
    suite: Path, head_s: float, words: tuple[str, ...], code: int
) -> None:
    fake_hyperfine(suite, [rule("slow-head", head_s), rule("-base"), rule("-head")])
    done = benchctl(suite, "gate", "bench/even.yaml", "bench/slow.yaml", *words, code=code)
    document = valid("gate", done.stdout)
    assert document == document_of(suite)
    assert [row["exit_code"] for row in document["scenarios"]] == [0, code]


def interrupt(suite: Path, *command: str) -> str:
    """Interrupt the command of a suite while `slow` is measured, and return its stderr."""
    rules = [rule("slow-", 0.05, sleep_s=0.02), rule("-base"), rule("-head")]
    fake_hyperfine(suite, rules)
    with start(suite, *command, "--quiet") as process:
        journals = suite / "results" / "slow"
        wait_for(
            lambda: any(count_rounds(j) > 2 for j in journals.glob("*/journal.jsonl")), process
        )
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130, process.errors
    assert "Benchmarks: interrupted; not finished: slow" in process.output
    return process.errors


@pytest.mark.slow
def test_an_interrupted_suite_goes_on(suite: Path) -> None:
    write(suite / "bench", "third")
    command = ("gate", "bench", "--budget", "5m")
    errors = interrupt(suite, *command)
    assert "`benchctl gate bench --budget 5m --quiet` resumes: 1 finished scenario of 3" in errors
    assert document_of(suite)["exit_code"] == 130
    before = scenarios_of(suite)

    done = benchctl(suite, *command, code=0)
    assert "Benchmarks: 3 scenarios passed" in done.stdout
    assert "resuming" in done.stderr
    # `even` was not measured again, and `slow` has the same record.
    assert before == ["even", "slow"]
    assert scenarios_of(suite) == ["even", "slow", "third"]
    # A suite that has ended is not continued.
    benchctl(suite, *command, code=0)
    assert len(scenarios_of(suite)) == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    ["program", *(pytest.param(name, marks=pytest.mark.release) for name in ("record", "option"))],
)
def test_a_finished_scenario_is_measured_again_if_its_result_is_not_that_of_the_command(
    suite: Path, change: str
) -> None:
    program = suite / "program"
    executable(program, "#!/bin/sh\necho 42\n")
    write(suite / "bench", "even", program=str(program))
    interrupt(suite, "gate", "bench")
    assert scenarios_of(suite) == ["even", "slow"]
    if change == "program":
        executable(program, "#!/bin/sh\necho 42 # changed\n")
    elif change == "record":
        shutil.rmtree(suite / "results" / "even")
    words = ("--no-confirm",) if change == "option" else ()
    done = benchctl(suite, "gate", "bench", *words, code=0)
    reasons = {
        "program": "its sources or its program changed",
        "record": "its record, or the result",
    }
    assert ("even is measured again: " + reasons.get(change, "") in done.stderr) is (
        change in reasons
    )
    assert "slow is measured again" not in done.stderr
    expected = ["even", "slow"] if change == "record" else ["even", "even", "slow"]
    assert sorted(scenarios_of(suite)) == expected


@pytest.mark.slow
def test_a_failure_is_not_forgotten_if_the_second_measurement_is_interrupted(suite: Path) -> None:
    file = suite / "bench" / "slow.yaml"
    text = file.read_text().replace("[base, head]", "[base, head, broken]")
    file.write_text(text.replace("gate: {", "gate: {cells: rev=head, "))
    broken = rule("slow-broken", exit_code=1)
    slow = rule("slow-head", 0.055, sleep_s=0.02)
    fake_hyperfine(suite, [broken, slow, rule("-base"), rule("-head")])
    with start(suite, "gate", "bench", "--quiet") as process:
        journals = suite / "results" / "slow"
        wait_for(lambda: len(list(journals.glob("*/journal.jsonl"))) == 2, process)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130, process.errors
    done = benchctl(suite, "gate", "bench", "--quiet", code=3)
    assert "not everything could be measured in slow" in done.stdout


@pytest.mark.release
@pytest.mark.slow
def test_two_equal_commands_at_once_have_suites_and_records_of_their_own(suite: Path) -> None:
    fake_hyperfine(suite, [rule("-base", sleep_s=0.01), rule("-head", sleep_s=0.01)])
    command = ("gate", "bench", "--quiet")
    with start(suite, *command) as first, start(suite, *command) as second:
        for process in (first, second):
            assert process.wait() == 0, process.errors
            assert "resuming" not in process.errors
    assert len(list((suite / "results" / "suites").glob("*/suite.json"))) == 2
    assert sorted(scenarios_of(suite)) == ["even", "even", "slow", "slow"]
    rounds = [count_rounds(record / "journal.jsonl") for record in find_records(suite / "results")]
    assert rounds == [25] * 4  # with the warm-up


@pytest.mark.slow
def test_runs_share_error_rate_and_index(suite: Path) -> None:
    done = benchctl(suite, "run", "bench", code=0)
    assert re.search(r"(?m)^✓ +even +measured +\d+ s +\w+$", done.stdout)
    assert "✓ slow: " in done.stdout
    for record in find_records(suite / "results"):
        level = json.loads((record / "plan.json").read_text())["judge"]["level"]
        assert level == pytest.approx(0.05 / 2)
        assert f"../../{record.parent.name}/{record.name}/report.html" in text_of(
            suite, "index.html"
        )
    assert not [*(suite / "results" / "suites").glob("*/junit.xml")]


@pytest.mark.slow
def test_a_plan_divides_the_budget(suite: Path) -> None:
    planned = benchctl(suite, "plan", "bench", "--budget", "4m", "--json", code=0)
    document = valid("plan", planned.stdout)
    assert [row["budget_s"] for row in document["scenarios"]] == [120, 120]
    assert sum(row["level"] for row in document["scenarios"]) == pytest.approx(0.01)
    assert not (suite / "results").exists()
    page = benchctl(suite, "plan", "bench", "--budget", "4m", code=0).stdout
    assert "At most 4 min for the rounds (--budget 4 min, divided by the planned times)" in page

    benchctl(suite, "run", "bench", code=0)
    refused = benchctl(suite, "gate", "bench", "--budget", "1s", code=2)
    assert "error[BX138]: a budget of 1 s is too small for these scenarios" in refused.stderr
    assert len(find_records(suite / "results")) == 2

"""Tests of the self-test of the gate: gates of a base against equal and slower copies."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.machine import slowed_run
from bench_framework.execution.machine.programs import compile_library
from bench_framework.execution.target import target_of
from bench_framework.features.gate.self_test import self_test_plan
from bench_framework.model.plan.plan import Role
from bench_framework.model.record.run import PreparedInput
from bench_framework.model.result.self_test import SelfTest, Trial
from bench_framework.report.render.self_test import answer
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from tests.documents import valid
from tests.integration.processes import Done, benchctl, fake_hyperfine

SCENARIO = """
version: 1
name: tested
question: Is the head slower than the base?
worker: {command: [/bin/echo]}
axes: {rev: [base, head]}
command: ["{bin}", "rev-{rev}"]
baseline: {rev: base}
measure: {rounds: {max: 24}, warmup: 1, seed: 5}
gate: {wall: 2%, cpu: 2%}
"""


def self_test(folder: Path, code: int, *words: str, scenario: str = SCENARIO) -> Done:
    (folder / "tested.yaml").write_text(scenario)
    return benchctl(folder, "gate", "tested.yaml", "--self-test", *words, code=code)


def rules(*slower: tuple[str, float], spread: float = 0.004) -> list[dict[str, Any]]:
    """Return the times of copies by their share; all others take as long as the base."""
    pairs = [*((f"slowed_run.py {share} ", wall_s) for share, wall_s in slower), ("", 0.05)]
    return [
        {"match": match, "wall_s": wall_s, "stdout": "42\n", "spread": spread}
        for match, wall_s in pairs
    ]


def document_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("results/self-tests/*/self-test.json")
    return valid("gate", path.read_text())


@pytest.mark.slow
def test_a_gate_that_finds_a_slower_copy_passes(tmp_path: Path) -> None:
    # A copy that takes 2.5 % longer is found, one that takes 1.25 % longer is within the margin.
    slower = (("0.1", 0.055), ("0.05", 0.0525), ("0.025", 0.05125), ("0.0125", 0.050625))
    fake_hyperfine(tmp_path, rules(*slower))
    done = self_test(tmp_path, 0, "--repetitions", "1")
    text = " ".join(done.stdout.split())
    assert "✓ Self-test of tested" in text
    assert "False alarms 0 of 1 gate of the base against itself: at most 95 %" in text
    assert (
        "Detection 1 of 1 gate of the base against a copy that takes 10 % longer: at least 5 %"
        in text
    )
    assert "Smallest a copy that takes 2.5 % longer was found" in text
    assert "one that takes 1.25 % longer was not" in text
    document = document_of(tmp_path)
    shares = [trial["share"] for trial in document["trials"]]
    assert shares == [0, 0.1, 0.05, 0.025, 0.0125]
    assert (document["smallest_found"], document["largest_missed"]) == (0.025, 0.0125)
    # The pages of a gate have a line about it, as long as the margin is the same.
    line = "the gate passed equal programs and found each copy that takes 10 % longer; smallest slowdown"
    gated = benchctl(tmp_path, "run", "tested.yaml", "--gate")
    assert line in " ".join(gated.stdout.split())
    (record,) = tmp_path.glob("results/tested/2*")
    remarks = json.loads((record / "gate.json").read_text())["remarks"]
    texts = [" ".join(remark["text"].split()) for remark in remarks]
    assert any(text.endswith(f"{line} that it found: 2.5 %") for text in texts)
    assert line in " ".join((record / "comment.md").read_text().split())
    other = benchctl(tmp_path, "run", "tested.yaml", "--gate", "--fresh", "-S", "gate.wall=3%")
    assert line not in " ".join(other.stdout.split())
    shutil.rmtree(tmp_path / "results" / "tested")
    # Its records are no records of the scenario.
    assert benchctl(tmp_path, "report", "@last", code=2).stderr.startswith("error[BX101]")


@pytest.mark.slow
def test_a_gate_that_tolerates_everything_is_broken(tmp_path: Path) -> None:
    fake_hyperfine(tmp_path, rules(("0.5", 0.075)))
    broken = SCENARIO.replace("{wall: 2%, cpu: 2%}", "{wall: 100%, cpu: 100%}")
    done = self_test(tmp_path, 1, "--repetitions", "1", scenario=broken)
    text = " ".join(done.stdout.split())
    assert (
        "the gate is broken: 1 of 1 gate passed a copy that takes 50 % longer (it tolerates 100 %)"
        in text
    )
    assert document_of(tmp_path)["outcome"] == "missed"


@pytest.mark.slow
def test_noise_is_no_result(tmp_path: Path) -> None:
    fake_hyperfine(tmp_path, rules(spread=0.6))
    done = self_test(tmp_path, 4, "--repetitions", "1", "--slowdown", "2%")
    assert "? Self-test of tested" in done.stdout
    document = document_of(tmp_path)
    assert document["false_alarms"] == {"count": 0, "gates": 0, "at_most": 1.0}
    assert document["detections"] == {"count": 0, "gates": 0, "at_least": 0.0}


@pytest.mark.release
@pytest.mark.slow
def test_a_suite_is_tested_scenario_by_scenario_with_its_shares(tmp_path: Path) -> None:
    fake_hyperfine(tmp_path, rules(("0.5", 0.075)))
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "tested.yaml").write_text(SCENARIO)
    broken = SCENARIO.replace("{wall: 2%, cpu: 2%}", "{wall: 100%, cpu: 100%}")
    (tmp_path / "more" / "wide.yaml").write_text(broken.replace("name: tested", "name: wide"))
    words = ("gate", "more", "--self-test", "--repetitions", "1", "--slowdown", "50%")
    done = benchctl(tmp_path, *words, code=1)
    text = " ".join(done.stdout.split())
    assert "✓ Self-test of tested" in text
    assert "✕ Self-test of wide" in text
    assert "Result in 1 of 2 scenarios (wide), a gate passed a copy that takes longer" in text
    assert "0 of 1 suite of the base against itself: at most 95 %" in text
    (path,) = tmp_path.glob("results/self-tests/*/suite-self-test.json")
    document = valid("gate", path.read_text())
    expected = [("tested", "passed"), ("wide", "missed")]
    assert [(one["scenario"], one["outcome"]) for one in document["self_tests"]] == expected
    # The error rate of the suite is divided between its scenarios.
    alone = json.loads(self_test(tmp_path, 0, *words[3:], "--json").stdout)
    levels = [one["level"] for one in document["self_tests"]]
    assert sum(levels) == pytest.approx(alone["level"])
    refused = benchctl(tmp_path, *words, "--expect-scenario", "0" * 64, code=2)
    assert "error[BX138]" in refused.stderr


def test_the_clock_of_a_benchmark_runs_faster_by_a_share(tmp_path: Path) -> None:
    library = str(tmp_path / "clock.so")
    subprocess.run(compile_library("faster_clock.c", library), check=True)
    script = (
        "import time; start = time.time(), time.monotonic(); time.sleep(0.3); "
        "print((time.monotonic() - start[1]) / (time.time() - start[0]))"
    )

    def ratio(share: str) -> float:
        env = {"LD_PRELOAD": library, "BENCHCTL_FASTER_CLOCK": share}
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, check=True, capture_output=True
        )
        return float(done.stdout)

    assert ratio("0.5") == pytest.approx(1.5, abs=0.2)
    assert ratio("0") == pytest.approx(1, abs=0.2)


def test_a_gate_that_does_not_measure_the_slowdown_is_not_judged() -> None:
    trials = [Trial(share, "passed", 0, 1, 0.001, 1, "") for share in (0.0, 0.1)]
    test = SelfTest("parse", "", "", 0.1, 0.02, 0.05, tuple(trials))
    assert " ".join(answer(test).split()) == (
        "the gate was not tested: +0.1 % was measured of a copy that takes 10 % longer"
    )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--decide",), "BX140"),
        (("--no-confirm",), "BX140"),
        (("--slowdown", "0%"), "BX100"),
        (("-S", "gate={instructions: 1%}"), "BX140"),
        (("-S", "measure.rounds=6"), "BX108"),
    ],
)
def test_what_cannot_be_tested_is_refused(
    tmp_path: Path, words: tuple[str, ...], code: str
) -> None:
    fake_hyperfine(tmp_path, rules())
    assert f"error[{code}]" in self_test(tmp_path, 2, *words).stderr
    assert not (tmp_path / "results").exists()


def test_the_wrapper_adds_a_share_of_the_time_and_keeps_the_end_of_the_program() -> None:
    def run(share: str, script: str) -> tuple[float, int]:
        begin = time.perf_counter()
        words = [sys.executable, "-IS", slowed_run.__file__, share, "sh", "-c", script]
        done = subprocess.run(words, check=False)
        return time.perf_counter() - begin, done.returncode

    elapsed_s, code = run("1", "sleep 0.2; exit 7")
    assert elapsed_s >= 2 * 0.2
    assert code == 7
    assert run("0", "kill -TERM $$")[1] == -signal.SIGTERM


def test_a_command_of_a_shell_keeps_its_text(tmp_path: Path) -> None:
    file = tmp_path / "it's a file"
    file.write_text("b\na\n")
    more = f'worker: {{command: [/bin/sh]}}\nshell: true\ninput: {{file: "{file}"}}'
    text = SCENARIO.replace("worker: {command: [/bin/echo]}", more)
    command = json.dumps("""sort {input} | sed "s/$/'{rev}'/" """)
    text = text.replace('["{bin}", "rev-{rev}"]', command)
    (tmp_path / "tested.yaml").write_text(text)
    plan = self_test_plan(expand(load(tmp_path / "tested.yaml")), 0.5, 1)
    candidate = next(cell for cell in plan.cells if cell.role is Role.CANDIDATE)
    prepared = PreparedInput(candidate.input_id, str(file), 4, None, None, None)
    argv = target_of(candidate, None, prepared, {}).argv
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    assert done.stdout == "a'base'\nb'base'\n"

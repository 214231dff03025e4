"""Servers with real processes, ports and hyperfine: what is measured, how it fails, and what is left."""

import csv
import json
import os
import re
import shutil
import signal
import socket
import statistics
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.integration.processes import ROOT, Done, benchctl, git, real, start, wait_for
from tests.integration.test_command_builds_real import Project

pytestmark = pytest.mark.real
PROGRAMS = ROOT / "tests" / "fixtures" / "server"
PAGE = ROOT / "docs" / "servers.md"
REQUESTS = 20
SCENARIO = f"""
version: 1
name: served
question: Does more work for each request cost time?
worker: {{command: [python3, ./server.py, "{{port}}", "{{work}}", "{{mib}}"]}}
server: {{ready: {{http: "http://127.0.0.1:{{port}}/"}}}}
axes: {{work: ["0", "5"], mib: ["0"]}}
command: [python3, ./load.py, "http://127.0.0.1:{{port}}/", "{REQUESTS}"]
cwd: ./
baseline: {{work: "0"}}
answer: {{extract: '"responses": \\d+'}}
metrics:
  p50: {{from: stdout, json: latency_ms.p50, unit: ms, direction: lower}}
judge: [wall, cpu, p50]
measure: {{rounds: 3, until: rounds, warmup: 1, control: false}}
"""
Runs = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for program in PROGRAMS.iterdir():
        shutil.copy(program, tmp_path / program.name)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    return real(STARTS=str(folder / "starts"))


@pytest.fixture
def runs(folder: Path, environment: Mapping[str, str]) -> Runs:
    def run(*words: str, code: int = 0, **variables: str) -> Done:
        return benchctl(folder, *words, env={**environment, **variables}, code=code)

    return run


@pytest.fixture(autouse=True)
def _nothing_is_left(folder: Path) -> Iterator[None]:
    yield
    wait_for(lambda: not alive(folder))


def starts(folder: Path) -> list[int]:
    file = folder / "starts"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def alive(folder: Path) -> list[int]:
    """Return the servers that still run."""
    return [pid for pid in starts(folder) if Path(f"/proc/{pid}").exists()]


def blocks(folder: Path) -> list[dict[str, Any]]:
    journal = find_records(folder / "results")[-1] / "journal.jsonl"
    lines = map(json.loads, journal.read_text().splitlines())
    return [line["block"] for line in lines if line["kind"] == "block"]


def medians(folder: Path, column: str) -> list[float]:
    with (find_records(folder / "results")[-1] / "cells.csv").open() as file:
        return [float(row[column]) for row in csv.DictReader(file)]


def test_cpu_time_memory_and_percentiles_are_those_of_the_server(runs: Runs, folder: Path) -> None:
    axes = 'axes={work: ["0", "5"], mib: ["0", "64"]}'
    runs(
        "run",
        "s.yaml",
        "-S",
        axes,
        "-S",
        "pairs=[work, mib]",
        "-S",
        'baseline={work: "0", mib: "0"}',
    )
    least, most = medians(folder, "cpu_s")
    assert most - least >= 0.9 * REQUESTS * 0.005 > 0
    least, most = medians(folder, "peak_rss_median_bytes")
    assert most - least >= 60 << 20
    fast, slow = medians(folder, "w_p50_s")
    assert slow >= 0.005
    assert fast > 0
    measured = [block for block in blocks(folder) if block["status"] == "ok"]
    assert {block["peak_rss_source"] for block in measured} == {"server"}
    assert len(starts(folder)) == len(measured) == 8
    runs("verify", "@last")
    page = (find_records(folder / "results")[-1] / "appendix.md").read_text()
    assert "CPU time and memory are those of the server" in page


@pytest.mark.slow
def test_the_cpu_time_of_other_processes_does_not_include_that_of_the_server(
    runs: Runs, folder: Path
) -> None:
    cpu = min(os.sched_getaffinity(0))  # on one CPU, the server uses most of the capacity
    runs("run", "s.yaml", "-S", 'axes.work=["0", "20"]', "-S", f"measure.cpus={cpu}")
    busy = [b for b in blocks(folder) if (b["user_s"] or 0) + b["sys_s"] >= 0.9 * REQUESTS * 0.02]
    assert len(busy) == 4
    for block in busy:
        others, capacity = (block["sensors"][k] for k in ("other_cpu_us", "cpu_capacity_us"))
        own_us = 1e6 * (block["user_s"] + block["sys_s"])
        assert others + own_us <= capacity * 1.05


@pytest.mark.slow
def test_a_server_of_a_session_is_started_once_for_each_configuration(
    runs: Runs, folder: Path
) -> None:
    runs("run", "s.yaml", "-S", "server.restart=session")
    assert len(starts(folder)) == 2
    assert {block["status"] for block in blocks(folder)} == {"ok"}
    assert medians(folder, "cpu_s")[1] >= 0.9 * REQUESTS * 0.005


def test_an_axis_of_the_client_is_the_load_under_which_servers_are_compared(runs: Runs) -> None:
    command = 'command=[python3, ./load.py, "http://127.0.0.1:{port}/", "{requests}"]'
    words = ("-S", command, "-S", 'axes.requests=["5", "9"]')
    assert "2 variants × 2 inputs" in runs("plan", "s.yaml", *words).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("overrides", "variables", "cause"),
    [
        (["worker.command=[sh, -c, 'echo no room >&2; exit 4', '{work}{mib}{port}']"], {}, None),
        (["server.ready.within=0.3s"], {"START_S": "60"}, "no response with a status below 400"),
        (
            ["server.ready={tcp: '127.0.0.1:{port}', within: 0.3s}"],
            {"START_S": "60"},
            "accepts no connections at 127.0.0.1:",
        ),
        (["server.ready={line: 'ready?!', within: 0.5s}"], {}, "prints no line that matches"),
        (
            ["server.ready.http=http://127.0.0.1:{port}/missing", "server.ready.within=1s"],
            {},
            "404",
        ),
        (["server.ready.http=http://127.0.0.1:{port}0/"], {}, "is no address"),
        ([], {"DIES_AFTER": "9"}, "while its client ran (exit status 101)"),
        (["server.stop=[sh, -c, 'echo cannot >&2; exit 2']"], {}, "`server.stop` failed"),
        (["command=[sh, -c, 'echo refused >&2; exit 7']"], {}, "exit status 7"),
    ],
)
def test_a_server_or_a_client_that_fails_is_one_error(
    runs: Runs, overrides: list[str], variables: Mapping[str, str], cause: str | None
) -> None:
    words = [word for override in overrides for word in ("-S", override)]
    done = runs("run", "s.yaml", *words, code=3, **variables)
    errors = " ".join(done.stderr.split())
    if cause is None:
        assert "ended before it was ready (exit status 4) (it printed no room)" in errors
    elif cause == "404":
        assert "/missing within 1 s" in errors
    else:
        assert cause in errors
    assert "BX201" in errors
    if "DIES_AFTER" in variables:
        assert "no more answers" in errors


def test_a_server_that_fails_its_trial_run_is_refused_before_the_others(runs: Runs) -> None:
    words = ("-S", "server.ready.within=0.3s")
    done = runs("try", "s.yaml", *words, code=3, START_S="60")
    errors = " ".join(done.stderr.split())
    assert "BX205" in errors
    assert "python3 ./server.py '{port}' 0 0 command python3 ./load.py" in errors


def test_a_trial_run_names_the_server_and_not_the_memory_of_its_client(runs: Runs) -> None:
    done = runs("try", "s.yaml", "-k", "work=0")
    assert re.search(
        r"^  server +\S*python3 ./server.py '\{port\}' 0 0$", done.stdout, re.MULTILINE
    )
    assert "peak memory" not in done.stdout


@pytest.mark.slow
def test_a_server_that_dies_in_some_samples_is_reported_with_its_last_lines(
    runs: Runs, folder: Path
) -> None:
    # One process serves all samples, so it reaches the number in a timed one.
    number = str(2 * REQUESTS + 9)
    done = runs("run", "s.yaml", "-S", "server.restart=session", code=3, DIES_AFTER=number)
    errors = " ".join(done.stderr.split())
    assert "BX201" in errors
    assert re.search(r"the server ended while its client ran \(exit status 101\)", errors)
    assert "no more answers" in errors
    assert {block["status"] for block in blocks(folder)} == {"ok", "failed"}


@pytest.mark.release
@pytest.mark.slow
def test_a_server_that_does_not_end_is_killed_and_its_sample_fails(runs: Runs) -> None:
    done = runs("run", "s.yaml", code=3, IGNORES_TERM="1")
    assert "did not end within 10 s after SIGTERM" in " ".join(done.stderr.split())
    runs("run", "s.yaml", "-S", "server.stop=KILL", IGNORES_TERM="1")


@pytest.mark.slow
def test_a_server_whose_stop_command_cannot_be_started_is_killed(runs: Runs, folder: Path) -> None:
    done = runs("run", "s.yaml", "-S", "server.stop=[no-such-program]", code=3)
    assert "no-such-program" in done.stderr
    assert alive(folder) == []


def test_an_address_that_another_program_has_is_refused(runs: Runs) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = f"server.command=[python3, ./server.py, '{port}', '{{work}}', '{{mib}}']"
        ready = f"server.ready={{tcp: '127.0.0.1:{port}'}}"
        done = runs("run", "s.yaml", "-S", command, "-S", ready, code=3)
    assert f"127.0.0.1:{port} answers before the server is started" in " ".join(done.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("restart", ["sample", "session"])
def test_no_server_is_left_when_benchctl_ends(
    folder: Path, environment: dict[str, str], restart: str, number: int
) -> None:
    words = ("run", "s.yaml", "-S", "measure.rounds=500", "-S", f"server.restart={restart}")
    with start(folder, *words, env=environment) as process:
        wait_for(lambda: _rounds(folder) > 2, process, log=process.printed)
        process.send_signal(number)
        process.wait()
    wait_for(lambda: not alive(folder))
    assert len(starts(folder)) >= 2


def _rounds(folder: Path) -> int:
    records = find_records(folder / "results")
    return (records[-1] / "journal.jsonl").read_text().count("round-end") if records else 0


@pytest.mark.slow
def test_the_example_of_the_page_can_be_measured(folder: Path, environment: dict[str, str]) -> None:
    text = PAGE.read_text(encoding="utf-8").split("## An example without a build")[1]
    place = folder / "page"
    place.mkdir()
    for name, kind in (("load.py", "python"), ("threads.yaml", "yaml")):
        (place / name).write_text(re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)[0])
    words = ("-S", "measure={rounds: 2, until: rounds, warmup: 1}")
    benchctl(folder, "run", "threads.yaml", *words, env=environment, cwd=place, code=0)
    with (find_records(place / "results")[-1] / "cells.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert [row["state"] for row in rows] == ["measured"] * 3
    assert statistics.median(float(row["w_p99_s"]) for row in rows) > 0


@pytest.mark.release
@pytest.mark.slow
def test_gate_and_bisect_find_a_slower_revision_of_a_server(tmp_path: Path, folder: Path) -> None:
    server = (PROGRAMS / "server.py").read_text()
    worker = {"build": [["cp", "server.py", "program.py"], ["chmod", "+x", "program.py"]]}
    files = {"server.py": server, "load.py": (PROGRAMS / "load.py").read_text()}
    files["scenario.yaml"] = f"""
version: 1
name: work
question: Is the server slower?
worker: {json.dumps({**worker, "program": "program.py"})}
server: {{command: ["{{bin}}", "{{port}}", "1"]}}
command: [python3, ./load.py, "http://127.0.0.1:{{port}}/", "20"]
cwd: ./
answer: {{extract: '"responses": \\d+'}}
judge: [cpu]
gate: {{cpu: 10%}}
measure: {{budget: 60s}}
"""
    place = tmp_path / "revisions"
    place.mkdir()
    project = Project(place, {"build": ["true"], "program": "x"}, files)
    git(project.folder, "checkout", "-qb", "change")
    project.commit({"server.py": server + "# a comment\n"})
    project("gate", "--base", "main", "scenario.yaml")
    project.commits.append(project.commit({"server.py": server.replace("/ 1000", "/ 500")}))
    done = project("gate", "--base", "main", "scenario.yaml", "--json", code=1)
    verdicts = valid("gate", done.stdout)["pairs"]
    assert [c["state"] for c in verdicts if c["metric"] == "cpu"] == ["worse"]
    assert project.bisect() == project.commits[-1]
    words = ("--good", project.commits[0], "--bad", project.commits[-1])
    done = project("bisect", "scenario.yaml", *words, "--metric", "instructions", code=2)
    assert "BX110" in done.stderr

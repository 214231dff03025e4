"""Tests of runs on a worker of a real Dask scheduler, with the fake hyperfine."""

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.fleet_machines import (
    ONE_HAS_OTHER_OUTPUT,
    PATIENCE_S,
    ROUNDS,
    Machine,
    authority,
    results,
    start_scheduler,
    start_worker,
    wait_for,
)
from tests.integration.processes import wait_for as wait_without_process

FINISHED = "cache/fleet/*/results/fleet/*/manifest.json"
"""The manifests of the finished records that a host has."""


@pytest.mark.slow
def test_a_record_of_a_worker_equals_a_local_one(make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host")
    address = start_scheduler(client)
    start_worker(host, address, "rack-7")
    client.call("run", "fleet.yaml", code=ONE_HAS_OTHER_OUTPUT)
    text = client.call(
        "run", "fleet.yaml", "--scheduler", address, "--fresh", code=ONE_HAS_OTHER_OUTPUT
    )
    assert "measuring on host rack-7" in text
    assert "at most 14 rounds" in text

    local, remote = client.records
    assert results(local) == results(remote)
    assert (local / "scenario.yaml").read_text() == (remote / "scenario.yaml").read_text()
    assert "measured on host rack-7 of a fleet" in (remote / "events.csv").read_text()
    assert (remote / "env.json").is_file()
    page = (remote / "report.html").read_text()
    assert f"benchctl run fleet.yaml --scheduler {address} --host rack-7" in page
    client.call("verify", str(remote))
    # Another run on the host does not repeat the id. What the client has stored is removed there.
    quick = ("run", "fleet.yaml", "--scheduler", address, "--quick")
    client.call(*quick, code=ONE_HAS_OTHER_OUTPUT)
    assert len(client.records) == 3
    assert len(list(host.path.glob("cache/fleet/*/results/fleet/*/journal.jsonl"))) <= 1


@pytest.mark.release
@pytest.mark.slow
def test_a_killed_worker_loses_its_record_and_resumes(make: Callable[..., Machine]) -> None:
    client, host, other = make("client"), make("host", 0.03), make("other")
    address = start_scheduler(client)
    worker = start_worker(host, address, "rack-7")
    scheduler = str(client.path / "scheduler.json")
    words = ("run", "fleet.yaml", "--scheduler", scheduler, "--host", "rack-7")
    run = client.benchctl("run.log", *words)
    wait_for(lambda: host.rounds() >= 3, run, client.path / "run.log")
    start_worker(other, address, "rack-8")
    worker.kill()
    assert run.wait(PATIENCE_S) == 3
    text = client.text("run.log")
    assert "error[BX263]: the record of host rack-7 is lost" in text
    assert "--host rack-7" in text
    assert "Traceback" not in text
    assert not client.records
    assert not other.journal()  # only rack-7 was requested
    host.wait_for_end()
    assert host.rounds() < ROUNDS  # the process that measures ended with its worker

    start_worker(host, address, "rack-7")
    text = client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    assert "resuming" in text
    (record,) = client.records
    lines = map(json.loads, (record / "journal.jsonl").read_text().splitlines())
    ended = [(line["round"], line["warmup"]) for line in lines if line["kind"] == "round-end"]
    assert sorted(set(ended)) == sorted(ended)
    assert len(ended) == ROUNDS + 1


@pytest.mark.release
@pytest.mark.slow
def test_a_killed_scheduler_ends_worker_and_client(make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host", 0.03)
    address = start_scheduler(client)
    worker = start_worker(host, address, "rack-7")
    run = client.benchctl("run.log", "run", "fleet.yaml", "--scheduler", address)
    wait_for(lambda: host.rounds() >= 2, run, client.path / "run.log")
    client.running[0].kill()
    assert run.wait(PATIENCE_S) == 3
    text = client.text("run.log")
    assert "error[BX263]: the record of host rack-7 is lost" in text
    assert "Traceback" not in text
    assert worker.wait(PATIENCE_S) == 3
    text = host.text("worker-rack-7.log")
    assert f"error[BX260]: the connection to the scheduler {address} ended" in text
    assert "Traceback" not in text


def unstored_record(client: Machine, host: Machine) -> tuple[tuple[str, ...], Path]:
    """Return a command and its record, which the host finished after the client was killed."""
    address = start_scheduler(client)
    start_worker(host, address, "rack-7")
    words = ("run", "fleet.yaml", "--scheduler", address)
    run = client.benchctl("run.log", *words)
    wait_for(lambda: host.rounds() >= 2, run, client.path / "run.log")
    run.kill()
    wait_without_process(lambda: [*host.path.glob(FINISHED)], patience_s=PATIENCE_S)
    (manifest,) = host.path.glob(FINISHED)
    return words, manifest.parent


@pytest.mark.release
@pytest.mark.slow
def test_a_record_that_was_finished_without_its_client_is_returned_then_removed(
    make: Callable[..., Machine],
) -> None:
    client, host = make("client"), make("host", 0.03)
    words, unstored = unstored_record(client, host)
    journal = (unstored / "journal.jsonl").read_bytes()
    client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    (record,) = client.records
    assert record.name == unstored.name
    assert (record / "journal.jsonl").read_bytes().startswith(journal)
    assert host.rounds() in {0, ROUNDS + 1}  # removed, or not yet
    wait_without_process(lambda: not [*host.path.glob(FINISHED)], patience_s=PATIENCE_S)


@pytest.mark.release
@pytest.mark.slow
def test_fresh_replaces_a_record_that_was_finished_without_its_client(
    make: Callable[..., Machine],
) -> None:
    client, host = make("client"), make("host", 0.03)
    words, unstored = unstored_record(client, host)
    client.call(*words, "--fresh", code=ONE_HAS_OTHER_OUTPUT)
    assert unstored.name not in {path.name for path in client.records}
    client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    assert unstored.name not in {path.name for path in client.records}
    assert len(client.records) == 2
    assert not unstored.exists()


@pytest.mark.release
@pytest.mark.slow
def test_ctrl_c_stops_the_host_and_the_same_command_resumes(make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host", 0.03)
    address = start_scheduler(client)
    start_worker(host, address, "rack-7")
    words = ("run", "fleet.yaml", "--scheduler", address)
    run = client.benchctl("run.log", *words)
    wait_for(lambda: host.rounds() >= 3, run, client.path / "run.log")
    run.send_signal(signal.SIGINT)
    assert run.wait(PATIENCE_S) == 130
    text = client.text("run.log")
    assert "stopping when the running program ends" in text
    assert f"`benchctl run fleet.yaml --scheduler {address} --host rack-7` resumes" in text
    assert "on host rack-7" in text
    done = host.rounds()
    assert 3 <= done < ROUNDS
    text = client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    assert "resuming" in text
    assert len(client.records) == 1


@pytest.mark.release
@pytest.mark.slow
def test_faults_of_a_fleet(make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host")
    text = client.call(
        "run",
        "fleet.yaml",
        "--scheduler",
        "tcp://127.0.0.1:1",
        BENCHCTL_TEST_SHORT="CONNECT_S",
        code=3,
    )
    assert "error[BX260]: there is no connection to the scheduler tcp://127.0.0.1:1" in text
    text = host.call(
        "fleet", "worker", "tcp://127.0.0.1:1", BENCHCTL_TEST_SHORT="CONNECT_S", code=3
    )
    assert "error[BX260]" in text
    assert "effect   the worker was not started" in text

    address = start_scheduler(client)
    words = ("run", "fleet.yaml", "--scheduler", address)
    text = client.call(*words, BENCHCTL_TEST_SHORT="REGISTER_S", code=3)
    assert "error[BX261]: no worker of benchctl is registered" in text

    worker = start_worker(host, address, "rack-7", BENCHCTL_TEST_VERSION="9.9.9")
    text = client.call(*words, code=3)
    assert "error[BX262]" in text
    assert "benchctl 9.9.9" in text
    text = client.call(*words, "--host", "rack-8", BENCHCTL_TEST_SHORT="REGISTER_S", code=3)
    assert "error[BX261]: no worker of a host rack-8" in text
    assert "rack-7" in text

    text = host.call("fleet", "worker", address, code=3)  # on the same machine
    assert "error[BX265]" in text
    assert f"another one uses {host.path}" in text
    text = client.call("fleet", "worker", address, "--name", "rack-7", code=3)
    assert f"error[BX265]: this worker was not started: the scheduler {address} has a" in text
    # A machine cannot have a worker of a second scheduler either.
    second = start_scheduler(make("second"))
    text = host.call("fleet", "worker", second, "--name", "rack-8", code=3)
    assert f"error[BX265]: this worker was not started: another one uses {host.path}" in text
    assert text.count("error[") == 1
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_an_error_of_the_host_is_reported_here(make: Callable[..., Machine]) -> None:
    client, host = make("client"), make("host")
    address = start_scheduler(client)
    start_worker(host, address, "rack-7", BENCHCTL_HYPERFINE="/nonexistent", PATH="/nonexistent")
    text = client.call("run", "fleet.yaml", "--scheduler", address, code=3)
    assert re.search(r"error\[B\w\d+\]", text)
    assert "host     rack-7" in text


@pytest.mark.release
@pytest.mark.slow
def test_tls(make: Callable[..., Machine], tmp_path: Path) -> None:
    client, host = make("client"), make("host")
    trusted, stranger = (authority(tmp_path / name) for name in ("trusted", "stranger"))
    client.env |= trusted
    host.env |= trusted
    address = start_scheduler(client, "--protocol", "tls")
    assert address.startswith("tls://")
    start_worker(host, address, "rack-7")
    words = ("run", "fleet.yaml", "--scheduler", address)
    text = client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    assert len(client.records) == 1

    text = client.call(*words, **stranger, code=3)
    assert "error[BX260]" in text
    assert "certificates of the same authority" in text
    text = make("other").call("fleet", "worker", address, **stranger, code=3)
    assert text.count("error[") == 1
    assert f"error[BX260]: there is no connection to the scheduler {address}" in text
    assert "certificates of the same authority" in text
    missing = {name: str(tmp_path / "missing") for name in stranger}
    text = client.call(*words, **missing, code=2)
    assert "error[BX133]: tls:// cannot be used" in text
    plain = {name: text for name, text in client.env.items() if name not in trusted}
    client.env = plain
    text = client.call(*words, code=2)
    assert "tls_ca_file" in text
    assert len(client.records) == 1

"""Tests of the gate on a fleet: a host finds a regression, and another one of its kind confirms it."""

import json
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.records import Record
from tests.documents import valid
from tests.integration.fleet_machines import (
    PATIENCE_S,
    Machine,
    start_scheduler,
    start_worker,
    start_workers,
    wait_for,
)

pytestmark = pytest.mark.slow

GATED = """
version: 1
name: fleet
question: Is the head slower than the base?
worker: {command: [./tool.sh]}
axes: {rev: [base, head, other]}
command: ["{bin}", "rev-{rev}"]
baseline: {rev: base}
measure: {rounds: 24, until: rounds, warmup: 1, seed: 5}
gate: {wall: 2%, cpu: 2%, accepted: accepted.yaml}
"""
SAME: list[dict[str, object]] = [{"match": "rev-", "wall_s": 0.05, "stdout": "42\n"}]
SLOWER = [{"match": "rev-head", "wall_s": 0.06, "stdout": "42\n"}, *SAME]
SLOW_S = 0.3
"""Time in seconds of a run that must not end before the test has stopped its host."""
Make = Callable[[str, float, Sequence[Mapping[str, object]]], Machine]


@pytest.fixture
def client(make: Callable[..., Machine]) -> Machine:
    here = make("client")
    (here.path / "fleet.yaml").write_text(GATED)
    (here.path / "accepted.yaml").write_text("accepted: []\n")
    return here


def result(client: Machine) -> dict[str, Any]:
    return dict(json.loads((client.records[0] / "gate.json").read_text()))


def json_of(client: Machine, *words: str) -> Any:
    text = client.call("--json", *words)
    return valid(words[0], text)


def hosts_of(client: Machine) -> list[str]:
    """Return the host of each record by the time at which it began."""
    names = []
    for record in client.records:
        with Record.open(record) as opened:
            names.append(opened.plan.invocation.host)
    return names


def test_a_regression_on_two_hosts_fails_the_gate(client: Machine, make: Make) -> None:
    hosts = {f"rack-{n}": make(str(n), 0.0, SLOWER) for n in (1, 2)}
    address = start_scheduler(client)
    start_workers(hosts, address)
    text = client.call("gate", "fleet.yaml", "--scheduler", address, code=1)
    reason = "worse on host rack-1, confirmed on host rack-2"
    assert f"comparisons by rounds: {reason}" in " ".join(text.split())
    assert "measured on host rack-1, again on host rack-2" in " ".join(text.split())
    assert hosts_of(client) == ["rack-1", "rack-2"]
    first, second = client.records
    for record in (first, second):
        client.call("verify", str(record))
    document = result(client)
    assert document["hosts"] == ["rack-1", "rack-2"]
    assert (document["record_id"], document["confirmation"]) == (first.name, second.name)
    assert reason in (first / "comment.md").read_text()
    # Only the possible regression was measured again, with its baseline and the A/A control.
    with Record.open(second) as opened:
        assert len(opened.plan.cells) == 3
    # Accepted changes are read here.
    words = ("baseline", "accept", str(first), "--reason", "intended", "--until", "never")
    text = client.call(*words)
    text = client.call("gate", str(first), "--no-confirm")
    # The history of the kind of these hosts has the first pass, and no record of another kind.
    (kind,) = {
        host["kind"] for host in json_of(client, "fleet", "status", "--scheduler", address)["hosts"]
    }
    client.call("run", "fleet.yaml", "--fresh", BENCHCTL_TEST_CPU="mine")
    history = json_of(client, "history", "fleet", "--machine", kind)
    assert history["machine"]["digest"] == kind
    points = [point for series in history["series"] for point in series["points"]]
    assert {point["record"] for point in points} == {first.name}
    history = json_of(client, "history", "fleet")
    assert history["machine"]["digest"] != kind


@pytest.mark.release
def test_equal_programs_pass_on_one_host(client: Machine, make: Make) -> None:
    hosts = {f"rack-{n}": make(str(n), 0.0, SAME) for n in (1, 2)}
    address = start_scheduler(client)
    start_workers(hosts, address)
    text = client.call("run", "fleet.yaml", "--gate", "--scheduler", address)
    assert "Benchmarks: passed" in text
    assert result(client)["hosts"] == []
    assert hosts_of(client) == ["rack-1"]
    assert not hosts["rack-2"].journal()


@pytest.mark.release
def test_a_regression_of_one_host_only_passes(client: Machine, make: Make) -> None:
    hosts = {"rack-1": make("1", 0.0, SLOWER), "rack-2": make("2", 0.0, SAME)}
    address = start_scheduler(client)
    start_workers(hosts, address)
    words = ("gate", "fleet.yaml", "--scheduler", address, "--host", "rack-1,rack-2")
    client.call(*words)
    document = result(client)
    assert document["hosts"] == ["rack-1", "rack-2"]
    reasons = {
        reason["code"]
        for pair in document["pairs"]
        if pair["variant"] == "head"
        for reason in pair["reasons"]
    }
    assert reasons == {"not-confirmed"}
    # The other host finds nothing, so nothing is measured again.
    client.call(*words[:-1], "rack-2", "--fresh")
    assert hosts_of(client) == ["rack-1", "rack-2", "rack-2"]


@pytest.mark.release
def test_without_another_host_of_the_kind_nothing_is_confirmed(client: Machine, make: Make) -> None:
    one, other = make("1", 0.0, SLOWER), make("2", 0.0, SLOWER)
    other.env["BENCHCTL_TEST_CPU"] = "another one"
    address = start_scheduler(client)
    start_workers({"rack-1": one, "rack-2": other}, address)
    client.call("gate", "fleet.yaml", "--scheduler", address, code=4)
    (reason,) = result(client)["reasons"]
    assert (
        "worse on host rack-1, not confirmed on another host: no other host of kind"
        in reason["text"]
    )
    assert reason["text"].endswith(" is registered")
    assert not other.journal()
    assert hosts_of(client) == ["rack-1"]
    states = {pair["state"] for pair in result(client)["pairs"] if pair["variant"] == "head"}
    assert states == {"suspicious"}


@pytest.mark.release
@pytest.mark.parametrize(("spares", "words"), [(0, ()), (1, ()), (1, ("--host", "rack-1,rack-2"))])
def test_a_host_that_dies_while_it_confirms(
    client: Machine, make: Make, spares: int, words: tuple[str, ...]
) -> None:
    one, slow = make("1", 0.0, SLOWER), make("2", SLOW_S, SLOWER)
    third = make("3", 0.0, SLOWER)
    address = start_scheduler(client)
    workers = start_workers({"rack-1": one, "rack-2": slow}, address)
    run = client.benchctl("run.log", "gate", "fleet.yaml", "--scheduler", address, *words)
    wait_for(lambda: slow.rounds() >= 1, run, client.path / "run.log")
    if spares:
        start_worker(third, address, "rack-3")
    workers["rack-2"].kill()
    code, text = run.wait(PATIENCE_S), client.text("run.log")
    assert "Traceback" not in text
    if spares and not words:  # of several names, only these confirm
        assert code == 1, text
        (reason,) = result(client)["reasons"]
        assert "worse on host rack-1, confirmed on host rack-3" in reason["text"]
        assert hosts_of(client) == ["rack-1", "rack-3"]
    else:
        assert code == 4, text
        cause = "not confirmed on another host: the record of host rack-2 is lost"
        assert f"comparisons: worse on host rack-1, {cause}" in " ".join(text.split())
        assert hosts_of(client) == ["rack-1"]


@pytest.mark.release
def test_a_host_that_dies_in_the_first_pass(client: Machine, make: Make) -> None:
    slow, *others = make("1", SLOW_S, SLOWER), make("2", 0.0, SLOWER), make("3", 0.0, SLOWER)
    address = start_scheduler(client)
    hosts = dict(zip(("rack-1", "rack-2", "rack-3"), (slow, *others), strict=True))
    workers = start_workers(hosts, address)
    run = client.benchctl("run.log", "gate", "fleet.yaml", "--scheduler", address)
    wait_for(lambda: slow.rounds() >= 1, run, client.path / "run.log")
    workers["rack-1"].kill()
    assert run.wait(PATIENCE_S) == 1, client.text("run.log")
    assert "Traceback" not in client.text("run.log")
    assert result(client)["hosts"] == ["rack-2", "rack-3"]
    assert hosts_of(client) == ["rack-2", "rack-3"]


@pytest.mark.release
def test_ctrl_c_in_the_second_pass_keeps_the_first_record(client: Machine, make: Make) -> None:
    one, slow = make("1", 0.0, SLOWER), make("2", SLOW_S, SLOWER)
    address = start_scheduler(client)
    start_workers({"rack-1": one, "rack-2": slow}, address)
    run = client.benchctl("run.log", "gate", "fleet.yaml", "--scheduler", address)
    wait_for(lambda: slow.rounds() >= 1, run, client.path / "run.log")
    run.send_signal(signal.SIGINT)
    assert run.wait(PATIENCE_S) == 130
    text = client.text("run.log")
    assert "Traceback" not in text
    assert "interrupted while host rack-2 measured possible regressions again" in text
    (record,) = client.records
    client.call("verify", str(record))
    assert slow.rounds() >= 1
    # What is left on the host does not hinder its next run.
    script = Path(slow.path / "script.json")
    script.write_text(script.read_text().replace(f'"sleep_s": {SLOW_S}', '"sleep_s": 0.0'))
    words = ("gate", "fleet.yaml", "--scheduler", address, "--host", "rack-2,rack-1")
    text = client.call(*words, code=1)
    reason = "worse on host rack-2, confirmed on host rack-1"
    assert reason in " ".join(text.split())

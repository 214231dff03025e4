"""Tests of runs on several hosts of a fleet: one record per host, their comparison, and failures."""

import contextlib
import json
import platform
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.records import Record
from tests.documents import valid
from tests.integration.fleet_machines import (
    ONE_HAS_OTHER_OUTPUT,
    PATIENCE_S,
    ROUNDS,
    RULES,
    Machine,
    start_scheduler,
    start_worker,
    start_workers,
    wait_for,
)
from tests.integration.processes import mount_namespace

pytestmark = pytest.mark.slow

SLOW_S = 0.5
"""Time in seconds of a run that must not end before the other host, also on a loaded machine."""
FAST_HERE = [{**rule, "wall_s": 0.04} if rule["match"] == "arm-slow" else rule for rule in RULES]
"""The arm `slow` is the fastest one on this host."""
SHORT = {"BENCHCTL_TEST_SHORT": "REGISTER_S"}
EQUAL_OUTPUTS = ("--only", "arm!=other")


def host_of(record: Path) -> str:
    with Record.open(record) as opened:
        return opened.plan.invocation.host


def document_in(text: str) -> dict[str, Any]:
    """Return the document among the lines of a log."""
    document = json.JSONDecoder().raw_decode(text[text.index("{\n") :])[0]
    return valid("fleet", json.dumps(document))


def test_each_host_makes_a_record_and_they_are_compared(make: Callable[..., Machine]) -> None:
    client, first, second = make("client"), make("one"), make("two", 0.0, FAST_HERE)
    address = start_scheduler(client)
    start_workers({"rack-1": first, "rack-2": second}, address)
    words = ("run", "fleet.yaml", "--scheduler", address, "--host")
    text = client.call(*words, "rack-2,rack-9", **SHORT, code=3)
    assert "error[BX261]: no worker of a host rack-9 is registered" in text
    assert not first.journal() + second.journal()

    text = client.call(*words, "rack-2,rack-1", code=ONE_HAS_OTHER_OUTPUT)
    for name in ("rack-1", "rack-2"):
        assert f" {name}  note   measuring on host {name}" in text
        assert f" {name}  stop   after 14 rounds" in text
        assert f"host {name}: 1 failure" in text
    assert "slow vs base depends on the host: faster on rack-2; slower on rack-1." in text
    assert "other vs base: other output on both hosts." in text
    records = client.records
    assert sorted(map(host_of, records)) == ["rack-1", "rack-2"]
    assert all((record / "report.html").is_file() for record in records)
    (page,) = client.path.glob("results/fleet/hosts-*/hosts.html")
    assert "rack-2" in page.read_text()
    # The command compares them again, in any order, and without a scheduler.
    text = client.call("fleet", "compare", *map(str, records))
    assert "slow vs base depends on the host" in text
    client.call("verify", str(records[1]))


@pytest.mark.release
def test_a_scenario_chooses_its_hosts(make: Callable[..., Machine]) -> None:
    client, *hosts = (make(name) for name in ("client", "one", "two", "three"))
    address = start_scheduler(client)
    for number, host in enumerate(hosts, 1):
        start_worker(host, address, f"rack-{number}", label="nvme" if number == 3 else "")
    scenario = client.path / "fleet.yaml"
    text = scenario.read_text()
    words = ("run", "fleet.yaml", "--scheduler", address)

    scenario.write_text(f"{text}\nhosts: {{label: [nvme, riscv64]}}\n")
    output = client.call(*words, **SHORT, code=3)
    assert "error[BX261]: no worker of another host with the label riscv64 is registered" in output
    assert f", nvme, {platform.machine()})" in output
    assert not client.records

    scenario.write_text(f"{text}\nhosts: {{label: [nvme]}}\n")
    client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    assert list(map(host_of, client.records)) == ["rack-3"]

    # All hosts of this test are of one kind.
    scenario.write_text(f"{text}\nhosts: {{per-kind: 3}}\n")
    output = client.call(*words, code=ONE_HAS_OTHER_OUTPUT)
    assert sorted(map(host_of, client.records[1:])) == ["rack-1", "rack-2", "rack-3"]
    assert "Random effects over 3 hosts of kind" in output

    output = client.call(*words, "--host", "rack-2", code=ONE_HAS_OTHER_OUTPUT)
    assert host_of(client.records[-1]) == "rack-2"
    assert len(client.records) == 5


@pytest.mark.release
def test_inputs_are_split_between_hosts(make: Callable[..., Machine]) -> None:
    client, *hosts = (make(name) for name in ("client", "one", "two", "three"))
    scenario = client.path / "fleet.yaml"
    text = scenario.read_text().replace('"arm-{arm}"]', '"arm-{arm}", "{input}"]')
    text = text.replace("axes: {", "axes: {file: [a.txt, b.txt, c.txt], ")
    scenario.write_text(f'{text}\ninput: {{file: "{{file}}"}}\nhosts: {{split-inputs: 2}}\n')
    for name in "abc":
        (client.path / f"{name}.txt").write_text(name)
    address = start_scheduler(client)
    start_workers({f"rack-{number}": host for number, host in enumerate(hosts, 1)}, address)
    output = client.call("run", "fleet.yaml", "--scheduler", address, code=ONE_HAS_OTHER_OUTPUT)
    inputs = {}
    for record in client.records:
        with Record.open(record) as opened:
            plan = opened.plan
            assert all(plan.control_cell(given.id) for given in plan.inputs)
            inputs[plan.invocation.host] = [given.label for given in plan.inputs]
    assert inputs == {"rack-1": ["a.txt", "c.txt"], "rack-2": ["b.txt"]}
    assert "slow vs base (b.txt): slower on rack-2." in output
    assert "slow vs base (c.txt): slower on rack-1." in output
    # The command of a record measures its share again.
    with Record.open(client.records[0]) as opened:
        assert "-k 'input=a.txt|c.txt' --scheduler" in opened.plan.command


def test_a_lost_host_does_not_lose_the_others(make: Callable[..., Machine]) -> None:
    client, slow, fast = make("client"), make("one", SLOW_S), make("two")
    address = start_scheduler(client)
    workers = start_workers({"rack-1": slow, "rack-2": fast}, address)
    words = ("--json", "run", "fleet.yaml", "--scheduler", address, "--host", "all")
    run = client.benchctl("run.log", *words)
    wait_for(lambda: slow.rounds() >= 1, run, client.path / "run.log")
    workers["rack-1"].kill()
    assert run.wait(PATIENCE_S) == 3
    text = client.text("run.log")
    assert text.count("error[BX263]: the record of host rack-1 is lost") == 1
    assert "then     no other host of its kind is free" in text
    assert "Traceback" not in text
    (record,) = client.records
    assert host_of(record) == "rack-2"
    assert (record / "report.html").is_file()
    result = document_in(text)
    assert (result["exit_code"], result["comparison"]) == (3, None)
    lost, stored = result["hosts"]
    assert (lost["host"], lost["error"]["code"]) == ("rack-1", "BX263")
    assert (stored["host"], stored["error"], stored["record"]) == ("rack-2", None, str(record))
    slow.wait_for_end()
    assert slow.rounds() < ROUNDS  # the process that measures ended with its worker


@pytest.mark.release
def test_a_full_disk_of_a_host_does_not_lose_the_others(make: Callable[..., Machine]) -> None:
    client, small, large = make("client"), make("one", 0.2), make("two")
    cache = small.path / "cache"
    cache.mkdir()
    mount = 'mount -t tmpfs -o size=8m none "$0" && exec "$@"'
    small.prefix = (*mount_namespace(), "sh", "-c", mount, str(cache))
    address = start_scheduler(client)
    worker = start_workers({"rack-1": small, "rack-2": large}, address)["rack-1"]
    words = ("run", "fleet.yaml", "--scheduler", address, "--host", "all", *EQUAL_OUTPUTS)
    run = client.benchctl("run.log", *words)
    wait_for(lambda: " rack-1  limit " in client.text("run.log"), run, client.path / "run.log")
    filler = Path(f"/proc/{worker.pid}/root{cache}/filler")
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass
    assert run.wait(PATIENCE_S) == 3
    text = client.text("run.log")
    assert text.count("error[") == 1
    assert "error[BX235]" in text
    assert "No space left on device" in text
    assert "   host     rack-1\n" in text
    assert "Traceback" not in text
    assert list(map(host_of, client.records)) == ["rack-2"]
    # The worker continues, and so does the record as soon as there is space.
    filler.unlink()
    text = client.call(*words[:-3], "rack-1", *EQUAL_OUTPUTS)
    assert "resuming" in text


@pytest.mark.release
def test_ctrl_c_stops_all_hosts_and_keeps_what_is_finished(make: Callable[..., Machine]) -> None:
    client, slow, fast = make("client"), make("one", SLOW_S), make("two")
    address = start_scheduler(client)
    start_workers({"rack-1": slow, "rack-2": fast}, address)
    words = ("run", "fleet.yaml", "--scheduler", address, "--host", "rack-1,rack-2")
    run = client.benchctl("run.log", *words)
    # rack-2 finishes while rack-1, which is named first, is measuring.
    wait_for(lambda: client.records and slow.rounds() >= 1, run, client.path / "run.log")
    run.send_signal(signal.SIGINT)
    assert run.wait(PATIENCE_S) == 130
    text = client.text("run.log")
    assert " rack-1  note   stopping when the running program ends" in text
    assert f"`benchctl run fleet.yaml --scheduler {address} --host rack-1` resumes" in text
    assert "Traceback" not in text
    assert 1 <= slow.rounds() < ROUNDS
    (record,) = client.records
    assert host_of(record) == "rack-2"
    assert (record / "report.html").is_file()


@pytest.mark.release
def test_a_free_host_of_the_same_kind_measures_in_place_of_a_lost_one(
    make: Callable[..., Machine],
) -> None:
    client, slow, fast = make("client"), make("one", SLOW_S), make("two")
    spare, other = make("three"), make("four")
    other.env["BENCHCTL_TEST_CPU"] = "another one"
    address = start_scheduler(client)
    names = {"rack-1": slow, "rack-2": fast, "rack-3": spare, "rack-0": other}
    workers = start_workers(names, address)
    words = ("--json", "run", "fleet.yaml", "--scheduler", address, "--host", "rack-1,rack-2")
    run = client.benchctl("run.log", *words, *EQUAL_OUTPUTS)
    wait_for(lambda: slow.rounds() >= 1, run, client.path / "run.log")
    workers["rack-1"].kill()
    assert run.wait(PATIENCE_S) == 0, client.text("run.log")
    text = client.text("run.log")
    assert "warning[BX263]: the record of host rack-1 is lost" in text
    assert "host rack-3, of the same kind, measures in its place" in text
    assert "Traceback" not in text
    assert not other.journal()  # it is of another kind
    assert sorted(map(host_of, client.records)) == ["rack-2", "rack-3"]
    result = document_in(text)
    ended = [(host["host"], host["replaced_by"], "record" in host) for host in result["hosts"]]
    assert ended == [("rack-1", "rack-3", False), ("rack-2", None, True), ("rack-3", None, True)]
    assert result["comparison"]["agreement"] == "agrees"
    # The lost host still has its unfinished record. It is finished there, and has another id.
    start_worker(slow, address, "rack-1")
    script = json.loads((slow.path / "script.json").read_text())
    for command in script["commands"]:
        command["sleep_s"] = 0.0
    (slow.path / "script.json").write_text(json.dumps(script))
    one = ("run", "fleet.yaml", "--scheduler", address, "--host", "rack-1")
    text = client.call(*one, *EQUAL_OUTPUTS)
    assert "resuming" in text
    assert sorted(map(host_of, client.records)) == ["rack-1", "rack-2", "rack-3"]


@pytest.mark.release
def test_a_record_is_repeated_only_once(make: Callable[..., Machine]) -> None:
    client, hosts = make("client"), [make(str(number), SLOW_S) for number in range(3)]
    address = start_scheduler(client)
    names = {f"rack-{number}": host for number, host in enumerate(hosts)}
    workers = start_workers(names, address)
    run = client.benchctl("run.log", "run", "fleet.yaml", "--scheduler", address)
    for number in (0, 1):
        wait_for(lambda: hosts[number].rounds() >= 1, run, client.path / "run.log")  # noqa: B023
        workers[f"rack-{number}"].kill()
    assert run.wait(PATIENCE_S) == 3
    text = client.text("run.log")
    assert "host rack-1, of the same kind, measures in its place" in text
    assert "error[BX263]: the record of host rack-1 is lost" in text
    assert not client.records
    assert not hosts[2].journal()


@pytest.mark.release
def test_the_second_ctrl_c_kills_the_runs_of_all_hosts(make: Callable[..., Machine]) -> None:
    client, hosts = make("client"), [make(str(number), 60.0) for number in range(2)]
    address = start_scheduler(client)
    workers = start_workers(dict(zip(("rack-1", "rack-2"), hosts, strict=True)), address)
    words = ("run", "fleet.yaml", "--scheduler", address, "--host", "all")
    run = client.benchctl("run.log", *words)
    # Each host has started a run of 60 s, a trial run or the first timed one.
    wait_for(lambda: all(processes(host) for host in hosts), run, client.path / "run.log")
    run.send_signal(signal.SIGINT)
    stopping = "note   stopping when the running program ends"
    wait_for(
        lambda: client.text("run.log").count(stopping) == len(hosts), run, client.path / "run.log"
    )
    run.send_signal(signal.SIGINT)
    assert run.wait(20) == 130
    text = client.text("run.log")
    for name in ("rack-1", "rack-2"):
        assert f" {name}  {stopping}" in text
        assert f" {name}  note   killed the running program" in text
        assert workers[name].poll() is None
    assert "Traceback" not in text
    assert not client.records
    wait_for(lambda: not any(map(processes, hosts)), workers["rack-1"], client.path / "run.log")


def processes(host: Machine) -> list[str]:
    """Return the processes of the fake hyperfine of a host."""
    name = str(host.path / "hyperfine").encode()
    ids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if name in path.read_bytes():
                ids.append(path.parent.name)
    return ids

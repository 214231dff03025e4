"""Tests of hosts in network namespaces of this machine: one is killed, or its network is interrupted.

Namespaces need root.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_framework.store.records import Record
from tests.integration.fleet_machines import (
    PATIENCE_S,
    ROUNDS,
    Machine,
    authority,
    end,
    machine,
    results,
    start_scheduler,
    wait_for,
    wait_until_ready,
)

pytestmark = [pytest.mark.slow, pytest.mark.release]
HEAD = "10.0.0.254"
"""Address of the machine with the client and the scheduler."""
CUT_S = 20.0
"""Time in seconds without network in which nothing is lost."""
SAMPLE_S = 0.5
"""Time in seconds of a hyperfine call, so that a host measures for 30 s."""
EQUAL_OUTPUTS = ("--only", "arm!=other")


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip() or f"ip {' '.join(words)} failed")


class Network:
    """A switch with one machine for the client and the scheduler, and the hosts of a fleet.

    Each has a network namespace, a host name and folders of its own.
    """

    def __init__(self, folder: Path, opened: contextlib.ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self.hosts: dict[str, Machine] = {}
        self._connected = 0
        self._tls = authority(folder / "authority")
        self.head = self.client = self._machine("head", 0.0)
        self._ip("head", "link", "add", "switch", "type", "bridge")
        self._ip("head", "addr", "add", f"{HEAD}/24", "dev", "switch")
        self._ip("head", "link", "set", "switch", "up")
        self.address = start_scheduler(self.head, "--protocol", "tls", interface=HEAD)

    def _ip(self, name: str, *words: str) -> None:
        ip("-netns", _space(name), *words)

    def _machine(self, name: str, sleep_s: float) -> Machine:
        space = _space(name)
        ip("netns", "add", space)
        self._opened.callback(ip, "netns", "delete", space)
        self._ip(name, "link", "set", "lo", "up")
        created = machine(self._folder / name, sleep_s)
        self._opened.callback(end, [created])
        created.env |= self._tls
        call = ("sh", "-c", 'hostname "$0" && exec "$@"', name)
        created.prefix = ("ip", "netns", "exec", space, "unshare", "--uts", *call)
        return created

    def connect(self, name: str, sleep_s: float = SAMPLE_S) -> Machine:
        """Connect a machine to the switch."""
        connected = self._machine(name, sleep_s)
        far = ("peer", "name", "eth0", "netns", _space(name))
        self._ip("head", "link", "add", name, "type", "veth", *far)
        self._ip("head", "link", "set", name, "master", "switch", "up")
        self._connected += 1
        self._ip(name, "addr", "add", f"10.0.0.{self._connected}/24", "dev", "eth0")
        self._ip(name, "link", "set", "eth0", "up")
        return connected

    def add(self, name: str, sleep_s: float = SAMPLE_S) -> subprocess.Popen[bytes]:
        """Connect a host, and start its worker."""
        self.hosts[name] = self.connect(name, sleep_s)
        return self.start_worker(name)

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start the worker of a host. It has the name of the machine, and a label that begins with it."""
        host, label = self.hosts[name], ("--label", f"{name}-disk")
        process = host.benchctl(f"worker-{name}.log", "fleet", "worker", self.address, *label)
        wait_until_ready(host, name, process)
        assert f"host {name} is ready at tls://10.0.0." in host.text(f"worker-{name}.log")
        return process

    def start_run(self, *words: str) -> subprocess.Popen[bytes]:
        """Start the client."""
        words = ("run", "fleet.yaml", "--scheduler", self.address, *EQUAL_OUTPUTS, *words)
        return self.client.benchctl("run.log", *words)

    def wait_for_text(self, text: str, run: subprocess.Popen[bytes]) -> None:
        """Wait until the client has printed a text."""
        wait_for(lambda: text in self.client.text("run.log"), run, self.client.path / "run.log")

    def wait_for_rounds(self, run: subprocess.Popen[bytes], *names: str) -> None:
        """Wait until each of these hosts has finished two rounds."""
        hosts = [self.hosts[name] for name in names]
        log = self.client.path / "run.log"
        wait_for(lambda: all(host.rounds() > 1 for host in hosts), run, log)

    def unplug(self, name: str) -> None:
        """Take the link of a host down at the switch, as if its cable was removed."""
        self._ip("head", "link", "set", name, "down")

    def plug(self, name: str) -> None:
        """Bring the link of a host up."""
        self._ip("head", "link", "set", name, "up")

    def texts(self) -> str:
        """Return what the client and all workers printed."""
        logs = [host.text(f"worker-{name}.log") for name, host in self.hosts.items()]
        return "\n".join([self.client.text("run.log"), *logs])


def _space(name: str) -> str:
    return f"benchctl-{os.getpid()}-{name}"


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    try:
        ip("netns", "add", _space("probe"))
    except OSError as error:
        pytest.skip(f"`ip netns add` is not permitted here: {error}")
    with contextlib.ExitStack() as opened:
        opened.callback(ip, "netns", "delete", _space("probe"))
        yield Network(tmp_path, opened)


def hosts_of(records: list[Path]) -> dict[str, Path]:
    """Return the records by the names of their hosts."""
    by_host = {}
    for path in records:
        with Record.open(path) as record:
            by_host[record.plan.invocation.host] = path
    assert len(by_host) == len(records)
    return by_host


def require_complete(record: Path) -> None:
    """Check that each round, and each configuration of a round, is in the journal once."""
    lines = [json.loads(line) for line in (record / "journal.jsonl").read_text().splitlines()]
    ended = [(line["round"], line["warmup"]) for line in lines if line["kind"] == "round-end"]
    assert sorted(ended) == sorted(
        [(1, True), *((number, False) for number in range(1, ROUNDS + 1))]
    )
    with Record.open(record) as opened:
        blocks = [
            (b.cell_id, b.round, b.warmup) for b in opened.contents.blocks if b.status == "ok"
        ]
    assert len(set(blocks)) == len(blocks) == 4 * (ROUNDS + 1)  # base, its control, same and slow


def test_a_host_is_killed_and_another_one_is_offline_for_20_s(network: Network) -> None:
    head = network.head
    with (head.path / "fleet.yaml").open("a") as file:
        file.write("\nhosts: {label: [rack-3-disk, rack-1-disk, rack-2-disk]}\n")
    text = head.call("run", "fleet.yaml", *EQUAL_OUTPUTS)
    (local,) = head.records
    workers = {name: network.add(name) for name in ("rack-1", "rack-2", "rack-3")}
    run = network.start_run()
    network.wait_for_rounds(run, "rack-1", "rack-2", "rack-3")
    workers["rack-1"].kill()
    network.unplug("rack-2")
    assert network.hosts["rack-2"].rounds() < ROUNDS
    time.sleep(CUT_S)
    network.plug("rack-2")
    assert run.wait(PATIENCE_S) == 3
    text = head.text("run.log")
    assert text.count("error[") == 1
    assert text.count("error[BX263]: the record of host rack-1 is lost: its worker is not at") == 1
    assert text.count("then     no other host of its kind is free") == 1
    assert text.count(" rack-2  note   no contact with the host: waiting") == 1
    assert text.count(" rack-2  note   in contact again") == 1
    assert "Traceback" not in network.texts()
    assert "same vs base: equivalent on both hosts" in text

    # The worker is started again, and its host measures the missing rounds.
    script = network.hosts["rack-1"].path / "script.json"
    script.write_text(script.read_text().replace(f'"sleep_s": {SAMPLE_S}', '"sleep_s": 0.0'))
    done = network.hosts["rack-1"].rounds()
    assert 2 <= done < ROUNDS
    network.start_worker("rack-1")
    assert network.start_run("--host", "rack-1").wait(PATIENCE_S) == 0
    assert "resuming" in head.text("run.log")
    assert "Traceback" not in network.texts()
    records = hosts_of([path for path in head.records if path != local])
    assert sorted(records) == sorted(workers)
    for record in records.values():
        require_complete(record)
        assert results(record) == results(local)
        head.call("verify", str(record))


def test_a_host_is_offline_for_longer_and_is_replaced(network: Network) -> None:
    worker = network.add("rack-1")
    network.add("rack-2", 0.0)
    network.add("rack-3", 0.0)
    run = network.start_run("--host", "rack-1,rack-2")
    network.wait_for_rounds(run, "rack-1")
    network.unplug("rack-1")
    assert run.wait(PATIENCE_S) == 0, network.texts()
    text = network.head.text("run.log")
    assert text.count("warning[BX263]: the record of host rack-1 is lost") == 1
    assert text.index("rack-1  end ") < text.index("note   measuring on host rack-3")
    assert sorted(hosts_of(network.head.records)) == ["rack-2", "rack-3"]
    for record in network.head.records:
        require_complete(record)
    # The host finds out by itself, and stops to measure.
    assert worker.wait(PATIENCE_S) == 3
    text = network.hosts["rack-1"].text("worker-rack-1.log")
    assert f"error[BX260]: the connection to the scheduler {network.address} ended" in text
    assert "Traceback" not in network.texts()
    network.plug("rack-1")
    network.start_worker("rack-1")


def test_ctrl_c_while_a_host_is_offline(network: Network) -> None:
    network.add("rack-1")
    network.add("rack-2")
    run = network.start_run("--host", "all")
    network.wait_for_rounds(run, "rack-1", "rack-2")
    network.unplug("rack-2")
    run.send_signal(signal.SIGINT)
    # The other host stops at once.
    network.wait_for_text(" rack-1  end    interrupted", run)
    assert network.hosts["rack-1"].rounds() < ROUNDS
    network.plug("rack-2")
    assert run.wait(PATIENCE_S) == 130
    text = network.texts()
    assert "error" not in text
    options = f"--scheduler {network.address} {shlex.join(EQUAL_OUTPUTS)} --host rack-2"
    assert f"`benchctl run fleet.yaml {options}` resumes" in text
    assert network.hosts["rack-2"].rounds() < ROUNDS
    assert not network.head.records


def test_the_client_is_offline_for_longer(network: Network) -> None:
    worker = network.add("rack-1")
    network.add("rack-2", 0.0)
    network.add("spare", 0.0)
    network.client = network.connect("laptop")
    run = network.start_run("--host", "rack-1,rack-2")
    network.wait_for_text(" rack-2  end ", run)  # its record is here
    assert network.hosts["rack-1"].rounds() < ROUNDS
    network.unplug("laptop")
    assert run.wait(PATIENCE_S) == 3
    text = network.texts()
    assert (
        "error[BX263]: the record of host rack-1 is lost: the connection to the scheduler" in text
    )
    assert "error[BX237]" not in text
    assert "Traceback" not in text
    # The hosts are not lost: they measure to the end, and no other one measures in their place.
    assert not network.hosts["spare"].journal()
    slow = network.hosts["rack-1"]
    log = slow.path / "worker-rack-1.log"
    wait_for(lambda: slow.rounds() == ROUNDS + 1, worker, log)
    assert list(hosts_of(network.client.records)) == ["rack-2"]

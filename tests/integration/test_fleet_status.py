"""Tests of `benchctl fleet status` with a real Dask scheduler."""

import contextlib
import platform
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.documents import valid
from tests.integration.fleet_machines import (
    PATIENCE_S,
    ROUNDS,
    Machine,
    start_scheduler,
    start_worker,
    wait_for,
)

pytestmark = pytest.mark.slow

LABELS = sorted({"arm64", platform.machine()})


@pytest.mark.parametrize(
    "greeting",
    [
        pytest.param(b"", id="silent"),
        pytest.param(b"SSH-2.0-x\r\n", id="ssh", marks=pytest.mark.release),
        pytest.param(bytes(64), id="zeros", marks=pytest.mark.release),
        pytest.param(b"\xff" * 64, id="ones", marks=pytest.mark.release),
        pytest.param((1 << 40).to_bytes(8, "little"), id="huge", marks=pytest.mark.release),
        pytest.param(None, id="closes"),
    ],
)
def test_another_server_is_no_scheduler(
    make: Callable[..., Machine], greeting: bytes | None
) -> None:
    def answer(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection = connections.enter_context(listener.accept()[0])
                if greeting is None:
                    connection.close()
                else:
                    connection.sendall(greeting)

    with socket.create_server(("127.0.0.1", 0)) as listener, contextlib.ExitStack() as connections:
        threading.Thread(target=answer, args=(listener,), daemon=True).start()
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        words = ("fleet", "status", "--scheduler", address)
        text = make("client").call(*words, BENCHCTL_TEST_SHORT="CONNECT_S", code=3)
    assert text.count("error[BX260]") == 1
    assert "no scheduler of Dask" in text


@pytest.mark.release
def test_state_of_hosts(make: Callable[..., Machine]) -> None:
    client, slow, other, third = make("client"), make("one", 0.3), make("two"), make("three")
    status = ("fleet", "status", "--scheduler")
    text = client.call(*status, "tcp://127.0.0.1:1", BENCHCTL_TEST_SHORT="CONNECT_S", code=3)
    assert "error[BX260]: there is no connection to the scheduler" in text
    assert "effect   no host was listed" in text
    address = start_scheduler(client)
    text = client.call(*status, address)
    assert "no host is registered" in text

    start_worker(slow, address, "rack-1")
    killed = start_worker(other, address, "rack-2", label="arm64")
    stopped = start_worker(third, address, "rack-3")
    text = client.call(*status, address)
    expected = [["rack-1", "free"], ["rack-2", "free"], ["rack-3", "free"]]
    assert [line.split()[:2] for line in text.splitlines()[1:4]] == expected
    assert "label arm64: rack-2" in text

    words = ("run", "fleet.yaml", "--scheduler", address, "--host", "rack-1")
    run = client.benchctl("run.log", *words)
    client.benchctl("waiting.log", *words)
    wait_for(lambda: slow.rounds() >= 2, run, client.path / "run.log")
    killed.kill()
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait(PATIENCE_S) == 0

    hosts: list[dict[str, Any]] = []

    def listed() -> bool:
        """Return True once both runs, two rounds and the killed worker are known to the scheduler.

        A host reports its rounds after it has written them, so that the scheduler knows them later.
        """
        hosts[:] = valid("fleet", client.call("--json", *status, address))["hosts"]
        states = [host["state"] for host in hosts]
        first = hosts[0]
        return (
            states == ["measuring", "lost"] and first["waiting"] == 1 and (first["done"] or 0) >= 2
        )

    wait_for(listed, run, client.path / "run.log")
    first, lost = hosts
    assert (first["host"], first["scenario"], first["total"]) == ("rack-1", "fleet", ROUNDS + 1)
    assert first["done"] <= slow.rounds()
    assert 0 < first["left_s"] < PATIENCE_S
    assert first["free_bytes"] > 0
    assert first["versions"]["rust"] == lost["versions"]["rust"]
    assert (lost["host"], lost["labels"], lost["scenario"]) == ("rack-2", LABELS, "")
    assert lost["kind"] == first["kind"]  # they are one machine

    again = start_worker(other, address, "rack-2")
    text = client.call(*status, address)
    assert "rack-2  free" in text
    assert "+1" in text
    slow.running[0].send_signal(signal.SIGSTOP)  # as if its network were interrupted
    wait_for(
        lambda: "rack-1  no contact" in client.call(*status, address),
        again,
        other.path / "worker-rack-2.log",
    )
    slow.running[0].send_signal(signal.SIGCONT)
    wait_for(
        lambda: "rack-1  measuring fleet" in client.call(*status, address),
        run,
        client.path / "run.log",
    )

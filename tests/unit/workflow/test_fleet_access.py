"""Tests of the address of a scheduler, and of who may use it without TLS."""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import UsageError
from bench_framework.extensions.fleet import hosts
from bench_framework.extensions.fleet.arrival import checked_state
from bench_framework.extensions.fleet.selection import causes, find_address, hosts_of, unreachable
from bench_framework.model.plan.policies import HostPolicy

LOCAL = ["tcp://127.0.0.1:8786", "tcp://localhost:8786", "tcp://[::1]:8786", "tcp://127.9.9.9:1"]
REMOTE = ["tcp://10.0.0.1:8786", "tcp://localhost.example:8786", "tcp://[2001:db8::1]:8786"]


@pytest.mark.parametrize("address", LOCAL)
def test_a_loopback_address_needs_no_tls(address: str) -> None:
    assert find_address(address) == address


@pytest.mark.parametrize("address", REMOTE)
def test_another_machine_needs_tls_or_a_permission(address: str) -> None:
    with pytest.raises(UsageError, match="does not use TLS") as caught:
        find_address(address)
    assert caught.value.code == "BX133"
    assert find_address(address, insecure=True) == address
    find_address(address.replace("tcp", "tls"))


@pytest.mark.parametrize(
    "text", ["tcp://", "http://a:1", "tcp://host", "tcp://a:port", "", "a:b:c"]
)
def test_other_texts_are_no_address(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_address(text)
    assert caught.value.code == "BX133"


def test_a_cause_of_dask_has_no_address_of_an_object_and_is_printed_once() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    closed = OSError(
        "in <distributed.comm.tcp.TCPConnector object at 0x7fbd294ebed0>: "
        "ConnectionRefusedError: [Errno 111] Connection refused"
    )
    closed.__cause__ = refused
    timeout = OSError("timed out after 10 s")
    timeout.__cause__ = closed
    assert causes(timeout) == (
        "timed out after 10 s; ConnectionRefusedError: [Errno 111] Connection refused"
    )
    assert causes(TimeoutError()) == "TimeoutError"


def test_the_state_of_a_fleet_without_a_scheduler_says_nothing_about_measurements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def connected(address: str, effect: str) -> None:
        raise unreachable(address, "refused", effect)

    monkeypatch.setattr(hosts, "load_cluster", lambda _: SimpleNamespace(connected=connected))
    assert run_command_line(["fleet", "status", "--scheduler", "tcp://127.0.0.1:1"]) == 3
    assert "effect   no host was listed\n" in capsys.readouterr().err


def test_an_address_without_a_scheme_uses_tcp() -> None:
    assert find_address("127.0.0.1:8786") == "tcp://127.0.0.1:8786"


def test_a_scheduler_file_has_the_address(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": "tls://10.0.0.1:8786"}))
    assert find_address(str(file)) == "tls://10.0.0.1:8786"
    file.write_text("[]")
    with pytest.raises(UsageError, match="not a scheduler file"):
        find_address(str(file))


@pytest.mark.parametrize(
    "words",
    [
        ["run", "quickstart", "--scheduler", "tcp://127.0.0.1:1"],
        ["gate", "quickstart.yaml", "--scheduler", "tcp://127.0.0.1:1"],
        ["fleet", "worker", "tcp://127.0.0.1:1"],
        ["fleet", "status", "--scheduler", "tcp://127.0.0.1:1"],
    ],
)
def test_without_the_package_a_command_installs_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "bench_framework.extensions.fleet.cluster", raising=False)
    monkeypatch.delattr("bench_framework.extensions.fleet.cluster", raising=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run_command_line(words) == 2
    text = capsys.readouterr().err
    assert "error[BX132]" in text
    assert "pip install distributed" in text


def test_names_of_hosts() -> None:
    assert hosts_of("") is None
    assert hosts_of("rack-1") == HostPolicy(("rack-1",))
    assert hosts_of("rack-2, rack-1") == HostPolicy(("rack-2", "rack-1"))
    assert hosts_of("all") == HostPolicy(everyone=True)


@pytest.mark.parametrize("name", ["all", "a,b", " a", "a "])
def test_a_worker_has_a_name_that_selects_it(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command_line(["fleet", "worker", "tcp://127.0.0.1:1", "--name", name]) == 2
    assert "error[BX136]" in capsys.readouterr().err
    monkeypatch.setattr("platform.node", str)  # no host name
    assert run_command_line(["fleet", "worker", "tcp://127.0.0.1:1"]) == 2
    assert "error[BX136]" in capsys.readouterr().err


@pytest.mark.parametrize("number", [math.nan, math.inf, 10**400, -1, "1"])
def test_a_state_with_a_number_that_cannot_be_printed_is_left_out(number: Any) -> None:
    run = {"scenario": "io", "done": 1, "total": None, "left_s": 1e18}
    state = {"load": 0.5, "free_bytes": 1 << 40, "run": run}
    assert checked_state(state) == state
    assert checked_state(state | {"load": number}) == {}
    assert checked_state(state | {"run": run | {"left_s": number}}) == {}

"""Tests of the table of hosts."""

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.extensions.fleet import hosts
from bench_framework.extensions.fleet.hosts import HostStatus

FACTS = {"CPU": "AMD EPYC 9354P 32-Core Processor", "cores": "64", "memory": "251 GiB"}
VERSIONS = {"benchctl": "0.1.0", "python": "3.11.7", "rust": None}


def host(name: str, state: hosts.State = "free", **more: object) -> HostStatus:
    known = (FACTS, ("arm64",), VERSIONS)
    fixed = HostStatus(name, "tcp://127.0.0.1:1", state, 20.0, "0123456789ab", *known)
    return HostStatus(**{field: getattr(fixed, field) for field in fixed.__slots__} | more)


def printed(
    given: list[HostStatus], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    monkeypatch.setattr(hosts, "hosts_of", lambda *_, **__: given)
    assert run_command_line(["fleet", "status", "--scheduler", "tcp://127.0.0.1:1"]) == 0
    return capsys.readouterr().out.splitlines()


def test_the_widest_table_has_eighty_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = {
        "scenario": "a-scenario-with-a-long-name",
        "done": 1000,
        "total": 2000,
        "left_s": 5000.0,
        "load": 12.34,
        "free_bytes": 1023 << 30,
    }
    lines = printed(
        [host(f"{number}-{'h' * 40}", "measuring", **long) for number in range(12)],
        monkeypatch,
        capsys,
    )
    assert max(map(len, lines)) == 80
    assert "1000/2000, 1 h 2…  12.34" in lines[1]
    assert lines[1].endswith("012345")
    assert any("and 4 more" in line for line in lines)


def test_rows_of_all_states(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = [
        host("a"),
        host("b", "measuring", scenario="io", waiting=2),
        host("c", "measuring", scenario="io", done=3),
        host("d", "lost"),
        host("e", "no contact", scenario="io", done=3, total=5),
    ]
    cells = [line.split("  ")[1:] for line in printed(hosts, monkeypatch, capsys)]
    rows = [[cell.strip() for cell in row if cell.strip()] for row in cells[1:6]]
    assert rows == [
        ["free", "012345"],
        ["measuring io +2", "preparing", "012345"],
        ["measuring io", "3 rounds", "012345"],
        ["lost", "for 20 s", "012345"],
        ["no contact io", "for 20 s", "012345"],
    ]

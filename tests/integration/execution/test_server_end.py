"""The end of the servers of a session."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.execution import server
from bench_framework.execution.process import Launcher
from bench_framework.execution.server import Servers
from bench_framework.execution.target import Target, target_of
from bench_framework.model.plan.server import Server
from bench_framework.model.record.run import Build
from tests.integration.execution.conftest import plan_of

ENV = {"PATH": "/usr/bin:/bin"}


SCRIPT = "trap '' TERM; echo up; while :; do sleep 1; done"


def target(name: str, stop: tuple[str, ...]) -> Target:
    spec = Server(
        (("sh",), ("-c",), (SCRIPT,)),
        "line",
        ("up",),
        ready_s=10.0,
        signal="" if stop else "TERM",
        stop=tuple((word,) for word in stop),
        restart="session",
        cpus=None,
    )
    plan = plan_of({name: ["/bin/true"]}, control=False, cell={"server": spec})
    result = target_of(plan.cells[0], Build("program", ok=True, path="/bin/true"), None, ENV)
    return replace(result, env=ENV)


def test_servers_that_do_not_end_share_one_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.count(step=server.POLL_S)
    monkeypatch.setattr(server, "STOP_S", 0.5)
    stops: dict[str, tuple[str, ...]] = {
        "a": (),
        "b": (),
        "c": ("sleep", "30"),
        "d": ("no-such-program",),
        "e": (),
    }
    with Launcher() as launcher:
        servers = Servers(launcher, lambda name: tmp_path / name, keep=True)
        running = []
        for name, stop in stops.items():
            with servers.around(target(name, stop)) as (_, started):
                assert started is not None
                running.append(started)
        monkeypatch.setattr(server, "seconds", lambda: next(clock))
        begin = next(clock)
        servers.close()
        assert 0.5 <= next(clock) - begin < 2 * 0.5
        assert [one._launcher.running for one in running] == [None] * len(stops)

"""Tests of the waiting for an idle machine, with an invented load and clock."""

from collections.abc import Callable, Iterable
from itertools import chain, repeat

import pytest

from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution.machine import lock
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import Update, Waiting
from bench_framework.execution.stop import Stop


class Machine:
    """A machine with an invented load. Its clock advances only while something sleeps."""

    def __init__(self, loads: Iterable[float]) -> None:
        self.loads, self.now = iter(loads), 0.0
        self.after: Callable[[float], object] = lambda _: None
        self.updates: list[Update] = []
        self.stop = Stop(Launcher())

    def notify(self, update: Update) -> None:
        self.updates.append(update)

    def sleep(self, duration: float) -> None:
        self.now += duration
        self.after(self.now)

    def wait(self, below: float) -> float:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.getloadavg", lambda: (next(self.loads), 0.0, 0.0))
            patch.setattr(lock, "seconds", lambda: self.now)
            patch.setattr("time.sleep", self.sleep)
            return lock.wait_until_idle(below, self, self.stop)


def test_an_idle_machine_is_not_waited_for() -> None:
    machine = Machine([0.29])
    assert machine.wait(0.3) == 0.29
    assert (machine.now, machine.updates) == (0.0, [])


def test_it_waits_until_the_load_is_below_the_value_and_says_for_what() -> None:
    machine = Machine([1.25, 0.31, 0.3, 0.1])
    assert machine.wait(0.3) == 0.1
    assert machine.updates[0] == Waiting("a load average below 0.3, now 1.25", 0.0)
    assert len(machine.updates) == 3


def test_it_refuses_after_ten_minutes_with_the_load_and_a_fix() -> None:
    machine = Machine(chain(repeat(2.0, 2000), repeat(1.5)))
    with pytest.raises(MachineError) as caught:
        machine.wait(0.3)
    error = caught.value
    assert (error.code, error.exit_code) == ("BX241", 3)
    assert "not below 0.3 for 10 min" in error.message
    assert dict(error.details)["load"] == "1.50 (last minute)"
    assert "--idle" in (error.fix or "")
    assert lock.PATIENCE_S <= machine.now < lock.PATIENCE_S + 1


def test_a_stop_ends_the_waiting() -> None:
    machine = Machine(repeat(2.0))
    machine.after = lambda now: machine.stop.request() if now > 5 else None
    with pytest.raises(Interrupted):
        machine.wait(0.3)
    assert machine.now < 6

"""CPU time and memory of a server: all its processes, of each session, and what ended meanwhile."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_framework.execution.machine.processes import TICK_S, reset_peaks, usage_below
from bench_framework.execution.process import Command, Launcher
from tests.integration.processes import wait_for

PROGRAM = """
import os, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
memory = bytearray(b"x") * (64 << 20)
del memory
if not os.fork():
    os.setsid()
    burn(0.1)
    open(sys.argv[1] + "/other", "w").close()
    time.sleep(600)
waited = os.fork()
if not waited:
    burn(0.2)
    os._exit(0)
os.waitpid(waited, 0)
burn(0.1)
open(sys.argv[1] + "/own", "w").close()
time.sleep(600)
"""
TICKS_S = 0.03
"""Largest error of the CPU time of children that ended: one tick of each number."""


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[Launcher]:
    with Launcher() as main:
        other = main.other("server")
        command = (sys.executable, "-IS", "-c", PROGRAM, str(tmp_path))
        other.start(Command(command, dict(os.environ)))
        wait_for(lambda: {"own", "other"} <= {path.name for path in tmp_path.iterdir()})
        yield other


def test_the_cpu_time_is_that_of_all_processes(launcher: Launcher) -> None:
    usage = usage_below(launcher.pid or 0)
    assert usage.cpu_s >= 0.1 + 0.1 + 0.2 - TICKS_S
    in_ticks_s = TICK_S * (usage.user_ticks + usage.sys_ticks)
    assert in_ticks_s <= usage.cpu_s <= in_ticks_s + 4 * TICKS_S
    assert usage_below(launcher.pid or 0).cpu_s >= usage.cpu_s


def test_peaks_start_again_at_a_reset(launcher: Launcher) -> None:
    before = usage_below(launcher.pid or 0).peak_bytes
    reset_peaks(launcher.pid or 0)
    assert before - usage_below(launcher.pid or 0).peak_bytes >= 60 << 20 < before


def test_a_command_of_another_launcher_ends_with_the_first_one(launcher: Launcher) -> None:
    pid = launcher.running
    assert pid is not None
    assert not launcher.ended
    os.kill(pid, signal.SIGTERM)
    wait_for(lambda: launcher.ended)
    assert launcher.wait("python", 10).signal == signal.SIGTERM
    assert launcher.running is None

"""Signals, sizes of the terminal, pauses and steps of the clock at random moments of a run."""

import contextlib
import fcntl
import os
import random
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from harness import RUN, Attack, Box, require

STEPS_S = (3600, -3600, 86_400 * 400, -86_400 * 400, 60, -60, -1_700_000_000, 10**9)
SIZES = (0, 1, 2, 24, 80, 1000)


def interrupt(box: Box, span_s: float, number: int, rng: random.Random) -> str:
    """Send SIGINT to the process group, in one of four tries twice."""
    child = box.start(*RUN)
    time.sleep(rng.uniform(0, 1.3 * span_s))
    ended = not child.alive()
    for pause_s in (0.0, rng.uniform(0, 0.1))[: 1 + (number % 4 == 0)]:
        time.sleep(pause_s)
        child.send(signal.SIGINT, group=True)
    code = child.wait()
    require(code in {0, 130}, f"exit code {code}: {box.output()[-900:]}")
    return "after the end" if ended else "stopped" if code else "completed"


def resize(box: Box, span_s: float, _: int, rng: random.Random) -> str:
    """Change the size of the terminal while the progress is drawn."""
    master, terminal = os.openpty()
    parts: list[bytes] = []

    def drain() -> None:
        with contextlib.suppress(OSError):
            while part := os.read(master, 1 << 16):
                parts.append(part)

    child = box.start(*RUN, tty=terminal)
    os.close(terminal)
    reader = threading.Thread(target=drain)
    reader.start()
    while child.alive():
        size = struct.pack("4H", rng.choice(SIZES), rng.choice(SIZES), 0, 0)
        fcntl.ioctl(master, termios.TIOCSWINSZ, size)
        time.sleep(rng.uniform(0, span_s / 10))
    code = child.wait()
    reader.join()
    os.close(master)
    (box.path / "output").write_bytes(b"".join(parts))
    require(code == 0, f"exit code {code}: {box.output()[-900:]}")
    return ""


def pause(box: Box, span_s: float, _: int, rng: random.Random) -> str:
    """Stop the process for a moment four times, as a suspended machine does."""
    child = box.start(*RUN)
    for _ in range(4):
        time.sleep(rng.uniform(0, span_s / 4))
        child.send(signal.SIGSTOP)
        time.sleep(rng.uniform(0, 0.3))
        child.send(signal.SIGCONT)
    code = child.wait()
    require(code == 0, f"exit code {code}: {box.output()[-900:]}")
    return ""


def clock(box: Box, span_s: float, number: int, rng: random.Random) -> str:
    """Shift the clock during a run; in every second try, kill it and shift the clock before it is resumed."""
    child = box.start(*RUN)
    for _ in range(3):
        time.sleep(rng.uniform(0, span_s / 3))
        box.set_clock(rng.choice(STEPS_S))
    if number % 2:
        child.send(signal.SIGKILL)
    code = child.wait()
    before = box.journals()
    if code == -signal.SIGKILL:
        box.set_clock(rng.choice(STEPS_S))
        code = box(*RUN)
        box.check(before)
    require(code == 0, f"exit code {code}: {box.output()[-900:]}")
    return "resumed" if number % 2 and before else "not interrupted"


Disturb: TypeAlias = "Callable[[Box, float, int, random.Random], str]"


def attack(folder: Path, what: str, count: int, disturb: Disturb) -> Attack:
    box = Box.make(folder / disturb.__name__)
    start = time.monotonic()
    box.copy(folder / f"{disturb.__name__}-timed").expect(*RUN)
    span_s = time.monotonic() - start

    def case(path: Path, number: int, rng: random.Random) -> str:
        attacked = box.copy(path)
        met = disturb(attacked, span_s, number, rng)
        attacked.finish()
        return met

    return Attack(what, case, count)


def attacks(folder: Path, count: int) -> list[Attack]:
    few, make = max(2, count * 3 // 20), partial(attack, folder)
    return [
        make("SIGINT to the process group of `run`", count, interrupt),
        make("SIGWINCH while `run` draws its progress", few, resize),
        make("SIGSTOP and SIGCONT during `run`", few, pause),
        make("steps of the clock during `run`, and before it is resumed", few, clock),
    ]

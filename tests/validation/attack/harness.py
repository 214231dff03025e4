"""Harness of the attacks: folders to attack, benchctl in forked processes, checks, and the table of counts.

benchctl is imported once and forked for each call, so that a call takes a tenth of a second and thousands fit
into minutes. A fake hyperfine replaces the measurement.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from bench_framework.__main__ import main
from bench_framework.execution.machine import lock
from bench_framework.features import document, judge  # noqa: F401 -- loaded once, before the forks
from bench_framework.report import figures  # noqa: F401 -- the same
from bench_framework.store import finding, layout
from bench_framework.workflow import cache
from tests.integration.processes import executable, install_fake, install_hyperfine

ROOT: Final = Path(__file__).resolve().parents[3]
NEVER: Final = 2**63
STATE: Final = struct.Struct("3Q3q512s512s")
"""`struct state` of shim.c."""
PATIENCE: Final = 120_000
"""Milliseconds of waiting, counted in steps, so that a suspended machine does not end it."""
MOST_SHOWN: Final = 5
SHORT: Final = """
version: 1
name: attacked
question: Does an attack lose a result?
worker: {command: [/bin/echo]}
axes: {arm: [base, slow]}
command: ["{bin}", "arm-{arm}"]
baseline: {arm: base}
measure: {rounds: 3, until: rounds, warmup: 1, seed: 5, control: false}
"""
GATED: Final = SHORT.replace("rounds: 3", "rounds: 14").replace(", control: false", "") + (
    "gate: {wall: 2%, cpu: 2%}\n"
)
PROFILED: Final = SHORT.replace("/bin/echo", "./prog") + "profile: {variants: all, runs: 3}\n"
RUN: Final = ("run", "attacked.yaml")
RULES: Final = [
    {"match": "arm-base", "wall_s": 0.05, "stdout": "42\n"},
    {"match": "arm-slow", "wall_s": 0.06, "stdout": "42\n"},
]


class Failed(Exception):  # noqa: N818 -- an outcome, not a defect of the harness
    """benchctl did not survive an attack."""


def require(condition: object, words: str) -> None:
    if not condition:
        raise Failed(words)


@dataclass(frozen=True)
class Box:
    """A folder with a scenario, fake tools, records, a cache and a temporary folder."""

    path: Path

    @classmethod
    def make(cls, path: Path, scenario: str = SHORT) -> Self:
        box = cls(path)
        for folder in (path, box.tmp, box.cache, path / "bin"):
            folder.mkdir(parents=True)
        (path / "attacked.yaml").write_text(scenario)
        script = {"seed": 7, "clock": "rounds", "commands": RULES}
        (path / "script.json").write_text(json.dumps(script))
        install_hyperfine(path / "bin" / "hyperfine")
        install_fake("perf", path / "bin" / "perf")
        executable(path / "prog", "#!/bin/sh\necho 42\n")
        box.fail()
        return box

    def copy(self, path: Path) -> Self:
        shutil.copytree(self.path, path, symlinks=True)
        box = type(self)(path)
        box.fail()
        return box

    def fail(
        self,
        first: int = NEVER,
        last: int = NEVER,
        error: int = 0,
        half: int = 0,
        folder: str = "results",
    ) -> None:
        """Let operations on files of a folder fail, counted from 1, and begin a new list of them."""
        (self.path / "shim.log").unlink(missing_ok=True)
        folders = (str(self.path / folder).encode(), str(self.path / "shim.log").encode())
        (self.path / "shim.state").write_bytes(STATE.pack(0, first, last, error, half, 0, *folders))

    def set_clock(self, offset_s: int) -> None:
        with (self.path / "shim.state").open("r+b") as file:
            file.seek(STATE.size - 1024 - 8)
            file.write(struct.pack("q", offset_s))

    def operations(self) -> list[tuple[str, int, str]]:
        """Return kind, size of the file and path in the results of each operation since `fail`."""
        rows = (self.path / "shim.log").read_text().splitlines()
        return [(k, int(size), name) for _, k, size, name in (row.split("\t") for row in rows)]

    @property
    def results(self) -> Path:
        return self.path / "results"

    @property
    def tmp(self) -> Path:
        return self.path / "tmp"

    @property
    def cache(self) -> Path:
        return self.path / "cache"

    @property
    def records(self) -> list[Path]:
        steps = finding.find_steps(self.results)
        return [*finding.find_records(self.results, without_rounds=True), *steps]

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": str(self.path / "bin"),
            "HOME": str(self.path),
            "TMPDIR": str(self.tmp),
            "BENCHCTL_CACHE": str(self.cache),
            "BENCHCTL_HYPERFINE": str(self.path / "bin" / "hyperfine"),
            "BENCHCTL_FAKE_SCRIPT": str(self.path / "script.json"),
            "BENCHCTL_FAKE_PERF": json.dumps({"log": str(self.path / "perf.log")}),
            "BENCHCTL_ATTACK": str(self.path / "shim.state"),
            "LD_PRELOAD": os.environ["LD_PRELOAD"],
        }

    def output(self) -> str:
        with contextlib.suppress(FileNotFoundError):
            return (self.path / "output").read_text(errors="replace")
        return ""

    def start(self, *words: str, before: Callable[[], None] | None = None, tty: int = -1) -> Child:
        """Start benchctl in a session of its own; `before` is called in the child.

        With `tty`, that is its terminal.
        """
        ready, started = os.pipe()
        pid = os.fork()
        if pid == 0:
            os._exit(self._run(words, before, tty, started))
        os.close(started)
        os.read(ready, 1)
        os.close(ready)
        return Child(pid)

    def _run(
        self, words: tuple[str, ...], before: Callable[[], None] | None, tty: int, started: int
    ) -> int:
        try:
            os.setsid()
            os.chdir(self.path)
            env = self.env
            os.environ.clear()
            os.environ.update(env)
            ctypes.CDLL(None).arm(env["BENCHCTL_ATTACK"].encode())
            tempfile.tempdir = None
            stream = tty
            if tty < 0:
                stream = os.open(self.path / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            else:
                fcntl.ioctl(tty, termios.TIOCSCTTY, 0)
                os.environ["TERM"] = "xterm"
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(stream, 1)
            os.dup2(stream, 2)
            sys.stdout, sys.stderr = (open(fd, "w", closefd=False) for fd in (1, 2))  # noqa: SIM115
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # Nothing is timed here, so that runs need not wait for each other.
            lock_folder = Path(tempfile.mkdtemp(dir=self.path.parent, prefix="lock-"))
            lock.FOLDERS = (lock_folder, lock_folder)  # type: ignore[misc]
            sys.argv = ["benchctl", *words]
            if before is not None:
                before()
            os.write(started, b"x")
            main()
        except SystemExit as stop:
            return stop.code if isinstance(stop.code, int) else 1
        except BaseException:  # noqa: BLE001 -- printed, and found by `check_output`
            traceback.print_exc()
            return 70
        finally:
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
        return 0

    def __call__(self, *words: str, before: Callable[[], None] | None = None) -> int:
        return self.start(*words, before=before).wait()

    def expect(self, *words: str, codes: Iterable[int] = (0,)) -> None:
        """Run a command, and require one of the exit codes."""
        size = len(self.output())
        code = self(*words)
        if code not in codes:
            raise Failed(f"`{' '.join(words)}` ended with {code}: {self.output()[size:][-600:]}")

    def journals(self) -> dict[Path, bytes]:
        """Return the complete lines of each journal that contains a measured sample."""
        # The draft of a new record gets another name at any moment.
        paths = sorted(self.results.glob("*/[!.]*/journal.jsonl"))
        texts = {path: path.read_bytes() for path in paths}
        return {
            path: text[: text.rfind(b"\n") + 1]
            for path, text in texts.items()
            if b'"kind":"block"' in text
        }

    def finish(self, *command: str, before: dict[Path, bytes] | None = None) -> None:
        """Continue with a command, by default the run unless it is complete, and check everything."""
        before = self.journals() if before is None else before
        if command or not any((record / layout.MANIFEST).is_file() for record in self.records):
            self.expect(*(command or RUN))
        self.check(before)

    def check(self, before: dict[Path, bytes]) -> None:
        """Require that earlier lines are entries, runs were resumed, results verify, and `clean` lists the rest."""
        for path, text in before.items():
            now = path.read_bytes() if path.is_file() else b""
            require(now.startswith(text), f"lines of {path} were lost")
            require(b'"kind":"end"' in now, f"{path} was not resumed")
            ends = re.findall(rb'"input_id":"\w+","round":\d+,"warmup":\w+', b"".join(_ends(now)))
            require(len(ends) == len(set(ends)) > 0, f"a round is twice in {path}")
        for record in self.records:
            if (record / layout.MANIFEST).is_file():
                self.expect("verify", str(record))
                parts = [*record.rglob("*.part")]
                require(not parts, f"parts are left in a record: {parts}")
        self.check_leftovers()

    def check_leftovers(self) -> None:
        """Require that `clean` lists everything that is no record, and that no call printed a traceback."""
        for draft in (*self.results.glob("*/.*.part"), *self.results.glob("bisect/*/.*.part")):
            os.utime(draft, (0, 0))
        folder, tempfile.tempdir = tempfile.tempdir, str(self.tmp)
        try:
            listed = {item.path for item in cache.list_items(self.results, kinds=("scratch",))}
        finally:  # later attacks of this process need a temporary folder that remains
            tempfile.tempdir = folder
        entries = {p for pattern in ("*/*", "*/.*") for p in self.results.glob(pattern)}
        searches = {p for p in entries if p.parent.name == "bisect" and p.is_dir()}
        there = {
            *self.tmp.iterdir(),
            *(entries - searches),
            *(p for s in searches for p in s.iterdir()),
        }
        # Python writes such a file to see whether it can write into the temporary folder.
        there -= {p for p in self.tmp.iterdir() if p.is_file() and p.read_bytes() in (b"", b"blat")}
        states = (*self.results.glob("bisect/*/bisect.json"), *self.results.glob("*/baselines"))
        left = there - listed - {*self.records, *states}
        require(not left, f"`clean` does not list {sorted(map(str, left))}")
        error = re.search(r"Traceback|BX900|BX237", self.output())
        require(not error, self.output()[error.start() :][:900] if error else "")


def _ends(journal: bytes) -> list[bytes]:
    return [line for line in journal.splitlines() if b'"kind":"round-end"' in line]


@dataclass(frozen=True)
class Child:
    """A running benchctl."""

    pid: int

    def wait(self) -> int:
        for _ in range(PATIENCE):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        self.send(signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise Failed("benchctl did not end within two minutes")

    def send(self, number: int, *, group: bool = False) -> None:
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(self.pid, number)

    def alive(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition. Return False if the process ended first."""
        for _ in range(PATIENCE):
            if condition():
                return True
            if not self.alive():
                break
            time.sleep(0.001)
        return False


@dataclass
class Attack:
    """An attack that is tried several times.

    Attributes:
        what: its row in the table.
        case: called with an empty folder, the number of the try, and a random generator; raises
            `Failed`, and returns what it met.
        count: number of tries.
    """

    what: str
    case: Callable[[Path, int, random.Random], str]
    count: int
    met: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    tried: int = 0


RUNNING: Final[list[Attack]] = []


def run_attacks(attacks: list[Attack], folder: Path, jobs: int) -> None:
    """Make all tries in several processes, or those until Ctrl-C. The folders of failed tries remain."""
    RUNNING[:] = attacks  # the processes are forked after this; functions cannot be sent to them
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = {
            pool.submit(_try, at, folder / f"{at}-{number}", number): attack
            for at, attack in enumerate(attacks)
            for number in range(attack.count)
        }
        try:
            for future in as_completed(futures):
                attack, (words, failure) = futures[future], future.result()
                attack.tried += 1
                attack.met[words] += 1
                if failure:
                    attack.failures.append(failure)
        except KeyboardInterrupt:
            print("interrupted: the table has the tries until then\n")
            pool.shutdown(cancel_futures=True)


def _try(at: int, folder: Path, number: int) -> tuple[str, str]:
    attack = RUNNING[at]
    try:
        words = attack.case(folder, number, random.Random(f"{attack.what}/{number}"))
    except Failed as failure:
        return "", f"{folder}: {failure}"
    except Exception:  # noqa: BLE001 -- a defect of the attack is shown as a failure, too
        return "", f"{folder}: {traceback.format_exc()}"
    shutil.rmtree(folder, ignore_errors=True)
    return words, ""


def table(attacks: list[Attack]) -> str:
    """Return the counts as a table in Markdown, and what failed."""
    lines = ["| attack | tried | survived | failed | met |", "|:--|--:|--:|--:|:--|"]
    for attack in attacks:
        failed = len(attack.failures)
        met = ", ".join(f"{words} {n}" for words, n in sorted(attack.met.items()) if words)
        lines.append(
            f"| {attack.what} | {attack.tried} | {attack.tried - failed} | {failed} | {met} |"
        )
    for attack in attacks:
        lines += [f"\n{attack.what}: {text}" for text in attack.failures[:MOST_SHOWN]]
    return "\n".join(lines) + "\n"

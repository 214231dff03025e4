"""Compare `benchctl ab` with hyperfine on the same two commands: times to the first figure and to the answer.

Usage: ``python tests/validation/bench/ab_and_hyperfine.py [--times N] [--busy N]``. Each tool runs in a separate
terminal, so that it displays its progress. Both run the commands without a shell. Each turn runs both in a random
order. Needs cargo and ripgrep.
"""

import argparse
import contextlib
import os
import pty
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench_framework.execution import hyperfine, process
from bench_framework.execution.machine import host
from bench_framework.execution.progress import SilentObserver
from bench_framework.execution.stop import Driver, Stop
from tests.files import write_files
from tests.integration.processes import CALL

PROGRAM = """
fn main() {
    let (mut state, mut table) = (1u32, [0u32; 4096]);
    for _ in 0..3_000_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        table[(state >> 20) as usize] += state & 7;
    }
    println!("{}", table.iter().fold(0u32, |sum, n| sum.wrapping_mul(31).wrapping_add(*n)));
}
"""
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r")
FIGURE = re.compile(r"(?<!least )(?<!most )\b\d+(\.\d+)?\s?(ms|µs)\b")
"""A time of a command. Both tools show those of these commands in milliseconds."""
FASTER, SLOWER, NEITHER = "second faster", "second slower", "no difference named"


@dataclass(frozen=True, slots=True)
class Case:
    """Two commands, and what is known about the second one."""

    name: str
    commands: tuple[str, str]
    truth: str


@dataclass(frozen=True, slots=True)
class Watched:
    """Seconds until the first figure and until the end, and the output without escapes."""

    first_s: float
    end_s: float
    text: str


def watch(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> Watched:
    """Run a program in a terminal of 120 columns.

    Raises:
        RuntimeError: it failed, or displayed no figure.
    """
    began, first, output = time.perf_counter(), 0.0, b""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(argv[0], [*argv], dict(env))
    termios.tcsetwinsize(terminal, (40, 120))
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # the terminal closes with the last process
            break
        if not data:
            break
        output += data
        if not first and FIGURE.search(ESCAPES.sub(b"", output).decode(errors="replace")):
            first = time.perf_counter() - began
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    text = ESCAPES.sub(b"", output).decode(errors="replace")
    if status or not first:
        raise RuntimeError(f"{argv} ended with {status}:\n{text[-2000:]}")
    return Watched(first, time.perf_counter() - began, text)


def answer(text: str, commands: tuple[str, str]) -> str:
    """Return what the last lines of either tool say about the second command."""
    words = " ".join(text.split())
    first, second = commands
    if "Summary " in words:
        return FASTER if words.rpartition("Summary ")[2].startswith(f"{second} ran") else SLOWER
    for direction, result in (("faster", FASTER), ("slower", SLOWER)):
        if re.search(
            rf"`{re.escape(second)}` is [^`]* {direction} than `{re.escape(first)}`", words
        ):
            return result
    for neither in (f"`{second}` vs `{first}` is inconclusive", f"`{second}` and `{first}` are "):
        if neither in words:  # equivalent, or the same program
            return NEITHER
    raise RuntimeError(f"no answer about {second} in:\n{text[-2000:]}")


def cases(folder: Path) -> tuple[Case, ...]:
    """Write the programs and the input of the cases into a folder."""
    manifest = '[package]\nname = "sum"\nedition = "2021"\n'
    crate = write_files(folder / "crate", {"Cargo.toml": manifest, "src/main.rs": PROGRAM})
    for name, level in (("old", "1"), ("new", "3")):
        env = os.environ | {"CARGO_PROFILE_RELEASE_OPT_LEVEL": level}
        target = folder / f"target-{name}"
        build = ["cargo", "build", "-q", "--release", "--target-dir", str(target)]
        subprocess.run(build, cwd=crate, env=env, check=True)
        shutil.copy(target / "release/sum", folder / name)
    shutil.copy(folder / "old", folder / "same")
    lines = "".join(
        f"{i * 7919 % 100003} line {'error' if i % 97 == 0 else ''}\n" for i in range(150_000)
    )
    (folder / "log.txt").write_text(lines, encoding="utf-8")
    return (
        Case("sleep", ("sleep 0.01", "sleep 0.0103"), SLOWER),
        Case("same binary twice", ("./old", "./same"), NEITHER),
        Case("a crate at opt-level 1, 3", ("./old", "./new"), ""),
        Case("grep, rg", ("grep -c error log.txt", "rg -c error log.txt"), ""),
    )


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep `count` processes busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.send_signal(signal.SIGKILL)
            loop.wait()


def find_hyperfine() -> str:
    """Return the path of the hyperfine that benchctl uses."""
    with process.Launcher() as launcher:
        stop = Stop(launcher, SilentObserver())
        driver = Driver(launcher, host.environment(), SilentObserver(), stop)
        return hyperfine.find(launcher, driver.env, driver.interruptible).path


def main() -> None:
    """Run both tools on every case and print one table row for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument(
        "--busy", type=int, default=0, help="number of processes that only use CPU time"
    )
    given = parser.parse_args()
    tool = find_hyperfine()
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"COLUMNS": "120", "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[3])}
    order = random.Random(1)
    load = [os.getloadavg()[0]]
    rows = []
    with tempfile.TemporaryDirectory() as name, busy(given.busy):
        folder = Path(name)
        for case in cases(folder):
            tools = {
                "hyperfine": [tool, "--shell=none", *case.commands],
                # Without the lock: a wait for another measurement would be part of the times.
                "benchctl ab": [sys.executable, CALL, name, "ab", "--fresh", *case.commands],
            }
            results: dict[str, list[Watched]] = {label: [] for label in tools}
            for turn in range(given.times + 1):  # the first one fills caches
                for label in order.sample(list(tools), len(tools)):
                    result = watch(tools[label], env, folder)
                    if turn:
                        results[label].append(result)
                        verdict = answer(result.text, case.commands)
                        print(
                            f"{case.name}, {label}: {verdict}, {result.end_s:.1f} s",
                            file=sys.stderr,
                        )
            rows += [row(case, label, watched) for label, watched in results.items()]
            load.append(os.getloadavg()[0])
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {given.times} times each, CPUs {cpus}, {given.busy} busy processes, "
        f"load average {min(load):.1f} to {max(load):.1f}\n"
    )
    print(
        "| commands | tool | first figure, s | answer, s | says about the second command | wrong direction |"
    )
    print("|---|---|--:|--:|---|--:|")
    print("\n".join(rows))


def row(case: Case, label: str, results: Sequence[Watched]) -> str:
    """Return a row of the table: medians with their ranges, and the answers."""
    firsts, ends = ([getattr(r, key) for r in results] for key in ("first_s", "end_s"))
    answers = Counter(answer(result.text, case.commands) for result in results)
    opposite = {SLOWER: (FASTER,), NEITHER: (FASTER, SLOWER)}.get(case.truth)
    wrong = (
        "unknown"
        if opposite is None
        else f"{sum(answers[word] for word in opposite)} of {len(results)}"
    )
    words = ", ".join(f"{word} {count}×" for word, count in answers.most_common())
    return f"| {case.name} | {label} | {spread(firsts)} | {spread(ends)} | {words} | {wrong} |"


def spread(values: Sequence[float]) -> str:
    """Return the median and the range."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    main()

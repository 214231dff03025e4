"""Faults of the disk: every file operation fails once, and a power cut drops what was not flushed."""

import errno
import os
import random
import shutil
import signal
import time
from functools import cache
from pathlib import Path

from harness import GATED, NEVER, PROFILED, RUN, SHORT, Attack, Box, require
from kills import IMPORTED

ECHO = ("/bin/echo arm-base", "/bin/echo arm-slow")
FAULTS = {
    "disk full from operation n on": (errno.ENOSPC, True, 0),
    "write n is cut, then the disk is full": (errno.ENOSPC, True, 1),
    "operation n fails with EIO": (errno.EIO, False, 0),
}
COMMANDS = {
    "run": (SHORT, RUN, 0),
    "report": (SHORT, ("report", "@last"), 0),
    "gate": (GATED, ("gate", "@last", "--no-confirm"), 4),
    "profile": (PROFILED, ("profile", "@last"), 0),
    "import": (SHORT, ("import", "imp.json", "--name", "imp"), 0),
}
OUTPUTS: dict[str, tuple[tuple[str, ...], str, bool]] = {
    "site": (("site", "out"), "out", True),
    "init": (("init", "out"), "out", True),
    "history --plot": (("history", "attacked", "--plot", "out/h.svg"), "out", True),
    "report --publish": (("report", "@last", "--publish", "out"), "out", True),
    "export --out": (("export", "@last", "--format", "jsonl", "--out", "out/t"), "out", True),
    "baseline export": (("baseline", "export", "one", "-o", "out/b.tar.gz"), "out", False),
    "ab --save": (("ab", "-r", "3", ECHO[0], ECHO[1], "--save", "out/s.yaml"), "out", True),
}
"""Commands that write outside of the results: words, folder, and whether its content is always the same."""
KINDS = ("unflushed lines dropped", "last line torn", "zeros at the end", "only the journal cut")


@cache
def prepared(folder: Path, name: str) -> tuple[Box, list[str]]:
    """Return the folder in which a command is attacked, and the kinds of its operations."""
    scenario, words, _ = COMMANDS[name]
    box = Box.make(folder / f"disk-{name}", scenario)
    shutil.copy(IMPORTED, box.path / "imp.json")
    if name not in {"run", "import"}:
        box.expect(*RUN)
    counted = box.copy(folder / f"disk-{name}-counted")
    counted(*words)
    return box, [kind for kind, *_ in counted.operations()]


def faults(folder: Path, name: str, share: int, fault: str) -> Attack:
    """Attack every operation of a command, or one of `share` operations."""
    (error, remains, half), (_, words, done) = FAULTS[fault], COMMANDS[name]
    box, kinds = prepared(folder, name)
    numbers = [n for n, kind in enumerate(kinds, 1) if not half or kind == "write"][::share]

    def case(path: Path, number: int, _: random.Random) -> str:
        first, attacked = numbers[number], box.copy(path)
        old = attacked.journals()
        attacked.fail(first, NEVER if remains else first, error, half)
        code = attacked(*words)
        operations = attacked.operations()
        require(len(operations) >= first, "the operation was not reached")
        words_of = f"operation {first} {operations[first - 1]}: exit code {code}"
        require(code in {0, 3, done}, f"{words_of}: {attacked.output()[-900:]}")
        before = attacked.journals()
        unchanged = all(before.get(journal, b"").startswith(text) for journal, text in old.items())
        require(unchanged, f"{words_of}: a journal was changed")
        attacked.fail()
        if code != done:
            attacked.expect(*words, codes=[done])
        attacked.check(before)
        return operations[first - 1][0]

    return Attack(f"{fault}, `{name}`", case, len(numbers))


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@cache
def prepared_output(folder: Path, name: str) -> tuple[Box, list[str], dict[str, bytes]]:
    """Return the folder in which a command is attacked, the kinds of its operations, and what it writes."""
    words, target, _ = OUTPUTS[name]
    box = Box.make(folder / f"disk-{name.replace(' ', '')}")
    box.expect(*RUN)
    box.expect(*RUN, "--fresh")
    box.expect("baseline", "save", "one")
    if target not in words:
        (box.path / target).mkdir()
    counted = box.copy(box.path.with_name(f"{box.path.name}-counted"))
    counted.fail(folder=target)
    counted.expect(*words)
    return box, [kind for kind, *_ in counted.operations()], contents(counted.path / target)


def output_faults(folder: Path, name: str, share: int, fault: str) -> Attack:
    """Attack every operation of a command on the files that it writes outside of the results."""
    (error, remains, half), (words, target, same) = FAULTS[fault], OUTPUTS[name]
    box, kinds, whole = prepared_output(folder, name)
    numbers = [n for n, kind in enumerate(kinds, 1) if not half or kind == "write"][::share]

    def case(path: Path, number: int, _: random.Random) -> str:
        first, attacked = numbers[number], box.copy(path)
        attacked.fail(first, NEVER if remains else first, error, half, target)
        code = attacked(*words)
        operations = attacked.operations()
        require(len(operations) >= first, "the operation was not reached")
        words_of = f"operation {first} {operations[first - 1]}: exit code {code}"
        require(code in {0, 3}, f"{words_of}: {attacked.output()[-900:]}")
        attacked.fail()
        attacked.expect(*words)
        now = contents(attacked.path / target)
        require(now.keys() == whole.keys(), f"{words_of}: {sorted(now.keys() ^ whole.keys())}")
        require(now == whole or not same, f"{words_of}: other contents")
        attacked.check_leftovers()
        return operations[first - 1][0]

    return Attack(f"{fault}, `{name}`", case, len(numbers))


def power_cut(folder: Path, count: int) -> Attack:
    """Attack a run by a kill, and drop what it did not flush: journal and output of hyperfine."""
    box = Box.make(folder / "power")
    start = time.monotonic()
    box.copy(folder / "power-timed").expect(*RUN)
    span_s = time.monotonic() - start

    def case(path: Path, number: int, rng: random.Random) -> str:
        attacked, kind = box.copy(path), KINDS[number % len(KINDS)]
        child = attacked.start(*RUN)
        time.sleep(rng.uniform(0, span_s))
        child.send(signal.SIGKILL)
        child.wait()
        files = [*attacked.results.rglob("*.jsonl")]
        done = attacked.operations() if files else []
        flushed = {attacked.results / name: size for what, size, name in done if what == "sync"}
        for file in files:
            if kind == "only the journal cut" and file.name != "journal.jsonl":
                continue
            size, whole = flushed.get(file, 0), file.stat().st_size
            os.truncate(file, rng.randint(size, whole) if kind == "last line torn" else size)
            if kind == "zeros at the end":
                os.truncate(file, whole)
        attacked.finish()
        return kind if files else ""

    return Attack("power cut in `run`", case, count)


def attacks(folder: Path, count: int, share: int, step: int) -> list[Attack]:
    first, *_ = FAULTS
    combinations = [("run", fault) for fault in FAULTS]
    combinations += [(name, first) for name in COMMANDS if name != "run"]
    # With a share of the operations, one kind of fault.
    outputs = [(name, fault) for name in OUTPUTS for fault in ([first] if share > 1 else FAULTS)]
    return [
        *(faults(folder, name, share, fault) for name, fault in combinations[::step]),
        *(output_faults(folder, name, share, fault) for name, fault in outputs[::step]),
        power_cut(folder, count),
    ]

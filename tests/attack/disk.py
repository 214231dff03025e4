"""Faults of the disk: every file operation fails once, and a power cut drops what was not flushed."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import time
from typing import TYPE_CHECKING

from harness import FOREVER, GATED, PROFILED, SHORT, Attack, Box, Shim, require
from kills import IMPORTED

if TYPE_CHECKING:
    import random
    from pathlib import Path

DONE_OR_REFUSED = (0, 3)
FAULTS = {
    "disk full from operation n on": (errno.ENOSPC, True, 0),
    "write n is cut, then the disk is full": (errno.ENOSPC, True, 1),
    "operation n fails with EIO": (errno.EIO, False, 0),
}
COMMANDS = {
    "run": (SHORT, ("run", "attacked.yaml")),
    "report": (SHORT, ("report", "@last")),
    "gate": (GATED, ("gate", "@last", "--no-confirm")),
    "profile": (PROFILED, ("profile", "@last")),
    "import": (SHORT, ("import", "imp.json", "--name", "imp")),
}


def prepared(folder: Path, name: str) -> tuple[Box, list[str]]:
    """Return the folder in which a command is attacked, and the kinds of its operations."""
    scenario, words = COMMANDS[name]
    box = Box.make(folder / f"disk-{name}", scenario)
    shutil.copy(IMPORTED, box.path / "imp.json")
    shim = Shim.make(box)
    if name not in {"run", "import"}:
        # The library is part of the environment, so the record is measured with it.
        box.start("run", "attacked.yaml", before=shim.arm).wait()
    counted = box.copy(folder / f"disk-{name}-counted")
    shim = Shim.make(counted)
    counted.start(*words, before=shim.arm).wait()
    kinds = [kind for kind, *_ in shim.operations()]
    shutil.rmtree(counted.path)
    return box, kinds


def faults(folder: Path, name: str, share: int, fault: str) -> Attack:
    """Attack every operation of a command, or one of `share` operations."""
    error, remains, half = FAULTS[fault]
    box, kinds = prepared(folder, name) if not (folder / f"disk-{name}").exists() else KNOWN[name]
    KNOWN[name] = box, kinds
    numbers = [n for n, kind in enumerate(kinds, 1) if not half or kind == "write"][::share]
    words = COMMANDS[name][1]

    def case(path: Path, number: int, _: random.Random) -> str:
        first = numbers[number]
        attacked = box.copy(path)
        old = attacked.journals()
        shim = Shim.make(attacked, first, FOREVER if remains else first, error, half)
        code = attacked(*words, before=shim.arm)
        operations = shim.operations()
        require(len(operations) >= first, "the operation was not reached")
        require(
            code in (*DONE_OR_REFUSED, *((4,) if name == "gate" else ())),
            f"operation {first} {operations[first - 1]}: exit code {code}: {attacked.output()[-900:]}",
        )
        before = attacked.journals()
        for journal, text in old.items():
            require(before.get(journal, b"").startswith(text), f"{journal} was changed")
        again = Shim.make(attacked)
        if code:
            allowed = (4,) if name == "gate" else (0,)
            last = attacked(*words, before=again.arm)
            require(
                last in allowed, f"operation {first}, again: {last}: {attacked.output()[-900:]}"
            )
        attacked.check_kept(before)
        for record in attacked.records:
            if (record / "manifest.json").is_file():
                attacked.expect("verify", str(record))
        attacked.check_output()
        attacked.check_leftovers()
        return operations[first - 1][0]

    return Attack(f"{fault}, `{name}`", case, len(numbers))


KNOWN: dict[str, tuple[Box, list[str]]] = {}


def power_cut(folder: Path, count: int) -> Attack:
    """Attack a run by a kill, and drop what it did not flush: journal and output of hyperfine."""
    box = Box.make(folder / "power")
    start = time.monotonic()
    timed = box.copy(folder / "power-timed")
    timed.expect("run", "attacked.yaml")
    span_s = time.monotonic() - start
    kinds = (
        "unflushed lines dropped",
        "last line torn",
        "zeros at the end",
        "only the journal cut",
    )

    def case(path: Path, number: int, rng: random.Random) -> str:
        attacked = box.copy(path)
        shim = Shim.make(attacked)
        child = attacked.start("run", "attacked.yaml", before=shim.arm)
        time.sleep(rng.uniform(0, span_s))
        child.send(signal.SIGKILL)
        child.wait()
        kind = kinds[number % len(kinds)]
        flushed = {
            attacked.results / name: size
            for what, size, name in shim.operations()
            if what == "sync"
        }
        for file in attacked.results.rglob("*.jsonl"):
            if kind == "only the journal cut" and file.name != "journal.jsonl":
                continue
            size, whole = flushed.get(file, 0), file.stat().st_size
            if kind == "last line torn":
                size = rng.randint(size, whole)
            os.truncate(file, size)
            if kind == "zeros at the end":
                os.truncate(file, whole)
        before = attacked.journals()
        code = attacked("run", "attacked.yaml", before=Shim.make(attacked).arm)
        require(code == 0, f"{kind}: exit code {code}: {attacked.output()[-900:]}")
        attacked.finish(before)
        return kind if any(attacked.results.glob("*/*/journal.jsonl")) else ""

    return Attack("power cut in `run`", case, count)


def attacks(folder: Path, count: int, share: int) -> list[Attack]:
    combinations = [("run", fault) for fault in FAULTS]
    combinations += [
        (name, fault) for name in COMMANDS if name != "run" for fault in list(FAULTS)[:1]
    ]
    return [
        *(faults(folder, name, share, fault) for name, fault in combinations),
        power_cut(folder, count),
    ]

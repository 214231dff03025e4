"""Decide ten changes of a crate by `benchctl ab --decide`, and by the means of hyperfine.

Usage: ``python tests/validation/bench/ten_candidates.py [--times N] [--hyperfine PROGRAM]``. Three changes make the
crate of `planted_causes.py` faster, three slower, and four have no effect. The table begins with the ratio of the times
of many paired rounds and its interval, which say what is right: *keep* if the interval is below 1, *discard* if it
excludes an improvement of more than the margin of 2 %; both for a small improvement. A tool that says *more-data* is
inconclusive. hyperfine keeps a change if its mean is smaller. Needs cargo.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from ab_and_hyperfine import find_hyperfine
from planted_causes import EQUAL, MANIFEST, PLANTED, PROGRAM, Case
from side_by_side import Arm, Ratio, measure, ratio

from tests.files import write_files
from tests.integration.processes import CALL

BUDGET = "60s"
MARGIN = 0.02
ROUNDS = 200
"""Paired rounds that say what is right, up to `LONGEST` times."""
LONGEST = 8
BETTER = (
    Case(
        "one buffer for all lines",
        'let line = format!("{} alpha beta gamma {} delta\\n", n % 977, n % 13);',
        "line.clear(); std::fmt::Write::write_fmt(&mut line, "
        'format_args!("{} alpha beta gamma {} delta\\n", n % 977, n % 13)).unwrap();',
    ),
    Case(
        "a table in place of a search",
        "known.binary_search(&key).unwrap_or(0)",
        "if key % 37 == 0 && key / 37 < known.len() as u64 { (key / 37) as usize } else { 0 }",
    ),
    Case("a shorter payload", "const PAYLOAD: usize = 64;", "const PAYLOAD: usize = 8;"),
)
WORSE = tuple(
    case for case in PLANTED if case.name in ("allocation in a loop", "lost inline", "lock")
)
WITHOUT = (
    *(case for case in EQUAL if case.name in ("a comment", "line tables")),
    Case("shift in place of a product", "key.wrapping_mul(31)", "(key << 5).wrapping_sub(key)"),
    Case(
        "two statements exchanged",
        "        store_entry(&mut entries, place, &entry);\n        write_entry(&mut out, &line);",
        "        write_entry(&mut out, &line);\n        store_entry(&mut entries, place, &entry);",
    ),
)
DECLARED = "    let mut total = 0u64;\n"
EXITS = {0: "keep", 1: "discard", 4: "more-data"}


@dataclass(frozen=True)
class Answer:
    """One word of one tool."""

    tool: str
    word: str
    right: bool
    seconds: float


def build(folder: Path, name: str, program: str, manifest: str) -> Path:
    """Build a program in a crate of its own, and return a copy of it."""
    files = {"Cargo.toml": manifest, "src/main.rs": program}
    crate = write_files(folder / f"crate-{name}", files)
    target = folder / f"target-{name}"
    call = ["cargo", "build", "-q", "--release", "--target-dir", str(target)]
    subprocess.run(call, cwd=crate, check=True)
    return Path(shutil.copy(target / "release" / "journal", folder / name))


def changed(case: Case) -> str:
    """Return the program with a change."""
    program = PROGRAM.replace(case.old, case.new) if case.old else PROGRAM
    assert program != PROGRAM or not case.old, case.name
    if "line.clear()" in case.new:
        program = program.replace(DECLARED, f"{DECLARED}    let mut line = String::new();\n")
    return program


def by_ab(folder: Path, old: Path, new: Path) -> str:
    """Return the word of `ab --decide`."""
    call = [sys.executable, CALL, str(folder), "ab", "--decide", "--fresh"]
    call += ["--budget", BUDGET, f"./{old.name}", f"./{new.name}"]
    done = subprocess.run(call, cwd=folder, check=False, capture_output=True, text=True)
    word = EXITS[done.returncode]
    assert done.stdout.strip() == word, done.stdout + done.stderr
    return word


def by_hyperfine(program: str, folder: Path, old: Path, new: Path) -> str:
    """Return *keep* if the mean of the new program is smaller."""
    table = folder / "hyperfine.csv"
    call = [program, "-N", "--warmup", "1", "--export-csv", str(table)]
    call += [f"./{old.name}", f"./{new.name}"]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    means = pd.read_csv(table)["mean"]
    return "keep" if means[1] < means[0] else "discard"


def true_change(old: Path, new: Path) -> tuple[Ratio, dict[str, bool]]:
    """Return the ratio of the times, and which words are right. It measures until the interval decides."""
    times: dict[str, list[float]] = {"old": [], "new": []}
    for seed in range(LONGEST):
        timed = measure([Arm("old", (old,)), Arm("new", (new,))], rounds=ROUNDS, seed=seed)
        for name, seconds in timed.items():
            times[name] += seconds
        change = ratio(times["new"], times["old"])
        words = {"keep": change.high < 1, "discard": change.low > 1 - MARGIN}
        if any(words.values()):
            return change, words
    raise RuntimeError(f"{new}: {change} decides nothing")


def main() -> None:
    """Build the ten changes, ask both tools about each, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--hyperfine", default="")
    given = parser.parse_args()
    hyperfine = given.hyperfine or find_hyperfine()
    order, answers = random.Random(3), []
    print("| change | new ÷ old | right | ab --decide | hyperfine's means |")
    print("|---|--:|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        old = build(folder, "old", PROGRAM, MANIFEST)
        for number, case in enumerate((*BETTER, *WORSE, *WITHOUT)):
            new = build(folder, f"new-{number}", changed(case), case.manifest)
            change, truth = true_change(old, new)
            allowed = " or ".join(word for word, fits in truth.items() if fits)
            tools: dict[str, Callable[[], str]] = {
                "ab --decide": partial(by_ab, folder, old, new),
                "hyperfine": partial(by_hyperfine, hyperfine, folder, old, new),
            }
            words: dict[str, list[str]] = {tool: [] for tool in tools}
            for _ in range(given.times):
                for tool in order.sample(sorted(tools), len(tools)):
                    begun = time.monotonic()
                    word = tools[tool]()
                    seconds = time.monotonic() - begun
                    answers.append(Answer(tool, word, truth.get(word, False), seconds))
                    words[tool].append(word)
            cells = (", ".join(f"{n} {w}" for w, n in Counter(words[t]).items()) for t in tools)
            print("|", " | ".join((case.name, str(change), allowed, *cells)), "|", flush=True)
    print("\n| | right | wrong | inconclusive | minutes |\n|---|--:|--:|--:|--:|")
    for tool in ("ab --decide", "hyperfine"):
        answered = [a for a in answers if a.tool == tool]
        inconclusive = sum(a.word == "more-data" for a in answered)
        right = sum(a.right for a in answered)
        wrong = len(answered) - right - inconclusive
        minutes = sum(a.seconds for a in answered) / 60
        print(f"| {tool} | {right} | {wrong} | {inconclusive} | {minutes:.1f} |")


if __name__ == "__main__":
    main()

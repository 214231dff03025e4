"""Ten questions to `benchctl ab`, hyperfine and `perfgate paired`: which of them answer right, and how fast?

Usage: ``python tests/validation/bench/ten_questions.py [--times N] [--perfgate PROGRAM] [--hyperfine PROGRAM]``. Five
questions are about equal programs, and five about a program with 4 % more work. Each turn asks all tools about a
question in random order. It prints the table of `docs/method.md#other-tools`.

- ab: *differs* if a verdict says so, *equal* if it is equivalent within 2 %.
- hyperfine: *differs* if the range "1.04 ± 0.02" of its summary excludes 1. It never says that commands are equal.
- perfgate: *differs* if its Welch test is significant, *equal* if its 95 % interval is within 2 % otherwise.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MORE = 1.04
MARGIN = 0.02
BUDGET = "30s"
PAIRS = 30
"""Pairs of perfgate and runs per command of hyperfine: about the time that `ab` takes."""
SUMMARY = re.compile(r"([\d.]+) ± ([\d.]+) times faster")
ANSWERS = ("right", "wrong", "inconclusive")


@dataclass(frozen=True)
class Question:
    """Two commands; with `differs`, the second one has 4 % more work."""

    name: str
    first: str
    second: str
    differs: bool


def questions(folder: Path) -> list[Question]:
    """Write the inputs and copies of the programs into a folder, and return the questions.

    Equal commands run two copies of one program, whose files differ in one unused byte, on one file.
    """
    rng = random.Random(7)
    makers: dict[str, tuple[str, int, Callable[[int], str]]] = {
        "factor": ("xargs -a {file} {program}", 8_000, lambda n: f"{10**15 + 37 * n}"),
        "wc": ("{program} -w {file}", 600_000, lambda n: f"some words of line {n}, which is read"),
        "gzip": (
            "{program} -kfn {file}",
            40_000,
            lambda _: f"{rng.random():.9f} {rng.random():.9f}",
        ),
        "sort": ("{program} -n -o /dev/null {file}", 200_000, lambda _: f"{rng.randrange(10**9)}"),
        "sha256sum": ("{program} {file}", 800_000, lambda n: f"line {n} of a file with a digest"),
    }
    topics = []
    for name, (command, lines, line) in makers.items():
        text = [line(n) for n in range(round(lines * MORE))]
        (folder / f"{name}.txt").write_text("\n".join(text[:lines]) + "\n")
        (folder / f"{name}-more.txt").write_text("\n".join(text) + "\n")
        program = Path(shutil.which(name) or "").resolve()
        for copy in ("old", "new"):
            (folder / copy).mkdir(exist_ok=True)
            shutil.copy(program, folder / copy / name)
        with (folder / "new" / name).open("ab") as file:
            file.write(b"\0")  # otherwise `ab` answers that both are the same program
        first, same, more = (
            command.format(program=f"./{copy}/{name}", file=f"{file}.txt")
            for copy, file in (("old", name), ("new", name), ("new", f"{name}-more"))
        )
        topics += [Question(name, first, same, False), Question(f"{name} +4 %", first, more, True)]
    return topics


def by_ab(question: Question, folder: Path, _: str) -> bool | None:
    """Return whether `ab` says that the commands differ; `None` without a verdict."""
    words = ["ab", "--json", "--ignore-output", "--budget", BUDGET, "--fresh"]
    call = [sys.executable, "-m", "bench_framework", *words, question.first, question.second]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    document = json.loads(done.stdout)
    claims = Path(document["record"], "claims.json").read_text(encoding="utf-8")
    (verdict,) = {
        c["verdict"]
        for c in json.loads(claims)["judgement"]["comparisons"]
        if (c["metric"], c["family"]) == ("wall", "headline")
    }
    return {"equivalent": False, "inconclusive": None}.get(verdict, True)


def by_hyperfine(question: Question, folder: Path, program: str) -> bool | None:
    """Return whether the summary of hyperfine excludes that the commands are equally fast."""
    call = [program, "-N", "--warmup", "3", "--runs", str(PAIRS), question.first, question.second]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
    match = SUMMARY.search(done.stdout)
    assert match is not None, done.stdout
    ratio, spread = map(float, match.groups())
    return True if ratio - spread > 1 else None


def by_perfgate(question: Question, folder: Path, program: str) -> bool | None:
    """Return whether the interval of perfgate excludes equality, or is within 2 % of it."""
    out = folder / "paired.json"
    out.unlink(missing_ok=True)
    call = [program, "paired", "--name", "question", "--repeat", str(PAIRS), "--warmup", "3"]
    call += ["--baseline", question.first, "--current", question.second, "--out", str(out)]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    if not out.exists():
        raise RuntimeError(f"{done.stdout}{done.stderr}")
    stats = json.loads(out.read_text(encoding="utf-8"))["stats"]
    test = stats["wall_diff_ms"]["significance"]
    if test["significant"]:
        return True
    reach = max(abs(test["ci_lower"]), abs(test["ci_upper"])) / stats["baseline_wall_ms"]["median"]
    return False if reach < MARGIN else None


def main() -> None:
    """Ask all questions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--hyperfine", default="hyperfine")
    parser.add_argument("--perfgate", default="perfgate")
    given = parser.parse_args()
    tools = {
        "ab": (by_ab, ""),
        "hyperfine": (by_hyperfine, given.hyperfine),
        "perfgate paired": (by_perfgate, given.perfgate),
    }
    tools = {name: tool for name, tool in tools.items() if not tool[1] or shutil.which(tool[1])}
    results: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        topics = questions(folder)
        for turn in range(given.times):
            for question in topics:
                for name in random.sample([*tools], len(tools)):
                    ask, program = tools[name]
                    start = time.perf_counter()
                    answer = ask(question, folder, program)
                    seconds[name].append(time.perf_counter() - start)
                    right = answer is not None and answer == question.differs
                    word = "inconclusive" if answer is None else ("right" if right else "wrong")
                    results[name, question.differs][word] += 1
                    print(
                        turn + 1,
                        question.name,
                        name,
                        word,
                        f"{seconds[name][-1]:.1f} s",
                        file=sys.stderr,
                    )
    load = os.getloadavg()[0]
    print(f"load at the end {load:.2f}")
    print(
        f"{'tool':18}{'programs':>12}"
        + "".join(f"{word:>11}" for word in ANSWERS)
        + "  median seconds"
    )
    for name in tools:
        for differs in (False, True):
            counts = results[name, differs]
            print(
                f"{name:18}{'+4 %' if differs else 'equal':>12}"
                + "".join(f"{counts[word]:11}" for word in ANSWERS)
                + f"{statistics.median(seconds[name]):16.1f}"
            )


if __name__ == "__main__":
    main()

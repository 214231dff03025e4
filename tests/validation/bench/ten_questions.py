"""Ten questions to `benchctl ab`, hyperfine and `perfgate paired`: which of them answer right, and how fast?

Usage: ``python tests/validation/bench/ten_questions.py [--answers FILE] [--times N] [--perfgate PROGRAM] [--hyperfine
PROGRAM]``. Five questions are about equal programs, and five about a program with 4 % more work. Each turn asks all
tools about a question in random order and appends the answers to FILE (default: `ten_questions.jsonl` next to this
script), so that turns of different hours come together.
`--times 0` asks nothing. It prints the tables of `docs/method.md#other-tools`: the answers, and how often the interval
of `ab` contains the combined estimate of its other answers to the question.

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
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

MORE = 1.04
MARGIN = 0.02
BUDGET = "30s"
PAIRS = 30
"""Pairs of perfgate and runs per command of hyperfine: about the time that `ab` takes."""
SUMMARY = re.compile(r"([\d.]+) ± ([\d.]+) times faster")


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


@dataclass(frozen=True)
class Answer:
    """The verdict, `None` without one, and the ratio with its interval if the tool has one."""

    differs: bool | None
    ratio: float | None = None
    lo: float | None = None
    hi: float | None = None


def by_ab(question: Question, folder: Path, _: str) -> Answer:
    """Return the verdict and the interval of `ab`."""
    words = ["ab", "--json", "--ignore-output", "--budget", BUDGET, "--fresh"]
    call = [sys.executable, "-m", "bench_framework", *words, question.first, question.second]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    document = json.loads(done.stdout)
    claims = Path(document["record"], "claims.json").read_text(encoding="utf-8")
    (row,) = (
        row
        for row in json.loads(claims)["judgement"]["comparisons"]
        if (row["metric"], row["family"]) == ("wall", "headline")
    )
    differs = {"equivalent": False, "inconclusive": None}.get(row["verdict"], True)
    return Answer(differs, *(row["shown"][end] for end in ("ratio", "lo", "hi")))


def by_hyperfine(question: Question, folder: Path, program: str) -> Answer:
    """Return whether the summary of hyperfine excludes that the commands are equally fast."""
    call = [program, "-N", "--warmup", "3", "--runs", str(PAIRS), question.first, question.second]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
    match = SUMMARY.search(done.stdout)
    assert match is not None, done.stdout
    ratio, spread = map(float, match.groups())
    return Answer(True if ratio - spread > 1 else None)


def by_perfgate(question: Question, folder: Path, program: str) -> Answer:
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
        return Answer(True)
    reach = max(abs(test["ci_lower"]), abs(test["ci_upper"])) / stats["baseline_wall_ms"]["median"]
    return Answer(False if reach < MARGIN else None)


def ask_all(times: int, tools: dict[str, str], answers: Path) -> None:
    """Ask all questions and append a line of JSON per answer to a file."""
    ask = {"ab": by_ab, "hyperfine": by_hyperfine, "perfgate paired": by_perfgate}
    with tempfile.TemporaryDirectory() as place, answers.open("a", encoding="utf-8") as file:
        folder = Path(place)
        topics = questions(folder)
        for _ in range(times):
            for question in topics:
                for name in random.sample([*tools], len(tools)):
                    start = time.perf_counter()
                    answer = ask[name](question, folder, tools[name])
                    row = {
                        "hour": time.strftime("%F %H"),
                        "tool": name,
                        "question": question.name,
                        "different": question.differs,
                        "seconds": round(time.perf_counter() - start, 2),
                        "load": os.getloadavg()[0],
                        **asdict(answer),
                    }
                    print(json.dumps(row), file=file, flush=True)


def print_answers(table: pd.DataFrame) -> None:
    """Print the right, wrong and missing answers of each tool."""
    wrong = table.differs.notna() & (table.differs != table.different)
    word = pd.Series("right", table.index).mask(wrong, "wrong").mask(table.differs.isna(), "none")
    grouped = table.groupby(["tool", "different"])
    counts = pd.crosstab([table.tool, table.different], word)
    print(counts.assign(median_seconds=grouped.seconds.median()).to_string())


def print_intervals(table: pd.DataFrame) -> None:
    """Print how often the interval of an answer contains the combined estimate of the other answers.

    The combined estimate is the mean of the logarithms of the other ratios. Its error (their standard deviation divided
    by the square root of their number) is not added to the interval, so that the share is slightly too small.
    """
    rows = []
    for question, group in table[table.tool == "ab"].groupby("question"):
        log = np.log(group.ratio)
        others = (log.sum() - log) / (len(log) - 1)
        inside = (np.log(group.lo) <= others) & (others <= np.log(group.hi))
        half = float(np.median(np.log(group.hi / group.lo))) / 2
        rows.append((question, len(group), np.exp(log.mean()), inside.sum(), half, log.std()))
    names = ["question", "answers", "ratio", "contain", "median_half_width", "sd_of_estimates"]
    result = pd.DataFrame(rows, columns=names)
    print(result.to_string(index=False, float_format="%.4f"))
    print(f"contain the combined estimate: {result.contain.sum()} of {result.answers.sum()}")


def main() -> None:
    """Ask all questions and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--hyperfine", default="hyperfine")
    parser.add_argument("--perfgate", default="perfgate")
    given = parser.parse_args()
    tools = {"ab": "", "hyperfine": given.hyperfine, "perfgate paired": given.perfgate}
    tools = {
        name: program for name, program in tools.items() if not program or shutil.which(program)
    }
    ask_all(given.times, tools, given.answers)
    lines = given.answers.read_text(encoding="utf-8").splitlines()
    table = pd.DataFrame(map(json.loads, lines)).astype({"differs": object})
    print(f"{table.hour.nunique()} hours, load {table.load.min():.1f} to {table.load.max():.1f}")
    print_answers(table)
    print_intervals(table)


if __name__ == "__main__":
    main()

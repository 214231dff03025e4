"""Live A/A records: how often a report calls identical programs different (`docs/method.md#live-aa-records`).

Usage: ``python tests/validation/statistics/live_equal.py [FOLDER] [--records 300] [--until HH:MM]``. Each record
takes about 10 s. It is one `benchctl run` of three copies of one configuration of `factor` (CPU-bound, about 20 ms)
and the A/A control, with the default rules for wall and CPU time. In half of the records, which a seed chooses, a
busy process starts on the same CPU after a random round of the middle and stays until the end. Run it pinned to one
CPU: ``taskset -c 0``.

FOLDER keeps one line per record in ``records.jsonl``, and the whole record if a verdict was false or the control
differed. The same command continues after the last line. The number of records is fixed by the first call.

A record is false if its report states any difference between the three: a verdict of better or worse of any metric
(wall time, CPU time, memory) in any comparison or claim, or a best group without one of them. `equivalent` and ties are
right, and the control's verdict does not count. The exit code is 1 if the one-sided 95 % upper bound of the rate of
false records is above 5 %.
"""

# ruff: noqa: T201 -- a script that prints

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from scipy.stats import binom

from bench_framework.model.verdict import Verdict
from bench_framework.stats.proportions import at_most

SEED = 20261123
NUMBER = "1125902456980891"
"""A number that takes Pollard's rho about 60 µs."""
NUMBERS = 400
COPIES = ("a1", "b2", "c3")
BUDGET = "6s"
"""Enough for about 45 rounds without load and 30 with it."""
MIDDLE = range(8, 25)
"""Rounds after which a load may start."""
LEVEL = 0.05
POLL_S = 0.1
LONGEST_S = 15.0
"""No record begins later than this before the time given by ``--until``."""

Row = dict[str, Any]


def scenario(path: str) -> Row:
    """Return a scenario of three equal configurations, with every default of measuring and judging."""
    # Two equal commands would be refused as one variant. An unused variable of equal length makes them differ.
    arms = {copy: {"args": [NUMBER] * NUMBERS, "env": {"COPY": copy}} for copy in COPIES}
    return {
        "version": 1,
        "name": "equal",
        "question": "Is one of three equal programs faster?",
        "worker": {"command": [path]},
        "axes": {"copy": arms},
        "baseline": {"copy": COPIES[0]},
        "measure": {"budget": BUDGET},
    }


def loads(count: int) -> list[int | None]:
    """Return for each record the round after which a load starts: in exactly half of them."""
    source = random.Random(SEED)
    drawn: list[int | None] = [source.choice(MIDDLE) if i % 2 else None for i in range(count)]
    source.shuffle(drawn)
    return drawn


def rounds_of(results: Path) -> int:
    """Return the number of measured rounds in the journal that is being written."""
    for journal in results.glob("*/*/journal.jsonl"):
        lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").split("\n")[:-1]]
        return max((line["round"] for line in lines if line["kind"] == "round-end"), default=0)
    return 0


def measured(folder: Path, number: int, load_after: int | None) -> Row:
    """Measure one record and return what its report states."""
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    words = ["run", "equal.yaml", "-S", f"measure.seed={number}"]
    command = [sys.executable, "-m", "bench_framework", "--json", "--quiet", *words]
    env = {**os.environ, "BENCHCTL_RESULTS": str(results), "BENCHCTL_CACHE": str(folder / "cache")}
    began, load, started = time.monotonic(), None, 0
    with (folder / "output").open("w") as out:
        child = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=out)
        try:
            while child.poll() is None:
                time.sleep(POLL_S)
                if load is None and load_after is not None and rounds_of(results) >= load_after:
                    started = rounds_of(results)
                    load = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        finally:
            for process in (load, child):
                if process is not None:
                    process.kill()
                    process.wait()
    if child.returncode:
        text = (folder / "output").read_text()
        sys.exit(f"`benchctl {' '.join(words)}` ended with {child.returncode}:\n{text}")
    (record,) = results.glob("*/*/claims.json")
    row = summary(json.loads(record.read_text(encoding="utf-8"))["judgement"])
    row |= {"record": number, "load_after": load_after, "load": started}
    row |= {"at": f"{datetime.now(UTC):%FT%TZ}", "seconds": round(time.monotonic() - began, 1)}
    if row["false"] or row["control"]:
        shutil.copytree(record.parent, folder / "kept" / str(number), dirs_exist_ok=True)
    return row


def summary(judgement: Row) -> Row:
    """Return false statements, differences of the control, and what its failure withdrew."""
    compared = judgement["comparisons"] + [c for g in judgement["best"] for c in g["comparisons"]]
    control = [c for c in compared if c["family"] == "control"]
    others = [c for c in compared if c["family"] != "control"]
    false = [f"{c['family']} {c['metric']} {c['verdict']}" for c in others if decided(c["verdict"])]
    false += [
        f"claim {c['kind']} {c['metric']} {c['verdict']}"
        for c in judgement["claims"]
        if c["kind"] != "control" and decided(c["verdict"])
    ]
    false += [
        f"best group of {len(group['cell_ids'])}"
        for group in judgement["best"]
        if len(group["cell_ids"]) < len(COPIES)
    ]
    differs = [c["metric"] for c in control if decided(c["verdict"])]
    withdrawn = [
        c["metric"]
        for c in others
        if c["metric"] in differs and c["p_adjusted"] is not None and c["p_adjusted"] <= LEVEL
    ]
    rounds = [s["rounds"] for s in judgement["states"]]
    words = [c["verdict"] for c in compared if c["family"] == "headline"]
    return {
        "false": false,
        "control": differs,
        "withdrawn": withdrawn,
        "rounds": min(rounds),
        "equivalent": words.count(Verdict.EQUIVALENT),
        "headline": len(words),
    }


def decided(word: str | None) -> bool:
    """Return whether a verdict states a difference."""
    return word is not None and Verdict(word).decided


def table(rows: Sequence[Row], planned: int) -> bool:
    """Print counts and the one-sided tests; return whether the rate is shown to be at most 5 %."""
    parts = {
        "no load": [r for r in rows if r["load_after"] is None],
        "load from the middle": [r for r in rows if r["load_after"] is not None],
        "all": list(rows),
    }
    head = ("records", "count", "load ran", "false", "of them seen by the control")
    print(f"{len(rows)} of {planned} records\n")
    print("| " + " | ".join((*head, "control differs", "withdrawn", "equivalent", "rounds")) + " |")
    print("|---|" + "--:|" * 8)
    for name, part in parts.items():
        false = [r for r in part if r["false"]]
        rounds = sorted(r["rounds"] for r in part) or [0]
        equal, judged = sum(r["equivalent"] for r in part), sum(r["headline"] for r in part)
        counts = (
            *(len(part), sum(r["load"] > 0 for r in part), len(false)),
            *(sum(bool(r["control"]) for r in false), sum(bool(r["control"]) for r in part)),
            *(sum(bool(r["withdrawn"]) for r in part), f"{equal} of {judged}"),
            f"{rounds[0]}–{rounds[-1]}",
        )
        print(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    print()
    for row in rows:
        if row["false"] or row["control"]:
            text = ", ".join(row["false"]) or "–"
            control = ", ".join(row["control"]) or "equal"
            start = f"after round {row['load']}" if row["load"] else "none"
            print(f"record {row['record']} (load: {start}): {text}; control: {control}")
    hits, tries = sum(bool(r["false"]) for r in rows), len(rows)
    bound = at_most(hits, tries)
    print(
        f"\nfalse records: {hits} of {tries}, at most {bound:.1%} (one-sided 95 % bound);"
        f" P(at least {hits} | rate 5 %) = {binom.sf(hits - 1, tries, LEVEL):.3g},"
        f" P(at most {hits} | rate 5 %) = {binom.cdf(hits, tries, LEVEL):.3g}"
    )
    return bound <= LEVEL


def deadline(text: str) -> datetime:
    """Return the next moment at which the clock (UTC) shows ``HH:MM``."""
    now = datetime.now(UTC)
    hour, minute = map(int, text.split(":"))
    moment = now.replace(hour=hour, minute=minute, second=0)
    return moment if moment > now else moment + timedelta(days=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(tempfile.gettempdir()) / "live-equal"
    parser.add_argument("folder", type=Path, nargs="?", default=default, help=str(default))
    parser.add_argument("--records", type=int, default=300, help="number, fixed by the first call")
    parser.add_argument("--until", type=deadline, help="end before this time (UTC, HH:MM)")
    parser.add_argument("--table", action="store_true", help="print the table, measure nothing")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    fixed, lines = folder / "planned", folder / "records.jsonl"
    if not fixed.exists():
        path = shutil.which("factor")
        if path is None:
            sys.exit("the program factor is not on PATH: install coreutils")
        (folder / "equal.yaml").write_text(json.dumps(scenario(path)), encoding="utf-8")
        fixed.write_text(str(options.records))
    planned = int(fixed.read_text())
    done = lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []
    rows = [json.loads(line) for line in done]
    for number, load_after in enumerate(loads(planned), 1):
        late = options.until and datetime.now(UTC) > options.until - timedelta(seconds=LONGEST_S)
        if options.table or late:
            break
        if number <= len(rows):
            continue
        rows.append(measured(folder, number, load_after))
        with lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + "\n")
    return 0 if table(rows, planned) else 1


if __name__ == "__main__":
    sys.exit(main())

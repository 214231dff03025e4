"""Acceptance test of the statistics on recorded and simulated rounds (`docs/method.md#acceptance`).

Usage: ``python tests/validation/statistics/acceptance.py [REPLAYS [DEMAND…]]``. Seeded. 2 000 replays, the default,
take about a quarter of an hour. Demands: found, honesty, cover, stated, sameness. It exits with 1 if a limit is not
met.

It prints requirement, limit, result and bound. The method was developed on the first recordings. Rows with "later" use
rounds that were recorded afterwards, with which no setting was chosen.
"""

# ruff: noqa: T201 -- a script that prints

import sys
import time

import demands
import sameness
from demands import Row

OTHER_PROGRAMS = (
    Row(
        "gate on equal programs, small and large",
        "≤ 12 of 2 000",
        "gate_false_alarms.py",
        "–",
        None,
    ),
    Row("+3 % of a program of 50 ms, live", "≥ 196 of 200", "live_detection.py", "–", None),
    Row("intervals under simulated noise", "by shape", "coverage.py", "–", None),
    Row("false verdicts and power by look", "by noise", "recorded_families.py", "–", None),
    Row("overhead of a run", "≤ 5 ms", "../bench/overhead.py", "–", None),
)


def show(row: Row) -> bool:
    """Print a row; return False if its limit is not met."""
    outcome = {True: "met", False: "NOT MET", None: "·"}[row.met]
    print(
        f"{row.demand:92.92} │ {row.mark:>13} │ {row.result:>24} │ {row.bound:>16} │ {outcome}",
        flush=True,
    )
    return row.met is not False


def main(words: list[str]) -> int:
    """Print the table; return 1 if a limit is not met."""
    if words == ["--fingerprint"]:
        print(sameness.fingerprint())
        return 0
    count, names = int(words[0]) if words else 2000, words[1:]
    began, met = time.process_time(), True
    print(f"{'requirement':92} │ {'limit':>13} │ {'result':>24} │ {'95 % bound':>16} │")
    if not names or "sameness" in names:
        for row in sameness.rows(max(1, count // 100)):
            met &= show(row)
    for row in (
        demands.rows_of([name for name in names if name != "sameness"], count)
        if names != ["sameness"]
        else ()
    ):
        met &= show(row)
    for row in OTHER_PROGRAMS:
        show(row)
    print(
        f"{time.process_time() - began:.0f} s of computing; {'every limit is met' if met else 'A LIMIT IS NOT MET'}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

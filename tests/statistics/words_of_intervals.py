"""200 000 random intervals put into words from both sides: how many sentences say what their digits do not.

Run it with ``nox -s statistics -- words_of_intervals``, or with another number of intervals as its argument.
"""
# ruff: noqa: T201 -- a script that prints

from __future__ import annotations

import sys

from interval_words import examine

INTERVALS = 200_000


def main() -> int:
    """Exit code 1 if any sentence contradicts its verdict."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else INTERVALS
    found = examine(count)
    print(
        f"{found.intervals} intervals, {found.decided} with a direction, each said from both sides"
    )
    print(f"{len(found.contradictions)} sentences or figures that contradict their verdict")
    print(
        f"{found.lowered} read weaker from one side, as an end lies on a threshold to six decimals"
    )
    for text in found.contradictions[:20]:
        print(f"  {text}")
    return 1 if found.contradictions else 0


if __name__ == "__main__":
    sys.exit(main())

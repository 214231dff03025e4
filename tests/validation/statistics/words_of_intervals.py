"""Check the sentences of 200 000 random intervals: no sentence may contradict its digits.

Run it with ``nox -s statistics -- words_of_intervals``, or with another number of intervals as its argument.
"""
# ruff: noqa: T201 -- a script that prints

import sys

from interval_words import examine

INTERVALS = 200_000


def main() -> int:
    """Return exit code 1 if any sentence contradicts its verdict."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else INTERVALS
    result = examine(count)
    print(
        f"{result.intervals} intervals, {result.decided} with a direction, each in words from both sides"
    )
    print(f"{len(result.contradictions)} sentences or figures that contradict their verdict")
    print(
        f"{result.lowered} have the weaker verdict from one side, as an end is on a threshold to six decimals"
    )
    for text in result.contradictions[:20]:
        print(f"  {text}")
    return 1 if result.contradictions else 0


if __name__ == "__main__":
    sys.exit(main())

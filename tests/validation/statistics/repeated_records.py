"""How two records of one scenario agree: ``python tests/validation/statistics/repeated_records.py RECORD RECORD``.

The arguments are folders with ``comparisons.csv``, the earlier record first, measured with the same
programs. Per metric it prints the number of comparisons; those whose intervals overlap; later
estimates within the earlier interval, and within the range in which the earlier record expects
another session; equal verdicts, and opposite ones; and the difference between both ratios.
"""

# ruff: noqa: T201 -- a script that prints

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

KEYS = ["cell_id", "ref_cell_id", "metric"]
KINDS = ("headline", "contrast", "reference")


def read(folder: Path) -> pd.DataFrame:
    """Return the comparisons of a record, each pair once."""
    table = pd.read_csv(folder / "comparisons.csv")
    return table[table.kind.isin(KINDS)].drop_duplicates(KEYS)


def within(value: pd.Series, lo: pd.Series, hi: pd.Series) -> int:
    """Return the number of values within their bounds."""
    return int(((value >= lo) & (value <= hi)).sum())


def main() -> None:
    """Print one line per metric."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs=2, type=Path)
    one, other = map(read, parser.parse_args().records)
    pairs = one.merge(other, on=KEYS, suffixes=("", "_2")).dropna(subset=["lo", "lo_2"])
    lines = []
    for metric, group in pairs.groupby("metric"):
        overlap = ((group.lo <= group.hi_2) & (group.lo_2 <= group.hi)).sum()
        better, worse = (
            group[[f"verdict{end}" for end in ("", "_2")]].apply(
                lambda column, start=start: column.str.startswith(start)
            )
            for start in ("better", "worse")
        )
        opposite = (better.verdict & worse.verdict_2) | (worse.verdict & better.verdict_2)
        size = pd.Series(np.exp(np.abs(np.log(group.ratio_2 / group.ratio))) - 1)
        lines.append(
            f"{metric}: {len(group)} comparisons; intervals overlap {overlap}; "
            f"estimate within the interval {within(group.ratio_2, group.lo, group.hi)}, "
            f"within the expected range {within(group.ratio_2, group.another_lo, group.another_hi)}; "
            f"equal verdicts {(group.verdict == group.verdict_2).sum()}, opposite {opposite.sum()}; "
            f"difference {100 * size.median():.2f} % in the median, {100 * size.max():.1f} % at most"
        )
    print("\n".join(lines))


if __name__ == "__main__":
    main()

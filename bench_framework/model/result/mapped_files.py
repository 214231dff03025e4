"""Peak memory that is pages of mapped files, which the kernel can drop at any time (docs/method.md#memory)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from bench_framework.model.metrics import ANONYMOUS, PEAK_RSS
from bench_framework.model.result.judgement import CellState, Comparison, Summary

MAPPED: Final = "mmap"
"""Part of the name of each value of an axis that maps files into memory."""
MANY_BYTES: Final = 8 << 20
"""Fewer bytes of mapped files are those of the program itself and of its libraries."""


def maps_files(
    state: CellState, values: Mapping[str, str], peak: float | None, anonymous: float | None
) -> bool:
    """Return whether the peak memory of a configuration includes many pages of mapped files.

    By the name of its mode, or because they are most of its peak. `anonymous` is the rest, in bytes.
    """
    if any(MAPPED in mode.split("-") for mode in (*values.values(), *state.effective.values())):
        return True
    if not peak or anonymous is None:
        return False
    return peak - anonymous > max(anonymous, MANY_BYTES)


def resource_differences(
    comparisons: Iterable[Comparison], summaries: Iterable[Summary]
) -> Iterator[Comparison]:
    """Yield the comparisons without those of peak memory whose difference is mostly pages of mapped files."""
    parts = {(s.cell_id, s.metric): s for s in summaries}
    return (c for c in comparisons if not _is_of_files(c, parts))


def _is_of_files(c: Comparison, parts: Mapping[tuple[str, str], Summary]) -> bool:
    if c.metric != PEAK_RSS:
        return False
    sides = [
        [parts.get((cell_id, metric)) for cell_id in (c.cell_id, c.ref_cell_id)]
        for metric in (PEAK_RSS, ANONYMOUS)
    ]
    known = [[side.median for side in pair if side is not None] for pair in sides]
    if [*map(len, known)] != [*map(len, sides)]:
        return False
    (peak, other), (anonymous, rest) = known
    difference = peak - other
    return abs(difference - (anonymous - rest)) > max(MANY_BYTES, abs(difference) / 2)

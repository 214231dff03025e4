"""The cost of a minor page fault on this machine."""

import contextlib
import functools
import mmap
import resource
import statistics
import time
from typing import Final

PAGES: Final = 1024
REPETITIONS: Final = 9


@functools.cache
def seconds_of_fault() -> float | None:
    """Return the processor time for a new page of anonymous memory and its release; `None`: not measured.

    It is the median of nine times 1024 pages, which takes about 20 ms. The time to write to a page that exists is
    subtracted. Pages are small (4 KiB on most machines): a fault that maps a huge page costs more, and one that maps
    pages of a file from the page cache costs less for each page.
    """
    costs = [cost for _ in range(REPETITIONS) if (cost := _one_mapping()) is not None]
    return statistics.median(costs) if costs else None


def _one_mapping() -> float | None:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    region = mmap.mmap(-1, PAGES * mmap.PAGESIZE, flags=flags)
    with contextlib.suppress(OSError):  # a kernel without huge pages
        region.madvise(mmap.MADV_NOHUGEPAGE)
    before = _faults()
    new_s = _touch(region)
    faults = _faults() - before
    again_s = _touch(region)
    start = time.thread_time()
    region.close()
    cost = new_s - again_s + time.thread_time() - start
    return cost / faults if PAGES <= faults < 2 * PAGES and cost > 0 else None


def _touch(region: mmap.mmap) -> float:
    start = time.thread_time()
    for place in range(0, len(region), mmap.PAGESIZE):
        region[place] = 1
    return time.thread_time() - start


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

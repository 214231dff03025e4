"""libtest's ``#[bench]``, which needs a nightly toolchain or ``RUSTC_BOOTSTRAP=1``.

The value is the median that libtest prints. A process takes 0.1 to 7 s, because libtest repeats until two medians are
close, or for 3 s: 1.4 s on average for 42 benchmarks of itoa 1.0.15 and smallvec 1.13.2, while other programs ran.
"""

import re
from pathlib import Path
from typing import Final

from bench_framework.execution.benches.harness import Harness, NoTime, ids_of_list
from bench_framework.model.faults import FaultCode

_RESULT: Final = re.compile(r"test (.+?)\s+\.\.\. bench:\s+([\d,]+(?:\.\d+)?) ns/iter \(.*\).*")


def _read(_: Path, printed: str, bench: str) -> float:
    results = [m for line in printed.splitlines() if (m := _RESULT.fullmatch(line))]
    if len(results) != 1 or results[0][1] != bench:
        raise NoTime(FaultCode.LIBTEST_RESULTS, len(results), bench)
    value = float(results[0][2].replace(",", ""))
    if value <= 0:
        raise NoTime(FaultCode.LIBTEST_ZERO)
    return value * 1e-9


HARNESS: Final = Harness(
    name="libtest",
    marker=b"RUST_TEST_THREADS",
    listings=(("--bench", "--list", "--format", "terse"),),
    parse_list=ids_of_list,
    options=((),),
    seconds=(1.4,),
    selection=lambda bench: ("--exact", bench),
    read=_read,
    once=(),
    crate="test",
    iterates=re.compile("test::(?:bench::|__rust_begin_short_backtrace)"),
)

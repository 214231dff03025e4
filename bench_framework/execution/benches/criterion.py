"""criterion 0.3 and later: it writes the samples of a benchmark into a folder.

The value is the first quartile of the samples' times per iteration: interruptions of the process only
add time, and on a busy machine they reach many samples of a few milliseconds. criterion's own estimate
is a slope or a mean, which a single interruption changes.
"""

import re
from pathlib import Path
from typing import Final

from bench_framework.execution.benches.harness import Harness, NoTime, ids_of_list
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.faults import FaultCode

_META: Final = re.compile(r"[\\.+*?()|\[\]{}^$#&~-]")
"""Characters that a regular expression of Rust must escape. It refuses the escape of others."""
_MOST_BYTES: Final = 16 << 20
_NANOSECOND: Final = 1e-9
_QUARTERS: Final = 4


def _selection(bench: str) -> tuple[str, ...]:
    # `--exact` does not exist before 0.4.
    return (f"^{_META.sub(lambda sign: chr(92) + sign[0], bench)}$",)


def _read(home: Path, _: str, bench: str) -> float:
    files = sorted(home.glob("**/new/sample.json"))
    if len(files) != 1:
        raise NoTime(FaultCode.CRITERION_FILES, len(files), bench)
    try:
        described = parse_json(read_regular(files[0].with_name("benchmark.json"), _MOST_BYTES))
        sample = parse_json(read_regular(files[0], _MOST_BYTES))
        pairs = list(zip(sample["times"], sample["iters"], strict=True))
        times = sorted(float(time) / float(count) for time, count in pairs)
        value = times[(len(times) - 1) // _QUARTERS]
        written = described["full_id"]
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise NoTime(FaultCode.CRITERION_UNREADABLE, repr(error)) from error
    if written != bench:
        raise NoTime(FaultCode.CRITERION_OTHER, str(written), bench)
    if value <= 0:
        raise NoTime(FaultCode.CRITERION_NO_TIME)
    return value * _NANOSECOND


_COMMON: Final = ("--sample-size", "30", "--nresamples", "100", "--noplot")
HARNESS: Final = Harness(
    name="criterion",
    marker=b"CRITERION_HOME",
    listings=(("--bench", "--list"),),
    parse_list=ids_of_list,
    options=(
        ("--warm-up-time", "0.05", "--measurement-time", "0.1", *_COMMON),
        # criterion 0.3 accepts whole seconds only.
        ("--warm-up-time", "1", "--measurement-time", "1", *_COMMON),
    ),
    seconds=(0.25, 2.3),
    selection=_selection,
    env={"CRITERION_HOME": "{home}"},
    read=_read,
    once=("--bench", "--test"),
    crate="criterion",
    iterates=re.compile("<?criterion::(?:bencher::|Bencher|routine::)"),
)

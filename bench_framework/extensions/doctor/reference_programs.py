"""Reference programs of `doctor --aa`: the same program with 3, 5 and 10 % more work.

Both are in coreutils, so nothing is built. `factor` only computes; `wc -l` copies files out of the
page cache and hardly computes.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.execution.process import Command, Launcher
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.text.reasons import phrase_of

EFFECTS: Final = (0.03, 0.05, 0.10)
TARGET_S: Final = 0.03
"""Time of one run: longer than the 20 ms below which runs are repeated, and short."""
TRIALS: Final = 3
UNITS: Final = 100
"""Units of work; 3 % of them is a whole number."""
NUMBER: Final = "1125902456980891"
"""33 554 467 × 33 554 473, which takes about 60 µs with Pollard's rho."""
MOST_NUMBERS: Final = 5000
"""Limit that keeps the command, 16 characters per number, below Linux' 128 KiB per argument."""
MOST_PASSES: Final = 50
FILE_BYTES: Final = UNITS * 320 * 1024
LINE: Final = b"The quick brown fox jumps over the lazy dog and counts its lines\n"
ENVIRONMENT: Final = {"LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class ReferenceProgram:
    """A program with a known amount of work.

    `slower` maps an effect such as 0.03 to the arguments that add this share of work to the
    baseline's `args`.
    """

    name: str
    path: str
    about: str
    args: tuple[str, ...]
    slower: Mapping[float, tuple[str, ...]]


def create_programs(
    launcher: Launcher, env: Mapping[str, str], folder: Path, check: Callable[[], None]
) -> tuple[ReferenceProgram, ...]:
    """Create both programs with so much work that one run takes about 30 ms on this machine.

    `folder` receives the input files of `wc`, about 38 MB. `check` is called between runs and
    raises to stop.

    Raises:
        MachineError: BX239, a program is missing or fails; BX235, the files cannot be written.
    """

    def seconds(*argv: str) -> float:
        # The shortest time of a few runs, an estimate to size the work.
        times = []
        for _ in range(TRIALS):
            check()
            done = launcher.run(Command(argv, {**env, **ENVIRONMENT}, timeout_s=60.0))
            if not done.ok:
                raise MachineError(
                    "BX239.reference-failed", argv=argv[0], how=done.how, argument=argv[1]
                )
            times.append(done.seconds)
        return max(min(times), 1e-4)

    factor, wc = _find("factor", env), _find("wc", env)
    taken = seconds(factor, *([NUMBER] * UNITS))
    count = UNITS * max(1, min(MOST_NUMBERS // (2 * UNITS), round(TARGET_S / taken)))
    plain = _write_lines(folder / "lines.txt", FILE_BYTES)
    more = {
        e: _write_lines(folder / f"more-{round(e * UNITS)}.txt", round(e * FILE_BYTES))
        for e in EFFECTS
    }
    taken = seconds(wc, "-l", plain)
    passes = max(1, min(MOST_PASSES, round(TARGET_S / taken)))
    words = ("-l", *([plain] * passes))
    return (
        ReferenceProgram(
            "factor",
            factor,
            phrase_of(ExtensionCode.FACTORS, count),
            (NUMBER,) * count,
            {effect: (NUMBER,) * (count + round(effect * count)) for effect in EFFECTS},
        ),
        ReferenceProgram(
            "wc -l",
            wc,
            phrase_of(ExtensionCode.COPIES, passes, FILE_BYTES // 2**20),
            words,
            {effect: (*words, *([extra] * passes)) for effect, extra in more.items()},
        ),
    )


def _find(name: str, env: Mapping[str, str]) -> str:
    path = shutil.which(name, path=env.get("PATH"))
    if path is None:
        raise MachineError("BX239.no-program", name=name)
    return str(Path(path).absolute())


def _write_lines(path: Path, size: int) -> str:
    try:
        path.write_bytes((LINE * (size // len(LINE) + 1))[:size])
    except OSError as error:
        raise MachineError("BX235.file", path=path, strerror=error.strerror) from error
    return str(path)

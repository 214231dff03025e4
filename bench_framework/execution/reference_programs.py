"""Programs of known work, for `doctor --aa`: the same program with really more to do, by 3, 5 and 10 %.

Both are in every Linux's coreutils, so that nothing is built. `factor` computes and waits for nothing; `wc -l` copies
cached files out of the page cache and hardly computes.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError
from bench_framework.execution.process import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench_framework.execution.process import Launcher

EFFECTS: Final = (0.03, 0.05, 0.10)
TARGET_S: Final = 0.03
"""Of one run: above the 20 ms under which runs are measured in groups, and short enough for many rounds."""
TRIALS: Final = 3
UNITS: Final = 100
"""Work comes in hundredths, so that 3 % of it is a whole number of them."""
NUMBER: Final = "1125902456980891"
"""33 554 467 × 33 554 473: about 60 µs of Pollard's rho."""
MOST_NUMBERS: Final = 5000
"""16 characters each: under the 128 KiB that Linux allows for one argument, which hyperfine's command is."""
MOST_PASSES: Final = 50
FILE_BYTES: Final = UNITS * 320 * 1024
LINE: Final = b"The quick brown fox jumps over the lazy dog and counts its lines\n"
ENVIRONMENT: Final = {"LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Specimen:
    """A program of known work.

    Attributes:
        name: of the program.
        path: absolute.
        about: what it does and what more of it is.
        args: of the plain arm.
        slower: effect such as 0.03 → arguments that give it so much more work.
    """

    name: str
    path: str
    about: str
    args: tuple[str, ...]
    slower: Mapping[float, tuple[str, ...]]


def specimens(
    launcher: Launcher, env: Mapping[str, str], folder: Path, check: Callable[[], None]
) -> tuple[Specimen, ...]:
    """Both programs, sized so that one run takes about 30 ms here.

    Args:
        launcher: runs each of them a few times.
        env: the environment.
        folder: the files that `wc` reads are written here, about 38 MB.
        check: called between runs; raises to stop.

    Raises:
        MachineError: BX239, one of them is not there or fails; BX235, the files cannot be written.
    """
    return (_factor(launcher, env, check), _count(launcher, env, folder, check))


def _factor(launcher: Launcher, env: Mapping[str, str], check: Callable[[], None]) -> Specimen:
    path = _found("factor", env)
    taken = _seconds(launcher, env, (path, *([NUMBER] * UNITS)), check)
    times = max(1, min(MOST_NUMBERS // (2 * UNITS), round(TARGET_S / taken)))
    count = times * UNITS
    return Specimen(
        "factor",
        path,
        f"computes: {count} numbers to factor",
        (NUMBER,) * count,
        {effect: (NUMBER,) * (count + round(effect * count)) for effect in EFFECTS},
    )


def _count(
    launcher: Launcher, env: Mapping[str, str], folder: Path, check: Callable[[], None]
) -> Specimen:
    path = _found("wc", env)
    plain = _written(folder / "lines.txt", FILE_BYTES)
    more = {
        e: _written(folder / f"more-{round(e * UNITS)}.txt", round(e * FILE_BYTES)) for e in EFFECTS
    }
    taken = _seconds(launcher, env, (path, "-l", plain), check)
    passes = max(1, min(MOST_PASSES, round(TARGET_S / taken)))
    words = ("-l", *([plain] * passes))
    return Specimen(
        "wc -l",
        path,
        f"copies from the page cache: {passes} × {FILE_BYTES // 2**20} MiB",
        words,
        {effect: (*words, *([extra] * passes)) for effect, extra in more.items()},
    )


def _found(name: str, env: Mapping[str, str]) -> str:
    path = shutil.which(name, path=env.get("PATH"))
    if path is None:
        raise MachineError(
            f"the program {name} is not on PATH",
            code="BX239",
            effect="nothing was measured",
            help="install coreutils",
        )
    return str(Path(path).absolute())


def _written(path: Path, size: int) -> str:
    try:
        path.write_bytes((LINE * (size // len(LINE) + 1))[:size])
    except OSError as error:
        raise MachineError(
            f"{path} cannot be written: {error.strerror}",
            code="BX235",
            effect="nothing was measured",
            help="free some space, or set TMPDIR to a folder that can be written",
        ) from error
    return str(path)


def _seconds(
    launcher: Launcher, env: Mapping[str, str], argv: tuple[str, ...], check: Callable[[], None]
) -> float:
    """The shortest of a few runs: how much work to give, and no measurement."""
    found = []
    for _ in range(TRIALS):
        check()
        done = launcher.run(Command(argv, {**env, **ENVIRONMENT}, timeout_s=60.0))
        if not done.ok:
            raise MachineError(
                f"{argv[0]} {done.how}",
                code="BX239",
                effect="nothing was measured",
                help=f"run `{argv[0]} {argv[1]}` to see what it says",
            )
        found.append(done.seconds)
    return max(min(found), 1e-4)

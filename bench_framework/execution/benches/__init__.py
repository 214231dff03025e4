"""Harnesses of benchmarks, in the order in which a program is tested for them."""

import itertools
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError
from bench_framework.execution.benches import criterion, divan, libtest
from bench_framework.execution.benches.harness import Harness, NoTime, unique_ids
from bench_framework.execution.process import Launcher, scratch_folder
from bench_framework.foreign import last_lines
from bench_framework.model.record.run import BenchTarget
from bench_framework.store.layout import writing

__all__ = ["HARNESSES", "UNSTABLE", "NoTime", "clear_home", "describe", "environment_of", "home_of"]

HARNESSES: Final[Mapping[str, Harness]] = {
    module.HARNESS.name: module.HARNESS for module in (criterion, divan, libtest)
}
UNSTABLE: Final = "error[E0554]"
"""rustc's error about a feature of the nightly toolchain, such as ``test`` of libtest."""
LIST_TIMEOUT_S: Final = 60.0
"""A benchmark program may prepare its data before it lists its benchmarks."""
HOME: Final = "CRITERION_HOME"
"""Variable with the private folder for the files of a harness. Only criterion writes files."""
_SHOWN_LINES: Final = 10


def environment_of(home: str) -> dict[str, str]:
    """Return the variables of every benchmark; `home` is a private folder for their files."""
    pairs = (pair for harness in HARNESSES.values() for pair in harness.env.items())
    return {name: value.replace("{home}", home) for name, value in pairs}


def home_of(env: Mapping[str, str]) -> Path:
    """Return the folder for the files of a harness, in the environment of a benchmark."""
    return Path(env[HOME])


def clear_home(env: Mapping[str, str]) -> None:
    """Remove the files of earlier runs, so that none is read in place of a missing one."""
    home = home_of(env)
    shutil.rmtree(home, ignore_errors=True)
    with writing(home):
        home.mkdir(parents=True, exist_ok=True)


def describe(
    program: Path, folder: Path, launcher: Launcher, env: Mapping[str, str]
) -> BenchTarget:
    """Return the harness and the benchmarks of a bench target. It measures nothing.

    Raises `BuildError` (BX270): it has no known harness, its list cannot be read, or is empty.
    """
    name, content = program.name, program.read_bytes()
    harness = next((h for h in HARNESSES.values() if h.marker in content), None)
    if harness is None:
        raise BuildError("BX270.no-harness", name=name, known=", ".join(HARNESSES))
    with scratch_folder() as home:
        whole, cause = {**env, **environment_of(home)}, ""
        for listing, options in itertools.product(harness.listings, harness.options):
            argv = [str(program), *listing, *options]
            output = launcher.capture(argv, whole, cwd=str(folder), timeout_s=LIST_TIMEOUT_S)
            if output.ok:
                break
            lines = (output.stderr or output.stdout).splitlines()
            cause = "\n".join((output.finished.how, *last_lines(lines, _SHOWN_LINES)))
        else:
            details = (("output", cause),)
            raise BuildError("BX270.no-list", details=details, name=name, harness=harness.name)
        ids = unique_ids(harness.parse_list(output.stdout))
        if harness.trial:
            if listing != harness.trial:
                argv = [str(program), *harness.trial, *options]
                output = launcher.capture(argv, whole, cwd=str(folder), timeout_s=LIST_TIMEOUT_S)
            # Without it, a benchmark of several parts has no single time, and fails alone.
            ids = harness.split(ids, output.stdout) if output.ok else ids
    if not ids:
        raise BuildError("BX270.empty", name=name, harness=harness.name)
    seconds = harness.seconds[harness.options.index(options)]
    return BenchTarget(harness.name, ids, str(folder), options, seconds)

"""Linkers that a build requests, and the linker that its binary names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.process import Launcher
from bench_framework.model.plan import BuildSpec

REQUEST: Final = re.compile(r"-fuse-ld=(\w+)$")
TRACES: Final = (
    re.compile(r"(mold [\d.]+)"),
    re.compile(r"Linker: (LLD [\d.]+)"),
    re.compile(r"Version: (gold [\d.]+)"),
)
"""Names of linkers in ``.comment`` or in the notes of a program. GNU ld leaves none."""
GNU: Final = "GNU ld"
NAMES: Final[Mapping[str, str]] = {"lld": "LLD", "bfd": GNU}
"""Names in a binary where they differ from those that the compiler takes."""


def require_linkers(specs: Iterable[BuildSpec], env: Mapping[str, str]) -> None:
    """Check that the linkers of all builds are installed. rustc brings its own lld.

    Raises `MachineError` (BX228): one is missing.
    """
    for name in dict.fromkeys(requested(spec.rustflags) for spec in specs):
        if name in {"", "lld"} or shutil.which(f"ld.{name}", path=env.get("PATH")):
            continue
        raise MachineError(
            f"the linker {name} is not installed: ld.{name} is not on PATH",
            code="BX228",
            effect="nothing was built or measured",
            fix=f"install {name}, or remove the value from the axis",
        )


def requested(rustflags: Sequence[str]) -> str:
    """Return the linker that the flags request, as the compiler names it; empty for the default."""
    names = [match[1] for flag in rustflags if (match := REQUEST.search(flag))]
    return names[-1] if names else ""


def linker_of(
    binary: Path, rustflags: Sequence[str], launcher: Launcher, env: Mapping[str, str]
) -> str | None:
    """Return the linker that a program names; `None` if it was stripped or readelf is missing.

    Raises `BuildError` (BX229): it is not the one that the flags request.
    """
    argv = ["readelf", "--wide", "--string-dump=.comment", "--notes", str(binary)]
    try:
        text = launcher.capture(argv, {**env, "LC_ALL": "C"}).stdout
    except MachineError:
        return None
    if "String dump of section '.comment'" not in text:
        return None
    traces = (match[1] for trace in TRACES if (match := trace.search(text)))
    name, request = next(traces, GNU), requested(rustflags)
    if request and not name.startswith(NAMES.get(request, request)):
        raise BuildError(
            f"the linker {request} was requested, but the binary was linked by {name}",
            code="BX229",
            fix="remove flags that select a linker from the crate's .cargo/config.toml",
        )
    return name

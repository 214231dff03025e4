"""Evidence of what reached a binary: symbols, loader, linker, and features without a symbol."""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.process import Command, Launcher, scratch_folder
from bench_framework.foreign import text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.store.layout import read_note, write_note
from bench_framework.text.names import first_items
from bench_framework.text.reasons import phrase_of

NM_TIMEOUT_S: Final = 60.0
REQUEST: Final = re.compile(r"-fuse-ld=(\w+)$")
TRACES: Final = (
    re.compile(r"(mold [\d.]+)"),
    re.compile(r"Linker: (LLD [\d.]+)"),
    re.compile(r"Version: (gold [\d.]+)"),
)
"""Names of linkers in ``.comment`` or in the notes of a program. GNU ld leaves none."""
GNU: Final = "GNU ld"
LINKER_NAMES: Final[Mapping[str, str]] = {"lld": "LLD", "bfd": GNU}
"""Names in a binary where they differ from those that the compiler takes."""
MOST_NAMES: Final = 3
"""Packages that a remark on an unused feature names."""


def defined(path: Path, launcher: Launcher, env: Mapping[str, str]) -> frozenset[str]:
    """Return the names that a program, object or archive defines.

    The set is empty if it was stripped, or if ``nm`` is not installed.
    """
    with scratch_folder() as folder:
        out = Path(folder, "symbols")
        argv = ["nm", "--defined-only", "--portability", str(path)]
        try:
            launcher.run(Command(argv, env, stdout=str(out), timeout_s=NM_TIMEOUT_S))
        except MachineError:
            return frozenset()
        text = text_of(out)
    # ``NAME TYPE ADDRESS SIZE``; the members of an archive have a headline without blanks.
    return frozenset(line.split(" ", 1)[0] for line in text.splitlines() if " " in line)


def require_linkers(specs: Iterable[BuildSpec], env: Mapping[str, str]) -> None:
    """Check that the linkers of all builds are installed. rustc brings its own lld.

    Raises `MachineError` (BX228): one is missing.
    """
    for name in dict.fromkeys(requested(spec.rustflags) for spec in specs):
        if name in {"", "lld"} or shutil.which(f"ld.{name}", path=env.get("PATH")):
            continue
        raise MachineError("BX228", name=name)


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
    if request and not name.startswith(LINKER_NAMES.get(request, request)):
        raise BuildError("BX229", request=request, name=name)
    return name


def unused_features(
    spec: BuildSpec,
    linked: Callable[[BuildSpec], frozenset[str]],
    binary: Path,
    libraries: Mapping[str, Sequence[str]],
    launcher: Launcher,
    env: Mapping[str, str],
    note: Path,
) -> tuple[str, ...]:
    """Return a sentence for each feature that brings packages without a symbol in the binary.

    `linked` returns the packages of a build. `libraries` maps a package to its files. A feature is
    left out if the binary or all its libraries have no symbols, for example after ``strip = true``
    or for macros. The answer is kept in the file `note`; its key is the path of the binary, which
    contains the binary's digest.
    """
    if not spec.features:
        return ()
    known = read_note(note, "binary", "remarks")
    if known and known["binary"] == str(binary):
        return tuple(known["remarks"])
    names, remarks = defined(binary, launcher, env), []
    everything = linked(spec) if names else frozenset[str]()
    for feature in spec.features if names else ():
        without = replace(spec, features=tuple(f for f in spec.features if f != feature))
        brought: dict[str, set[str]] = {}
        for package in sorted(everything - linked(without)):
            files = [Path(file) for file in libraries.get(package, ()) if file.endswith(".rlib")]
            if symbols := set().union(*(defined(file, launcher, env) for file in files)):
                brought[package] = symbols
        listed = list(brought)
        if listed and not any(
            _is_used(package, symbols, names) for package, symbols in brought.items()
        ):
            one = len(listed) == 1
            code = PhraseCode.UNUSED_FEATURE if one else PhraseCode.UNUSED_PACKAGES
            remarks.append(phrase_of(code, feature, first_items(listed, MOST_NAMES, ", ")))
    write_note(note, {"binary": str(binary), "remarks": remarks})
    return tuple(remarks)


def _is_used(package: str, defined: set[str], names: frozenset[str]) -> bool:
    # A generic function is compiled in the crate that uses it; its mangled name has the crate.
    mangled = f"{len(package)}{package.replace('-', '_')}"
    return bool(defined & names) or any(mangled in name for name in names)

"""Features whose dependencies left no symbol in the binary, because nothing uses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench_framework.execution.build import symbols
from bench_framework.execution.process import Launcher
from bench_framework.model.plan import BuildSpec
from bench_framework.store.layout import write_whole

MOST_NAMES: Final = 3


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
    if note.is_file():
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["binary"] == str(binary):
            return tuple(known["remarks"])
    names, remarks = symbols.defined(binary, launcher, env), []
    everything = linked(spec) if names else frozenset[str]()
    for feature in spec.features if names else ():
        without = replace(spec, features=tuple(f for f in spec.features if f != feature))
        brought = {
            package: frozenset[str]().union(
                *(
                    symbols.defined(Path(file), launcher, env)
                    for file in libraries.get(package, ())
                    if file.endswith(".rlib")
                )
            )
            for package in sorted(everything - linked(without))
        }
        listed = [package for package, defined in brought.items() if defined]
        if listed and not any(_is_used(package, brought[package], names) for package in listed):
            more = f" and {len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else ""
            one = "its" if len(listed) == 1 else "their"
            remarks.append(
                f"feature {feature} brings {', '.join(listed[:MOST_NAMES])}{more}; "
                f"none of {one} symbols is in the binary"
            )
    write_whole(note, json.dumps({"binary": str(binary), "remarks": remarks}) + "\n")
    return tuple(remarks)


def _is_used(package: str, defined: frozenset[str], names: frozenset[str]) -> bool:
    # A generic function is compiled in the crate that uses it; its mangled name has the crate.
    mangled = f"{len(package)}{package.replace('-', '_')}"
    return bool(defined & names) or any(mangled in name for name in names)

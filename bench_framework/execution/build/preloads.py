"""Allocators that replace `malloc` in an unchanged program by LD_PRELOAD.

Rust's default allocator calls `malloc` too, so one way reaches Rust and C programs. The libraries are
built once into the cache. The reasons are in docs/method.md#preloaded-allocators.
"""

import hashlib
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import CellError, MachineError
from bench_framework.execution.build import symbols
from bench_framework.execution.build.cargo import build_environment
from bench_framework.execution.build.messages import failure_text
from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.hyperfine import Hyperfine, parse, run_install
from bench_framework.execution.machine.host import cache_root
from bench_framework.execution.machine.programs import (
    LIBRARY,
    PRELOAD,
    Source,
    allocator_source,
    compile_library,
    loader_of,
    preloaded,
)
from bench_framework.execution.process import Command, Launcher, scratch_folder
from bench_framework.execution.progress import Observer
from bench_framework.execution.target import Target
from bench_framework.foreign import sha256_of, text_of
from bench_framework.model.record.run import Build, Preload
from bench_framework.store.layout import write_all, writing

BUILD_TIMEOUT_S: Final = 1800.0
PEAK_MARGIN: Final = 4 / 3
"""Peaks of hyperfine that are up to a third larger than the measured one are not a program's."""


@dataclass(frozen=True, slots=True)
class Library:
    """A crate with the C functions of an allocator, whose names start with `prefix`."""

    crate: str
    version: str
    features: str
    prefix: str


_THREADS: Final = "background_threads_runtime_support"
LIBRARIES: Final[Mapping[str, Library]] = {
    "jemalloc": Library("tikv-jemalloc-sys", "0.7.1", _THREADS, "_rjem"),
    "mimalloc": Library("libmimalloc-sys", "0.1.49", "", "mi"),
    "snmalloc": Library("snmalloc-sys", "0.7.6", "libc-api", "sn"),
}
COMPILED_IN: Final = {
    "_rjem_malloc": "jemalloc",
    "mi_malloc": "mimalloc",
    "sn_rust_alloc": "snmalloc",
}
"""Symbols of allocators that are compiled into a program, which LD_PRELOAD does not replace."""
MANIFEST: Final = """[package]
name = "{name}"
version = "0.0.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
path = "lib.rs"
[dependencies]
{crate} = {{ version = "={version}", features = [{features}] }}
[profile.release]
panic = "abort"
[workspace]
"""


def library(name: str, launcher: Launcher, env: Mapping[str, str], observer: Observer) -> Preload:
    """Return the library of an allocator, built by cargo into the cache if it is not there.

    `name` is a key of `LIBRARIES`, or the path of a library.

    Raises `MachineError` (BX245): it does not exist, or cannot be built.
    """
    if (kind := LIBRARIES.get(name)) is None:
        # The kernel lists the files of a process without symbolic links.
        path = Path(name).resolve()
        if not path.is_file():
            raise MachineError("BX245.no-library", path=path)
        return Preload(path.name, str(path), sha256_of(path))
    path, files = _sources(name, kind, env)
    if not path.is_file():
        write_all(path.parent, files)
        _build(path, kind, launcher, env, observer)
    return Preload(name, str(path), sha256_of(path), f"{kind.crate} {kind.version}")


def must_be_built(name: str, env: Mapping[str, str]) -> bool:
    """Return True if `library` would build the library of an allocator."""
    kind = LIBRARIES.get(name)
    return kind is not None and not _sources(name, kind, env)[0].is_file()


def _sources(name: str, kind: Library, env: Mapping[str, str]) -> tuple[Path, dict[str, str]]:
    """Return the path of the library of an allocator in the cache, and the files of its crate."""
    source = allocator_source(kind.crate, kind.prefix)
    features = ", ".join(f'"{feature}"' for feature in kind.features.split())
    manifest = MANIFEST.format(name=name, crate=kind.crate, version=kind.version, features=features)
    key = hashlib.sha256((manifest + source).encode()).hexdigest()[:8]
    path = cache_root(env) / "tools" / f"{name}-{kind.version}-{key}" / LIBRARY.format(name)
    return path, {"Cargo.toml": manifest, "lib.rs": source}


def _build(
    path: Path, kind: Library, launcher: Launcher, env: Mapping[str, str], observer: Observer
) -> None:
    folder, log = path.parent, path.parent / "cargo.log"
    target = folder / "target"
    log.unlink(missing_ok=True)
    environment = build_environment(env, target, target)
    argv = ["cargo", "build", "--release"]
    command = Command(argv, environment, str(folder), stderr=str(log), timeout_s=BUILD_TIMEOUT_S)
    finished = run_install(launcher, command, path.name, kind.version, observer)
    if not finished.ok:
        cause = failure_text(text_of(log)) or finished.how
        details = (("cargo", cause), ("log", str(log)))
        raise MachineError(
            "BX245.not-built",
            details=details,
            name=path.name,
            crate=kind.crate,
            version=kind.version,
        )
    with writing(path):
        (target / "release" / path.name).replace(path)
    shutil.rmtree(target, ignore_errors=True)


def prove(
    build: Build,
    target: Target,
    runner: SingleRunner,
    env: Mapping[str, str],
    tool: Hyperfine | None = None,
) -> Preload:
    """Run a program once outside timing, and return its allocator with the allocations it got.

    With `tool`, the peak memory of hyperfine with the allocator is measured, too.

    Raises `MachineError` (BX227): none of them reach the allocator; BX245, they cannot be counted.
    """
    preload = build.preload
    assert preload is not None
    assert build.path is not None
    path = Path(build.path)
    loader = loader_of(path)
    if loader == "":
        raise _refused("BX227.statically-linked", target, preload)
    if loader is not None and "ld-musl" in loader:
        raise _refused("BX227.musl", target, preload)
    if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        raise _refused("BX227.setuid", target, preload)
    known = symbols.defined(path, runner.launcher, env)
    compiled_in = next((name for symbol, name in COMPILED_IN.items() if symbol in known), None)
    if compiled_in is not None:
        raise _refused("BX227.own-allocator", target, preload, allocator=compiled_in)
    with scratch_folder() as folder:
        report = Path(folder, "allocations")
        with writing(report):
            report.write_bytes(bytes(8))
        counter = compiled_library("allocations.c", folder, runner.launcher, env)
        counted = {
            **preloaded(counter, target.env),
            "BENCHCTL_ALLOCATIONS": str(report),
            "BENCHCTL_ALLOCATOR": preload.path,
        }
        if loader is not None:  # no script, which is not its process
            counted["BENCHCTL_PROGRAM"] = str(path.resolve())
        run = runner.run(replace(target, env=counted), None, runner.setup_timeout_s)
        count = int.from_bytes(report.read_bytes(), sys.byteorder)
    if not count:
        raise _refused("BX227.no-allocations", target, preload, cause=run.message)
    least = _least_peak(preload, tool, runner.launcher, env) if tool is not None else 0
    return replace(preload, allocations=count, least_peak_bytes=least)


def compiled_library(
    source: Source, folder: str, launcher: Launcher, env: Mapping[str, str]
) -> str:
    """Compile a library of benchctl into a folder and return its path.

    Raises `MachineError` (BX245): there is no C compiler, or it failed.
    """
    path = f"{folder}/{LIBRARY.format(Path(source).stem)}"
    argv = compile_library(source, path)
    if shutil.which(argv[0], path=env.get("PATH")) is None:
        raise MachineError("BX245.not-compiled", source=source)
    output = launcher.capture(argv, env, timeout_s=BUILD_TIMEOUT_S)
    if not output.ok:
        details = (("cc", output.stderr.strip() or output.finished.how),)
        raise MachineError("BX245.not-compiled", details=details, source=source)
    return path


def _least_peak(
    preload: Preload, tool: Hyperfine, launcher: Launcher, env: Mapping[str, str]
) -> int:
    """Return the least peak memory in bytes that is a program's: hyperfine uses the library, too.

    Raises `MachineError` (BX227): hyperfine cannot be run with the library.
    """
    with scratch_folder() as folder:
        export = Path(folder, "export.json")
        argv = tool.call(["true"], runs=3, output="null", stdin=None, export=export)
        launcher.capture(argv, {**env, PRELOAD: preload.path})
        try:
            return int((parse(export.read_bytes())["peak_rss_bytes"] or 0) * PEAK_MARGIN)
        except (OSError, CellError) as error:
            raise MachineError("BX227.hyperfine", path=preload.path) from error


def _refused(key: str, target: Target, preload: Preload, /, **values: Any) -> MachineError:
    program = str(target.binary)
    details = (("program", program), ("library", preload.path))
    library, name = preload.name, Path(program).name
    return MachineError(key, details=details, library=library, program=name, **values)

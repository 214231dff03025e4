"""Configuration of builds that is not part of a commit: files, toolchain, flags, compiler cache.

cargo and rustup look for files in the folder of the crate and in all folders above it. A copy of the
sources in the cache is built with those of the working tree, unless its commit has its own.

``CARGO_ENCODED_RUSTFLAGS`` replaces the flags of all configuration files. ``--config`` joins arrays,
but cargo uses either ``build.rustflags`` or those of the targets that match. Therefore cargo itself
reports the flags: it gives them to every build script.

The compiler cache sccache is used for the sources that cargo downloads, which never change. It does
not know every file that a macro of another package reads, and would return an old result after such
a file changed.
"""

import os
import socket
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import BuildError
from bench_framework.execution.build.binaries import EXECUTABLE
from bench_framework.execution.build.messages import failure_text
from bench_framework.execution.machine.host import version_of
from bench_framework.execution.process import Launcher
from bench_framework.foreign import parse_json
from bench_framework.store.layout import write_all, write_whole, writing

CARGO: Final = (".cargo/config", ".cargo/config.toml")
TOOLCHAIN: Final = ("rust-toolchain", "rust-toolchain.toml")
SEPARATOR: Final = "\x1f"
"""Separator of flags in CARGO_ENCODED_RUSTFLAGS: a flag may contain spaces."""
_FLAGS: Final = "CARGO_ENCODED_RUSTFLAGS"
_FLAGS_PACKAGE: Final = {
    "Cargo.toml": '[package]\nname = "benchctl-flags"\nversion = "0.0.0"\nedition = "2021"\n'
    '[lib]\npath = "lib.rs"\n[workspace]\n',
    "lib.rs": "#![no_std]\n",
    "build.rs": 'fn main() { println!("cargo:rustc-env=FLAGS={}", '
    f'std::env::var("{_FLAGS}").unwrap_or_default()); }}\n',
}
WRAPPERS: Final = ("RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER")
_SCCACHE: Final = """#!/bin/sh
home=${CARGO_HOME:-$HOME/.cargo}
case "$CARGO_MANIFEST_DIR" in
"$home"/registry/src/* | "$home"/git/checkouts/*) sccache "$@" && exit 0 ;;
esac
exec "$@"
"""


def lockfile_of(crate: Path) -> Path | None:
    """Return the Cargo.lock of a crate: in its folder, or in the workspace above it."""
    for folder in (crate, *crate.parents):
        if (folder / "Cargo.lock").is_file():
            return folder / "Cargo.lock"
        if (folder / ".git").exists():
            break
    return None


def settings_of(crate: Path, profile: str) -> tuple[tuple[str, str], ...]:
    """Return the settings of a profile and of the compiler that the files of a crate give, by cargo's keys.

    They are those of the workspace's manifest and of cargo's configuration files in the folder of the crate and in
    its parents, of which the nearest one wins: ``profile.release.lto``, ``build.rustflags``,
    ``target.'cfg(unix)'.linker``. Files that are no TOML, which cargo refuses, are left out.
    """
    lock = lockfile_of(crate)
    files = [*reversed([*configuration_files(crate)])]
    manifests = [lock.parent / "Cargo.toml"] if lock is not None else []
    settings: dict[str, str] = {}
    for file in (*manifests, *files):
        try:
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        profiles = tables.get("profile", {})
        parts = {"profile": {name: profiles[name] for name in _inherited(profiles, profile)}}
        if file not in manifests:
            parts |= {name: tables[name] for name in ("build", "target") if name in tables}
        settings |= dict(_flat(parts))
    return tuple(sorted(settings.items()))


def _inherited(profiles: Mapping[str, Any], name: str) -> list[str]:
    """Return a profile and those that it inherits from, as far as the file has them."""
    names: list[str] = []
    while name in profiles and name not in names:
        names.append(name)
        name = profiles[name].get("inherits", "")
    return names


def _flat(table: Mapping[str, Any], head: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted key and the value of each setting of a table."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{head}{key}.")
        else:
            values = value if isinstance(value, list) else [value]
            yield f"{head}{key}", " ".join(map(_word, values))


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def cargo_home(env: Mapping[str, str]) -> Path:
    """Return the folder of cargo's registries and of the user's configuration."""
    return Path(env.get("CARGO_HOME") or Path(env.get("HOME", "/"), ".cargo"))


def configuration_files(crate: Path) -> Iterator[Path]:
    """Yield cargo's configuration files in the folder of a crate and in its parents."""
    folder = crate.resolve()
    paths = (parent / name for parent in (folder, *folder.parents) for name in CARGO)
    yield from (path for path in paths if os.access(path, os.R_OK))


def names_within(inner: Path) -> tuple[Path, ...]:
    """Return the possible files for a crate in the folder `inner` of a repository."""
    folders = (inner, *inner.parents)
    return tuple(folder / name for folder in folders for name in (*CARGO, *TOOLCHAIN))


def bring_ignored(git: Callable[..., str], root: Path, inner: Path, copy: Path) -> None:
    """Give the checkout `copy` the files of a repository that git ignores.

    Other files that are not in the commit are changes under test, and are not brought. `git`
    returns the output of a git command.

    Raises `BuildError` (BX224): git fails; `MachineError` (BX235): a file cannot be written.
    """
    names = names_within(inner)
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--")
    ignored = git("-C", str(root), *words, *map(str, names)).split("\0")
    tracked = git("-C", str(copy), "ls-files", "-z", "--", *map(str, names)).split("\0")
    for name in names:
        if str(name) not in tracked:
            _make_equal(copy / name, root / name if str(name) in ignored else None)


def bring_above(root: Path, home: Path, env: Mapping[str, str]) -> None:
    """Give the parent `home` of a repository's copies the files from the folders above it.

    Files in folders that are also above `home` are found there.

    Raises `BuildError`: several folders configure cargo; `MachineError` (BX235): a file cannot be
    written.
    """
    shared, user = home.resolve().parents, cargo_home(env).resolve()
    for names in (CARGO, TOOLCHAIN):
        folders: list[Path] = []
        for folder in root.resolve().parents:
            files = (folder / name for name in names if folder not in shared)
            folders += [folder] * any(file.is_file() and file.parent != user for file in files)
        if names is CARGO and len(folders) > 1:
            details = tuple(("folder", str(folder)) for folder in folders)
            raise BuildError("BX220.several-configurations", details=details, root=root)
        for name in names:
            # rustup uses the nearest file.
            _make_equal(home / name, folders[0] / name if folders else None)


def _make_equal(target: Path, source: Path | None) -> None:
    with writing(target):
        if source is None or not source.is_file():
            target.unlink(missing_ok=True)
            return
        text = source.read_bytes()
    if not target.is_file() or target.read_bytes() != text:
        write_whole(target, text)


def extended_flags(
    flags: tuple[str, ...], crate: Path, root: Path, launcher: Launcher, env: Mapping[str, str]
) -> dict[str, str]:
    """Return cargo's variable for the flags that its configuration sets for a crate, and `flags`.

    A package with a build script is checked in `root`, 0.3 s at the first time. `env` is the
    environment of cargo.

    Raises `BuildError`: cargo fails; `MachineError` (BX235): `root` cannot be written.
    """
    if not all((root / name).is_file() for name in _FLAGS_PACKAGE):
        write_all(root, _FLAGS_PACKAGE)
    argv = ["cargo", "check", "--quiet", "--message-format=json", "--manifest-path"]
    output = launcher.capture([*argv, str(root / "Cargo.toml")], env, cwd=str(crate))
    for line in output.stdout.splitlines() if output.ok else ():
        message = parse_json(line)
        if message["reason"] == "build-script-executed":
            configured = dict(message["env"])["FLAGS"]
            return {_FLAGS: SEPARATOR.join(filter(None, (configured, *flags)))}
    details = (("cargo", failure_text(output.stderr) or output.finished.how),)
    raise BuildError("BX220.configuration-not-readable", details=details, crate=crate)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that cargo calls in place of rustc; `name` is empty for none.

    `variables` are those of cargo's environment.
    """

    name: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def find_wrapper(launcher: Launcher, env: Mapping[str, str], cache: Path, crate: Path) -> Wrapper:
    """Return the wrapper that the user set, or sccache if it is installed and none is set.

    An empty ``RUSTC_WRAPPER`` means none.

    Raises `MachineError` (BX235): the cache cannot be written.
    """
    for name in WRAPPERS:
        if name in env:
            return Wrapper(Path(env[name]).name)
    home = cargo_home(env)
    for file in {*configuration_files(crate), home / "config.toml"}:
        if os.access(file, os.R_OK) and b"rustc-wrapper" in file.read_bytes():
            return Wrapper()
    version = version_of(launcher, "sccache", env)
    if version is None:
        return Wrapper()
    script = cache / "cargo" / "sccache.sh"
    if not script.is_file() or script.read_text(encoding="utf-8") != _SCCACHE:
        write_whole(script, _SCCACHE)
    with writing(script):
        script.chmod(EXECUTABLE)
    # Every process of a build ends with it, so its server must not be that of another build.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    return Wrapper(version, {"RUSTC_WRAPPER": str(script), "SCCACHE_SERVER_PORT": port})

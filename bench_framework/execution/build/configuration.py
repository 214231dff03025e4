"""Files that affect builds without being part of a commit: configuration and choice of toolchain.

cargo and rustup look for them in the folder of the crate and in all folders above it. A copy of the
sources in the cache is built with those of the working tree, unless its commit has its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError
from bench_framework.store.layout import write_whole, writing

CARGO: Final = (".cargo/config", ".cargo/config.toml")
TOOLCHAIN: Final = ("rust-toolchain", "rust-toolchain.toml")


def lockfile_of(crate: Path) -> Path | None:
    """Return the Cargo.lock of a crate: in its folder, or in the workspace above it."""
    for folder in (crate, *crate.parents):
        if (folder / "Cargo.lock").is_file():
            return folder / "Cargo.lock"
        if (folder / ".git").exists():
            return None
    return None


def cargo_home(env: Mapping[str, str]) -> Path:
    """Return the folder of cargo's registries and of the user's configuration."""
    return Path(env.get("CARGO_HOME") or Path(env.get("HOME", "/"), ".cargo"))


def configuration_files(crate: Path) -> Iterator[Path]:
    """Yield cargo's configuration files in the folder of a crate and in its parents."""
    folder = crate.resolve()
    for parent in (folder, *folder.parents):
        for name in CARGO:
            if os.access(parent / name, os.R_OK):
                yield parent / name


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
            raise BuildError(
                f"several folders above {root} configure cargo, and copies of the sources can have "
                "the configuration of one of them only",
                details=tuple(("folder", str(folder)) for folder in folders),
                fix="put the configuration into one of them",
            )
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

"""Build directories that the source folders of one repository share.

In one build directory cargo compiles a dependency once for all that use it with the same settings.
But it names the units of local packages by their paths within the workspace. In one directory, the
units of one revision would pass as those of another one whose files are older than these units.
Therefore the directory has the local units of one source folder at a time: `BuildFolder.enter`
moves those of the previous folder out, and those of this folder back in. So cargo finds what it
left, and a second build of either revision compiles nothing.
"""

import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.execution.build.configuration import configuration_files, lockfile_of
from bench_framework.execution.build.revisions import Git, key_of
from bench_framework.store.layout import read_note, write_note, writing

KINDS: Final = (".fingerprint", "build", "deps")
"""Folders of units in ``PROFILE/`` or ``TRIPLE/PROFILE/`` of a build directory."""
_UNIT: Final = re.compile(r"(.+)-([0-9a-f]{16})(\..*)?")
"""Name of a file or folder of a unit: package or crate, and the unit's hash."""
_REPLACING: Final = {"source", "paths", "include"}
"""Tables of cargo's configuration that can replace a dependency by a folder of the repository."""


@dataclass(frozen=True, slots=True)
class BuildFolder:
    """A build directory, and the source folder to build in it.

    `packages` are the names of the packages whose units depend on the source folder. It is `None`
    for a directory that no other source folder uses.
    """

    path: Path
    source: Path
    packages: frozenset[str] | None = None

    @property
    def units(self) -> Path:
        """Return the directory for cargo (``CARGO_BUILD_BUILD_DIR``)."""
        return self.path if self.packages is None else self.path / "units"

    @property
    def lock(self) -> Path:
        """Return the file to lock during a build."""
        return self.path.with_suffix(".lock")

    def enter(self) -> None:
        """Give the directory the local units of this source folder. The caller has the lock.

        Raises `MachineError` (BX235): a file cannot be moved.
        """
        if self.packages is None:
            return
        note = self.path / "owner.json"
        with writing(note):
            known = read_note(note, "source", "packages")
            # No note: a new directory, or one whose change of owner was interrupted.
            if not known and self.path.exists():
                shutil.rmtree(self.path)
            previous = Path(known.get("source", self.source))
            packages = {*self.packages, *known.get("packages", ())}
            if previous != self.source:
                note.unlink()
                if not _move(self.units, self._aside(previous), packages):
                    # Every build leaves local units, so this layout is unknown.
                    shutil.rmtree(self.units, ignore_errors=True)
                _move(self._aside(self.source), self.units)
        write_note(note, {"source": str(self.source), "packages": sorted(packages)})

    def _aside(self, source: Path) -> Path:
        return self.path / "others" / key_of(str(source))


def folder_of(git: Git, cache: Path, crate: Path) -> BuildFolder:
    """Return the build directory of a crate.

    It is shared within a repository, or by the versions of a released crate, if the local packages
    are known, and if the repository's configuration of cargo cannot change dependencies without
    changing the names of their units.
    """
    lock = lockfile_of(crate)
    source = lock.parent if lock else crate
    folders = cache / "cargo" / "build"
    alone = BuildFolder(folders / key_of(str(source)), source)
    top: str | None = str(crate.parent)  # the versions of a released crate
    if crate.parent.parent != cache / "registry":
        top = git.try_run("-C", str(crate), "rev-parse", "--show-toplevel") if lock else None
    if lock is None or top is None or alone.path.is_dir():
        return alone
    try:
        # A repository and its checkouts in the cache share a name.
        checked_out = Path(top).parent.parent == (cache / "revisions").resolve()
        name = Path(top).parent.name if checked_out else key_of(str(Path(top)))
        words = [name, *_configuration(crate, Path(top))]
        return BuildFolder(folders / key_of("\0".join(words)), source, local_packages(lock))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return alone  # cargo reports files that it cannot read


def local_packages(lock: Path) -> frozenset[str]:
    """Return the packages of a lock file without a source, and all that depend on one of them.

    A package of a registry can depend on a local one, if that one replaces (``[patch]``) another.
    """
    packages = tomllib.loads(lock.read_text(encoding="utf-8")).get("package", [])
    local = {str(package["name"]) for package in packages if "source" not in package}
    while True:
        more = {
            str(package["name"])
            for package in packages
            if not local.isdisjoint(name.split()[0] for name in package.get("dependencies", ()))
        }
        if more <= local:
            return frozenset(local)
        local |= more


def _configuration(crate: Path, top: Path) -> Iterator[str]:
    """Yield the texts of cargo's configuration files for a crate in the repository `top`.

    ``[env]`` can change dependencies, so equal texts are required. Raises `ValueError` if the
    repository replaces dependencies.
    """
    for file in configuration_files(crate):
        text = file.read_text(encoding="utf-8")
        if file.is_relative_to(top) and _REPLACING & tomllib.loads(text).keys():
            raise ValueError(file)
        yield text


def _move(source: Path, target: Path, packages: set[str] | None = None) -> int:
    """Move the units of packages, or all units, to another directory; return their number."""
    parents = [*source.glob("*"), *source.glob("*/*")]
    paths = [path for parent in parents for kind in KINDS for path in parent.glob(f"{kind}/*")]
    if packages is not None:
        paths = _local(paths, packages)
    for path in paths:
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)
    return len(paths)


def _local(paths: list[Path], packages: set[str]) -> list[Path]:
    """Return the files and folders of the packages' units."""
    names = {path: _UNIT.fullmatch(path.name) for path in paths}
    hashes = {
        name[2]
        for path, name in names.items()
        if name and name[1] in packages and path.parent.name != "deps"
    }
    # A file without a hash is a shared library of a local package. A folder with the plain name of
    # a package has all its units, in the layout of newer versions of cargo.
    return [
        path
        for path, name in names.items()
        if (name[2] in hashes if name else path.parent.name == "deps" or path.name in packages)
    ]

"""Features and binaries of a crate, read from Cargo.toml without cargo."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DEPENDENCY_TABLES = ("dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class Crate:
    """A package: folder, name, features and binaries."""

    folder: Path
    name: str
    features: tuple[str, ...]
    """Sorted names, with ``default`` and the implicit features of optional dependencies."""
    bins: tuple[str, ...]
    """Sorted names of the binary targets."""


class CrateMissing(Exception):  # noqa: N818 -- checks turn it into a problem
    """A crate or package that does not exist. The message states what is missing."""

    def __init__(self, message: str, *, package: bool = False, known: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.package = package
        """True if the folder is a workspace and only the package is missing."""
        self.known = known
        """Packages of the workspace."""


def read_crate(folder: Path, package: str | None = None) -> Crate:
    """Return the crate in `folder`, or that package of its workspace. Raises `CrateMissing`."""
    manifest = _manifest(folder)
    name = _package_name(manifest)
    if name is not None and package in {None, name}:
        return _crate(folder, name, manifest)
    members = dict(_members(folder, manifest))
    if package is None:
        raise CrateMissing(
            "the workspace has several packages", package=True, known=tuple(sorted(members))
        )
    if package not in members:
        raise CrateMissing(f"no package `{package}`", package=True, known=tuple(sorted(members)))
    return _crate(members[package], package, _manifest(members[package]))


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "Cargo.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CrateMissing(
            "it has no Cargo.toml" if folder.is_dir() else "no such folder"
        ) from None
    except (OSError, ValueError) as error:
        raise CrateMissing(f"its Cargo.toml cannot be read: {error}") from None


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _package_name(manifest: dict[str, Any]) -> str | None:
    name = _table(manifest.get("package")).get("name")
    return name if isinstance(name, str) else None


def _members(folder: Path, manifest: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    patterns = _table(manifest.get("workspace")).get("members", [])
    for pattern in patterns if isinstance(patterns, list) else []:
        for member in sorted(folder.glob(pattern)) if isinstance(pattern, str) and pattern else []:
            try:
                name = _package_name(_manifest(member))
            except CrateMissing:
                continue
            if name is not None:
                yield name, member


def _crate(folder: Path, name: str, manifest: dict[str, Any]) -> Crate:
    return Crate(
        folder,
        name,
        tuple(sorted(_features(manifest))),
        tuple(sorted(_bins(folder, name, manifest))),
    )


def _features(manifest: dict[str, Any]) -> set[str]:
    declared = _table(manifest.get("features"))
    tables = [_table(manifest.get(key)) for key in _DEPENDENCY_TABLES]
    for target in _table(manifest.get("target")).values():
        tables += [_table(_table(target).get(key)) for key in _DEPENDENCY_TABLES]
    optional = {
        name
        for table in tables
        for name, spec in table.items()
        if _table(spec).get("optional") is True
    }
    # A dependency that a feature lists as `dep:name` has no implicit feature.
    hidden = {
        item.removeprefix("dep:")
        for items in declared.values()
        if isinstance(items, list)
        for item in items
        if isinstance(item, str) and item.startswith("dep:")
    }
    return {"default", *declared, *(optional - hidden)}


def _bins(folder: Path, name: str, manifest: dict[str, Any]) -> set[str]:
    listed = manifest.get("bin", [])
    entries = (
        [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    )
    names = {str(entry["name"]) for entry in entries if "name" in entry}
    if _table(manifest.get("package")).get("autobins") is False:
        return names
    if (folder / "src" / "main.rs").is_file() and not any(
        entry.get("path") == "src/main.rs" for entry in entries
    ):
        names.add(name)
    names |= {path.stem for path in (folder / "src" / "bin").glob("*.rs")}
    names |= {path.parent.name for path in (folder / "src" / "bin").glob("*/main.rs")}
    return names

"""Features and binaries of a crate, read from Cargo.toml without cargo."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DEPENDENCY_TABLES = ("dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class Crate:
    """A package: name, features and binaries."""

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
    try:
        name = _package_name(manifest)
        if name is not None and package in {None, name}:
            return _crate(folder, name, manifest)
        members = dict(_members(folder, manifest))
        known = tuple(sorted(members))
        if package is None:
            raise CrateMissing("the workspace has several packages", package=True, known=known)
        if package not in members:
            raise CrateMissing(f"no package `{package}`", package=True, known=known)
        return _crate(members[package], package, _manifest(members[package]))
    except (AttributeError, TypeError, ValueError) as error:  # such as `package = 3`
        raise CrateMissing(f"its Cargo.toml cannot be read: {error}") from None


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


def _package_name(manifest: dict[str, Any]) -> str | None:
    name: str | None = manifest.get("package", {}).get("name")
    return name


def _members(folder: Path, manifest: dict[str, Any]) -> Iterator[tuple[str, Path]]:
    for pattern in manifest.get("workspace", {}).get("members", []):
        for member in sorted(folder.glob(pattern)):
            try:
                name = _package_name(_manifest(member))
            except CrateMissing:
                continue
            if name is not None:
                yield name, member


def _crate(folder: Path, name: str, manifest: dict[str, Any]) -> Crate:
    features, bins = _features(manifest), _bins(folder, name, manifest)
    return Crate(name, tuple(sorted(features)), tuple(sorted(bins)))


def _features(manifest: dict[str, Any]) -> set[str]:
    declared = manifest.get("features", {})
    tables = [
        table.get(key, {})
        for table in (manifest, *manifest.get("target", {}).values())
        for key in _DEPENDENCY_TABLES
    ]
    optional = {
        name
        for table in tables
        for name, spec in table.items()
        if isinstance(spec, dict) and spec.get("optional") is True
    }
    # A dependency that a feature lists as `dep:name` has no implicit feature.
    listed = {item for items in declared.values() for item in items}
    return {"default", *declared, *(name for name in optional if f"dep:{name}" not in listed)}


def _bins(folder: Path, name: str, manifest: dict[str, Any]) -> set[str]:
    entries = manifest.get("bin", [])
    names = {str(entry["name"]) for entry in entries if "name" in entry}
    if manifest["package"].get("autobins") is False:
        return names
    main = folder / "src" / "main.rs"
    if main.is_file() and not any(entry.get("path") == "src/main.rs" for entry in entries):
        names.add(name)
    names |= {path.stem for path in (folder / "src" / "bin").glob("*.rs")}
    names |= {path.parent.name for path in (folder / "src" / "bin").glob("*/main.rs")}
    return names

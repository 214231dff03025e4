"""What a crate's manifest says about its features and binaries; cargo is not asked."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DEPENDENCY_TABLES = ("dependencies", "build-dependencies")


@dataclass(frozen=True, slots=True)
class Crate:
    """One package: its folder, its name, and what can be asked of it."""

    folder: Path
    name: str
    features: tuple[str, ...]
    """Sorted; with ``default`` and the implicit features of optional dependencies."""
    bins: tuple[str, ...]
    """Sorted names of the binary targets."""


class CrateMissing(Exception):  # noqa: N818 -- checks turn it into a problem
    """No such crate or package; the message says what is missing."""

    def __init__(self, message: str, *, package: bool = False, known: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.package = package
        """Whether the folder is fine and only the package is wrong."""
        self.known = known
        """Packages there are."""


def read_crate(folder: Path, package: str | None = None) -> Crate:
    """The crate in `folder`, or the package of that name in its workspace.

    Raises:
        CrateMissing: no folder, no manifest, one that is not TOML, or no such package.
    """
    manifest = _manifest(folder)
    name = _package_name(manifest)
    if name is not None and package in {None, name}:
        return _crate(folder, name, manifest)
    members = dict(_members(folder, manifest))
    if package is None:
        raise CrateMissing(
            "a workspace without a package of its own", package=True, known=tuple(sorted(members))
        )
    if package not in members:
        raise CrateMissing(f"no package `{package}`", package=True, known=tuple(sorted(members)))
    return _crate(members[package], package, _manifest(members[package]))


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "Cargo.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CrateMissing("no Cargo.toml there" if folder.is_dir() else "no such folder") from None
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
    # A dependency that some feature names as `dep:name` has no feature of its own name.
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
    found = {str(entry["name"]) for entry in entries if "name" in entry}
    if _table(manifest.get("package")).get("autobins") is False:
        return found
    if (folder / "src" / "main.rs").is_file() and not any(
        entry.get("path") == "src/main.rs" for entry in entries
    ):
        found.add(name)
    found |= {path.stem for path in (folder / "src" / "bin").glob("*.rs")}
    found |= {path.parent.name for path in (folder / "src" / "bin").glob("*/main.rs")}
    return found

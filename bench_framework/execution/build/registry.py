"""Sources of released crates, which cargo fetches from its registry once per version.

As for ``cargo install``, cargo's configuration is that of the user (``$CARGO_HOME``): the project of
the scenario does not change where a crate comes from.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench_framework.errors import BuildError
from bench_framework.execution.build.messages import failure_text
from bench_framework.execution.process import Launcher
from bench_framework.store.layout import whole, write_whole

FETCH_TIMEOUT_S: Final = 1800.0
_MANIFEST: Final = """[package]
name = "benchctl-fetch"
version = "0.0.0"
edition = "2021"

[dependencies.{name}]
version = "={version}"
default-features = false

[workspace]
"""


@dataclass(frozen=True, slots=True)
class Released:
    """The unpacked sources of a crate, its place in a registry, and the checksum of its archive."""

    folder: Path
    source: str
    checksum: str


def note_of(root: Path, name: str, version: str) -> Path:
    """Return the file that describes fetched sources, and exists before they do."""
    return root / name / f"{version}.json"


def fetch(
    launcher: Launcher, env: Mapping[str, str], root: Path, name: str, version: str
) -> Released:
    """Return the sources of a crate's version in ``root/NAME/VERSION``, and fetch missing ones.

    A package that depends on this version is given to ``cargo vendor``, which copies the sources. In
    contrast to ``cargo metadata``, it accepts a dependency without a library.

    Raises `BuildError` (BX226): cargo cannot fetch it, for example because there is no such version.
    """
    folder, note = root / name / version, note_of(root, name, version)
    if folder.is_dir() and note.is_file():
        stored = json.loads(note.read_text(encoding="utf-8"))
        return Released(folder, stored["source"], stored["checksum"])
    prefix = ".fetch-"
    with whole(folder) as sources, TemporaryDirectory(dir=folder.parent, prefix=prefix) as package:
        part = Path(package)
        manifest, vendored = part / "Cargo.toml", part / "vendor"
        (part / "src").mkdir()
        (part / "src" / "lib.rs").touch()
        manifest.write_text(_MANIFEST.format(name=name, version=version), encoding="utf-8")
        argv = ["cargo", "vendor", "--respect-source-config", "--versioned-dirs", "--manifest-path"]
        argv += [str(manifest), str(vendored)]
        output = launcher.capture(argv, env, cwd=package, timeout_s=FETCH_TIMEOUT_S)
        if not output.ok:
            raise _failed(name, version, failure_text(output.stderr) or output.finished.how)
        try:
            lock = tomllib.loads((part / "Cargo.lock").read_text(encoding="utf-8"))
            both = (name, version)
            locked = next(p for p in lock["package"] if (p["name"], p["version"]) == both)
            stored = {"source": str(locked["source"]), "checksum": str(locked["checksum"])}
        except (OSError, ValueError, LookupError, TypeError, StopIteration) as error:
            raise _failed(name, version, f"its lock file cannot be read: {error!r}") from error
        (vendored / f"{name}-{version}").replace(sources)
        (sources / ".cargo-checksum.json").unlink(missing_ok=True)
        write_whole(note, json.dumps(stored) + "\n")
    return Released(folder, **stored)


def _failed(name: str, version: str, cause: str) -> BuildError:
    return BuildError(
        f"cargo cannot fetch {name} {version}",
        code="BX226",
        details=(("cargo", cause),),
        fix="correct `registry` and `version`; `cargo info` lists them",
    )

"""Packages of a workspace, as ``cargo metadata`` describes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.build.cargo import MOST_MESSAGES
from bench_framework.execution.build.messages import failure_text
from bench_framework.execution.machine.host import environment, require_linux
from bench_framework.execution.process import Launcher
from bench_framework.foreign import parse_json


@dataclass(frozen=True, slots=True)
class Package:
    """A package of a workspace, or a crate that is in none."""

    name: str
    version: str
    folder: Path
    root: Path
    """Folder of the workspace."""
    default: bool
    """True for a default member of the workspace."""
    bins: Mapping[str, tuple[str, ...]]
    """Names of the binary targets, each with its required features."""
    default_run: str | None
    features: Mapping[str, tuple[str, ...]]
    """Each feature with what it enables: features, ``dep:NAME`` and ``NAME/FEATURE``."""
    dependencies: tuple[str, ...]
    """Names of the direct dependencies without which it cannot be built."""
    rust_version: str | None


def read_packages(folder: Path) -> tuple[Package, ...]:
    """Run ``cargo metadata --no-deps`` in a crate's folder. It needs no network.

    Raises:
        UsageError: BX124, cargo cannot read the crate.
        MachineError: BX231, cargo cannot be started; BC410, this is not Linux.
    """
    require_linux()
    argv = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    with Launcher() as launcher:
        try:
            output = launcher.capture(argv, environment(), cwd=str(folder), most=MOST_MESSAGES)
        except MachineError as error:
            error.effect = "nothing was written"
            error.fix = "install Rust from https://rustup.rs, or add cargo to PATH"
            raise
    try:
        if output.ok:
            data = parse_json(output.stdout)
            return tuple(_package(item, data) for item in data["packages"])
        text = failure_text(output.stderr) or output.finished.how
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        text = f"its output is not that of cargo metadata: {error!r}"
    raise UsageError(
        f"cargo cannot read the crate in {folder}",
        code="BX124",
        details=(("cargo", text),),
        effect="nothing was written",
        fix="correct the crate until `cargo metadata --no-deps` succeeds in this folder",
    )


def _package(item: dict[str, Any], data: dict[str, Any]) -> Package:
    targets = [target for target in item["targets"] if "bin" in target["kind"]]
    needed = [part for part in item["dependencies"] if not part["optional"]]
    return Package(
        item["name"],
        item["version"],
        Path(item["manifest_path"]).parent,
        Path(data["workspace_root"]),
        item["id"] in data.get("workspace_default_members", ()),
        {target["name"]: tuple(target.get("required-features", ())) for target in targets},
        item.get("default_run"),
        {name: tuple(enabled) for name, enabled in item["features"].items()},
        tuple(part["name"] for part in needed if part["kind"] is None),
        item.get("rust_version"),
    )

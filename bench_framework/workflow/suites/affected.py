"""Scenarios that a change of a repository cannot affect: no file of the crates of their programs has changed.

A change counts as one of a scenario unless each changed file is in the folder of a package that the program does not
depend on. So a file outside of all packages, such as the lock file, affects every scenario.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from bench_framework.errors import BenchError
from bench_framework.execution.build.configuration import TOOLCHAIN
from bench_framework.execution.build.messages import Package, read_packages
from bench_framework.execution.build.revisions import Git
from bench_framework.execution.machine.host import environment
from bench_framework.execution.process import Launcher
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.revisions import short_name
from bench_framework.model.reasons import Reason, ReasonCode

FOR_ALL: Final = frozenset({"Cargo.lock", *TOOLCHAIN})
"""Names of files that affect every package of a repository, as everything in ``.cargo`` does."""


def reasons_to_skip(plans: Iterable[Plan]) -> list[Reason | None]:
    """Return for each plan why the change between its revisions cannot affect it, `None` for the others.

    Only the working tree is compared with a base. A plan whose crates or changes cannot be read gets no reason.
    """
    changes: dict[tuple[Path, str], frozenset[Path]] = {}
    reasons: list[Reason | None] = []
    for plan in plans:
        try:
            reasons.append(_reason(plan, changes))
        except (BenchError, OSError, ValueError):
            reasons.append(None)
    return reasons


def _reason(plan: Plan, changes: dict[tuple[Path, str], frozenset[Path]]) -> Reason | None:
    if plan.revisions is None or plan.revisions.head is not None or not plan.builds:
        return None
    base = plan.revisions.base
    used: dict[Path, None] = {}
    packages: dict[Path, Package] = {}
    for spec in plan.builds:
        if not spec.crate or not spec.by_cargo:
            return None  # commands may build any file of the repository
        workspace = _packages(Path(spec.crate))
        packages |= workspace
        used |= _graph(_package_of(spec, workspace), packages)
    first = Path(plan.builds[0].crate)
    if (first, base) not in changes:
        changes[first, base] = _changed(first, base)
    changed = changes[first, base]
    roots = {package.root for package in packages.values()}
    if _replaces(roots) or any(_is_for_all(file, roots) for file in changed):
        return None
    files = {Path(plan.scenario_path).resolve(), *_inputs(plan)}
    if any(path == file or path in file.parents for file in changed for path in files):
        return None
    owners = {next((f for f in file.parents if f in packages), None) for file in changed}
    if None in owners or owners & used.keys():
        return None
    names = ", ".join(sorted(packages[owner].name for owner in owners if owner))
    since = short_name(base), len(used)
    if names:
        return Reason(ReasonCode.ONLY_OTHERS_CHANGED, (*since, names))
    return Reason(ReasonCode.UNAFFECTED, since)


@cache
def _packages(crate: Path) -> Mapping[Path, Package]:
    """Return the packages of the workspace of a crate, by folder."""
    return {package.folder.resolve(): package for package in read_packages(crate.resolve())}


def _package_of(spec: BuildSpec, packages: Mapping[Path, Package]) -> Path:
    """Return the folder of the package that a build needs. Raises `ValueError`: it is not known."""
    crate = Path(spec.crate).resolve()
    candidates = [
        f for f, p in packages.items() if spec.package in (p.name, None) and spec.bin in p.bins
    ]
    if spec.package is None and crate in packages:
        return crate
    if len(candidates) != 1:
        raise ValueError(spec.bin)
    return candidates[0]


def _graph(start: Path, packages: dict[Path, Package]) -> dict[Path, None]:
    """Return the folders of a package and of all that it depends on by path. Others are added to `packages`."""
    graph: dict[Path, None] = {}
    left = [start]
    while left:
        folder = left.pop()
        if folder in graph:
            continue
        graph[folder] = None
        if folder not in packages:
            packages |= _packages(folder)
        left += [path.resolve() for path in packages[folder].local]
    return graph


def _changed(crate: Path, base: str) -> frozenset[Path]:
    """Return the files of the repository that differ from a revision, with those that git does not track yet."""
    with Launcher() as launcher:
        git = Git(launcher, environment())
        top = Path(git.run("-C", str(crate), "rev-parse", "--show-toplevel"))
        differing = git.run("-C", str(top), "diff", "--name-only", "--no-renames", "-z", base)
        new = git.run("-C", str(top), "ls-files", "--others", "--exclude-standard", "-z")
    names = (*differing.split("\0"), *new.split("\0"))
    return frozenset((top / name).resolve() for name in names if name)


def _is_for_all(file: Path, roots: Iterable[Path]) -> bool:
    manifests = {root.resolve() / "Cargo.toml" for root in roots}
    return file.name in FOR_ALL or ".cargo" in file.parts or file in manifests


def _replaces(roots: Iterable[Path]) -> bool:
    """Return whether a workspace replaces packages by others, which are not in its graph."""
    for root in roots:
        manifest = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
        if {"patch", "replace"} & manifest.keys():
            return True
        for folder in (root, *root.parents):
            for name in ("config", "config.toml"):
                config = folder / ".cargo" / name
                if (
                    config.is_file()
                    and {"patch", "paths"} & tomllib.loads(config.read_text()).keys()
                ):
                    return True
    return False


def _inputs(plan: Plan) -> set[Path]:
    """Return files and folders of the scenario that its program reads, or by which it is changed."""
    paths = {item.dataset.path for item in plan.inputs if item.dataset and item.dataset.path}
    paths |= {patch for build in plan.builds for patch in build.patches}
    return {Path(path).resolve() for path in paths}

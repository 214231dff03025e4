"""The state of the programs of scenarios: a continued suite keeps only results of the same programs."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from bench_framework.errors import BenchError
from bench_framework.execution.build.binaries import find_program
from bench_framework.execution.build.configuration import lockfile_of
from bench_framework.execution.build.revisions import HEAD, Git
from bench_framework.execution.build.sources import changed_files
from bench_framework.execution.machine.host import environment
from bench_framework.execution.process import Launcher
from bench_framework.foreign import sha256_of
from bench_framework.model.plan.build_spec import BUILTIN
from bench_framework.model.plan.plan import Plan


def states_of(plans: Iterable[Plan]) -> list[str]:
    """Return for each plan a digest of the sources of its programs, or of the programs that are not built.

    A state that cannot be read, such as that of a crate without a repository, equals no other one.
    """
    env, states = environment(), list[str]()
    with Launcher() as launcher:
        git = Git(launcher, env)

        @cache  # the scenarios of a suite often have one repository
        def sources(crate: str, revision: str | None) -> str:
            return _sources(git, Path(crate), revision)

        for plan in plans:
            try:
                used = {
                    (spec.crate, spec.revision): sources(spec.crate, spec.revision)
                    for spec in plan.builds
                    if spec.crate and spec.crate != BUILTIN
                }
                files = [*_files(plan, env)]
                states.append(digest_of([*used.values(), *files]))
            except (BenchError, OSError, ValueError):
                states.append(secrets.token_hex())
    return states


def _sources(git: Git, crate: Path, revision: str | None) -> str:
    """Return a digest of a revision, or of the working tree with its uncommitted changes."""
    top = Path(git.run("-C", str(crate), "rev-parse", "--show-toplevel")).resolve()
    commit = git.run("-C", str(crate), "rev-parse", "--verify", f"{revision or HEAD}^{{commit}}")
    if revision:
        return commit
    inner = crate.resolve().relative_to(top)
    changed = set(changed_files(git, top, inner, lockfile_of(crate)))
    # The files of submodules are not among the changed files.
    words = ("diff", "--no-ext-diff", "--no-textconv", "--submodule=diff", HEAD)
    return digest_of([commit, git.output("-C", str(top), *words), *map(_content, sorted(changed))])


def _content(path: Path) -> tuple[str, str]:
    if path.is_symlink():
        return str(path), str(path.readlink())
    if not path.is_file():
        return str(path), ""
    return str(path), f"{sha256_of(path)} {os.access(path, os.X_OK)}"


def _files(plan: Plan, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the digests of the files that a plan names by their paths: patches, and programs."""
    for patch in sorted({patch for spec in plan.builds for patch in spec.patches}):
        yield sha256_of(Path(patch))
    if plan.program is not None:
        names = {spec.bin for spec in plan.builds} or {plan.program[0]}
        for name in sorted(names):
            yield find_program(name, plan.scenario_path, env).sha256 or ""


def digest_of(parts: Sequence[object]) -> str:
    """Return the digest of values that JSON can represent."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

"""Measure how long two revisions of a crate take to build, with and without shared dependencies.

Usage: ``python tests/validation/bench/shared_builds.py FOLDER [--times N]``. The folder contains a crate with
``src/main.rs`` and ``Cargo.lock``. Its second revision has one more line. Without sharing, each revision has an empty
cache. All caches have the same path, so that a difference of binaries would not come from paths.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench_framework.execution.build import cargo
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.record.run import Build
from tests.integration.processes import commit, git

LINE = "#[used] static ADDED_BY_BENCHMARK: u8 = 1;\n"
REVISIONS = ("one", "two")


def create_repository(crate: Path, folder: Path) -> None:
    """Copy a crate into a new repository with two tagged commits."""
    shutil.copytree(crate, folder, ignore=shutil.ignore_patterns("target", ".git"))
    git(folder, "init", "--quiet")
    for tag in REVISIONS:
        git(folder, "add", "--all", "--force")
        commit(folder, tag, tag)
        with (folder / "src" / "main.rs").open("a") as file:
            file.write(LINE)
    subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=folder, check=True)


def build(repository: Path, binary: str, tags: Sequence[str]) -> list[Build]:
    """Build revisions in an empty cache, and remove the cache."""
    cache = repository.parent / "cache"
    env = {**host.environment(), "BENCHCTL_CACHE": str(cache), "RUSTC_WRAPPER": ""}
    specs = [BuildSpec(str(repository), binary, revision=tag) for tag in tags]
    with Launcher() as launcher:
        given = (launcher, env, SilentObserver())
        builds = cargo.Builder(*given, contract=False, place=repository.parent).build_all(specs)
    shutil.rmtree(cache)
    for failed in (build for build in builds if not build.ok):
        raise SystemExit(failed.message)
    load = os.getloadavg()[0]
    print(f"built {' and '.join(tags)}, load average afterwards {load:.1f}", flush=True)
    return list(builds)


def main() -> None:
    """Print the seconds of each build, the ratios, and whether the binaries are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crate", type=Path)
    parser.add_argument("--bin", default="")
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    binary = options.bin or options.crate.resolve().name.rpartition("-")[0]
    ratios: dict[str, list[float]] = {"second revision": [], "both revisions": []}
    with tempfile.TemporaryDirectory() as name:
        repository = Path(name, "repository")
        create_repository(options.crate, repository)
        for _ in range(options.times):
            seconds = {}
            alone = [build(repository, binary, [tag])[0] for tag in REVISIONS]
            shared = build(repository, binary, REVISIONS)
            for words, builds in (("without sharing", alone), ("with sharing", shared)):
                seconds[words] = [item.build_s or 0.0 for item in builds]
                times = " + ".join(f"{taken:.1f}" for taken in seconds[words])
                print(f"{words:<16} {times} s", flush=True)
            (first, second), (common, changed) = seconds.values()
            ratios["second revision"].append(changed / second)
            ratios["both revisions"].append((common + changed) / (first + second))
            print(f"crates: {(alone[0].dependencies or 0) + 1}")
            print(f"same binaries: {[b.sha256 for b in alone] == [b.sha256 for b in shared]}")
            print(f"revisions differ: {shared[0].sha256 != shared[1].sha256}", flush=True)
    for words, values in ratios.items():
        each = ", ".join(f"{value:.2f}" for value in values)
        print(f"{words}: time with sharing ÷ without {statistics.median(values):.2f} ({each})")


if __name__ == "__main__":
    main()

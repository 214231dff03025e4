"""Revisions of one repository share the builds of their dependencies, and never those of their sources."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench_framework.execution.build import cargo, configuration, revisions, sharing
from bench_framework.execution.build.configuration import Wrapper
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.record.run import Build
from tests.files import write_files
from tests.integration.processes import commit

pytestmark = pytest.mark.real

FILES = {
    "Cargo.toml": """
[package]
name = "greeter"
version = "0.1.0"
edition = "2021"
[dependencies]
common = "1"
near = { path = "near" }
[workspace]
exclude = ["near"]
""",
    "build.rs": """
fn main() {
    println!("cargo:rerun-if-changed=built.txt");
    println!("cargo:rustc-env=BUILT={}", std::fs::read_to_string("built.txt").unwrap().trim());
}
""",
    "src/main.rs": """
fn main() {
    let mine = "mine 1";
    println!("{mine} {} {} {} {}", include_str!("text.txt").trim(), env!("BUILT"), near::text(), common::text());
}
""",
    "src/text.txt": "text 1\n",
    "built.txt": "built 1\n",
    "near/Cargo.toml": '[package]\nname = "near"\nversion = "0.1.0"\nedition = "2021"\n',
    "near/src/lib.rs": 'pub fn text() -> &\'static str {\n    "near 1"\n}\n',
}
COMMON = {
    "Cargo.toml": '[package]\nname = "common"\nversion = "1.0.0"\nedition = "2021"\n',
    "src/lib.rs": 'pub fn text() -> &\'static str {\n    "common"\n}\n',
    ".cargo-checksum.json": '{"files": {}}',
}
PAST = 1_600_000_000


@dataclass(frozen=True)
class Bench:
    """A repository whose crate has a dependency of a registry, which is a folder here."""

    launcher: Launcher
    env: dict[str, str]
    repository: Path

    @property
    def cache(self) -> Path:
        return Path(self.env["BENCHCTL_CACHE"])

    def commit(self, tag: str) -> BuildSpec:
        """Commit everything, check it out for a build, and set one past time for all its files."""
        commit(self.repository, tag, tag)
        runner = revisions.Git(self.launcher, self.env)
        folder, _ = revisions.checkout(
            runner, self.cache, crate=self.repository, url=None, revision=tag
        )
        set_past(folder)
        return BuildSpec(str(self.repository), "greeter", revision=tag)

    def build(self, *specs: BuildSpec) -> tuple[Build, ...]:
        given = (self.launcher, self.env, SilentObserver())
        builds = cargo.Builder(*given, contract=False, place=Path.cwd()).build_all(specs)
        assert [build.message for build in builds if not build.ok] == []
        return builds

    def outputs(self, builds: Sequence[Build]) -> list[str]:
        return [self.launcher.capture([str(b.path)], self.env).stdout.strip() for b in builds]

    def fresh(self, spec: BuildSpec) -> dict[str, bool]:
        """Return whether each package of the last build of a spec existed already."""
        lines = (self.cache / "builds" / f"{spec.id}.jsonl").read_text().splitlines()
        messages = [json.loads(line) for line in lines if '"compiler-artifact"' in line]
        return {m["target"]["name"].partition("-")[0]: m["fresh"] for m in messages}


def set_past(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (PAST, PAST), follow_symlinks=False)


@pytest.fixture
def bench(tmp_path: Path, launcher: Launcher) -> Bench:
    home = tmp_path / "cargo"
    registry = home / "registry" / "src" / "here"
    write_files(registry / "common", COMMON)
    source = json.dumps(str(registry))
    config = f'[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = {source}\n'
    write_files(home, {"config.toml": config})
    shell = host.environment().items()
    env = {
        **{name: value for name, value in shell if name not in configuration.WRAPPERS},
        "BENCHCTL_CACHE": str(tmp_path / "git" / "checkouts" / "cache"),
        "CARGO_HOME": str(home),
        "CARGO_NET_OFFLINE": "true",
    }
    bench = Bench(launcher, env, tmp_path / "repository")
    write_files(bench.repository, FILES)
    call = ["cargo", "generate-lockfile", "--quiet"]
    subprocess.run(call, check=True, cwd=bench.repository, env=env)
    return bench


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("src/main.rs", "mine"),
        ("src/text.txt", "text"),
        ("built.txt", "built"),
        ("near/src/lib.rs", "near"),
    ],
)
@pytest.mark.slow
def test_revisions_with_equal_times_give_different_programs(
    bench: Bench, name: str, word: str
) -> None:
    one = bench.commit("one")
    path = bench.repository / name
    path.write_text(path.read_text().replace(f"{word} 1", f"{word} 2"))
    two = bench.commit("two")
    first = bench.build(one, two)
    assert bench.outputs(first) == [
        "mine 1 text 1 built 1 near 1 common",
        "mine 1 text 1 built 1 near 1 common".replace(f"{word} 1", f"{word} 2"),
    ]
    assert bench.fresh(two) == {"common": True, "near": False, "greeter": False, "build": False}
    # Each finds its own units again, and what the other one left does not count.
    again = bench.build(two, one)
    assert all(build.cached for build in again)
    assert [build.sha256 for build in again] == [build.sha256 for build in first[::-1]]
    # Built without the other one, at the same path, each binary has the same bytes.
    for spec, build in zip((one, two), first, strict=True):
        bench.cache.rename(bench.cache.with_name(f"cache-{spec.revision}"))
        (alone,) = bench.build(spec)
        assert not alone.cached
        assert alone.sha256 == build.sha256


def test_the_working_tree_shares_with_its_revisions(bench: Bench) -> None:
    old = bench.commit("old")
    bench.build(old)
    source = bench.repository / "src" / "main.rs"
    source.write_text(source.read_text().replace("mine 1", "mine now"))
    set_past(bench.repository)
    tree = BuildSpec(str(bench.repository), "greeter")
    (build,) = bench.build(tree)
    assert bench.outputs([build]) == ["mine now text 1 built 1 near 1 common"]
    assert bench.fresh(tree)["common"]


@pytest.mark.slow
def test_an_interrupted_change_of_the_source_folder_costs_a_build_and_nothing_else(
    bench: Bench,
) -> None:
    one = bench.commit("one")
    source = bench.repository / "src" / "main.rs"
    source.write_text(source.read_text().replace("mine 1", "mine 2"))
    two = bench.commit("two")
    first = bench.build(one)
    (note,) = (bench.cache / "cargo" / "build").glob("*/owner.json")
    note.unlink()
    second = bench.build(two)
    assert not bench.fresh(two)["common"]
    assert bench.outputs([*first, *second])[1].startswith("mine 2")


SCCACHE = """#!/bin/sh
[ "$1" = --version ] && echo "sccache 9.8" && exit
echo "$CARGO_PKG_NAME $SCCACHE_SERVER_PORT" >> {log}
{then}
"""


@pytest.mark.parametrize("then", ['exec "$@"', "exit 2"])
@pytest.mark.slow
def test_sccache_compiles_downloaded_sources_if_it_is_installed(bench: Bench, then: str) -> None:
    spec = bench.commit("one")
    (plain,) = bench.build(spec)
    log, program = bench.cache.parent / "log", bench.cache.parent / "bin" / "sccache"
    write_files(program.parent, {"sccache": SCCACHE.format(log=log, then=then)})
    program.chmod(0o755)
    env = {**bench.env, "PATH": f"{program.parent}:{bench.env['PATH']}"}
    results = []
    for number, further in enumerate(({}, {"RUSTC_WRAPPER": ""})):
        bench.cache.rename(bench.cache.with_name(f"cache-{number}"))
        (build,) = Bench(bench.launcher, {**env, **further}, bench.repository).build(spec)
        results.append((build.wrapper, build.sha256, log.read_text().split()[::2]))
        assert log.read_text().split()[1].isdigit()
    # The binary is the same, also if sccache fails; local packages are compiled without it.
    calls = ["common"]
    assert results == [("sccache 9.8", plain.sha256, calls), (None, plain.sha256, calls)]


def test_a_wrapper_of_the_user_is_kept(bench: Bench) -> None:
    crate, launcher, cache = bench.repository, bench.launcher, bench.cache
    program = bench.cache.parent / "bin" / "sccache"
    write_files(program.parent, {"sccache": "#!/bin/sh\necho sccache 9.8\n"})
    program.chmod(0o755)
    env = {**bench.env, "PATH": f"{program.parent}:{bench.env['PATH']}"}
    assert configuration.find_wrapper(launcher, env, cache, crate).name == "sccache 9.8"
    mine = {**env, "RUSTC_WRAPPER": "/opt/mine"}
    assert configuration.find_wrapper(launcher, mine, cache, crate) == Wrapper("mine")
    write_files(crate, {".cargo/config.toml": '[build]\nrustc-wrapper = "other"\n'})
    assert configuration.find_wrapper(launcher, env, cache, crate) == Wrapper()


@pytest.mark.parametrize(
    "text",
    [
        '[source.crates-io]\nreplace-with = "mine"\n[source.mine]\ndirectory = "../registry/src/here"\n',
        "[env]\nLEVEL = '2'\n",
    ],
)
def test_a_revision_with_other_settings_of_cargo_does_not_share(bench: Bench, text: str) -> None:
    runner = revisions.Git(bench.launcher, bench.env)

    def folder_of(tag: str) -> sharing.BuildFolder:
        bench.commit(tag)
        crate, _ = revisions.checkout(
            runner, bench.cache, crate=bench.repository, url=None, revision=tag
        )
        return sharing.folder_of(runner, bench.cache, crate)

    plain = folder_of("plain")
    write_files(bench.repository, {"other": ""})
    assert folder_of("other").path == plain.path
    write_files(bench.repository, {".cargo/config.toml": text})
    assert folder_of("configured").path != plain.path

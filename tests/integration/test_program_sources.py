"""Tests of released crates and of virtual environments, from the scenario to the record.

The registry is a folder that cargo uses in place of crates.io, so no network is needed. cargo and
hyperfine are real.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_framework.execution.hyperfine import find
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.store.finding import find_records
from bench_framework.store.journal import read_journal
from tests.documents import valid
from tests.files import write_files
from tests.integration import processes
from tests.integration.processes import Done

SCENARIO = """
version: 1
name: released
question: Is 1.1.0 faster?
worker: {worker}
axes:
  release: {{"1.0": {{version: 1.0.0}}, "1.1": {{version: {version}}}}}
baseline: {{release: "1.0"}}
"""
CONFIGURATION = """
[source.crates-io]
replace-with = "folder"
[source.folder]
directory = "{folder}"
"""
DEPENDENCY = '\n[dependencies]\ntext = "1"\n[features]\nloud = []\n'
LOCK = """version = 4

[[package]]
name = "greet"
version = "{version}"
dependencies = ["text"]

[[package]]
name = "text"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "{checksum}"
"""
Benchctl = Callable[..., Done]


def checksum(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def publish(registry: Path, name: str, version: str, file: str, code: str, more: str = "") -> None:
    """Write a crate as `cargo vendor` does."""
    crate = registry / f"{name}-{version}"
    package = f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n'
    write_files(crate, {f"src/{file}": code, "Cargo.toml": package + more})
    if more:
        lock = LOCK.format(version=version, checksum=checksum("text-1.0.0"))
        (crate / "Cargo.lock").write_text(lock)
    sums = {"files": {}, "package": checksum(crate.name)}
    (crate / ".cargo-checksum.json").write_text(json.dumps(sums))


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a user whose cargo has a registry with two versions of a crate."""
    registry = tmp_path / "registry"
    publish(registry, "text", "1.0.0", "lib.rs", 'pub fn text() -> &\'static str { "hello" }\n')
    for version in ("1.0.0", "1.1.0"):
        code = f'fn main() {{ println!("{{}}", text::text()); /* {version} */ }}\n'
        publish(registry, "greet", version, "main.rs", code, DEPENDENCY)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(CONFIGURATION.format(folder=registry))
    with Launcher() as launcher:
        hyperfine = find(launcher, os.environ, SilentObserver()).path
    cargo = {"CARGO_HOME": str(tmp_path / "home"), "CARGO_NET_OFFLINE": "true"}
    return processes.isolated(tmp_path, BENCHCTL_HYPERFINE=hyperfine, **cargo)


@pytest.fixture
def benchctl(tmp_path: Path, env: dict[str, str]) -> Benchctl:
    def call(
        *words: str,
        worker: str = "{registry: greet}",
        version: str = "1.1.0",
        text: str = SCENARIO,
        code: int = 0,
    ) -> Done:
        (tmp_path / "released.yaml").write_text(text.format(worker=worker, version=version))
        command, *more = words
        return processes.benchctl(tmp_path, command, "released.yaml", *more, env=env, code=code)

    return call


@pytest.mark.slow
def test_init_writes_a_scenario_for_a_released_crate(env: dict[str, str], tmp_path: Path) -> None:
    done = processes.benchctl(
        tmp_path, "init", "--registry", "greet@1.1.0", "--", "hi", env=env, code=0
    )
    assert "crate     greet 1.1.0 of registry+https://github.com/rust-lang/" in done.stderr
    assert "binary    greet, the only one\n" in done.stderr
    text = (tmp_path / "bench" / "greet.yaml").read_text()
    assert '  registry: greet\n  version: "1.1.0"\n  bin: greet\n' in text
    assert "loud: {features: [loud]}" in text
    assert "crate:" not in text
    proposed = (
        '  # version:\n  #   "1.0.0": {version: "1.0.0"}\n  #   "1.1.0": {version: "1.1.0"}\n'
    )
    assert proposed in text
    tried = processes.benchctl(tmp_path, "try", "bench/greet.yaml", "--json", env=env, code=0)
    expected = [len("hello\n"), len("hello\n")]
    assert [trial["output_bytes"] for trial in valid("try", tried.stdout)["trials"]] == expected


@pytest.mark.slow
def test_init_without_a_version_compares_the_last_releases(
    env: dict[str, str], tmp_path: Path
) -> None:
    done = processes.benchctl(tmp_path, "init", "--registry", "greet", "--", "hi", env=env, code=0)
    assert "axis      version, with the values 1.0.0 (baseline), 1.1.0\n" in done.stderr
    text = (tmp_path / "bench" / "greet.yaml").read_text()
    assert "  registry: greet\n  bin: greet\n" in text
    tried = processes.benchctl(tmp_path, "try", "bench/greet.yaml", "--json", env=env, code=0)
    assert len(valid("try", tried.stdout)["trials"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["greet@"], 2, "`greet@` is not a released crate"),
        (["greet@1"], 2, "write --registry greet to compare its last releases"),
        (["greeet"], 3, "cargo cannot list the releases of greeet"),
        (["../x@1.1.0"], 2, "`../x@1.1.0` is not a released crate"),
        (["greet@1.1.0", "--crate", "."], 2, "leave out --crate and --package"),
        (["greet@9.9.9"], 3, "cannot fetch greet 9.9.9"),
        (["text@1.0.0"], 2, "text 1.0.0 has no package with a binary"),
    ],
)
@pytest.mark.slow
def test_init_refuses_what_is_no_released_program(
    env: dict[str, str], tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    done = processes.benchctl(
        tmp_path, "init", "--registry", *words, "--", "hi", env=env, code=code
    )
    assert message in done.stderr
    assert not (tmp_path / "bench").exists()


@pytest.mark.slow
def test_versions_are_fetched_built_and_recorded(benchctl: Benchctl, tmp_path: Path) -> None:
    benchctl("validate")
    assert "2 builds for 2 variants, 2 to do" in benchctl("plan").stdout
    tried = valid("try", benchctl("try", "--json").stdout)["trials"]
    assert [trial["output_bytes"] for trial in tried] == [len("hello\n")] * 2
    run = benchctl("run", "--quick")
    assert "fetching the sources of greet 1.1.0" in run.stderr
    assert "fetching the sources of greet 1.0.0" not in run.stderr  # `try` has built the baseline
    [record] = find_records(tmp_path / "results")
    old, new = read_journal(record / "journal.jsonl").builds
    assert (old.revision, new.revision) == ("1.0.0", "1.1.0")
    assert old.source == "registry+https://github.com/rust-lang/crates.io-index"
    assert old.source_sha256 == checksum("greet-1.0.0")
    assert new.source_sha256 == checksum("greet-1.1.0")
    assert (old.dependencies, old.dirty) == (1, None)
    builds = (record / "builds.csv").read_text()
    assert f"{checksum('greet-1.1.0')}" in builds
    assert ",greet,greet," in builds
    assert "greet 1.1.0: release" in (record / "appendix.md").read_text()
    processes.benchctl(tmp_path, "verify", str(record), code=0)
    # Both versions share the build of their dependency.
    units = list((tmp_path / "cache" / "cargo" / "build").rglob("release/deps/libtext-*.rlib"))
    assert len(units) == 1


@pytest.mark.slow
def test_settings_of_builds_apply_to_a_released_crate(benchctl: Benchctl) -> None:
    worker = (
        "{registry: greet, features: [loud], profile: {opt-level: 1}, rustflags: [-Cdebuginfo=1]}"
    )
    document = valid("try", benchctl("try", "--json", worker=worker).stdout)
    assert [trial["status"] for trial in document["trials"]] == ["ok", "ok"]
    done = benchctl("try", worker="{registry: greet, features: [quiet]}", code=3)
    assert "does not contain this feature: quiet" in done.stderr


@pytest.mark.parametrize(
    ("worker", "version", "messages"),
    [
        ("{registry: greet, version: 9.9.9}", "1.1.0", ()),
        ("{registry: none}", "1.1.0", ("cannot fetch none 1.0.0", "no matching package named")),
        ("{registry: greet, bin: other}", "1.1.0", ("no bin target named `other`",)),
    ],
)
@pytest.mark.slow
def test_a_crate_that_cannot_be_built_shows_the_message_of_cargo(
    benchctl: Benchctl, worker: str, version: str, messages: tuple[str, ...]
) -> None:
    done = benchctl("try", worker=worker, version=version, code=3 if messages else 0)
    for message in messages:
        assert message in done.stderr
    assert done.stderr.count("error[") == (1 if messages else 0)


def test_a_missing_version_leaves_out_its_variant(benchctl: Benchctl) -> None:
    done = benchctl("run", "--quick", version="9.9.9", code=3)
    assert "cannot fetch greet 9.9.9" in done.stderr
    assert 'failed to select a version for the requirement `greet = "=9.9.9"`' in done.stderr


def test_a_released_crate_has_no_revisions(benchctl: Benchctl) -> None:
    done = benchctl("plan", "--base", "v1", code=2)
    assert "cannot be measured at two revisions" in done.stderr


ENVIRONMENTS = """
version: 1
name: environments
question: Is the new environment faster?
worker: {worker}
axes:
  environment:
    old: {{}}
    new: {{command: [new/bin/python, -m, mytool]}}
baseline: {{environment: old}}
"""


@pytest.mark.slow
def test_virtual_environments_are_selected_by_the_path(benchctl: Benchctl, tmp_path: Path) -> None:
    for name in ("old", "new"):
        venv = tmp_path / name
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        [packages] = venv.glob("lib/python*/site-packages")
        (packages / "mytool.py").write_text(
            f"import sys\ndef main():\n    assert {name!r} in sys.prefix\n    print('tool')\nmain()\n"
        )
    entry = tmp_path / "old" / "bin" / "mytool"
    processes.executable(entry, f"#!{tmp_path}/old/bin/python\nimport mytool\n")
    for worker in ("{command: [old/bin/python, -m, mytool]}", "{command: [old/bin/mytool]}"):
        more = {"worker": worker, "text": ENVIRONMENTS}
        benchctl("validate", **more)
        benchctl("plan", **more)
        trials = valid("try", benchctl("try", "--json", **more).stdout)["trials"]
        assert [trial["output_bytes"] for trial in trials] == [len("tool\n")] * 2
        assert trials[1]["command"][0] == str(tmp_path / "new" / "bin" / "python")
        benchctl("run", "--quick", "--fresh", **more)
        record = find_records(tmp_path / "results", "environments")[-1]
        contents = read_journal(record / "journal.jsonl")
        assert {block.status for block in contents.blocks} == {"ok"}
        assert "BX332" in {event.code for event in contents.events}  # the control is not a copy

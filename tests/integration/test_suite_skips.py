"""Tests of scenarios that a change cannot affect: real git and `cargo metadata`; nothing is built."""

import json
import shutil
from pathlib import Path

import pytest

from bench_framework.workflow.run_options import plan_scenario
from bench_framework.workflow.suites.states import states_of
from tests.documents import valid
from tests.files import write_files
from tests.integration.processes import benchctl, commit, git, real

pytestmark = pytest.mark.real
SCENARIO = """
version: 1
name: {name}
question: Is it slower?
worker: {{crate: ../{name}}}
command: ["{{bin}}"]
"""
PACKAGE = '[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a workspace in which `a` depends on `common`; a scenario measures `a`, and one `b`."""
    top = tmp_path / "top"
    members = {"a": 'common = {path = "../common"}\n', "b": "", "common": "", "unused": ""}
    manifest = f"[workspace]\nresolver = '2'\nmembers = {[*members]}\n"
    files = {"Cargo.toml": manifest, "Cargo.lock": "version = 4\n", "README.md": "A workspace\n"}
    for name, dependencies in members.items():
        files[f"{name}/Cargo.toml"] = PACKAGE.format(name=name) + dependencies
        source = "main.rs" if name in ("a", "b") else "lib.rs"
        files[f"{name}/src/{source}"] = "fn main() {}\n"
    for name in ("a", "b"):
        files[f"bench/{name}.yaml"] = SCENARIO.format(name=name)
    commit(write_files(top, files))
    return top


def skipped(top: Path) -> list[str]:
    env = real(BENCHCTL_CACHE=str(top.parent / "cache"))
    done = benchctl(top, "plan", "bench", "--base", "HEAD", "--json", env=env, code=0)
    return [row["scenario"] for row in valid("plan", done.stdout)["scenarios"] if row["skipped"]]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("b/src/main.rs", ["a"]),
        ("b/src/new.rs", ["a"]),
        ("common/src/lib.rs", ["b"]),
        ("a/Cargo.toml", ["b"]),
        ("unused/src/lib.rs", ["a", "b"]),
        ("Cargo.lock", []),
        ("Cargo.toml", []),
        ("README.md", []),
        ("bench/a.yaml", []),
        ("b/.cargo/config.toml", []),
        ("rust-toolchain.toml", []),
    ],
)
@pytest.mark.slow
def test_a_scenario_without_a_changed_crate_is_skipped(
    workspace: Path, file: str, expected: list[str]
) -> None:
    path = workspace / file
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as stream:
        stream.write("# changed\n" if path.suffix != ".rs" else "// changed\n")
    assert skipped(workspace) == expected


def test_a_program_that_commands_build_may_contain_any_file(workspace: Path) -> None:
    scenario = workspace / "bench" / "a.yaml"
    worker = "worker: {sources: ../a, build: [[cargo, build, -p, b]], program: target/debug/b}"
    scenario.write_text(scenario.read_text().replace("worker: {crate: ../a}", worker))
    commit(workspace)
    (workspace / "b" / "src" / "main.rs").write_text("fn main() { }\n")
    assert skipped(workspace) == []


def test_packages_that_the_workspace_replaces_are_not_in_the_graph(workspace: Path) -> None:
    with (workspace / "Cargo.toml").open("a") as stream:
        stream.write('[patch.crates-io]\ncommon = {path = "common"}\n')
    commit(workspace)
    (workspace / "b" / "src" / "main.rs").write_text("fn main() { }\n")
    assert skipped(workspace) == []


def test_a_suite_that_is_not_affected_passes_without_measuring(workspace: Path) -> None:
    (workspace / "unused" / "src" / "lib.rs").write_text("// changed\n")
    env = real(BENCHCTL_CACHE=str(workspace.parent / "cache"))
    done = benchctl(workspace, "gate", "bench", "--base", "HEAD", env=env, code=0)
    assert done.stdout.startswith("✓ Benchmarks: the change affects none of 2 scenarios\n")
    reason = "only unused changed since"
    assert f"– a: {reason}" in done.stdout
    (document,) = (workspace / "results" / "suites").glob("*/suite.json")
    rows = json.loads(document.read_text())["scenarios"]
    assert [(row["skipped"], row["exit_code"]) for row in rows] == [(True, 0)] * 2
    assert [p.name for p in (workspace / "results").iterdir()] == ["suites"]


def test_a_state_is_that_of_the_whole_working_tree(workspace: Path) -> None:
    plan = plan_scenario(str(workspace / "bench" / "a.yaml"))

    def state() -> str:
        return states_of([plan])[0]

    states = [state()]
    source = workspace / "b" / "src" / "main.rs"
    source.write_text("fn main() { }\n")
    states.append(state())
    (workspace / "new.rs").write_text("// new\n")
    states.append(state())
    git(workspace, "commit", "-q", "-a", "-m", "changed")
    states.append(state())
    assert len({*states}) == 4
    record = workspace / "results" / "a" / "20260302T1704Z"
    record.mkdir(parents=True)
    (record / "journal.jsonl").write_text("{}\n")
    assert state() == states[-1]
    shutil.rmtree(workspace / ".git")
    assert state() != state()

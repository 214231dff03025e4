"""Tests of `benchctl init` in crates: real `cargo metadata`, crates without dependencies."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import valid
from tests.files import write_files
from tests.integration import processes

MANIFEST = '[package]\nname = "{}"\nversion = "0.1.0"\nedition = "2021"\n'
FEATURES = """
[features]
default = ["fast"]
fast = []
exact = []
mimalloc = []
"""
MAIN = """
#[cfg(all(feature = "fast", feature = "exact"))]
compile_error!("choose one");
fn main() {}
"""


def benchctl(folder: Path, *words: str, code: int = 0, **variables: str) -> processes.Done:
    env = processes.isolated(folder, COLUMNS="100", **variables)
    return processes.benchctl(folder, *words, env=env, code=code)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["cli", "server", "core"]\nresolver = "2"\n'
        "[profile.release]\nlto = true\n",
        "cli/Cargo.toml": MANIFEST.format("cli") + FEATURES,
        "cli/src/main.rs": MAIN,
        "server/Cargo.toml": MANIFEST.format("server"),
        "server/src/main.rs": "fn main() {}\n",
        "core/Cargo.toml": MANIFEST.format("core"),
        "core/src/lib.rs": "",
        "data.txt": "one\n",
    }
    return write_files(tmp_path / "ws", files)


def test_a_workspace_from_init_to_validate_and_plan(workspace: Path) -> None:
    done = benchctl(workspace, "init", "--package", "cli", "--", "--sum", "data.txt", "-v")
    assert "package   cli 0.1.0\n" in done.stderr
    assert "allocator system, mimalloc are alternatives, by their names" in done.stderr
    assert "feature   fast, exact are alternatives, by `cfg` in the sources" in done.stderr
    assert "profile   release, with lto = true\n" in done.stderr
    assert "command   cli --sum data.txt -v\n" in done.stderr
    expected = ["benchctl try bench/cli.yaml", "benchctl run bench/cli.yaml"]
    assert done.stdout.splitlines() == expected
    checked = benchctl(workspace, "validate", "bench/cli.yaml").stdout
    assert "ok, 2 variants × 1 input, 2 configurations and 1 A/A control" in checked
    plan = valid("plan", benchctl(workspace, "plan", "bench/cli.yaml", "--json").stdout)
    assert plan["scenario"] == "cli"
    assert plan["variants"] == ["system", "mimalloc"]
    assert [build["cached"] for build in plan["builds"]] == [False, False]
    # The schema is the same, so another scenario can be written next to it.
    benchctl(workspace / "server", "init", "../bench", "--", "x")
    benchctl(workspace, "validate", "bench/server.yaml")


@pytest.mark.slow
def test_in_a_repository_it_prints_how_git_ignores_the_records(workspace: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=workspace, check=True)
    (first, *others) = benchctl(
        workspace, "init", "--package", "cli", "--", "x"
    ).stdout.splitlines()
    assert first == "echo /results/ >> .gitignore"
    in_member = benchctl(workspace / "cli", "init", "../bench", "--force", "--", "x").stdout
    assert in_member.splitlines()[0] == first
    subprocess.run(["sh", "-c", first], cwd=workspace, check=True)
    (workspace / "results" / "cli").mkdir(parents=True)
    (workspace / "results" / "cli" / "journal.jsonl").touch()
    listed = ["git", "status", "--short", "--untracked-files=all", "results"]
    assert subprocess.run(listed, cwd=workspace, capture_output=True, check=True).stdout == b""
    again = benchctl(workspace, "init", "--package", "cli", "--force", "--", "x").stdout
    assert again.splitlines() == others


@pytest.mark.slow
def test_exclusive_features_of_a_member_are_never_enabled_together(workspace: Path) -> None:
    manifest = workspace / "cli" / "Cargo.toml"
    manifest.write_text(manifest.read_text().replace("mimalloc = []\n", ""))
    done = benchctl(workspace / "cli", "init", "--input", "../data.txt", "--json")
    written = valid("init", done.stdout)
    assert written["files"] == ["bench/cli.yaml", "bench/scenario.schema.json"]
    assert written["next"] == ["benchctl try bench/cli.yaml", "benchctl run bench/cli.yaml"]
    assert ["input", "../data.txt"] in written["guesses"]
    text = (workspace / "cli" / "bench" / "cli.yaml").read_text()
    assert "exact: {no-default-features: true, features: [exact]}" in text
    tried = benchctl(workspace / "cli", "try", "bench/cli.yaml").stdout
    assert "fast (baseline), data.txt" in tried
    assert "exit status 0" in tried


@pytest.mark.slow
def test_nothing_is_lost_without_force(workspace: Path) -> None:
    benchctl(workspace, "init", "--package", "server", "--", "a")
    path = workspace / "bench" / "server.yaml"
    path.write_text("mine\n")
    done = benchctl(workspace, "init", "--package", "server", "--", "b", code=2)
    assert "error[BX103]: bench/server.yaml exists already" in done.stderr
    assert path.read_text() == "mine\n"
    benchctl(workspace, "init", "--package", "server", "--force", "--", "b")
    assert '["{bin}", b]' in path.read_text()
    benchctl(workspace, "init", "--package", "server", "--force", "--")
    assert 'command: ["{bin}"]' in path.read_text()
    (workspace / "bench" / "scenario.schema.json").write_text("mine\n")
    path.unlink()
    assert (
        "scenario.schema.json exists already"
        in benchctl(workspace, "init", "--package", "server", "--", "b", code=2).stderr
    )
    assert not path.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "use --package NAME, one of: cli, server"),
        (["--package", "srver", "--", "x"], "did you mean `server`?"),
        (["--package", "core", "--", "x"], "no package with a binary named `core`"),
        (["--package", "cli", "--bin", "clu", "--", "x"], "did you mean `cli`?"),
        (["--package", "cli", "--yes"], "write its arguments after `--`"),
        (["--package", "cli", "--input", "none"], "the input file none does not exist"),
        (["--crate", "core/src", "--", "x"], "is not a crate"),
        (["bench", "word"], "write the command after `--`"),
    ],
)
@pytest.mark.slow
def test_what_is_wrong_gives_one_error_and_no_file(
    workspace: Path, words: list[str], message: str
) -> None:
    done = benchctl(workspace, "init", *words, code=2)
    assert message in done.stderr
    assert done.stderr.count("error[") <= 1
    assert not (workspace / "bench").exists()


@pytest.mark.slow
def test_errors_of_cargo_are_shown(workspace: Path) -> None:
    (workspace / "core" / "Cargo.toml").write_text("[package\n")
    done = benchctl(workspace, "init", "--", "x", code=2)
    assert "error[BX124]: cargo cannot read the crate in" in done.stderr
    assert "core/Cargo.toml:1:9" in done.stderr
    done = benchctl(workspace, "init", "--", "x", code=3, PATH=str(workspace))
    assert "error[BX231]: cannot start cargo" in done.stderr
    cargo = workspace / "cargo"
    for output in ("[]", '{"packages": [{}], "workspace_root": "/"}', "no JSON"):
        processes.executable(cargo, f"#!/bin/sh\necho '{output}'\n")
        done = benchctl(workspace, "init", "--", "x", code=2, PATH=f"{workspace}:/usr/bin:/bin")
        assert "its output is not that of cargo metadata" in done.stderr
    assert not (workspace / "bench").exists()


def test_a_folder_without_a_crate_gets_the_example(tmp_path: Path) -> None:
    assert benchctl(tmp_path, "init").stdout.splitlines()[-1] == "benchctl run bench/scenario.yaml"
    assert "is not a crate" in benchctl(tmp_path, "init", "--", "x", code=2).stderr


@pytest.mark.slow
def test_with_a_terminal_it_asks_for_what_is_missing(workspace: Path) -> None:
    output, code = talk(workspace, ["srv\n", "cli\n", "-c {input}\n", "data.txt\n"])
    assert "Error: choose one of: cli, server" in output
    assert "command   cli -c data.txt" in output
    assert code == 0
    benchctl(workspace, "validate", "bench/cli.yaml")
    output, code = talk(workspace, ["server\n", "\x04"])
    assert "error[BX130]: interrupted" in output
    assert code == 130
    assert not (workspace / "bench" / "server.yaml").exists()


def talk(folder: Path, answers: list[str]) -> tuple[str, int]:
    """Run `benchctl init` on a terminal, and answer each time when it ends a line with ``: ``."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench_framework", "init"],
        env={**os.environ, "PYTHONPATH": str(processes.ROOT), "COLUMNS": "100"},
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    output = b""
    waiting = list(answers)
    while select.select([ours], [], [], 120)[0]:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        output += part
        if waiting and output.endswith(b": "):
            os.write(ours, waiting.pop(0).encode())
    os.close(ours)
    return output.decode(), process.wait(60)

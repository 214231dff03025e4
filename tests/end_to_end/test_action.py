"""Test of action.yml with a wheel: a crate at two revisions is built, measured and judged."""

import subprocess
from pathlib import Path

import pytest

from tests.integration.runner import run_action

pytestmark = [pytest.mark.slow, pytest.mark.real, pytest.mark.release]
SCENARIO = """
version: 1
name: counter
question: Is the working tree slower?
worker: {crate: .}
command: ["{bin}"]
axes: {opt: {two: {profile: {opt-level: 2}}, three: {}}}
baseline: {opt: two}
"""
MAIN = 'fn main() { println!("{}", (0..%su64).fold(0, |a, b| std::hint::black_box(a ^ b))); }\n'


def git(folder: Path, *words: str) -> None:
    call = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(folder), *words]
    subprocess.run(call, check=True)


def test_the_action_finds_a_regression_with_the_wheel(tmp_path: Path, wheel: Path) -> None:
    crate = tmp_path / "crate"
    (crate / "src").mkdir(parents=True)
    (crate / "Cargo.toml").write_text('[package]\nname = "counter"\nversion = "0.1.0"\n')
    (crate / "Cargo.lock").write_text(
        'version = 4\n\n[[package]]\nname = "counter"\nversion = "0.1.0"\n'
    )
    (crate / "scenario.yaml").write_text(SCENARIO)
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(crate))
    for number in ("20_000_000", "40_000_000"):
        (crate / "src" / "main.rs").write_text(MAIN % number)
        git(crate, "add", "--all")
        git(crate, "commit", "--quiet", "--message", "a change")
    given = {"scenario": "scenario.yaml", "base": "HEAD~1", "arguments": "--set=margin=5%"}
    done = run_action(crate, tmp_path, version=str(wheel), **given)
    assert (done.code, done.outputs) == (1, {"exit-code": "1", "conclusion": "failed"})
    (comment,) = Path(done.artifacts["benchmarks"]).glob("counter/*/comment.md")
    assert comment.read_text(encoding="utf-8").startswith("<!-- benchctl:gate ")

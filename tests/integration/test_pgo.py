"""Builds with PGO: rustc instruments and optimises, and a stand-in for llvm-profdata merges."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bench_framework.store.finding import find_records
from bench_framework.store.journal import Contents
from bench_framework.store.records import Record
from bench_framework.text.builds import evidence
from tests.files import write_files
from tests.integration import processes
from tests.integration.processes import Done

PROFILE = processes.ROOT / "tests" / "fixtures" / "pgo" / "empty.profdata"
CALL = """
import sys
from pathlib import Path
from bench_framework.__main__ import main
from bench_framework.execution.build import pgo
from bench_framework.execution.machine import lock
folder = Path(sys.argv.pop(1))
lock.FOLDERS = (folder,)  # no figure matters here, so the lock is not needed
pgo.candidates = lambda *_: [str(folder / "llvm-profdata")]  # the toolchain may have a real one
sys.exit(main())
"""
MAIN = """
fn main() {
    let path = std::env::args().nth(1).expect("a file");
    match std::fs::read_to_string(path).unwrap().trim() {
        "slow" => std::thread::sleep(std::time::Duration::from_secs(60)),
        "bad" => std::process::exit(3),
        "weak" if std::env::var_os("LLVM_PROFILE_FILE").is_some() => std::process::exit(3),
        "abort" => unsafe { _exit(0) },
        _ => {}
    }
    if let Some(answer) = std::env::args().nth(2) {
        std::fs::write(answer, "1").unwrap();
    }
    println!("1");
}
unsafe extern "C" { fn _exit(code: i32) -> !; }
"""
SCENARIO = """
version: 1
name: trained
question: What does PGO gain?
worker: {crate: prog}
command: ["{bin}", "{input}"]
input: {file: measured.txt}
axes:
  pgo:
    off: {}
    on: {pgo: FORM}
baseline: {pgo: off}
measure: {rounds: 3, budget: 1m, timeout: 2s}
"""
Benchctl = Callable[..., Done]


@pytest.fixture
def benchctl(tmp_path: Path) -> Benchctl:
    manifest = '[package]\nname = "prog"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n'
    crate = {"prog/Cargo.toml": manifest, "prog/src/main.rs": MAIN}
    write_files(tmp_path, {**crate, "measured.txt": "fast\n"})
    processes.fake_hyperfine(tmp_path, [{"match": "", "wall_s": 0.05, "stdout": "1\n"}])
    processes.install_fake("llvm-profdata", tmp_path / "llvm-profdata")

    def call(
        *words: str,
        pgo: str = "true",
        change: Mapping[str, str] | None = None,
        code: int | None = None,
        **more: str,
    ) -> Done:
        text = SCENARIO.replace("FORM", pgo)
        for old, new in (change or {}).items():
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "trained.yaml").write_text(text)
        env = processes.isolated(tmp_path, **{"FAKE_PROFDATA_PROFILE": str(PROFILE), **more})
        return processes.benchctl(tmp_path, *words, env=env, call=("-c", CALL), code=code)

    return call


def contents(folder: Path) -> Contents:
    return Record.open(max(find_records(folder / "results"))).contents


@pytest.mark.release
def test_the_program_is_built_with_the_recorded_profile_of_its_training(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    (tmp_path / "other.txt").write_text("fast\n")
    train = '{train: ["{bin}", other.txt]}'
    result = benchctl("run", "trained.yaml", "--out", "results", pgo=train)
    assert result.returncode in {0, 4}, result.stderr
    assert "training for prog pgo: prog other.txt" in result.stderr
    record = contents(tmp_path)
    plain, trained = record.builds
    assert trained.training is not None
    assert plain.training is None
    assert trained.training.commands == ("prog other.txt",)
    assert trained.training.tool == "LLVM 19.1.7"
    # The stored profile is of another program, so it has none of the functions of this one.
    assert trained.training.missing
    expected = (
        "the profile counts 9 functions, one of them 1 times; in local packages, the compiler "
        "found one that does not fit for 0 functions and none for "
    )
    assert evidence(trained.training) == f"{expected}{trained.training.missing}"
    (event,) = [event for event in record.events if event.code == "BX338"]
    assert event.message == "pgo=on: built with a profile (PGO), trained by `prog other.txt`"
    assert dict(event.details)["training"] == "prog other.txt"
    assert expected in next((tmp_path / "results").rglob("appendix.md")).read_text()
    assert trained.build_s is not None
    # The program may read other files than those that its command names, so it is trained again.
    again = benchctl("run", "trained.yaml", "--out", "results", pgo=train)
    assert "training for prog pgo: prog other.txt" in again.stderr
    unchanged = contents(tmp_path).builds[1]
    assert (unchanged.cached, unchanged.build_s) == (True, None)
    assert unchanged.sha256 == trained.sha256
    # Other counts give another profile. Only the second half is built, so its time is not that of
    # the build.
    other = tmp_path / "other.profdata"
    other.write_bytes(PROFILE.read_bytes() + bytes(8))
    benchctl("run", "trained.yaml", "--out", "results", pgo=train, FAKE_PROFDATA_PROFILE=str(other))
    half = contents(tmp_path).builds[1]
    assert half.training is not None
    assert half.training.sha256 != trained.training.sha256
    assert (half.ok, half.cached, half.build_s) == (True, False, None)


@pytest.mark.release
@pytest.mark.slow
def test_all_configurations_train_whatever_is_measured_and_one_may_fail(
    benchctl: Benchctl, tmp_path: Path
) -> None:
    for name in ("one", "two", "weak"):
        (tmp_path / f"{name}.txt").write_text(name)
    several = {
        "input: {file: measured.txt}": 'input: {file: "{size}.txt"}',
        "axes:": "axes:\n  size: [one, two, weak]",
    }
    first = benchctl("run", "trained.yaml", "--out", "results", change=several)
    assert "the training failed: exit status 3; it is left out: prog " in first.stderr
    whole = contents(tmp_path).builds[1].training
    second = benchctl("run", "trained.yaml", "--out", "results", "-k", "size=one", change=several)
    assert second.returncode in {0, 4}, second.stderr
    part = contents(tmp_path)
    assert whole is not None
    assert [Path(command.split()[1]).name for command in whole.commands] == ["one.txt", "two.txt"]
    ((command, reason),) = whole.skipped
    assert command.endswith("/weak.txt")
    assert part.builds[1].training == whole
    (event,) = [event for event in part.events if event.code == "BX338"]
    assert dict(event.details)["left out"] == f"{command}: {reason}"


@pytest.mark.release
@pytest.mark.slow
def test_a_training_command_need_not_write_the_answer(benchctl: Benchctl, tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("fast\n")
    (tmp_path / "out.txt").write_text("0")
    answer = {'"{input}"]': '"{input}", out.txt]\ncwd: .\nanswer: {file: out.txt}'}
    train = '{train: ["{bin}", other.txt]}'
    result = benchctl("run", "trained.yaml", "--out", "results", pgo=train, change=answer)
    assert contents(tmp_path).builds[1].ok, result.stderr


@pytest.mark.parametrize(
    ("pgo", "word", "message"),
    [
        ("true", "bad", "the training failed: exit status 3"),
        pytest.param("true", "abort", "the training wrote no profile", marks=pytest.mark.release),
        pytest.param(
            "true",
            "slow",
            "the training timed out after 2 s; instrumented programs are slower",
            marks=pytest.mark.release,
        ),
        ('{train: [./none, "{bin}"]}', "fast", "the training failed: cannot start ./none"),
    ],
)
@pytest.mark.slow
def test_a_training_that_fails_is_an_error_of_its_variant(
    benchctl: Benchctl, tmp_path: Path, pgo: str, word: str, message: str
) -> None:
    (tmp_path / "other.txt").write_text(word)
    train = '{train: ["{bin}", other.txt]}' if pgo == "true" else pgo
    result = benchctl("run", "trained.yaml", "--out", "results", pgo=train, code=3)
    error = result.stderr.partition("error[BX220]: cannot build ")[2]
    assert f"\n   build    {message}" in error
    assert "\n            fix: " in error
    assert re.search(r"\n +code: BX247\n   (log|effect) ", error)
    assert "only the baseline is left" in error


@pytest.mark.parametrize("command", ["run", "try"])
@pytest.mark.slow
def test_a_tool_that_does_not_read_the_profiles_is_refused_before_any_build(
    benchctl: Benchctl, tmp_path: Path, command: str
) -> None:
    result = benchctl(command, "trained.yaml", FAKE_PROFDATA="old", code=3)
    assert "error[BX246]: no llvm-profdata is installed that reads the profiles of" in result.stderr
    assert "unsupported instrumentation profile format version" in result.stderr
    assert "rustup component add llvm-tools" in result.stderr
    assert not (tmp_path / "cache" / "cargo").exists()

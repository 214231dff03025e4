"""The strategies of dgen in Python, started as benchctl starts them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.processes import Done, executable, mount_namespace, wait_for

ROOT = Path(__file__).parents[2]
STRATEGIES = ("python-loop", "python-threads")
BLOCK = 64 * 1024
Call = Callable[..., "Done"]


@pytest.fixture(scope="module")
def program() -> Path:
    """The binary of the checkout.

    The command is that of `nox -s native`, so that it compiles nothing after this session: for one package alone,
    dependencies would have other features.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchctl"
    target = Path(os.environ.get("CARGO_TARGET_DIR") or cache / "dev-target")
    subprocess.run(
        ["cargo", "test", "--quiet", "--locked", "--workspace", "--no-run"],
        cwd=ROOT / "native",
        env={**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"},
        check=True,
    )
    return target / "debug" / "dgen"


@pytest.fixture
def call(program: Path, tmp_path: Path) -> Call:
    """Run dgen in an empty folder, with the Python of the tests."""

    def run(*words: str | Path, **env: str) -> Done:
        return subprocess.run(
            [program, *words],
            cwd=tmp_path,
            env={**os.environ, "BENCHCTL_PYTHON": sys.executable, **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


@pytest.fixture
def answer(call: Call, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Write a file and return the answer."""

    def run(*words: str) -> dict[str, Any]:
        answers = tmp_path / "answers"
        env = {"BENCHCTL_ANSWERS": str(answers), "HYPERFINE_ITERATION": "warmup-0"}
        done = call("run", "write", "--buffer", str(BLOCK), *words, "data", **env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        (line,) = answers.read_text(encoding="utf-8").splitlines()
        answers.unlink()
        parsed: dict[str, Any] = json.loads(line)
        return parsed

    return run


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [1, BLOCK - 1, 3 * BLOCK, 40 * BLOCK + 17])
@pytest.mark.parametrize(
    "contents", [(), ("--seed", "9", "--compress", "1.5", "--dedup", "2,set:16")]
)
def test_file_and_answer_equal_those_of_a_strategy_in_rust(
    answer: Callable[..., dict[str, Any]],
    call: Call,
    tmp_path: Path,
    strategy: str,
    size: int,
    contents: tuple[str, ...],
) -> None:
    options = ("--size", str(size), "--direct", "try", "--durability", "end-fsync", *contents)
    rust = answer("--strategy", "threads", *options)
    data = (tmp_path / "data").read_bytes()
    python = answer("--strategy", strategy, *options)
    assert (tmp_path / "data").read_bytes() == data
    assert len(data) == size
    for key in ("count", "digest"):
        assert python["answer"][key] == rust["answer"][key]
    assert call("validate", *contents, "--size", str(size), "data").returncode == 0
    assert python["effective"] == {**rust["effective"], "strategy": strategy, "allocator": "python"}
    assert python.keys() == rust.keys()
    assert python["metrics"].keys() < rust["metrics"].keys()
    assert python["metrics"]["synced_s"] >= python["metrics"]["elapsed_s"] > 0
    assert python["phases_s"].keys() - {"start"} <= rust["phases_s"].keys()
    assert python["phases_s"]["start"] > 0
    assert python["iteration"] == "warmup-0"
    assert python["bytes"] == size
    assert python["peak_rss_bytes"] > 0
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rate_slows_the_generation_down_as_in_rust(
    answer: Callable[..., dict[str, Any]], strategy: str
) -> None:
    options = ("--strategy", strategy, "--size", str(16 * BLOCK))
    fast, slow = answer(*options), answer(*options, "--rate", str(64 * BLOCK))
    assert slow["answer"] == fast["answer"]
    assert slow["metrics"]["elapsed_s"] >= 0.249
    assert any("no more than 4194304 bytes per second" in note for note in slow["notes"])


@pytest.mark.parametrize("strategy", [*STRATEGIES, "threads"])
def test_buffers_have_the_requested_pages(
    answer: Callable[..., dict[str, Any]], strategy: str
) -> None:
    for pages in ("small", "huge"):
        line = answer("--strategy", strategy, "--size", "9MiB", "--pages", pages)
        assert line["effective"]["pages"] == pages


def test_the_loop_is_the_time_between_the_calls(answer: Callable[..., dict[str, Any]]) -> None:
    line = answer("--strategy", "python-loop", "--size", str(64 * BLOCK))
    phases = line["phases_s"]
    inside = sum(phases[name] for name in ("generate", "write", "loop"))
    assert inside == pytest.approx(line["metrics"]["elapsed_s"])


def test_threads_are_counted_and_syncs_observed(answer: Callable[..., dict[str, Any]]) -> None:
    line = answer("--strategy", "python-threads", "--size", str(64 * BLOCK), "--threads", "2")
    assert line["threads"] in {2, 3}
    assert line["effective"]["durability"] == "none"
    assert line["phases_s"].get("fsync", 0) == 0
    line = answer(
        "--strategy", "python-loop", "--size", str(64 * BLOCK), "--durability", "end-fsync"
    )
    assert line["threads"] == 1
    assert line["phases_s"]["fsync"] > 0


def test_unsupported_options_are_usage_errors(call: Call, tmp_path: Path) -> None:
    for words in (
        ["--backend", "uring"],
        ["--durability", "dsync"],
        ["--dontcache", "on"],
        ["--reserve"],
        ["--cpus", "0"],
        ["--files", "2"],
    ):
        done = call("run", "write", "--strategy", "python-loop", *words, "--size", "1MiB", "data")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_errors_are_one_line_and_leave_no_file(call: Call, tmp_path: Path, strategy: str) -> None:
    def fails(code: int, *words: str) -> str:
        done = call("run", "write", "--strategy", strategy, "--size", "4MiB", *words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), done.stderr
        assert list(tmp_path.iterdir()) == []
        return done.stderr

    assert "No such file or directory" in fails(1, "missing/data")
    assert "only a regular file is replaced" in fails(2, str(tmp_path))
    assert "cannot write" in fails(1, "--buffer", str(1 << 62), "data")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_full_disk_is_an_error(program: Path, tmp_path: Path, strategy: str) -> None:
    script = (
        'mount -t tmpfs -o size=2m none "$1" && cd "$1" || exit 99; '
        '"$2" run write --strategy "$3" --size 4MiB data; code=$?; ls -A; exit $code'
    )
    done = subprocess.run(
        [*mount_namespace(), "sh", "-c", script, "sh", tmp_path, program, strategy],
        env={**os.environ, "BENCHCTL_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No space left on device" in done.stderr
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_earlier_file_is_removed_and_a_killed_run_leaves_none(
    program: Path, tmp_path: Path, strategy: str
) -> None:
    (tmp_path / "data").write_text("of an earlier run", encoding="utf-8")
    with subprocess.Popen(
        [program, "run", "write", "--strategy", strategy, "--size", str(1 << 40), "data"],
        cwd=tmp_path,
        env={**os.environ, "BENCHCTL_PYTHON": sys.executable},
    ) as process:
        io = Path(f"/proc/{process.pid}/io")
        wait_for(lambda: int(io.read_text().partition("wchar: ")[2].split()[0]) > 4 << 20, process)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_describe_reports_why_python_cannot_be_used(call: Call, tmp_path: Path) -> None:
    def reasons(**env: str) -> set[str | None]:
        done = call("describe", **env)
        assert done.returncode == 0, done.stderr
        values = json.loads(done.stdout)["axes"]["strategy"]["values"]
        return {value["unavailable"] for value in values if value["name"] in STRATEGIES}

    assert reasons() == {None}
    bare = tmp_path / "bare"
    executable(bare, '#!/bin/sh\necho "ModuleNotFoundError: bench_framework" >&2\nexit 1\n')
    for python, expected in (
        ("", "not the absolute path of a Python"),
        ("python3", "not the absolute path of a Python"),
        ("/no/such/python", "not the absolute path of a Python"),
        (str(bare), "cannot import bench_framework.dgen: ModuleNotFoundError"),
    ):
        (reason,) = reasons(BENCHCTL_PYTHON=python)
        assert expected in str(reason)
    words = ("run", "write", "--strategy", "python-loop", "--size", "1", "data")
    done = call(*words, BENCHCTL_PYTHON="")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "python-loop cannot run: BENCHCTL_PYTHON" in done.stderr


def test_a_module_next_to_the_data_is_not_imported(call: Call, tmp_path: Path) -> None:
    for name in ("json.py", "bench_framework.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the wrong place')\n")
    done = call("run", "write", "--strategy", "python-threads", "--size", "1MiB", "data")
    assert (done.returncode, done.stderr) == (0, "")

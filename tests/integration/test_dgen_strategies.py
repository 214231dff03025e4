"""Tests of the Python strategies of dgen: they have the bytes, answers and errors of those in Rust."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STRATEGIES = ("python-loop", "python-threads")
BLOCK = 64 * 1024
Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def program(bundled_workers: Path) -> Path:
    return bundled_workers / "dgen"


@pytest.fixture
def call(program: Path, tmp_path: Path) -> Call:
    """Return a function that runs dgen in an empty folder with this Python."""

    def run(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
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
    """Return a function that writes a file and returns the answer."""

    def run(*words: str) -> dict[str, Any]:
        answers = tmp_path / "answers"
        done = call(
            "run",
            "write",
            "--buffer",
            str(BLOCK),
            *words,
            "data",
            BENCHCTL_ANSWERS=str(answers),
            HYPERFINE_ITERATION="warmup-0",
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        (line,) = answers.read_text(encoding="utf-8").splitlines()
        answers.unlink()
        content: dict[str, Any] = json.loads(line)
        return content

    return run


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, 3 * BLOCK, 3 * BLOCK + 17, 40 * BLOCK])
@pytest.mark.parametrize(
    "contents", [(), ("--seed", "9", "--compress", "1.5", "--dedup", "2,set:16")]
)
def test_the_file_and_the_answer_are_those_of_the_strategies_in_rust(
    answer: Callable[..., dict[str, Any]],
    call: Call,
    tmp_path: Path,
    strategy: str,
    size: int,
    contents: tuple[str, ...],
) -> None:
    sized = ("--size", str(size), "--direct", "try", "--durability", "end-fsync", *contents)
    rust = answer("--strategy", "threads", *sized)
    data = (tmp_path / "data").read_bytes()
    python = answer("--strategy", strategy, *sized)
    assert (tmp_path / "data").read_bytes() == data
    assert len(data) == size
    assert python["answer"] == rust["answer"]
    assert call("validate", *contents, "--size", str(size), "data").returncode == 0
    # As in Rust, the answer contains the requested settings.
    expected = {**rust["effective"], "strategy": strategy, "allocator": "python"}
    assert python["effective"] == expected
    assert python.keys() == rust.keys()
    assert python["metrics"].keys() == rust["metrics"].keys()
    assert python["phases_s"].keys() == rust["phases_s"].keys() | {"start"}
    assert python["phases_s"]["start"] > 0
    assert python["iteration"] == "warmup-0"
    assert python["bytes"] == size
    assert python["peak_rss_bytes"] > python["anon_bytes"] > 0
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("durability", ["none", "end-fsync", "fdatasync", "fdatasync:4", "dsync"])
def test_the_requested_syncs_are_done(
    answer: Callable[..., dict[str, Any]], strategy: str, durability: str
) -> None:
    line = answer("--strategy", strategy, "--size", str(10 * BLOCK), "--durability", durability)
    assert line["effective"]["durability"] == durability
    assert (line["phases_s"]["fsync"] > 0) == (durability not in {"none", "dsync"})


def test_a_producer_and_two_writers_work_and_a_loop_is_alone(
    answer: Callable[..., dict[str, Any]],
) -> None:
    size = ("--size", str(64 * BLOCK), "--threads", "2", "--durability", "dsync")
    line = answer("--strategy", "python-threads", *size)
    assert line["threads"] == 3
    assert line["metrics"]["buffers"] > 1
    line = answer("--strategy", "python-loop", *size)
    assert (line["threads"], line["metrics"]["buffers"]) == (1, 1)
    assert "a loop has one thread; --threads 2 was not used" in line["notes"]


def test_unsupported_options_are_refused(call: Call, tmp_path: Path) -> None:
    for words in (
        ["--backend", "uring"],
        ["--backend", "mmap"],
        ["--dontcache", "on"],
        ["--reserve"],
        ["--cpus", "0"],
    ):
        done = call("run", "write", "--strategy", "python-loop", *words, "--size", "1MiB", "data")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert words[0].removeprefix("--backend") in done.stderr
    done = call(
        "run",
        "write",
        "--strategy",
        "python-loop",
        "--direct",
        "require",
        "--buffer",
        "1000",
        "--size",
        "1MiB",
        "data",
    )
    assert done.returncode in {1, 2}
    assert "O_DIRECT" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_errors_are_one_line_each_and_leave_nothing(
    call: Call, tmp_path: Path, strategy: str
) -> None:
    def fails(code: int, *words: str, file: str = "data") -> str:
        done = call("run", "write", "--strategy", strategy, "--size", "4MiB", *words, "--", file)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), done.stderr
        assert list(tmp_path.iterdir()) == []
        return done.stderr

    assert fails(1, file="missing/data") == (
        "dgen: cannot write missing/data: cannot create: No such file or directory (os error 2)\n"
    )
    assert fails(2, file=str(tmp_path)) == (
        f"dgen: {tmp_path}: only a regular file is replaced, and this is none\n"
    )
    assert "cannot be had" in fails(1, "--buffer", str(1 << 62))
    done = call(
        "run",
        "write",
        "--strategy",
        strategy,
        "--size",
        "1MiB",
        "data",
        BENCHCTL_ANSWERS="/no/such/folder/answers",
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot append the answer line" in done.stderr


IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("size=2m", "cannot write at offset 2097152: No space left on device (os error 28)"),
        ("ro", "cannot create: Read-only file system (os error 30)"),
    ],
)
def test_a_full_and_a_read_only_disk(
    program: Path, tmp_path: Path, strategy: str, options: str, words: str
) -> None:
    probe = subprocess.run([*IN_A_NAMESPACE, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"no file system can be mounted here: {probe.stderr.strip()}")
    place = tmp_path / "disk"
    place.mkdir()
    script = (
        f'mount -t tmpfs -o {options} none "$1" && cd "$1" || exit 99; '
        '"$2" run write --strategy "$3" --size 4MiB data; code=$?; ls -A; exit $code'
    )
    done = subprocess.run(
        [*IN_A_NAMESPACE, script, "sh", place, program, strategy],
        env={**os.environ, "BENCHCTL_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == f"dgen: cannot write data: {words}\n"
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_previous_file_is_removed_and_an_interrupted_one_has_no_name(
    program: Path, tmp_path: Path, strategy: str
) -> None:
    (tmp_path / "data").write_text("of an earlier run", encoding="utf-8")
    for sent in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen(
            [
                program,
                "run",
                "write",
                "--strategy",
                strategy,
                "--size",
                str(1 << 40),
                "--buffer",
                "64KiB",
                "--durability",
                "dsync",
                "data",
            ],
            cwd=tmp_path,
            env={**os.environ, "BENCHCTL_PYTHON": sys.executable},
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            _until_it_writes(process)
            process.send_signal(sent)
            printed = process.stderr.read()
        assert process.returncode == -sent
        assert printed == ("dgen: interrupted\n" if sent == signal.SIGINT else "")
        assert list(tmp_path.iterdir()) == []


def _until_it_writes(process: subprocess.Popen[str]) -> None:
    """Wait until the process has written a megabyte, which the interpreter alone does not."""
    for _ in range(2000):
        fields = dict(
            line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines()
        )
        if int(fields["wchar"]) > 1 << 20:
            return
        time.sleep(0.01)
    raise AssertionError("nothing was written in 20 s")


def described(call: Call, **env: str) -> dict[str, str | None]:
    done = call("describe", **env)
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)["axes"]["strategy"]["values"]
    return {value["name"]: value["unavailable"] for value in values}


def test_describe_gives_the_reason_why_python_is_missing(call: Call, tmp_path: Path) -> None:
    assert [described(call)[strategy] for strategy in STRATEGIES] == [None, None]
    bare = tmp_path / "bare"
    bare.write_text(
        "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'bench_framework'\" >&2\nexit 1\n"
    )
    bare.chmod(0o755)
    for python, words in (
        ("", "BENCHCTL_PYTHON names no Python"),
        ("python3", "no absolute path of a file"),
        ("/no/such/python", "no absolute path of a file"),
        (str(bare), "cannot import bench_framework.dgen_strategies: ModuleNotFoundError"),
    ):
        description = described(call, BENCHCTL_PYTHON=python)
        for strategy in STRATEGIES:
            assert words in str(description[strategy])
        assert description["streaming"] is None or "io_uring" in description["streaming"]
    for strategy, python in itertools.product(STRATEGIES, ("", "/no/such/python")):
        done = call(
            "run", "write", "--strategy", strategy, "--size", "1", "data", BENCHCTL_PYTHON=python
        )
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert f"{strategy} cannot run here: BENCHCTL_PYTHON" in done.stderr


def test_a_module_next_to_the_data_is_not_imported(call: Call, tmp_path: Path) -> None:
    for name in ("queue.py", "json.py", "bench_framework.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the wrong place')\n")
    done = call("run", "write", "--strategy", "python-threads", "--size", "1MiB", "data")
    assert (done.returncode, done.stderr) == (0, "")

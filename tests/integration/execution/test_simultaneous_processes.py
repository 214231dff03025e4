"""Two processes that write the same file or folder of the cache at the same time.

At a chosen step of the first process, the second one does the same work from its start to its end.
"""

import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_framework.execution.build import binaries, revisions, sources
from bench_framework.execution.build.sources import derive
from bench_framework.execution.machine import host
from bench_framework.execution.process import Launcher
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.store.layout import write_whole
from tests.files import write_files
from tests.integration.processes import commit

Work = Callable[[Launcher], object]
VENDOR = r"""#!/bin/sh
cat "$5" > /dev/null || exit 1
mkdir -p "$6/foo-1.0.0"
cp "$5" "$6/foo-1.0.0"
printf '[[package]]\nname="foo"\nversion="1.0.0"\nsource="registry"\nchecksum="abc"\n' > Cargo.lock
"""
ONE_FETCH = """#!/bin/sh
case " $* " in
*" fetch "*) mkdir {folder} || exit 1; sleep 0.2; {git} "$@"; rmdir {folder};;
*) exec {git} "$@";;
esac
"""
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n"


def in_two_processes(
    work: Work, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, word: str = ""
) -> Any:
    """Do the work here, and in another process before the first call of `place.name` with a word."""
    original = getattr(place, name)
    calls: list[Any] = []

    def other() -> None:
        with Launcher() as launcher:
            work(launcher)

    def wrapper(*words: Any, **settings: Any) -> Any:
        if not calls and word in str(words):
            calls.append(words)
            process = multiprocessing.get_context("fork").Process(target=other)
            process.start()
            process.join()
            assert process.exitcode == 0
        return original(*words, **settings)

    monkeypatch.setattr(place, name, wrapper)
    with Launcher() as launcher:
        result = work(launcher)
    assert calls
    return result


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return Path(shutil.copy("/bin/true", tmp_path / "program"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "p.diff").write_text(PATCH)
    folder = write_files(tmp_path / "repository", {"a.txt": "a\n"})
    commit(folder)
    return folder


def test_a_file_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "note.json"
    in_two_processes(lambda _: write_whole(path, "text"), monkeypatch, os, "fsync")
    assert path.read_text() == "text"
    assert list(tmp_path.iterdir()) == [path]


def test_a_stored_program_is_complete(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = in_two_processes(
        lambda _: binaries.store(tmp_path / "store", program, "prog"), monkeypatch, Path, "chmod"
    )
    assert stored.path.read_bytes() == stored.control.read_bytes() == program.read_bytes()
    assert {path.name for path in stored.path.parent.rglob("*")} == {"prog", "control"}


def test_a_program_is_stripped_by_both(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = binaries.store(tmp_path / "store", program, "prog")
    note = stored.path.parent / "without-symbols.json"
    with Launcher() as launcher:
        expected = binaries.without_symbols(stored.path, launcher, host.environment())
    assert expected is not None
    note.unlink()

    def strip(launcher: Launcher) -> object:
        return binaries.without_symbols(stored.path, launcher, host.environment())

    # The second process strips the program while the first one reads its result.
    assert in_two_processes(strip, monkeypatch, binaries, "sha256_of", "strip") == expected
    assert {path.name for path in stored.path.parent.iterdir()} == {"prog", "control", note.name}


@pytest.mark.parametrize("step", ["clone", "checkout", "apply"])
def test_patched_sources_are_complete(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    spec = BuildSpec(str(repository), "prog", patches=(str(tmp_path / "p.diff"),))

    def copy(launcher: Launcher) -> Path:
        return derive(spec, repository, tmp_path / "cache", launcher, host.environment())

    folder = in_two_processes(copy, monkeypatch, Launcher, "capture", f"'{step}'")
    assert (folder / "a.txt").read_text() == "b\n"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("remote", [False, True])
def test_a_checkout_is_complete(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, remote: bool
) -> None:
    source = (
        {"crate": None, "url": str(repository)} if remote else {"crate": repository, "url": None}
    )

    def checkout(launcher: Launcher) -> tuple[Path, str]:
        git = revisions.Git(launcher, host.environment())
        return revisions.checkout(git, tmp_path / "cache", revision=None, **source)

    folder, _ = in_two_processes(checkout, monkeypatch, Launcher, "capture", "'clone'")
    assert (folder / "a.txt").read_text() == "a\n"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_one_process_at_a_time_fetches_a_mirror(tmp_path: Path, repository: Path) -> None:
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(ONE_FETCH.format(folder=tmp_path / "busy", git=shutil.which("git")))
    git.chmod(0o755)
    env = {**host.environment(), "PATH": f"{git.parent}:{os.environ['PATH']}"}

    def checkout() -> None:
        with Launcher() as launcher:
            tool = revisions.Git(launcher, env)
            url = str(repository)
            revisions.checkout(tool, tmp_path / "cache", crate=None, url=url, revision=None)

    checkout()
    processes = [multiprocessing.get_context("fork").Process(target=checkout) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]


def test_a_released_crate_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    cargo.write_text(VENDOR)
    cargo.chmod(0o755)
    env = {**host.environment(), "PATH": f"{cargo.parent}:{os.environ['PATH']}"}

    def fetch(launcher: Launcher) -> sources.Released:
        return sources.fetch(launcher, env, tmp_path / "registry", "foo", "1.0.0")

    released = in_two_processes(fetch, monkeypatch, Launcher, "capture", "vendor")
    assert released.checksum == "abc"
    assert (released.folder / "Cargo.toml").is_file()
    assert sorted(path.name for path in released.folder.parent.iterdir()) == ["1.0.0", "1.0.0.json"]

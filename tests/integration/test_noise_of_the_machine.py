"""`doctor --aa` through the product's own loop: with the fake hyperfine for the counts, and once with the real one."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution import host, hyperfine, lock, reference_programs
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import Message, SilentObserver
from bench_framework.workflow import noise
from bench_framework.workflow.noise import examine_noise

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.execution.progress import Update
    from bench_framework.features.noise.compute import WindowVerdicts

FAKE = Path(__file__).parents[1] / "fakes" / "hyperfine"
BRIEF_S = 0.001
"""Less than a window: one of each program is measured."""


class Recorder:
    """Remembers the windows, and lets a test act on each."""

    def __init__(self, react: Callable[[int], None] | None = None) -> None:
        self.programs: list[str] = []
        self.said: list[str] = []
        self._react = react

    def notify(self, update: Update) -> None:
        if isinstance(update, Message):
            self.said.append(update.text)

    def window(self, verdicts: WindowVerdicts, number: int, elapsed_s: float) -> None:
        self.programs.append(verdicts.program)
        if self._react is not None:
            self._react(number)


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock, a cache and a temporary folder of the test's own: returns the folder that must end empty."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(lock, "lock_path", lambda: tmp_path / "lock")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return scratch


@pytest.fixture
def fake(tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The fake hyperfine, by rules for commands."""
    copy = tmp_path / "hyperfine"
    copy.write_text(f"#!{sys.executable} -IS\n" + FAKE.read_text().partition("\n")[2])
    copy.chmod(0o755)
    monkeypatch.setenv("BENCHCTL_HYPERFINE", str(copy))
    monkeypatch.setenv("BENCHCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(noise, "FAMILIES", 5)
    monkeypatch.setattr(noise, "ROUNDS", 12)

    def script(*rules: dict[str, Any]) -> None:
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"seed": 3, "commands": rules}))
        monkeypatch.setenv("BENCHCTL_FAKE_SCRIPT", str(path))

    return script


def plain() -> dict[str, Any]:
    return {"match": "", "wall_s": 0.03}


def test_one_window_of_each_program_however_short_the_time(
    fake: Callable[..., None], alone: Path, tmp_path: Path
) -> None:
    fake(
        {"match": "more-10.txt", "wall_s": 0.033},
        {"match": "more-5.txt", "wall_s": 0.0301},
        plain(),
    )
    observer = Recorder()
    found = examine_noise(BRIEF_S, observer, observer.window)
    assert observer.programs == ["factor", "wc -l"]
    assert (found.windows, found.exit_code, found.interrupted) == (2, 0, False)
    assert (found.summary.relabelled.tries, found.summary.as_measured.tries) == (10, 2)
    assert found.summary.relabelled.count == found.summary.as_measured.count == 0
    told = {(f.program, f.effect): f.either.count for f in found.summary.found}
    assert told == {
        ("factor", 0.03): 0,
        ("factor", 0.05): 0,
        ("factor", 0.1): 0,
        ("wc -l", 0.03): 0,
        ("wc -l", 0.05): 0,
        ("wc -l", 0.1): 1,
    }
    assert list(alone.iterdir()) == []
    assert not (tmp_path / "cache").exists()


def test_a_copy_that_is_slower_is_told_apart_and_the_machine_is_not_trusted(
    fake: Callable[..., None],
) -> None:
    """The control arm runs a copy from the cache; here that path is slow in both programs."""
    fake({"match": "/cache/binaries/", "wall_s": 0.032}, plain())
    found = examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert (found.summary.as_measured.count, found.summary.as_measured.tries) == (2, 2)
    assert found.summary.relabelled.count <= 2
    assert found.summary.refuted
    assert found.exit_code == 3


def test_ctrl_c_keeps_the_windows_that_were_measured(
    fake: Callable[..., None], alone: Path
) -> None:
    fake(plain())
    observer = Recorder(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 1 else None)
    found = examine_noise(3600.0, observer, observer.window)
    assert (found.windows, found.interrupted, found.exit_code) == (1, True, 130)
    assert found.summary.as_measured.tries == 1
    assert "stopping after the run in flight; what was found is kept" in observer.said
    assert list(alone.iterdir()) == []


def test_a_program_that_fails_ends_it_with_what_was_found(
    fake: Callable[..., None], alone: Path
) -> None:
    fake({"match": "lines.txt", "wall_s": 0.03, "exit_code": 1}, plain())
    found = examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert (found.windows, found.exit_code) == (1, 3)
    assert found.failure is not None
    assert found.failure.code == "BX239"
    assert list(alone.iterdir()) == []


def test_a_missing_program_is_named_before_anything_is_measured(
    fake: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake(plain())
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(MachineError, match="the program factor is not on PATH") as raised:
        examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert raised.value.code == "BX239"


def test_specimens_hold_exactly_so_much_more_work(tmp_path: Path) -> None:
    with Launcher() as launcher:
        factor, count = reference_programs.create_programs(
            launcher, host.environment(), tmp_path, lambda: None
        )
    for effect, args in factor.slower.items():
        assert len(args) == pytest.approx(len(factor.args) * (1 + effect))
        assert set(args) == {reference_programs.NUMBER}
    read = sum(Path(arg).stat().st_size for arg in count.args[1:])
    for effect, args in count.slower.items():
        assert sum(Path(arg).stat().st_size for arg in args[1:]) == pytest.approx(
            read * (1 + effect)
        )


@pytest.mark.real
@pytest.mark.slow
def test_the_real_hyperfine_measures_every_window(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHCTL_HYPERFINE", raising=False)
    monkeypatch.setattr(noise, "FAMILIES", 20)
    monkeypatch.setattr(noise, "ROUNDS", 12)
    with Launcher() as launcher:
        hyperfine.find(launcher, host.environment(), SilentObserver())
    found = examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert (found.windows, found.failure) == (2, None)
    assert found.summary.relabelled.tries == 40
    largest = [f for f in found.summary.found if f.effect == 0.1]
    assert all(math.isfinite(f.estimate["cpu"]) for f in largest)
    assert list(alone.iterdir()) == []

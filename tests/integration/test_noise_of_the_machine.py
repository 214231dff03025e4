"""Tests of `doctor --aa` with the fake hyperfine, and once with the real one."""

import json
import math
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_framework.errors import MachineError
from bench_framework.execution import hyperfine
from bench_framework.execution.machine import host, lock
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import Message, SilentObserver, Update
from bench_framework.extensions.doctor import noise, reference_programs
from bench_framework.extensions.doctor.noise import examine_noise
from bench_framework.extensions.doctor.noise_rates import WindowVerdicts
from tests.integration.processes import install_hyperfine

BRIEF_S = 0.001
"""Shorter than a window, so that one window per program is measured."""


class Recorder:
    """An observer that records windows and calls a function after each."""

    def __init__(self, react: Callable[[int], None] | None = None) -> None:
        self.programs: list[str] = []
        self.messages: list[str] = []
        self._react = react

    def notify(self, update: Update) -> None:
        if isinstance(update, Message):
            self.messages.append(update.text)

    def window(self, verdicts: WindowVerdicts, number: int, elapsed_s: float) -> None:
        self.programs.append(verdicts.program)
        if self._react is not None:
            self._react(number)


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a separate lock, cache and temporary folder. Return the folder, which must be empty at the end."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(lock, "lock_path", lambda: tmp_path / "lock")
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return scratch


@pytest.fixture
def fake(tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that sets the rules of the fake hyperfine."""
    copy = tmp_path / "hyperfine"
    install_hyperfine(copy)
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


@pytest.mark.slow
def test_even_a_short_time_measures_one_window_of_each_program(
    fake: Callable[..., None], alone: Path, tmp_path: Path
) -> None:
    fake(
        {"match": "more-10.txt", "wall_s": 0.033},
        {"match": "more-5.txt", "wall_s": 0.0301},
        plain(),
    )
    observer = Recorder()
    findings, _ = examine_noise(BRIEF_S, observer, observer.window)
    assert observer.programs == ["factor", "wc -l"]
    assert (findings.windows, findings.exit_code, findings.interrupted) == (2, 0, False)
    assert (
        findings.false_verdicts_relabelled.tries,
        findings.false_verdicts_as_measured.tries,
    ) == (10, 2)
    assert (
        findings.false_verdicts_relabelled.count == findings.false_verdicts_as_measured.count == 0
    )
    assert {(f.program, f.effect): f.found.count for f in findings.injected} == {
        ("factor", 0.03): 0,
        ("factor", 0.05): 0,
        ("factor", 0.1): 0,
        ("wc -l", 0.03): 0,
        ("wc -l", 0.05): 0,
        ("wc -l", 0.1): 1,
    }
    assert list(alone.iterdir()) == []
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_a_slower_copy_is_reported_as_different_and_refutes_the_machine(
    fake: Callable[..., None],
) -> None:
    """The A/A control runs a copy from the cache, and the fake makes this path slow."""
    fake({"match": "/cache/binaries/", "wall_s": 0.032}, plain())
    findings, _ = examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert (
        findings.false_verdicts_as_measured.count,
        findings.false_verdicts_as_measured.tries,
    ) == (2, 2)
    assert findings.false_verdicts_relabelled.count <= 2
    assert findings.refuted
    assert findings.exit_code == 3


@pytest.mark.slow
def test_ctrl_c_keeps_the_windows_that_were_measured(
    fake: Callable[..., None], alone: Path
) -> None:
    fake(plain())
    observer = Recorder(lambda number: os.kill(os.getpid(), signal.SIGINT) if number == 1 else None)
    cpu = str(min(os.sched_getaffinity(0)))
    findings, _ = examine_noise(3600.0, observer, observer.window, cpu)
    assert findings.cpus == cpu
    assert (findings.windows, findings.interrupted, findings.exit_code) == (1, True, 130)
    assert findings.false_verdicts_as_measured.tries == 1
    assert (
        "stopping when the running program ends; press Ctrl-C again to kill it" in observer.messages
    )
    assert list(alone.iterdir()) == []


@pytest.mark.slow
def test_a_failing_program_ends_the_check_with_the_results_so_far(
    fake: Callable[..., None], alone: Path
) -> None:
    fake({"match": "lines.txt", "wall_s": 0.03, "exit_code": 1}, plain())
    findings, failure = examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert (findings.windows, findings.exit_code) == (1, 3)
    assert failure is not None
    assert failure.code == "BX239"
    assert findings.failure == str(failure)
    assert list(alone.iterdir()) == []


def test_a_missing_program_is_named_before_anything_is_measured(
    fake: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake(plain())
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(MachineError, match="the program factor is not on PATH") as raised:
        examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert raised.value.code == "BX239"


def test_a_missing_cpu_is_named_before_anything_is_measured(
    fake: Callable[..., None], alone: Path
) -> None:
    fake(plain())
    with pytest.raises(MachineError, match="`cpus: 8000` contains CPU 8000") as raised:
        examine_noise(BRIEF_S, SilentObserver(), lambda *_: None, "8000")
    assert raised.value.code == "BX238"
    assert list(alone.iterdir()) == []


def test_slower_programs_do_exactly_the_injected_extra_work(tmp_path: Path) -> None:
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
    findings, _ = examine_noise(BRIEF_S, SilentObserver(), lambda *_: None)
    assert (findings.windows, findings.failure) == (2, None)
    assert findings.false_verdicts_relabelled.tries == 40
    largest = [f for f in findings.injected if f.effect == 0.1]
    assert all(math.isfinite(f.estimate["cpu"]) for f in largest)
    assert list(alone.iterdir()) == []

"""A/A check of this machine: measure equal programs, and programs with known extra work."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from bench_framework import errors
from bench_framework.compare import samples
from bench_framework.errors import Interrupted, MachineError
from bench_framework.execution import hyperfine, process, rounds, stop, target
from bench_framework.execution.build import binaries
from bench_framework.execution.hyperfine import Hyperfine
from bench_framework.execution.machine import host, lock
from bench_framework.execution.machine.host import seconds, utc_now
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.progress import Message, Observer
from bench_framework.execution.stop import Driver
from bench_framework.extensions.doctor import reference_programs
from bench_framework.extensions.doctor.documents import NoiseDocument, NoiseProgram
from bench_framework.extensions.doctor.noise_rates import (
    Window,
    WindowVerdicts,
    judge_window,
    summarise_windows,
)
from bench_framework.extensions.doctor.reference_programs import ReferenceProgram
from bench_framework.model.documents.plan import fields_of
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.looks import schedule
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build, Host
from bench_framework.model.result.interim import LookOutcome
from bench_framework.store.records import Record
from bench_framework.text.reasons import phrase_of
from bench_framework.version import __version__
from bench_framework.workflow.run_options import plan_scenario

NOISE_DEFAULT_S: Final = 60.0
ROUNDS: Final = 27
"""Rounds of a window: the third default interim analysis, so that windows are short and many."""
FAMILIES: Final = 100
"""Relabelled families per window. Their analysis takes about a fifth of the measuring time."""
LEVEL: Final = 0.05
CONFIDENCE_OF_BOUNDS: Final = 0.95
METRICS: Final = (WALL, CPU)

OnWindow = Callable[[WindowVerdicts, int, float], None]
"""``on_window(verdicts, number, elapsed_s)``, called after each window; `number` starts at 1."""


class _Subject(NamedTuple):
    """A program with its scenario and build."""

    reference: ReferenceProgram
    scenario: Path
    build: Build


class _Bench(NamedTuple):
    """The resources that all windows share."""

    folder: Path
    driver: Driver
    hyperfine: Hyperfine
    host: Host
    cpus: str | None


def examine_noise(
    seconds_wanted: float, observer: Observer, on_window: OnWindow, cpus: str | None = None
) -> tuple[NoiseDocument, MachineError | None]:
    """Measure windows of both programs in turn for about the given time, at least one of each.

    Return the results, and the error that ended the check early. All files are written to a
    temporary folder, which is removed.

    `on_window` is called after each window. `cpus` are those of `measure.cpus`, all if `None`.

    Raises:
        MachineError: this machine cannot measure, or BX238, it does not have these CPUs; nothing
            was measured.
        Interrupted: before the first window began.
    """
    require_linux()
    with process.Launcher() as launcher:
        stopping = stop.Stop(launcher, observer, PhraseCode.RESULTS_REMAIN)
        with (
            stopping.on_signals(),
            process.scratch_folder() as scratch,
            lock.MachineLock("doctor --aa", observer, stopping),
        ):
            # Copies of the programs are also written to the temporary folder.
            env = {**host.environment(), "BENCHCTL_CACHE": str(Path(scratch, "cache"))}
            driver = stop.Driver(launcher, env, observer, stopping)
            bench, subjects = _prepare(Path(scratch), driver, cpus)
            return _examine(bench, subjects, seconds_wanted, on_window)


def _prepare(folder: Path, driver: Driver, cpus: str | None) -> tuple[_Bench, tuple[_Subject, ...]]:
    launcher, env = driver.launcher, driver.env
    tool = hyperfine.find(launcher, host.environment(), driver.interruptible)
    facts = host.facts(launcher, hyperfine=tool.description, results=folder, data=folder, env=env)
    subjects: list[_Subject] = []
    for reference in reference_programs.create_programs(launcher, env, folder, driver.stop.check):
        scenario = folder / f"aa-{len(subjects) + 1}.yaml"
        content = _scenario(reference, cpus)
        scenario.write_text(json.dumps(content, indent=1), encoding="utf-8")
        plan = plan_scenario(str(scenario))
        target.require_cpus(plan.cells)
        assert plan.program is not None
        program = binaries.find_program(plan.program[0], plan.scenario_path, env)
        build, event = binaries.add_control(plan, program, {}, launcher, env)
        if event is not None:
            driver.observer.notify(Message(event.message))
        subjects.append(_Subject(reference, scenario, build))
    return _Bench(folder, driver, tool, facts, cpus), tuple(subjects)


def _arm(effect: float) -> str:
    return f"more-{round(effect * 100)}"


def _scenario(reference: ReferenceProgram, cpus: str | None) -> dict[str, Any]:
    """Return a scenario with the program, its A/A control, and one variant per injected slowdown."""
    arms = {"plain": {"args": list(reference.args)}}
    arms |= {_arm(effect): {"args": list(args)} for effect, args in reference.slower.items()}
    return {
        "version": 1,
        "name": "aa",
        "question": phrase_of(ExtensionCode.NOISE_QUESTION),
        "worker": {"command": [reference.path]},
        "axes": {"arm": arms},
        "baseline": {"arm": "plain"},
        "env": reference_programs.ENVIRONMENT,
        # The variants do different amounts of work, so their answers differ on purpose.
        "answer": {"compare": "none"},
        "measure": {
            "rounds": {"min": 12, "max": ROUNDS},
            "warmup": 1,
            "until": "conclusive",
            **({"cpus": cpus} if cpus else {}),
        },
    }


def _examine(
    bench: _Bench, subjects: tuple[_Subject, ...], duration_s: float, on_window: OnWindow
) -> tuple[NoiseDocument, MachineError | None]:
    looks = schedule(12, ROUNDS, len(METRICS), LEVEL)
    began, longest = seconds(), [0.0] * len(subjects)
    windows: list[WindowVerdicts] = []
    interrupted, failure, code = False, None, errors.EXIT_DONE
    while True:
        index, start = len(windows) % len(subjects), seconds()
        if len(windows) >= len(subjects) and start - began + longest[index] > duration_s:
            break
        try:
            window = _window(bench, subjects[index], len(windows) + 1)
            bench.driver.stop.check()
        except Interrupted:
            interrupted = True
            break
        except MachineError as error:
            failure = error
            break
        windows.append(judge_window(window, looks, families=FAMILIES, seed=len(windows) + 1))
        longest[index] = max(longest[index], seconds() - start)
        on_window(windows[-1], len(windows), seconds() - began)
    summary = summarise_windows(windows, LEVEL)
    if interrupted:
        code = errors.EXIT_INTERRUPTED
    elif failure is not None or summary.refuted:
        code = errors.EXIT_NOT_MEASURED
    document = NoiseDocument(
        **fields_of(summary),
        windows=len(windows),
        rounds_per_window=ROUNDS,
        cpus=bench.cpus,
        elapsed_s=seconds() - began,
        interrupted=interrupted,
        failure=str(failure) if failure else None,
        exit_code=code,
        confidence=CONFIDENCE_OF_BOUNDS,
        programs={
            s.reference.name: NoiseProgram(s.reference.about, s.build.control_path != s.build.path)
            for s in subjects
        },
    )
    return document, failure


def _window(bench: _Bench, subject: _Subject, number: int) -> Window:
    """Measure one record with the normal measurement loop and all rounds, and read it back."""
    plan = plan_scenario(str(subject.scenario), overrides=(f"measure.seed={number}",))
    text = subject.scenario.read_text(encoding="utf-8")
    with Record.create(
        bench.folder / "records", plan, text, started_at=utc_now(), benchctl=__version__
    ) as record:
        try:
            record.prepare(at=utc_now(), host=bench.host, builds=(subject.build,), inputs=())
            go_on = LookOutcome(stop=False)  # every window has all of its rounds
            rounds.measure(record, bench.driver, bench.hyperfine, lambda *_: go_on)
            return _read(plan, record.contents.blocks, subject.reference)
        finally:
            record.close()
            shutil.rmtree(record.path, ignore_errors=True)


def _read(plan: Plan, blocks: list[Any], reference: ReferenceProgram) -> Window:
    collected = samples.collect(blocks)
    input_id = plan.inputs[0].id
    baseline, control = plan.baseline_cell(input_id), plan.control_cell(input_id)
    assert baseline is not None
    assert control is not None
    equal = (baseline.id, control.id)
    by_label = {cell.label: cell.id for cell in plan.cells if cell.id not in equal}
    ids = [*equal, *by_label.values()]
    whole = set(range(1, ROUNDS + 1))
    for cell in ids:
        sample = collected.get(cell, samples.Sample(cell))
        for metric in METRICS:
            whole &= {number for number, value in sample.values(metric).items() if value > 0}
    if len(whole) < ROUNDS:
        raise MachineError(
            "BX239.rounds-failed",
            name=reference.name,
            failed=ROUNDS - len(whole),
            rounds=ROUNDS,
            path=reference.path,
            args=" ".join(reference.args[:1]),
        )

    def series(cell: str) -> dict[str, Any]:
        return {m: np.array([collected[cell].values(m)[r] for r in sorted(whole)]) for m in METRICS}

    slower = {effect: series(by_label[_arm(effect)]) for effect in reference.slower}
    return Window(reference.name, series(baseline.id), series(control.id), slower)

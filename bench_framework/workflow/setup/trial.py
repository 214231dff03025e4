"""Trial runs: each configuration once, on the build of the baseline, before anything else is built.

A mistake in a command is then reported before the other builds, and so is a budget that is too small.
"""

import contextlib
import json
import math
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import AnswerError, BenchError, CellError, MeasureError, UsageError
from bench_framework.execution.answer_differences import LineDifference, first_difference
from bench_framework.execution.answers import LARGEST_EDITED, AnswerReader
from bench_framework.execution.counting.required_calls import check_calls
from bench_framework.execution.counting.single_run import SingleRun, SingleRunner
from bench_framework.execution.inputs.folders import Guard
from bench_framework.execution.machine.host import cache_root
from bench_framework.execution.machine.processes import PEAK_UNIT_BYTES, memory_of
from bench_framework.execution.process import Finished, scratch_folder
from bench_framework.execution.progress import Counting
from bench_framework.execution.stop import Driver
from bench_framework.execution.target import Target, target_of
from bench_framework.foreign import first_lines, is_short
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.looks import (
    ALLOWANCE,
    FEWEST_FOR_T,
    RoundLimit,
    allows_few_rounds,
    decidable,
    limit_of_rounds,
    limited,
    looks_of,
)
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.run import Answer, Build, Event, PreparedInput
from bench_framework.store.layout import write_whole
from bench_framework.text.errors import new_event
from bench_framework.text.numbers import format_clock, format_duration
from bench_framework.text.reasons import phrase_of
from bench_framework.workflow.setup.time_estimates import UNTIMED_S, trials_file, workload

SHOWN_BYTES: Final = 4096
"""Bytes of the output of a run that are kept."""
MOST_REPEATED: Final = 3
"""Most further runs of the first baseline, until one is not clearly faster than the one before."""
WARM: Final = 0.8
"""Least ratio of the times of two runs after which the first is not repeated any more."""


@dataclass(slots=True)
class Text:
    """A file: its first bytes, its size and its number of lines."""

    head: bytes = b""
    size_bytes: int | None = None
    lines: int = 0

    @property
    def decoded(self) -> str:
        """Return the first bytes as a text."""
        return self.head.decode(errors="replace")

    def read(self, path: Path) -> None:
        """Read a file; one that does not exist leaves the size unknown."""
        if path.is_file():
            with path.open("rb") as file:
                self.head = file.read(SHOWN_BYTES)
                file.seek(0)
                self.lines = sum(1 for _ in file)
            self.size_bytes = path.stat().st_size


@dataclass(slots=True)
class Output:
    """The output of a run, its answer, and the text that is compared."""

    printed: Text = field(default_factory=Text)
    compared: Text = field(default_factory=Text)
    """Empty if the worker reports its answer itself, or the answer could not be read."""
    answer: Answer | None = None
    error: AnswerError | None = None
    errors: Text = field(default_factory=Text)
    difference: LineDifference | None = None
    """First lines that differ from the first run of the baseline."""

    def read(self, target: Target, reader: AnswerReader, folder: Path, texts: Path) -> None:
        """Read the files of a good run; `texts` is the folder with the baselines' texts."""
        reference = texts / (
            target.cell.id if target.cell.role is Role.BOUND else target.cell.input_id
        )
        try:
            self.answer = reader.read_run(target, folder, reference)
        except AnswerError as error:
            self.error = error
            return
        path = reader.compared(folder / "stdout", folder / "edited")
        if reader.policy.contract or not path.is_file():
            return
        self.compared.read(path)
        if not reference.is_file() and (self.compared.size_bytes or 0) <= LARGEST_EDITED:
            shutil.copyfile(path, reference)
        self.difference = first_difference(reader.policy, reference, path)


@dataclass(frozen=True, slots=True)
class TrialRun:
    """One run of a configuration.

    `same_build` is false if its variant needs another build. `inherited` is the peak memory of the
    process that starts programs, in bytes, which the kernel reports for smaller programs.
    """

    cell: Cell
    target: Target
    run: SingleRun
    output: Output
    same_build: bool
    inherited: int = 0
    unchecked: Event | None = None
    """Warning that the system calls that it must make could not be checked."""

    @property
    def ok(self) -> bool:
        """True if the run succeeded and gave an answer."""
        return self.run.status == "ok" and self.output.error is None

    @property
    def failure(self) -> str:
        """Return why it is not `ok`."""
        error = self.output.error
        return error.line if error is not None else self.run.message or self.run.status

    @property
    def peak_bytes(self) -> int | None:
        """Peak memory in bytes; `None` if it is unknown because it is smaller than `inherited`."""
        peak = (
            PEAK_UNIT_BYTES * self.run.finished.used.get("ru_maxrss", 0) if self.run.finished else 0
        )
        return peak if peak > self.inherited else None

    @property
    def seconds(self) -> float:
        """Duration in seconds with that of its server; 0 if the program could not be started."""
        return self.run.finished.seconds + self.run.server_s if self.run.finished else 0.0


@dataclass(frozen=True, slots=True)
class Trials:
    """The trial runs of a plan. `again` is a later run of the first one, a baseline."""

    plan: Plan
    trials: tuple[TrialRun, ...]
    again: TrialRun | None
    changed: tuple[Event, ...] = ()
    """Warnings that a command changed one of its arguments."""

    @property
    def round_s(self) -> float | None:
        """Least duration of a round in seconds, without what failed; `None` if nothing was run."""
        seconds = self._seconds()
        for cell in self.plan.cells:
            baseline = self.plan.baseline_cell(cell.input_id)
            if cell.role is Role.CONTROL and baseline is not None and baseline.id in seconds:
                seconds[cell.id] = seconds[baseline.id]
        return sum(UNTIMED_S + value for value in seconds.values()) or None

    def _seconds(self) -> dict[str, float]:
        """Return the seconds of each configuration that succeeded, by cell id."""
        seconds = {trial.cell.id: trial.seconds for trial in self.trials if trial.ok}
        if self.again is not None:  # the first run of all may read its files from the disk
            first = next(t.run for t in self.trials if t.cell == self.again.cell)
            for trial in self.trials:
                if trial.ok and trial.run is first:
                    seconds[trial.cell.id] = min(trial.seconds, self.again.seconds)
        return seconds

    @property
    def rounds_needed(self) -> int | None:
        """Rounds until the first planned interim analysis, with the warm-up; `None` without verdicts."""
        plan, budget = self.plan, self.plan.measure.budget_s
        if plan.measure.until == "rounds" or budget is None or self.round_s is None:
            return None
        if plan.measure.by_budget:
            plan = limited(plan, RoundLimit(limit_of_rounds(plan, budget / self.round_s)))
        return looks_of(plan).rounds[0] + plan.measure.warmups_total if decidable(plan) else None

    def save(self, env: Mapping[str, str]) -> None:
        """Store the durations for the estimates of `benchctl plan`; a failure has no effect."""
        plan = self.plan
        times = {workload(plan, plan.cell(key)): value for key, value in self._seconds().items()}
        path = trials_file(plan.name, cache_root(env))
        with contextlib.suppress(OSError, MeasureError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(times) + "\n")


def try_cells(
    plan: Plan, builds: Mapping[str, Build], inputs: Sequence[PreparedInput], driver: Driver
) -> Trials:
    """Run every configuration once, and the first baseline twice or more. The A/A control is not run.

    A variant whose build is not in `builds` runs on that of the baseline; it is not run if its
    command is the baseline's. A command with ``{tuning}`` is not run.

    Raises:
        Interrupted: a stop was requested.
        MachineError: the launcher died, or no temporary folder can be created.
        CellError: BX420, a program changed its input.
    """
    inherited = memory_of(driver.launcher.pid or 0).get("VmHWM", 0)
    runner = SingleRunner(driver.launcher, plan.answer, plan.measure.timeout_s)
    reader = AnswerReader(driver.launcher, plan.answer, plan.measure.answer_limit_s)
    prepared = {item.input_id: item for item in inputs}
    guard = Guard(prepared)
    first = builds[plan.baseline.build_id]
    trials: list[TrialRun] = []
    again = None

    def tried(cell: Cell, target: Target, *, same_build: bool) -> TrialRun:
        driver.stop.check()
        driver.observer.notify(Counting("commands", len(trials) + 1, len(cells), verb="try"))
        output = Output()

        def read(folder: Path, finished: Finished) -> None:
            output.printed.read(folder / "stdout")
            output.errors.read(folder / "stderr")
            if finished.exit_code in plan.answer.exit_codes:
                output.read(target, reader, folder, Path(texts))

        run = runner.run(target, None, plan.measure.timeout_s, read=read)
        return TrialRun(cell, target, run, output, same_build, inherited)

    order = [c for c in plan.cells if c.role is not Role.CONTROL]
    cells = sorted(order, key=lambda cell: cell.role is not Role.BASELINE)
    with scratch_folder() as texts:
        for cell in cells:
            build = builds.get(plan.build_id(cell))
            try:
                target = target_of(cell, build or first, prepared.get(cell.input_id), driver.env)
            except CellError:
                continue
            same = [t for t in trials if _command(t.target) == _command(target)]
            if build is None and same:
                trials.append(replace(same[0], cell=cell, same_build=False))
                continue
            trial = tried(cell, target, same_build=build is not None)
            trials.append(_with_calls(runner, trial))
            if again is None and cell.role is Role.BASELINE and trials[-1].ok:
                again = first_trial = trials[-1]
                for _ in range(MOST_REPEATED):  # the first runs may read their files from the disk
                    previous, again = again, tried(cell, target, same_build=True)
                    warm = again.seconds > WARM * previous.seconds
                    if warm or not again.ok or _difference(plan, again, first_trial):
                        break
    for event in filter(None, map(guard.changed, prepared)):
        error = CellError.from_event(event)
        error.amend("BX420.in-trial")
        raise error
    trials.sort(key=lambda trial: order.index(trial.cell))
    return Trials(plan, tuple(trials), again)


def _with_calls(runner: SingleRunner, trial: TrialRun) -> TrialRun:
    """Return a trial run that has failed if it does not make a required system call."""
    if not (trial.cell.calls and trial.same_build and trial.ok):
        return trial
    if (fault := check_calls(runner, trial.target)) is None:
        return trial
    if fault.failure:
        return replace(trial, run=replace(trial.run, status="failed", message=fault.failure))
    return replace(trial, unchecked=fault.event)


def _command(target: Target) -> tuple[object, ...]:
    around = (dict(target.env), target.cwd, target.stdin, target.cpus, target.prepare)
    return (target.argv, target.server, *around)


def refusals(trials: Trials) -> list[BenchError]:
    """Return the errors for which a measurement is refused before the other builds.

    The baseline fails or is not deterministic, or the budget cannot give the rounds of a verdict.
    """
    plan = trials.plan
    errors: list[BenchError] = []
    for trial in (*trials.trials, *([trials.again] if trials.again else ())):
        if trial.cell.role is Role.BASELINE and not trial.ok:
            error = CellError.from_event(_failure(plan, trial))
            advice = trial.output.error and trial.output.error.fix
            error.amend("BX205.baseline", advice=advice, scenario=plan.scenario_path)
            errors.append(error)
    again = trials.again
    if again is not None and not errors:
        difference = again.output.difference
        first = next(trial for trial in trials.trials if trial.cell == again.cell)
        if plan.answer.differs == "refuse" and (details := _difference(plan, again, first)):
            advice = difference and difference.advice(varying=True)
            label, key = again.cell.label, "BX214.in-two-runs"
            errors.append(AnswerError(key, details=details, label=label, advice=advice))
    round_s, rounds, budget = trials.round_s, trials.rounds_needed, plan.measure.budget_s
    if plan.benches is not None and plan.judge.gate.against:
        return errors  # if the time is short, its gate measures those that look slowest
    if rounds and allows_few_rounds(plan):
        rounds = FEWEST_FOR_T + 1
    if round_s and rounds and budget and rounds * round_s > ALLOWANCE * budget:
        enough, duration = math.ceil(rounds * round_s / 60), format_duration(round_s)
        clock = format_clock(budget)
        errors.append(
            UsageError("BX123", budget=clock, duration=duration, rounds=rounds, enough=enough)
        )
    return errors


def warnings(trials: Trials) -> list[Event]:
    """Return a warning for each candidate on the baseline's build that fails or answers differently.

    Warnings of changed files come first. A variant with its own build may fail on that of the baseline, which may
    not have its option. If the answers of the baseline vary, no others are compared with them.
    """
    plan, events = trials.plan, [*trials.changed]
    varies = any(error.code == "BX214" for error in refusals(trials))
    baselines = {t.cell.input_id: t for t in trials.trials if t.cell.role is Role.BASELINE}
    key = "BX210.in-trial" if plan.answer.differs == "refuse" else "BX334.in-trial"
    for trial in trials.trials:
        events += [trial.unchecked] if trial.unchecked and trial.same_build else []
        cell, base = trial.cell, baselines.get(trial.cell.input_id)
        if cell.role is Role.BASELINE or not trial.same_build:
            continue
        if not trial.ok:
            events.append(_failure(plan, trial))
            continue
        if not base or varies or cell.role is Role.BOUND:
            continue
        if details := _difference(plan, trial, base):
            difference = trial.output.difference
            event = new_event(
                key,
                "warning",
                cell.id,
                details=details,
                label=cell.label,
                other=base.cell.label,
                advice=difference and difference.advice(),
            )
            events.append(event)
    return events


def _failure(plan: Plan, trial: TrialRun) -> Event:
    output, error = trial.output, trial.output.error
    details = [("command", shlex.join(trial.target.argv))]
    if trial.target.server is not None:
        details.insert(0, ("server", shlex.join(trial.target.server.argv)))
    if error is None and is_short(output.errors.decoded.splitlines()):
        printed = first_lines(output.printed.decoded)
        details += [("stdout", "\n".join(printed))] if printed else []
    return new_event(
        "BX205",
        "warning",
        trial.cell.id,
        details=tuple(details),
        label=trial.cell.label,
        input=plan.input(trial.cell.input_id).label if len(plan.inputs) > 1 else "",
        failure=trial.failure,
        advice=error.fix if error else "",
    )


def _difference(plan: Plan, one: TrialRun, other: TrialRun) -> tuple[tuple[str, str], ...]:
    """Return the digests and first lines of two answers that differ; empty if they are equal."""
    ours, theirs = one.output.answer, other.output.answer
    if plan.answer.compare == "none" or ours is None or theirs is None:
        return ()
    if ours.digest == theirs.digest:
        return ()
    labels = (other.cell.label, one.cell.label)
    if one.cell == other.cell:
        labels = (phrase_of(PhraseCode.FIRST_RUN), phrase_of(PhraseCode.SECOND_RUN))
    lines = one.output.difference.details(*labels) if one.output.difference else ()
    return ("digest", f"{theirs.digest[:12]}… ≠ {ours.digest[:12]}…"), *lines

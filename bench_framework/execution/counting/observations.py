"""Untimed counting runs after measuring: kernel counters and instructions. Resumable.

A timed command is never wrapped: hyperfine starts it and waits for it. So the parts of its peak
memory, and kernel counters of programs without the worker protocol, come from separate runs whose
times are not used.
"""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.execution import progress
from bench_framework.execution.benches import HARNESSES
from bench_framework.execution.counting import instructions
from bench_framework.execution.counting.callgrind import differing
from bench_framework.execution.counting.single_run import SingleRunner, expected_answer
from bench_framework.execution.inputs.folders import Guard
from bench_framework.execution.machine.host import utc_now
from bench_framework.execution.machine.page_faults import seconds_of_fault
from bench_framework.execution.machine.processes import (
    PARTS,
    PEAK_UNIT_BYTES,
    TOOL,
    memory_of,
    session_of,
)
from bench_framework.execution.machine.waits import Waits
from bench_framework.execution.sessions import Files, targets_of
from bench_framework.execution.stop import Driver
from bench_framework.execution.target import Target
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import FAULT_COST, KERNEL_KEYS, WAITING
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.declared_metrics import InstructionPolicy
from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.run import Event, Observation
from bench_framework.store import lines
from bench_framework.store.records import Record
from bench_framework.text.errors import amended, new_event
from bench_framework.text.reasons import phrase_of

MOST_RUNS: Final = 3
"""Most runs to sample the peak of memory. One that lasts less than a millisecond may be missed."""
SHORT_RUNS: Final = 10
SAMPLED_S: Final = 0.2
"""A command is run for this time, but at most `SHORT_RUNS` times, to see what it waits for: under other load,
most short runs also wait for a core. With `prepare` or `cleanup`, at most `MOST_RUNS` times."""


def observe_cells(plan: Plan, record: Record, driver: Driver, limit_s: float | None = None) -> None:
    """Count instructions and kernel counters of measured cells, and sample their memory.

    Counts that the record contains are not repeated. A cell that cannot be counted becomes an
    observation without values, and an event if the scenario requests the counts. A process that measures a
    benchmark is not counted, because its harness decides how often it does the work. For the gate, one that
    runs it once is counted. The client of a server is not counted. `limit_s` is the time limit of all runs
    that count instructions.

    Raises:
        Interrupted: a stop was requested; the record can be continued.
        MachineError: BX250, instructions cannot be counted on this machine.
    """
    policy = plan.instructions
    if plan.server or (plan.benches is not None and (policy is None or not policy.optional)):
        return
    targets = [
        target
        for cell in plan.cells
        if cell.role is not Role.CONTROL
        and (target := _target(record, _once(plan, cell), driver.env)) is not None
    ]
    contents = record.contents
    guard = Guard({item.input_id: item for item in contents.inputs}, contents.builds)
    counting = CountingRuns(plan, record, driver, guard, limit_s)
    if counting.report_changes(*guard.other_programs()):
        return
    if plan.benches is None:
        counting.count_kernel(targets)
    if policy is not None and targets:
        counting.count_instructions(targets, policy)
    record.sync()


def _once(plan: Plan, cell: Cell) -> Cell:
    """Return the cell of a benchmark with a command that runs it once; another cell is unchanged."""
    bench = plan.input(cell.input_id).bench
    if bench is None:
        return cell
    words = ((word,) for word in HARNESSES[bench.harness].iteration(bench.id))
    return replace(cell, command=(*cell.command[: cell.command.index((BIN,)) + 1], *words))


def _target(record: Record, cell: Cell, env: Mapping[str, str]) -> Target | None:
    """Return the target of a measured cell; `None` if it failed, gave another answer, or its input changed."""
    contents = record.contents
    dropped = contents.dropped.get(cell.id)
    good = any(b.cell_id == cell.id and b.status == "ok" and not b.warmup for b in contents.blocks)
    changed = cell.input_id in contents.changed
    if not good or changed or (dropped is not None and not dropped.left):
        return None
    files = Files(contents.builds, contents.inputs)
    return targets_of(record, [cell], files, env)[0].get(cell.id)


@dataclass(frozen=True, slots=True)
class CountingRuns:
    """Counting runs of one session.

    `limit_s` is a limit of the time of all runs that count instructions. With a limit, a failure is no event.
    """

    plan: Plan
    record: Record
    driver: Driver
    guard: Guard
    limit_s: float | None = None

    def report_changes(self, *events: Event | None) -> bool:
        """Report the events of changed files. Return True if there is one: counts are not those of the record."""
        changes = [event for event in events if event is not None]
        for event in changes:
            self._add(amended(event, "BX420.counted"))
        return bool(changes)

    @property
    def _runner(self) -> SingleRunner:
        limit = self.plan.measure.timeout_s
        return SingleRunner(self.driver.launcher, self.plan.answer, limit, self.record.raw)

    @property
    def _limit_reached(self) -> str:
        return phrase_of(FaultCode.COUNTING_LIMIT, self.limit_s or 0)

    def count_kernel(self, targets: list[Target]) -> None:
        """Read the kernel counters of one run of every cell."""
        counters = phrase_of(PhraseCode.KERNEL_COUNTERS)
        for number, target in enumerate(targets, start=1):
            if self._done(target, "observed"):
                continue
            self.driver.stop.check()
            self.driver.observer.notify(progress.Counting(counters, number, len(targets)))
            expected = expected_answer(self.record, target.cell.id)
            limit = self.plan.measure.timeout_s
            observation = observe_kernel(self._runner, target, expected, limit)
            if self._changed_with(target):
                return
            self._append(observation)

    def count_instructions(self, targets: list[Target], policy: InstructionPolicy) -> None:
        """Count instructions in repeated runs of every cell; a failure ends those of its cell.

        All cells are counted once before any is counted again, so that a limit of the time ends with counts of
        both sides of each pair.

        If they cannot be counted and only the gate needs them, an event is added.

        Raises `MachineError` (BX250): they cannot be counted, and the scenario requests it.
        """
        try:
            # criterion starts gnuplot. If it is missing, the forked process ends without exec.
            benches = self.plan.benches is not None
            used = instructions.counter(
                policy, self.driver.launcher, self.driver.env, without_forks=benches
            )
        except MachineError as error:
            if self.limit_s is not None:
                self._refuse(targets, policy.tool, error.message)
                return
            if not policy.optional:
                raise
            error.amend("BX250.optional")
            self._add(Event(error.code, error.message, effect=error.effect, help=error.fix))
            return
        deadline = None if self.limit_s is None else time.monotonic() + self.limit_s
        for run in range(1, policy.runs + 1):
            for number, target in enumerate(targets, start=1):
                done = self._done(target, "instructions")
                if len(done) >= run or any(earlier.status != "ok" for earlier in done):
                    continue
                left_s = policy.timeout_s
                if deadline is not None:
                    left_s = min(left_s, deadline - time.monotonic())
                if left_s <= 0:
                    self._refuse(targets, policy.tool, self._limit_reached)
                    return
                self.driver.stop.check()
                what = phrase_of(PhraseCode.INSTRUCTIONS_WITH, used.tool)
                step = progress.Counting(what, number, len(targets), run, policy.runs)
                self.driver.observer.notify(step)
                if not self._count(target, used, replace(policy, timeout_s=left_s), run):
                    return

    def _refuse(self, targets: list[Target], tool: str, reason: str) -> None:
        """Store why the cells that were never counted are not."""
        for target in targets:
            if not self._done(target, "instructions"):
                refused = Observation(target.cell.id, "instructions", 1, utc_now(), tool)
                self._append(replace(refused, status="failed", message=reason))

    def _count(
        self, target: Target, used: instructions.Counter, policy: InstructionPolicy, run: int
    ) -> bool:
        """Count one run of a cell, whose later runs are compared with the first one.

        Return False if the count is not that of the record, because a file changed.
        """
        contents = self.record.contents
        timed = [b for b in contents.blocks if b.cell_id == target.cell.id and b.receipts]
        actual_modes = timed[-1].receipts[-1].effective if timed else {}
        expected = expected_answer(self.record, target.cell.id)
        observation, costs = instructions.count(
            self._runner, target, expected, used, policy, run, actual_modes
        )
        if self._changed_with(target):
            return False
        if observation.status == "timeout" and self.limit_s is not None:
            observation = replace(observation, message=self._limit_reached)
        program = Path(target.argv[0]).name
        counted = None
        if (bench := self.plan.input(target.cell.input_id).bench) is not None:
            # All other counts are those of the harness.
            observation, harness = replace(observation, values={}), HARNESSES[bench.harness]
            if costs is not None:
                entry = (harness.iterates, harness.crate)
                counted = costs.of_iteration(target.cell.id, run, program, *entry)
        elif costs is not None:
            counted = costs.counted(target.cell.id, run, program)
        if counted is not None:
            first = contents.functions.get((target.cell.id, 1))
            counted = counted if first is None or run == 1 else differing(counted, first)
            self.record.append(lines.FunctionsCounted(counted))
        self._append(observation)
        if observation.status != "ok" and self.limit_s is None:
            event = new_event(
                "BX251",
                "warning" if policy.optional else "error",
                target.cell.id,
                label=target.cell.label,
                reason=observation.message,
            )
            self._add(event)
        return True

    def _changed_with(self, target: Target) -> bool:
        return self.report_changes(self.guard.changed(target.cell.input_id), self.guard.replaced())

    def _done(self, target: Target, kind: str) -> list[Observation]:
        observations = self.record.contents.observations
        return [o for o in observations if o.cell_id == target.cell.id and o.kind == kind]

    def _append(self, observation: Observation) -> None:
        self.record.append(lines.Counted(observation))
        self.record.sync()

    def _add(self, event: Event) -> None:
        if self.record.note(event):
            self.driver.observer.notify(progress.Remark(event))


def observe_kernel(
    runner: SingleRunner, target: Target, expected: str | None, timeout_s: float
) -> Observation:
    """Run a cell and read the kernel counters of it and of the children that it waited for.

    The run is repeated until its memory was sampled near the peak, at most `MOST_RUNS` times, and longer if it is
    short. What it waits for is that of the run that waited least, which other load disturbed least.

    Raises `Interrupted`: the user killed the run.
    """
    started = utc_now()
    parts: dict[str, float] = {}
    waited: dict[str, float] = {}
    most = MOST_RUNS if target.prepare or target.cleanup else SHORT_RUNS
    elapsed_s = 0.0
    for run in range(1, most + 1):
        memory = PeakMemory(memory_of(runner.launcher.pid or 0).get("VmHWM", 0))
        waits = Waits()

        def sample(leader: int, memory: PeakMemory = memory, waits: Waits = waits) -> None:
            memory.sample(leader)
            memory.scan_s = SCAN_S if waits.sample(memory.pids) else CHILD_SCAN_S

        outcome = runner.run(target, expected, timeout_s, poll=sample)
        ended = outcome.finished if outcome.status == "ok" else None
        used = ended.used if ended is not None else {}
        if ended is None:
            break
        if memory.share(PEAK_UNIT_BYTES * used.get("ru_maxrss", 0)) >= NEAR_PEAK:
            parts = memory.parts()
        mine = waits.values(ended.seconds, ended.cpu_s or 0.0)
        waited = min(waited or mine, mine, key=lambda values: values.get(WAITING, math.inf))
        elapsed_s += ended.seconds
        if (parts or run >= MOST_RUNS) and elapsed_s >= SAMPLED_S:
            break
    # The kernel may not count the bytes of storage (proc(5)).
    values = {metric: float(used[key]) for metric, key in KERNEL_KEYS.items() if key in used}
    if ended is not None:
        values |= parts | waited
        if (cost := seconds_of_fault()) is not None:
            values[FAULT_COST] = cost
    return Observation(
        target.cell.id, "observed", 1, started, TOOL, outcome.status, values, outcome.message
    )


NEAR_PEAK: Final = 0.95
"""Share of the peak that a sample must reach, else the parts at the peak are unknown."""
SCAN_S: Final = 0.05
"""Interval at which the processes of the command are listed again."""
CHILD_SCAN_S: Final = 0.01
"""The same while all wait for a child. A child in another session is never listed."""


class PeakMemory:
    """Memory of the largest process of a command, at the moment when it was largest.

    `inherited` bytes are reported as ``ru_maxrss`` of a smaller command.
    """

    def __init__(self, inherited: int = 0) -> None:
        self._inherited, self._highest = inherited, 0
        self._largest: dict[str, int] = {}
        self.pids: list[int] = []
        self.scan_s = SCAN_S
        self._scanned = -math.inf

    def sample(self, leader: int) -> None:
        """Read the memory of every process in the session of `leader`."""
        now = time.monotonic()
        if now >= self._scanned + self.scan_s:
            self.pids, self._scanned = session_of(leader), now
        for pid in self.pids:
            self.add(memory_of(pid))

    def add(self, memory: dict[str, int]) -> None:
        """Add one sample of one process, as `memory_of` returns it."""
        self._highest = max(self._highest, memory.get("VmHWM", 0))
        if memory.get("VmRSS", 0) > self._largest.get("VmRSS", 0):
            self._largest = memory

    def share(self, maxrss: int) -> float:
        """Return the largest sample as a share of the peak `maxrss` in bytes; 0 without samples."""
        peak = max(self._highest, maxrss if maxrss > self._inherited else 0)
        return self._largest.get("VmRSS", 0) / peak if peak else 0.0

    def parts(self) -> dict[str, float]:
        """Return the value of each metric of `PARTS` in the largest sample, in bytes."""
        return {
            metric: float(sum(self._largest.get(key, 0) for key in keys))
            for metric, keys in PARTS.items()
        }

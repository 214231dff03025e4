"""The measuring loop: rounds of blocks until an interim analysis or the budget ends it.

Between two blocks benchctl does only what the next block needs, about 2 ms; it draws and flushes
nothing. See docs/method.md#schedule.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

from bench_framework.execution import progress, schedule, sessions
from bench_framework.execution.benches import screening
from bench_framework.execution.block import BlockRunner
from bench_framework.execution.block_checks import BlockChecks, forget_answers
from bench_framework.execution.budget import TimeBudget, may_be_cold, no_time_for_session, used_up
from bench_framework.execution.hyperfine import Hyperfine
from bench_framework.execution.inputs import folders
from bench_framework.execution.machine.host import seconds, utc_now
from bench_framework.execution.schedule import InputProgress, Looker, drop_pending
from bench_framework.execution.sessions import Files
from bench_framework.execution.stop import Driver
from bench_framework.model.plan.looks import Looks, RoundLimit, decidable, looks_of
from bench_framework.model.plan.plan import Input, Plan
from bench_framework.model.reasons import LAST_LOOK, Reason, ReasonCode
from bench_framework.model.record.run import Block, Event, Look
from bench_framework.model.result import race
from bench_framework.store import lines
from bench_framework.store.records import Record


def measure(
    record: Record,
    driver: Driver,
    hyperfine: Hyperfine,
    looker: Looker,
    can_decide: Callable[[Plan], bool] = decidable,
    one_round: Reason | None = None,
    *,
    few_rounds: bool = False,
) -> None:
    """Measure the plan of a record, or its next session. A record with earlier rounds is resumed.

    `Record.prepare` must be called before; the builds and inputs are those that it stored. A failure
    of a cell becomes a block and an event of the record; the other cells continue. `can_decide` is that
    of `model.plan.looks.limit_of_rounds`. `one_round` is the reason why one round of each input is enough.
    With `few_rounds`, a budget that is too small for the label test gets a short measurement.

    Raises:
        UsageError: BX123, the budget is too small for any comparison.
        Interrupted: a stop was requested; the record can be continued.
        MachineError: the launcher was killed.
    """
    contents = record.contents
    if contents.complete:
        return
    with (
        sessions.fresh_copies(record, driver.env) as files,
        BlockRunner(driver.launcher, hyperfine, record) as runner,
    ):
        guard = folders.Guard({item.input_id: item for item in files.inputs}, files.builds)
        began, number = seconds() - contents.elapsed_s, sessions.next_session(record.plan, contents)
        part = (began, number, files, guard, one_round, few_rounds)
        try:
            Measuring(record, driver, runner, looker, can_decide, *part).run()
        finally:
            runner.sync()
            record.sync()


@dataclass(frozen=True, slots=True)
class Measuring:
    """The measurement of a record, or of one of its sessions."""

    record: Record
    driver: Driver
    runner: BlockRunner
    looker: Looker
    can_decide: Callable[[Plan], bool]
    began: float
    """Monotonic time at which measuring would have started without interruptions."""
    number: int
    """Number of the session, from 1."""
    files: Files
    guard: folders.Guard
    one_round: Reason | None = None
    """Reason why one round of each input is enough; `None` if it is not."""
    few_rounds: bool = False

    @property
    def plan(self) -> Plan:
        """Return the plan, with the limit of rounds as soon as it is known."""
        return self.record.plan

    @property
    def elapsed_s(self) -> float:
        """Return the measuring time of the record without interruptions."""
        return seconds() - self.began

    @property
    def last_round(self) -> int:
        """Return the last round of the session."""
        return self.number * self.plan.measure.session_rounds

    def run(self) -> None:
        """Measure all rounds of all inputs that are not stopped yet."""
        contents = self.record.contents
        before = contents.progress
        drop_pending(self.plan, self.record)
        if self.number > 1:  # since the session before
            self._compare_digests(self.driver.stop.check)
        states = [s for item in self.plan.inputs if (s := self._prepare_input(item)) is not None]
        arguments = folders.ArgumentFiles(self.plan)
        self._warm_up(states)
        self._add_events(arguments.changes())
        self._measure(states)
        self._compare_digests(self.driver.stop.check_kill)  # the first Ctrl-C is too late here
        self._add_events(filter(None, (self.guard.replaced(), *arguments.changes())))
        stopped = all(state.stopped or contents.stopped(state.input.id) for state in states)
        if stopped or contents.progress == before or self.number == self.plan.measure.sessions:
            self.record.append(lines.End(utc_now(), self.elapsed_s))

    def _warm_up(self, states: list[InputProgress]) -> None:
        limit, budget = self.record.contents.limit, self._budget
        warmup_rounds = schedule.warmup_rounds(self.plan, one_round=self.one_round is not None)
        number = (self.number - 1) * warmup_rounds
        while (limit is None or self.number > 1) and number < self.number * warmup_rounds:
            number += 1
            for state in states:
                started = state.rounds > self.last_round - self.plan.measure.session_rounds
                if state.warmups < number and not started and not state.stopped:
                    self._round(state, number, warmup=True)
            if budget is not None and number == 1:
                limit = self._short_limit(budget, states)
        for state in states:
            self._set_repeats(state)
        round_s = budget.round_s(states) if budget is not None and limit is not None else None
        if budget is not None:
            limit = limit or budget.limit(states, self.elapsed_s)
            self.record.append(lines.Limit(**asdict(limit)))
            for state in states:
                planned = {cell.id for cell in self.plan.cells_of(state.input.id)}
                state.targets = {k: target for k, target in state.targets.items() if k in planned}
        limit = limit or RoundLimit(self.plan.measure.rounds_max)
        self._notify(progress.LimitKnown(limit, round_s))

    def _short_limit(self, budget: TimeBudget, states: list[InputProgress]) -> RoundLimit | None:
        """Return the limit of a budget that is too small for the usual measurement, otherwise `None`.

        What failed in the warm-up leaves before. A baseline whose first run may have read files from the
        disk runs once more.
        """
        if not budget.is_short(states, self.elapsed_s):
            return None
        for state in states:
            if not state.stopped and may_be_cold(state):
                self._block(state, state.reference_id, 1, 0, warmup=True)
            self._drop_failed(state, 1, warmup=True, over=True)
        short = budget.is_short(states, self.elapsed_s)
        return budget.short_limit(states, self.elapsed_s) if short else None

    @property
    def _budget(self) -> TimeBudget | None:
        """The budget of a plan whose limit of rounds is not known yet."""
        measure = self.plan.measure
        seconds = math.inf if measure.budget_s is None else measure.budget_s
        few = self.few_rounds and not self.one_round
        return TimeBudget(self.plan, seconds, self.can_decide, few) if measure.by_budget else None

    def _measure(self, states: list[InputProgress]) -> None:
        """Measure round r of every input before round r + 1: drift then affects all inputs."""
        looks = looks_of(self.plan)
        for number in range(1, self.last_round + 1):
            if number == screening.ROUNDS + 1 and self.plan.benches and self.plan.invocation.gate:
                self._screen([state for state in states if state.rounds < number], looks)
            for state in states:
                if not state.stopped and state.rounds < number:
                    self._round(state, number, warmup=False)
                if not self._may_end_here(number):
                    self._analyze(state, states, looks)
            if self._may_end_here(number):
                self._end_session(states, looks)
            if all(state.stopped for state in states):
                break

    def _screen(self, states: Sequence[InputProgress], looks: Looks) -> None:
        """End the benchmarks for which the time is not enough."""
        ending = Reason(ReasonCode.OTHERS_LOOK_SLOWER)
        for state in screening.left_out(self.plan, states, looks, self.elapsed_s):
            if (look := self._due_look(state, looks, ending)) is not None:
                self._take(look, states)

    def _may_end_here(self, number: int) -> bool:
        """Return whether a round is the last one of a session that may be the last of a range."""
        measure = self.plan.measure
        whole = number == self.last_round and self.number >= measure.fewest_sessions
        return whole and measure.sessions_min is not None and not self.one_round

    def _end_session(self, states: Sequence[InputProgress], looks: Looks) -> None:
        """Analyse all inputs, and end the record if the budget has no time for what is open."""
        due = [(state, self._due_look(state, looks)) for state in states if not state.stopped]
        open_ = [state for state, look in due if look is None or not look.stopped]
        finished = {c for _, look in due if look is not None for c in self._leaving(look, states)}
        ending = None
        if open_ and self.number < self.plan.measure.sessions:
            blocks = self.record.contents.blocks
            ending = no_time_for_session(self.plan, blocks, open_, finished, self.elapsed_s)
        for state, look in due:
            ends = ending is not None and (look is None or not look.stopped)
            if (taken := self._due_look(state, looks, ending) if ends else look) is not None:
                self._take(taken, states)

    def _compare_digests(self, check: Callable[[], object]) -> None:
        """End the measurement of inputs whose digests are not those of the record."""
        for input_id, event in self.guard.other_inputs(check):
            if input_id not in self.record.contents.changed:
                self._end(input_id, event)

    def _end_if_changed(self, state: InputProgress) -> bool:
        """End the measurement of an input if it or a program changed. Return whether it has ended."""
        event = self.guard.changed(state.input.id) or self.guard.replaced()
        if event is not None:
            state.stopped = True
            self._end(state.input.id, event)
        return state.stopped

    def _end(self, input_id: str, event: Event) -> None:
        self._add_events((event,))
        self.record.append(lines.Changed(input_id, self.record.contents.rounds.get(input_id, 0)))

    def _prepare_input(self, item: Input) -> InputProgress | None:
        contents, fixed = self.record.contents, self.plan.measure.strategy == "fixed"
        finished = {c for c, line in contents.dropped.items() if fixed and line.state == "idle"}
        gone = contents.dropped.keys() - finished
        cells = [cell for cell in self.plan.cells_of(item.id) if cell.id not in gone]
        targets, events = sessions.targets_of(self.record, cells, self.files, self.driver.env)
        self._add_events(events)
        if not targets:
            return None
        baseline = self.plan.baseline_cell(item.id)
        reference = baseline.id if baseline and baseline.id in targets else next(iter(targets))
        state = InputProgress(item, targets, reference)
        state.resume(contents, {cell.id for cell in self.plan.cells_of(item.id)}, finished)
        forget_answers(self.record, state)
        if state.rounds or state.warmups:
            # The earlier process may have died before it dropped the failed cells of this round.
            self._drop_failed(state, state.rounds or state.warmups, warmup=not state.rounds)
        return state

    def _round(self, state: InputProgress, number: int, *, warmup: bool) -> None:
        order = schedule.order_of_round(self.plan, state, number, warmup=warmup)
        if self._end_if_changed(state):
            return
        self._notify(progress.RoundStarted(state.input.id, number, warmup))
        budget = self._budget if warmup else None
        for position, cell_id in enumerate(order):
            if budget is not None and budget.control_waits(state, cell_id):
                continue
            self.driver.stop.check()
            self._block(state, cell_id, number, position, warmup=warmup)
            if state.stopped:  # its input changed
                return
        if self._end_if_changed(state):
            return
        state.count(number, warmup=warmup)
        elapsed = self.elapsed_s
        self.record.append(lines.RoundEnd(state.input.id, number, warmup, utc_now(), elapsed))
        self._drop_failed(state, number, warmup=warmup)
        self.runner.sync()
        self.record.sync()
        self._notify(progress.RoundFinished(state.input.id, number, warmup, elapsed))

    def _block(
        self, state: InputProgress, cell_id: str, number: int, position: int, *, warmup: bool
    ) -> None:
        target = state.targets[cell_id]
        began, runs = seconds(), 1 if warmup else schedule.runs_of(self.plan, state, cell_id)
        seq = len(self.record.contents.blocks)
        block = Block(seq, number, position, cell_id, warmup, "ok", utc_now())
        self._notify(progress.BlockStarted())
        block = self.runner.run(target, block, runs)
        ended = seconds()
        block, events = BlockChecks(self.record, self.runner.reader).check(state, target, block)
        self.record.append(lines.Measured(block))
        state.blocks.setdefault(cell_id, []).append(block)
        if events and self._end_if_changed(state):  # the cause of other answers
            events = []
        self._add_events(events)
        if warmup:
            # A failed command is run again outside of timing.
            state.warmup_s[cell_id] = (seconds() if block.status == "ok" else ended) - began
        self._notify(progress.BlockFinished(block))

    def _drop_failed(
        self, state: InputProgress, number: int, *, warmup: bool, over: bool = False
    ) -> None:
        """Drop the cells that failed too often or did other work; `over`: no warm-up round follows."""
        over = over or (warmup and number >= self.plan.measure.warmup_rounds > 0)
        for cell_id in list(state.targets):
            dropped = partial(lines.Dropped, cell_id, state.input.id, number, warmup)
            blocks = state.blocks.get(cell_id, [])
            if schedule.failed_too_often(blocks, warmup_over=over):
                self._drop(state, dropped("failed"), blocks[-1].failure)
            elif blocks and blocks[-1].status == "other-output" and (over or not warmup):
                if cell_id == state.reference_id and not self.plan.answer.check:
                    continue
                self._drop(state, dropped("other-output"), blocks[-1].output_reason)
        # If cells failed and no two of the others can be compared, the input has no result.
        failed, cells = self._failed(), self.plan.compared_cells(state.input.id)
        active = sum(cell.id in state.targets for cell in cells)
        state.stopped |= active <= 1 and any(cell.id in failed for cell in cells)

    def _drop(
        self, state: InputProgress, line: lines.Dropped, reason: Reason, *, finished: bool = False
    ) -> None:
        """Drop a cell, or if it is `finished`, measure it in fewer rounds from here on."""
        if finished:
            state.finished.add(line.cell_id)
        else:
            del state.targets[line.cell_id]
        self.record.append(line)
        self._notify(progress.CellDropped(line.cell_id, line.round, reason, raced=line.left))
        if not state.targets:
            state.stopped = True

    def _set_repeats(self, state: InputProgress) -> None:
        """Set the runs per block from the warm-up once; a resumed record keeps its value."""
        if not state.repeats:
            walls = map(state.warmup_walls, state.blocks)
            state.repeats = dict.fromkeys(state.targets, schedule.repeats_of(walls))
            self.record.append(lines.Repeats(state.input.id, dict(state.repeats)))

    def _analyze(self, state: InputProgress, states: Sequence[InputProgress], looks: Looks) -> None:
        """Do the interim analysis that is due after the last round of the input."""
        ending = used_up(self.plan, state, states, self.elapsed_s, self.can_decide)
        if (look := self._due_look(state, looks, ending)) is not None:
            self._take(look, states)

    def _due_look(
        self, state: InputProgress, looks: Looks, ending: Reason | None = None
    ) -> Look | None:
        """Return the interim analysis that is due after the last round of the input.

        `ending` is the reason to end the measurement of the input here in any case.
        """
        here, number, rounds = state.input.id, state.rounds, looks.rounds
        ending = self.one_round or ending
        if state.stopped or not number or (ending is None and number not in rounds):
            return None
        # If the budget ends earlier, this is the last analysis (docs/method.md#interim-analyses).
        last = ending is not None or number == rounds[-1]
        index = len(rounds) - 1 if last else rounds.index(number)
        if (here, index) in {(look.input_id, look.index) for look in self.record.contents.looks}:
            return None
        decision = self.looker(here, index, number)
        reason = self.one_round or decision.reason
        if not self.one_round and last and (not decision.stop or (ending and reason == LAST_LOOK)):
            reason = ending or Reason(ReasonCode.LAST_ROUND)
        stop, trailing, idle = decision.stop or last, decision.trailing, decision.settled or ()
        return Look(here, index, number, stop, reason, trailing, idle)

    def _take(self, look: Look, states: Sequence[InputProgress]) -> None:
        """Store an interim analysis and apply its decisions."""
        leaving = self._leaving(look, states)
        look = replace(look, dropped=tuple(leaving))
        self.record.append(lines.Looked(look))
        for other in states:
            if other.input.id == look.input_id:
                other.stopped = look.stopped
        for other in states:
            for id_ in [c for c in look.dropped if c in other.targets]:
                kind = leaving[id_]
                line = lines.Dropped(id_, other.input.id, other.rounds, warmup=False, state=kind)
                fixed = self.plan.measure.strategy == "fixed"
                self._drop(other, line, Reason(schedule.REASONS[kind]), finished=fixed)
        self.record.sync()
        self._notify(progress.LookTaken(look))

    def _leaving(self, look: Look, states: Sequence[InputProgress]) -> dict[str, race.DropReason]:
        """Return the cells that leave after this analysis, of inputs that continue."""
        measured = {
            cell_id
            for state in states
            if not (state.stopped or (look.stopped and state.input.id == look.input_id))
            for cell_id in state.targets.keys() - state.finished
        }
        looks = [*self.record.contents.looks, look]
        return race.leaving(self.plan, looks, measured, self._failed())

    def _failed(self) -> set[str]:
        return {id_ for id_, line in self.record.contents.dropped.items() if not line.left}

    def _add_events(self, events: Iterable[Event]) -> None:
        for event in events:
            if self.record.note(event):
                self._notify(progress.Remark(event))

    def _notify(self, update: progress.Update) -> None:
        self.driver.observer.notify(update)

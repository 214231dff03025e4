"""Progress of one input, and the checks of its blocks: failures, answers, page cache, metrics.

The checks and the diagnosis of a failure run outside timing.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MeasureError
from bench_framework.execution import declared_metrics, schedule
from bench_framework.model.plan import Cell, Input, Plan, Role
from bench_framework.model.policies import AnswerKind, AnswerPolicy
from bench_framework.model.run import Answer, Block, Event
from bench_framework.store.layout import Raw, writing

if TYPE_CHECKING:
    from bench_framework.execution.process import Launcher
    from bench_framework.execution.target import Target
    from bench_framework.store.journal import Contents
    from bench_framework.store.records import Record


STDERR_LINES: Final = 20
SUCCEEDED_AGAIN: Final = "a second run succeeded"
LARGEST_REFERENCE_BYTES: Final = 64 << 20
"""A larger output is compared by its digest only; a copy would fill the disk."""
CONTEXT_LINES: Final = 10
LONGEST_LINE: Final = 160
"""Characters of a differing line in a message."""


@dataclass(slots=True)
class InputProgress:
    """Progress of one input."""

    input: Input
    targets: dict[str, Target]
    """Active cells by id; a dropped cell is removed."""
    reference_id: str
    """Cell that gives the reference answer: the baseline, or else the first."""
    warmups: int = 0
    rounds: int = 0
    stopped: bool = False
    reference: Answer | None = None
    repeats: Mapping[str, int] = field(default_factory=dict)
    blocks: dict[str, list[Block]] = field(default_factory=dict)
    """Blocks of this input per cell, without skipped ones."""
    warmup_s: dict[str, float] = field(default_factory=dict)
    """Seconds that the newest warm-up block of a cell took with everything around it, by cell id.
    It is not known of rounds before a resumption."""
    noted: set[tuple[str, str]] = field(default_factory=set)
    """Cell id and code of the events so far."""

    def resume(self, contents: Contents, cell_ids: Collection[str]) -> None:
        """Restore the progress from the journal of a record."""
        here = self.input.id
        self.warmups = contents.warmups.get(here, 0)
        self.rounds = contents.rounds.get(here, 0)
        self.stopped = contents.stopped(here)
        self.repeats = contents.repeats.get(here, {})
        for block in contents.blocks:
            if block.cell_id in cell_ids and block.status != "skipped":
                self.blocks.setdefault(block.cell_id, []).append(block)
        self.reference = self.first_answer(self.reference_id)
        self.noted = {(event.cell_id or "", event.code) for event in contents.events}

    def first_answer(self, cell_id: str) -> Answer | None:
        """Return the answer of the first good block of a cell."""
        blocks = self.blocks.get(cell_id, ())
        return next((b.answer for b in blocks if b.status == "ok" and b.answer), None)

    def new_event(self, event: Event) -> list[Event]:
        """Return the event, unless its cell already has one with this code."""
        key = (event.cell_id or "", event.code)
        if key in self.noted:
            return []
        self.noted.add(key)
        return [event]


@dataclass(frozen=True, slots=True)
class BlockChecks:
    """The checks of a measured block, before it is added to the record."""

    record: Record
    launcher: Launcher
    stdout_is_answer: bool

    def check(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        """Return the block with its final status, and its events that are new."""
        events: list[Event] = []
        if block.status in schedule.VOID:
            block, events = self._handle_failure(state, target, block)
        elif block.answer is not None and target.cell.role.separate:
            block, events = self._verify_bound(state, target, block, block.answer)
        elif block.answer is not None:
            block, events = self._verify_answer(state, target, block, block.answer)
        if event := cache_event(target, block):
            events += state.new_event(event)
        if block.missing:
            events += state.new_event(declared_metrics.missing_event(target, block))
        return block, events

    def _handle_failure(
        self, state: InputProgress, target: Target, block: Block
    ) -> tuple[Block, list[Event]]:
        if (block.cell_id, "BX201") in state.noted:
            return block, []
        again = None
        if not block.timed_out:  # a program that hangs would hang again
            log = self.record.raw.log(f"{block.cell_id}.stderr")
            again = rerun(
                self.launcher,
                target,
                self.record.plan.answer,
                log,
                self.record.plan.measure.timeout_s,
            )
            block = replace(block, stderr_log=str(log.relative_to(self.record.path)))
        event = failure_event(self.record.plan, target, block, again)
        return block, state.new_event(event)

    def _verify_answer(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> tuple[Block, list[Event]]:
        if state.reference is None and block.cell_id == state.reference_id:
            state.reference = answer
            if self.stdout_is_answer:
                keep_reference(self.record.raw, state.input.id)
        if state.reference is None or state.reference.digest == answer.digest:
            return block, []
        if self.record.plan.answer.differs == "refuse":
            block = replace(block, status="other-output")
        return block, self._answer_events(state, target, block, state.reference)

    def _answer_events(
        self, state: InputProgress, target: Target, block: Block, reference: Answer
    ) -> list[Event]:
        """Return the event of another answer. That of a baseline that varies replaces all others."""
        plan, answers = self.record.plan, self.record.plan.answer
        warn, baseline = answers.differs == "warn", plan.cell(state.reference_id)
        code, varying = ("BX334", "BX334") if warn else ("BX210", "BX214")
        if {(block.cell_id, code), (baseline.id, varying)} & state.noted:
            return []
        raw = self.record.raw if self.stdout_is_answer else None
        event = other_output_event(target, block, reference, baseline.label, raw, answers.compare)
        is_control = target.cell.role is Role.CONTROL and baseline.role is Role.BASELINE
        if block.cell_id == baseline.id or is_control:
            event = varying_answer_event(baseline, event)
        if warn:
            event = replace(
                event,
                code="BX334",
                severity="warning",
                effect="its times are compared, but the commands may do different work",
                help="check both outputs; to ignore them, set answer: {compare: none} "
                "(`benchctl ab --ignore-output`)",
            )
        return state.new_event(event)

    def _verify_bound(
        self, state: InputProgress, target: Target, block: Block, answer: Answer
    ) -> tuple[Block, list[Event]]:
        """Compare the answer of a bound, which does other work, with its own first answer."""
        first = state.first_answer(block.cell_id)
        if first is None or first.digest == answer.digest:
            return block, []
        block = replace(block, status="other-output", message="its answers differ between runs")
        event = other_output_event(target, block, first, target.cell.label, None)
        return block, state.new_event(varying_answer_event(target.cell, event))


def rerun(
    launcher: Launcher, target: Target, policy: AnswerPolicy, log: Path, timeout_s: float
) -> tuple[str, str]:
    """Run a failed command once more to capture its stderr, which hyperfine discards.

    Return the outcome in words, and the last lines of its stderr; `log` contains all.
    """
    answers = log.with_suffix(".answers")  # without the file a worker would fail for another reason
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        finished = launcher.run(target.command(answers, timeout_s, stderr=str(log)))
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except MeasureError as error:
        return "; ".join((error.message, *(text for _, text in error.details))), ""
    except OSError as error:
        return f"its stderr could not be stored: {error.strerror}", ""
    finally:
        with contextlib.suppress(OSError):
            answers.unlink(missing_ok=True)
    how = SUCCEEDED_AGAIN if finished.exit_code in policy.exit_codes else finished.how
    return how, "\n".join(lines[-STDERR_LINES:])


def failure_event(plan: Plan, target: Target, block: Block, again: tuple[str, str] | None) -> Event:
    """Return the event BX201: a cell's first failure, with the outcome of a second run."""
    details = [("command", shlex.join(target.argv))]
    if again is not None:
        how, stderr = again
        if stderr:
            excerpt = f"{stderr}   (last {STDERR_LINES} lines; all in {block.stderr_log})"
            details.append(("stderr", excerpt))
        bad_end = any(code not in plan.answer.exit_codes for code in block.exit_codes)
        if how == SUCCEEDED_AGAIN and bad_end:
            how += "; the cause may be a data race or files of the previous run"
        # If it succeeded before too, the failure is in its answer and this detail says nothing.
        if how != SUCCEEDED_AGAIN or not block.exit_codes or bad_end:
            details.append(("second run", how))
    round_name = f"warm-up round {block.round}" if block.warmup else f"round {block.round}"
    return Event(
        "BX201",
        f"{target.cell.label} failed in {round_name} ({block.message})",
        "error",
        block.cell_id,
        block.round,
        effect="its failed rounds are left out of comparisons; "
        "all other configurations are measured",
        help=f"reproduce: {reproduction(plan, target.cell)}"
        if plan.scenario_path
        else "run the command by itself; it must exit with 0",
        details=tuple(details),
    )


def reproduction(plan: Plan, cell: Cell) -> str:
    """Return the shell command that measures a cell and its baseline again."""
    variant, given = plan.variant(cell.variant_id), plan.input(cell.input_id)
    terms = [_term(name, value) for name, value in (*variant.values, *given.values)]
    if variant.experiment:
        terms.insert(0, _term("experiment", variant.experiment))
    only = f" -k {shlex.quote(' '.join(terms))}" if terms else ""
    words = iter(plan.asked)
    settings = [
        word
        for option, value in zip(words, words, strict=False)
        if option == "-S"
        for word in (option, value)
    ]
    return f"benchctl run {shlex.join((plan.scenario_path, *settings))}{only} --quick"


def _term(name: str, value: str) -> str:
    """Return a condition of ``-k``; a value with both kinds of quotes becomes a pattern."""
    if re.fullmatch(r"[\w.+-]+", value):
        return f"{name}={value}"
    for quote in "'\"":
        if quote not in value:
            return f"{name}={quote}{value}{quote}"
    pattern = re.escape(value).replace("'", ".")
    return f"{name}~'^{pattern}$'"


def cache_event(target: Target, block: Block) -> Event | None:
    """Return the event BX341 or BX342 if the requested page cache was not confirmed, or `None`."""
    requested, actual = target.cell.cache, block.page_cache
    if (
        block.status in {"failed", "timeout"}
        or actual is None
        or requested in {"unknown", actual.state}
    ):
        return None
    cold = requested == "cold"
    place = f"{'warm-up ' if block.warmup else ''}round {block.round}"
    return Event(
        "BX341" if cold else "BX342",
        f"page cache not verified to be {requested}: {target.cell.label} in {place}: {actual.why}",
        cell_id=block.cell_id,
        round=block.round,
        effect=("" if cold else "in a comparison with cold runs, ")
        + "the round does not count for this configuration; "
        "it is not compared if more than 5 % of its rounds are lost",
        help="store the input on a local disk, in files that you own and no other program uses, "
        "and run as root"
        if cold
        else "choose an input that fits into memory, or set `cache: unknown`",
        details=(("input", str(target.input_path)),),
    )


def keep_reference(raw: Raw, input_id: str) -> None:
    """Store the output of the baseline to show later differences; skip it on a full disk."""
    copy = raw.reference(input_id)
    try:
        if raw.stdout.stat().st_size <= LARGEST_REFERENCE_BYTES:
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(raw.stdout, copy)
    except OSError:
        # The digest decides. Without the text only the position of a difference cannot be shown.
        with contextlib.suppress(OSError):
            copy.unlink(missing_ok=True)


def varying_answer_event(cell: Cell, event: Event) -> Event:
    """Return the event BX214, the answers of a cell differ between its runs, from one of BX210."""
    return replace(
        event,
        code="BX214",
        message=f"{cell.label} gives different answers in different runs",
        cell_id=cell.id,
        effect="runs with another answer than the first one are not compared",
        help="make the program deterministic, or set answer: {compare: none}",
    )


def other_output_event(
    target: Target,
    block: Block,
    reference: Answer,
    reference_label: str,
    raw: Raw | None,
    compare: AnswerKind = "exact",
) -> Event:
    """Return the event BX210: a cell did other work than the reference.

    `raw` is the folder of stdout and the reference; `None` if the answer was not stdout.
    """
    in_order = compare != "sorted-lines"
    assert block.answer is not None
    details = [("digest", f"{reference.digest[:12]}… ≠ {block.answer.digest[:12]}…")]
    if reference.count is not None and block.answer.count is not None:
        details.append(("count", f"{reference.count} ≠ {block.answer.count}"))
    if raw is not None and (
        first := save_difference(raw, block.cell_id, target.cell.input_id, in_order=in_order)
    ):
        number, theirs, ours = first
        place = "" if in_order else " of the sorted outputs"
        saved = f"line {number}{place}, saved in raw/diff/{block.cell_id}.txt"
        details += [("first difference", saved), ("baseline", theirs), ("variant", ours)]
    return Event(
        "BX210",
        f"{target.cell.label} prints a different result from {reference_label}",
        "error",
        block.cell_id,
        block.round,
        effect="its times are in runs.csv (comparable=false) but not compared",
        help="correct the program; if only the order of lines differs, "
        "set answer: {compare: sorted-lines}"
        if compare == "exact"
        else "correct the program, or set answer: {compare: none}",
        details=tuple(details),
    )


def save_difference(
    raw: Raw, cell_id: str, input_id: str, *, in_order: bool
) -> tuple[int, str, str] | None:
    """Write the first differing lines of stdout and reference to a file.

    Without `in_order`, the sorted lines are compared.

    Return the number of the first such line, from 1, and this line of the reference and of stdout,
    perhaps cut; `None` if there is nothing to show.
    """
    reference = raw.reference(input_id)
    if not reference.is_file() or not raw.stdout.is_file():
        return None
    with reference.open("rb") as expected, raw.stdout.open("rb") as actual:
        both = (expected, actual) if in_order else (sorted(expected), sorted(actual))
        pairs = enumerate(itertools.zip_longest(*both), start=1)
        first = next(((number, pair) for number, pair in pairs if pair[0] != pair[1]), None)
        if first is None:
            return None
        number, pair = first
        rest = [pair, *(pair for _, pair in itertools.islice(pairs, CONTEXT_LINES))]
    lines = [f"first difference: line {number}  (- baseline, + this cell)"]
    for left, right in rest:
        for sign, line in (("-", left), ("+", right)):
            if left != right and line is not None:
                lines.append(f"{sign} {line.decode(errors='replace').rstrip()}")
    path = raw.diff(cell_id)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    theirs, ours = ("(end of output)" if line is None else _excerpt(line) for line in pair)
    return number, theirs, ours


def _excerpt(line: bytes) -> str:
    """Return a line as text, cut to `LONGEST_LINE` characters."""
    text = line.decode(errors="replace").rstrip()
    return (text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…") or "(empty line)"

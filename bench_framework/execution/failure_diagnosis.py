"""After a bad block, outside timing: what did the program say, and where does its output differ?"""

from __future__ import annotations

import contextlib
import itertools
import re
import shlex
import shutil
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MeasureError
from bench_framework.execution.process import Command
from bench_framework.execution.worker import ANSWERS
from bench_framework.model.run import Event
from bench_framework.store.layout import writing

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.target import Target
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.policies import AnswerPolicy
    from bench_framework.model.run import Answer, Block
    from bench_framework.store.layout import Raw

STDERR_LINES: Final = 20
AGAIN_GOOD: Final = "run again, it succeeded"
LARGEST_REFERENCE_BYTES: Final = 64 << 20
"""A larger output is only told apart by its digest; keeping it would fill the disk with the record."""
CONTEXT_LINES: Final = 10


def rerun(
    launcher: Launcher, target: Target, policy: AnswerPolicy, log: Path, timeout_s: float
) -> tuple[str, str]:
    """Run a failed command once more to catch its stderr, which hyperfine loses.

    Returns:
        How it ended this time, in words, and the last lines of its stderr. The whole of it is in `log`.
    """
    answers = log.with_suffix(".answers")  # a worker that cannot answer would fail for another reason
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        finished = launcher.run(
            Command(
                target.argv,
                {**target.env, ANSWERS: str(answers)},
                target.cwd,
                target.stdin,
                stderr=str(log),
                timeout_s=timeout_s,
                cpus=target.cpus,
            )
        )
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except MeasureError as error:
        return "; ".join((error.message, *(text for _, text in error.details))), ""
    except OSError as error:
        return f"its stderr could not be kept: {error.strerror}", ""
    finally:
        with contextlib.suppress(OSError):
            answers.unlink(missing_ok=True)
    how = AGAIN_GOOD if finished.exit_code in policy.exit_codes else finished.how
    return how, "\n".join(lines[-STDERR_LINES:])


def failure_event(plan: Plan, target: Target, block: Block, again: tuple[str, str] | None) -> Event:
    """BX201: a cell's first failure, with what it said when it was run again."""
    details = [("command", shlex.join(target.argv))]
    if again is not None:
        how, stderr = again
        if stderr:
            shown = f"{stderr}   (last {STDERR_LINES} lines; all in {block.stderr_log})"
            details.append(("stderr", shown))
        bad_end = any(code not in plan.answer.exit_codes for code in block.exit_codes)
        if how == AGAIN_GOOD and bad_end:
            how += ": a race, or something that the run before left behind"
        if (
            how != AGAIN_GOOD or not block.exit_codes or bad_end
        ):  # it ended well before too: its answer is bad
            details.append(("again", how))
    round_name = f"warm-up round {block.round}" if block.warmup else f"round {block.round}"
    return Event(
        "BX201",
        f"{target.cell.label} failed in {round_name} ({block.message})",
        "error",
        block.cell_id,
        block.round,
        effect="its failed rounds are in no comparison; every other cell is measured as planned",
        help=f"reproduce: {reproduction(plan, target.cell)}",
        details=tuple(details),
    )


def reproduction(plan: Plan, cell: Cell) -> str:
    """The command that measures a cell again, beside its baseline; it can be pasted into a shell."""
    variant, given = plan.variant(cell.variant_id), plan.input(cell.input_id)
    terms = [_term(name, value) for name, value in (*variant.values, *given.values)]
    if variant.experiment:
        terms.insert(0, _term("experiment", variant.experiment))
    only = f" -k {shlex.quote(' '.join(terms))}" if terms else ""
    words = iter(plan.asked)
    kept = [
        word
        for option, value in zip(words, words, strict=False)
        if option == "-S"
        for word in (option, value)
    ]
    return f"benchctl run {shlex.join((plan.scenario_path, *kept))}{only} --quick"


def _term(name: str, value: str) -> str:
    """A condition as ``-k`` reads it; a value with both kinds of quotes is told by a pattern."""
    if re.fullmatch(r"[\w.+-]+", value):
        return f"{name}={value}"
    for quote in "'\"":
        if quote not in value:
            return f"{name}={quote}{value}{quote}"
    pattern = re.escape(value).replace("'", ".")
    return f"{name}~'^{pattern}$'"


def cache_event(target: Target, block: Block) -> Event | None:
    """BX341 or BX342: a cold or a warm page cache was asked for, and not seen; `None` if all is as asked."""
    asked, seen = target.cell.cache, block.page_cache
    if block.status in {"failed", "timeout"} or seen is None or asked in {"unknown", seen.state}:
        return None
    cold = asked == "cold"
    place = f"{'warm-up ' if block.warmup else ''}round {block.round}"
    return Event(
        "BX341" if cold else "BX342",
        f"cache state not verified: {target.cell.label} in {place} was not seen to be {asked}: {seen.why}",
        cell_id=block.cell_id,
        round=block.round,
        effect=("" if cold else "beside cold runs ")
        + "the round is void for this cell; with more than 5 % such rounds it is compared with nothing",
        help="keep the input on a local disk, in files of your own that no other program uses, and run as root"
        if cold
        else "choose an input that memory can hold, or say `cache: unknown`",
        details=(("input", str(target.input_path)),),
    )


def keep_reference(raw: Raw, input_id: str) -> None:
    """Keep what the baseline printed, to show later where another output differs, if there is room for it."""
    kept = raw.reference(input_id)
    try:
        if raw.stdout.stat().st_size <= LARGEST_REFERENCE_BYTES:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(raw.stdout, kept)
    except OSError:
        # The digest decides; without the text only the place of a difference is not shown.
        with contextlib.suppress(OSError):
            kept.unlink(missing_ok=True)


def unsteady_event(target: Target, block: Block, reference: Answer) -> Event:
    """BX214: the cell whose answer all others must give answered otherwise than before."""
    assert block.answer is not None
    return Event(
        "BX214",
        f"{target.cell.label} does not give the same answer each time, and the others are held against it",
        "error",
        block.cell_id,
        block.round,
        effect="no work is known that all cells must do; what differs is not compared",
        help="make the program deterministic, or say answer: {compare: none}",
        details=(("digest", f"{reference.digest[:12]}… ≠ {block.answer.digest[:12]}…"),),
    )


def other_output_event(
    target: Target, block: Block, reference: Answer, reference_label: str, raw: Raw | None
) -> Event:
    """BX210: a cell did other work than the reference.

    Args:
        target: the cell.
        block: its block.
        reference: the answer that was expected.
        reference_label: of the cell that gave it.
        raw: where stdout and the reference lie; `None` if the answer was not stdout.
    """
    assert block.answer is not None
    details = [("digest", f"{reference.digest[:12]}… ≠ {block.answer.digest[:12]}…")]
    if reference.count is not None and block.answer.count is not None:
        details.append(("count", f"{reference.count} ≠ {block.answer.count}"))
    if raw is not None and (first := save_difference(raw, block.cell_id, target.cell.input_id)):
        details.append(("first difference", f"line {first}, saved in raw/diff/{block.cell_id}.txt"))
    return Event(
        "BX210",
        f"{target.cell.label} prints another result than {reference_label}",
        "error",
        block.cell_id,
        block.round,
        effect="its times are kept in runs.csv (comparable=false) and never compared",
        help="if the order of lines may differ: answer: {compare: sorted-lines}",
        details=tuple(details),
    )


def save_difference(raw: Raw, cell_id: str, input_id: str) -> int | None:
    """Write the first differing lines of stdout and reference side by side; their line number, from 1."""
    reference = raw.reference(input_id)
    if not reference.is_file() or not raw.stdout.is_file():
        return None
    with reference.open("rb") as expected, raw.stdout.open("rb") as found:
        pairs = enumerate(itertools.zip_longest(expected, found), start=1)
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
    return number

"""Diagnosis of failed blocks, outside timing: stderr and differences of the output."""

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
SUCCEEDED_AGAIN: Final = "a second run succeeded"
LARGEST_REFERENCE_BYTES: Final = 64 << 20
"""A larger output is compared by its digest only; a copy would fill the disk."""
CONTEXT_LINES: Final = 10


def rerun(
    launcher: Launcher, target: Target, policy: AnswerPolicy, log: Path, timeout_s: float
) -> tuple[str, str]:
    """Run a failed command once more to capture its stderr, which hyperfine discards.

    Returns:
        The outcome of this run in words, and the last lines of its stderr; `log` contains all.
    """
    answers = log.with_suffix(".answers")  # without the file a worker would fail for another reason
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
            details.append(("again", how))
    round_name = f"warm-up round {block.round}" if block.warmup else f"round {block.round}"
    return Event(
        "BX201",
        f"{target.cell.label} failed in {round_name} ({block.message})",
        "error",
        block.cell_id,
        block.round,
        effect="its failed rounds are left out of comparisons; "
        "all other configurations are measured",
        help=f"reproduce: {reproduction(plan, target.cell)}",
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
    """Return the event BX341 or BX342: the requested cold or warm page cache was not confirmed.

    `None` if the state is as requested.
    """
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


def varying_answer_event(target: Target, block: Block, reference: Answer) -> Event:
    """Return the event BX214: the answers of a cell differ between its runs."""
    assert block.answer is not None
    return Event(
        "BX214",
        f"{target.cell.label} gives different answers in different runs",
        "error",
        block.cell_id,
        block.round,
        effect="runs with another answer than the first one are not compared",
        help="make the program deterministic, or set answer: {compare: none}",
        details=(("digest", f"{reference.digest[:12]}… ≠ {block.answer.digest[:12]}…"),),
    )


def other_output_event(
    target: Target, block: Block, reference: Answer, reference_label: str, raw: Raw | None
) -> Event:
    """Return the event BX210: a cell did other work than the reference.

    Args:
        target: the cell.
        block: its block.
        reference: the answer that was expected.
        reference_label: label of the cell that gave it.
        raw: folder of stdout and the reference; `None` if the answer was not stdout.
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
        effect="its times are in runs.csv (comparable=false) but not compared",
        help="correct the program; if only the order of lines differs, "
        "set answer: {compare: sorted-lines}",
        details=tuple(details),
    )


def save_difference(raw: Raw, cell_id: str, input_id: str) -> int | None:
    """Write the first differing lines of stdout and reference to a file.

    Returns:
        The line number of the first difference, from 1; `None` if there is nothing to show.
    """
    reference = raw.reference(input_id)
    if not reference.is_file() or not raw.stdout.is_file():
        return None
    with reference.open("rb") as expected, raw.stdout.open("rb") as actual:
        pairs = enumerate(itertools.zip_longest(expected, actual), start=1)
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

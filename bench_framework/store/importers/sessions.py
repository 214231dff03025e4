"""Reading of an imported file: detect its format and return its session."""

from __future__ import annotations

import hashlib
import re
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Final

from bench_framework.foreign import read_input
from bench_framework.model.imported import Command, Format, MemoryKind, Series, Session
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.store.importers import faults, hyperfine, tables

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.model.policies import Metric

MOST_BYTES: Final = 64 * 1024 * 1024
"""Largest file. hyperfine writes about 40 bytes per run, so this is more than a million runs."""
MOST_COMMANDS: Final = 200
"""Most commands of a session, because the best group compares every pair of commands."""
MOST_LABEL: Final = 1000
"""Most characters of a label. Pages repeat it in tables, captions and sentences."""
KNOWN_VERSION: Final = 2


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file to import.

    Raises:
        UsageError: it does not exist, is not a file, is empty or is larger than 64 MiB (BX450).
    """
    try:
        return read_input(path, MOST_BYTES)
    except ValueError as error:
        raise faults.fault(faults.UNREADABLE, str(path), str(error)) from error


def slug(text: str) -> str:
    """Return a text as part of a file name, with letters, digits, dots and hyphens only.

    The result is ``imported`` if no such character remains.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:80] or "imported"


def read_session(content: bytes, file: str, number: int) -> Session:
    """Return the session of one file.

    `number` is the position of the file in the set, from 1.

    Raises `UsageError`: the contents are invalid (BX451 to BX454).
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise faults.fault(
            faults.UNKNOWN, file, f"{file} is not UTF-8 text", cause=str(error)
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    kind: Format
    if text.lstrip().startswith(("{", "[")):
        kind, memory, commands = _hyperfine(text, file)
    else:
        kind, memory, commands = "table", "none", _table(text, file)
    if len(commands) > MOST_COMMANDS:
        message = f"{file} has {len(commands)} commands; the limit is {MOST_COMMANDS}"
        fix = "remove commands, or split the file: each file is one session"
        raise faults.fault(faults.UNKNOWN, file, message, fix=fix)
    if any(len(command.label) > MOST_LABEL for command in commands):
        fix = "give the command a short name (hyperfine -n NAME), or the row a short label"
        raise faults.fault(
            faults.NAMES, file, f"{file} has a label of more than {MOST_LABEL} characters", fix=fix
        )
    twice = [
        label
        for label, count in Counter(command.label for command in commands).items()
        if count > 1
    ]
    if twice:
        message = f"{file} has {twice[0]!r} more than once"
        fix = "give each command a unique name (hyperfine -n NAME), or each row a unique label"
        raise faults.fault(faults.NAMES, file, message, where=", ".join(twice[1:4]), fix=fix)
    source = f"sources/{number}-{slug(file)}"
    return Session(file, source, digest, kind, commands, memory)


def _hyperfine(text: str, file: str) -> tuple[Format, MemoryKind, tuple[Command, ...]]:
    try:
        export = hyperfine.read_export(text)
    except hyperfine.UNREADABLE as error:
        message = f"{file} is not hyperfine's JSON"
        fix = "use a file of `hyperfine --export-json` (version 1 or schema version 2) or a table"
        raise faults.fault(
            faults.UNKNOWN, file, message, cause=f"{type(error).__name__}: {error}", fix=fix
        ) from error
    if export.version > KNOWN_VERSION:
        message = f"{file} has schema version {export.version}; supported are versions 1 and 2"
        raise faults.fault(faults.UNKNOWN, file, message)
    if not export.commands:
        raise faults.fault(faults.UNKNOWN, file, f"{file} has no command")
    memory = _memory_kind(export)
    commands = tuple(_timed(one, memory, file) for one in export.commands)
    return (
        ("hyperfine-2" if export.version >= hyperfine.PER_RUN else "hyperfine-1"),
        memory,
        commands,
    )


def _memory_kind(export: hyperfine.Export) -> MemoryKind:
    if not any(one.memory for one in export.commands):
        return "none"
    if export.version >= hyperfine.PER_RUN:
        return "per-run"
    return "one-figure" if len(export.commands) == 1 else "running-maximum"


def _timed(one: hyperfine.Timed, memory: MemoryKind, file: str) -> Command:
    if not one.command.strip():
        raise faults.fault(faults.NAMES, file, "a result has no command")
    try:
        one.command.encode()
    except UnicodeEncodeError as error:
        message = f"{one.command!a} has an unpaired surrogate, which is not valid Unicode"
        raise faults.fault(
            faults.NAMES, file, message, fix="name the command with hyperfine -n NAME"
        ) from error
    for number, value in enumerate(one.times, 1):
        faults.require_time(value, f"the time of run {number}", file, one.command)
    for value in (*one.user, *one.system):
        faults.require_amount(value, faults.MOST_S, "a CPU time", file, one.command)
    for value in one.memory:
        faults.require_amount(value, faults.MOST_MEMORY, "a memory figure", file, one.command)
    good = [i for i, code in enumerate(one.exit_codes) if code == 0]
    series = [series_of(WALL, [one.times[i] for i in good])]
    if one.per_run:
        series.append(series_of(CPU, [one.user[i] + one.system[i] for i in good]))
        if len(one.memory) == len(one.times):
            series.append(series_of(PEAK_RSS, [one.memory[i] for i in good]))
    elif good:
        mean = one.user[0] + one.system[0]
        series.append(Series(CPU, len(one.times), mean, None) if mean > 0 else None)
        if memory == "one-figure":
            series.append(Series(PEAK_RSS, 1, max(one.memory), None))
    return Command(
        one.command, tuple(s for s in series if s is not None), len(one.times) - len(good)
    )


def series_of(metric: Metric, values: list[float]) -> Series | None:
    """Return a series of single runs, or `None` if no value is above zero."""
    if not values or min(values) <= 0:
        return None
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Series(metric, len(values), statistics.fmean(values), spread, tuple(values))


def _table(text: str, file: str) -> tuple[Command, ...]:
    return tuple(
        Command(row.label, (Series(WALL, row.n, row.mean, row.sd),))
        for row in tables.read_table(text, file)
    )

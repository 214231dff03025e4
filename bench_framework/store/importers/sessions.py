"""Reading of an imported file: detect its format and return its session."""

import csv
import hashlib
import io
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import UsageError
from bench_framework.foreign import parse_json, read_input
from bench_framework.model.imported import Command, Format, MemoryKind, Series, Session
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.policies import Metric
from bench_framework.store.importers import harnesses, hyperfine
from bench_framework.units import PER_SECOND

UNREADABLE: Final = "BX450"
"""Code: the file cannot be read."""
UNKNOWN: Final = "BX451"
"""Code: the file is neither JSON of a supported tool nor a supported table."""
IMPOSSIBLE: Final = "BX452"
"""Code: a value is not possible for a measurement."""
NAMES: Final = "BX453"
"""Code: labels are duplicated or missing."""
UNITS: Final = "BX454"
"""Code: a table has several units, or a unit that is not a unit of time."""
LEAST_S, MOST_S = 1e-12, 1e9
MOST_MEMORY: Final = 1e18
NOTHING_WRITTEN: Final = "nothing was imported"


def fault(
    code: str, file: str, message: str, *, where: str = "", cause: str = "", fix: str = ""
) -> UsageError:
    """Return an error about one file."""
    details = [("file", file), ("where", where), ("cause", cause)]
    return UsageError(
        message,
        code=code,
        details=tuple((name, text) for name, text in details if text),
        effect=NOTHING_WRITTEN,
        fix=fix or "`benchctl help import` describes the files that can be imported",
    )


def require_time(seconds: float, what: str, file: str, where: str) -> float:
    """Check a measured time in seconds and return it.

    Raises `UsageError` (BX452): the time is not finite, not above zero (so that ratios are not
    defined), below a picosecond or above 30 years.
    """
    if not math.isfinite(seconds) or seconds <= 0:
        message = f"{what} is {seconds:g}; it must be a number above zero"
        raise fault(IMPOSSIBLE, file, message, where=where)
    if not LEAST_S <= seconds <= MOST_S:
        message = f"{what} is {seconds:g} s, which no program takes"
        raise fault(IMPOSSIBLE, file, message, where=where)
    return seconds


def require_amount(value: float, most: float, what: str, file: str, where: str) -> float:
    """Return a spread, a CPU time or a size. Raises `UsageError` (BX452): not in 0 to `most`."""
    if not 0 <= value <= most:
        message = f"{what} is {value:g}; it must lie between 0 and {most:g}"
        raise fault(IMPOSSIBLE, file, message, where=where)
    return value


COLUMNS: Final = ("label", "mean", "sd", "n", "unit")
RUN_COLUMNS: Final = ("label", "time", "unit")
"""Columns of a table with one row per run."""
MOST_RUNS: Final = 10**9
_PIPE: Final = re.compile(r"(?<!\\)\|")
"""Separator of the cells of a row. ``\\|`` is a literal bar."""
_HYPERFINES: Final = "command"
"""First column of the tables that hyperfine writes."""


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a table, in seconds. Missing values are `None`."""

    label: str
    mean: float
    """Mean, or the time of a run."""
    sd: float | None
    n: int | None
    single: bool = False
    """True if the row is one run."""


def read_table(text: str, file: str) -> tuple[Published, ...]:
    """Return the rows of a table.

    The text is CSV with a header line, or a Markdown table. The columns `COLUMNS` or `RUN_COLUMNS` may
    have any order.

    Raises `UsageError` (BX454): it is not such a table (BX451), a value is not possible (BX452), or
    the units are invalid.
    """
    lines = _markdown(text) if text.lstrip().startswith("|") else _comma(text, file)
    head, *rows = lines or [[]]
    names = [name.strip().lower() for name in head]
    _check_head(names, file)
    if not rows:
        raise fault(UNKNOWN, file, "the table has no rows")
    figures = [
        _row(dict(zip(names, cells, strict=True)), file, f"row {number}")
        for number, cells in _whole(rows, len(names), file)
    ]
    units = list(dict.fromkeys(unit for _, unit in figures))
    if len(units) > 1:
        fix = "use the same unit in every row"
        raise fault(UNITS, file, f"one table has several units: {', '.join(units)}", fix=fix)
    return tuple(row for row, _ in figures)


def _markdown(text: str) -> list[list[str]]:
    """Return the cells of each line of a Markdown table, without the rule below the header."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[cell.strip().replace("\\|", "|") for cell in _PIPE.split(line)[1:]] for line in lines]
    rows = [row[:-1] if row and not row[-1] else row for row in rows]
    return [row for row in rows if not all(cell and set(cell) <= set(":-") for cell in row)]


def _comma(text: str, file: str) -> list[list[str]]:
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise fault(UNKNOWN, file, "the table is not valid CSV", cause=str(error)) from error
    return [[cell.strip() for cell in line] for line in lines if any(cell.strip() for cell in line)]


def _check_head(names: list[str], file: str) -> None:
    known = RUN_COLUMNS if "time" in names else COLUMNS
    missing = [name for name in known[:2] if name not in names]
    strange = [name for name in names if name not in known]
    if missing or strange or len(set(names)) < len(names):
        columns = ", ".join(missing or names)
        problem = f"{'no column' if missing else 'the columns'} {columns}"
        advice = f"write the column names in the first line: {','.join(COLUMNS)}"
        advice += f" (sd, n, unit optional), or {','.join(RUN_COLUMNS)} with one row per run"
        if names[:1] == [_HYPERFINES]:
            problem = (
                "this looks like a table of hyperfine, which does not contain the number of runs"
            )
            advice = "import the file of `hyperfine --export-json`, which contains every run"
        message = (
            f"the file is neither JSON of a benchmark tool nor a table with a header: {problem}"
        )
        raise fault(UNKNOWN, file, message, fix=advice)


def _whole(rows: list[list[str]], width: int, file: str) -> Iterator[tuple[int, list[str]]]:
    for number, cells in enumerate(rows, 1):
        if len(cells) != width:
            message = f"row {number} has {len(cells)} cells, the header has {width}"
            raise fault(UNKNOWN, file, message)
        yield number, cells


def _row(cells: dict[str, str], file: str, where: str) -> tuple[Published, str]:
    label = cells["label"]
    if not label:
        raise fault(NAMES, file, "a row has no label", where=where)
    where = f"{where} ({label})"
    unit = cells.get("unit") or "s"
    if unit not in PER_SECOND:
        fix = f"use one of: {', '.join(PER_SECOND)}"
        raise fault(UNITS, file, f"{unit!r} is not a unit of time", where=where, fix=fix)
    scale = PER_SECOND[unit]
    column = "time" if "time" in cells else "mean"
    mean = require_time(_seconds(cells[column], scale, column, file, where), column, file, where)
    sd = None
    if cells.get("sd"):
        spread = _seconds(cells["sd"], scale, "sd", file, where)
        sd = require_amount(spread, MOST_S, "sd", file, where)
    n = _count(cells.get("n", ""), file, where)
    # A single run has no spread, so a given value is ignored.
    return Published(label, mean, sd if n != 1 else None, n, column == "time"), unit


def _seconds(text: str, per_second: int, what: str, file: str, where: str) -> float:
    """Return a time in seconds, converted in decimal so that 191.2 ms is exactly 0.1912 s."""
    return float(Decimal(repr(_number(text, what, file, where))) / per_second)


def _number(text: str, what: str, file: str, where: str) -> float:
    try:
        return float(text.replace("_", "x"))
    except ValueError as error:
        message = f"{what} is {text!r}, which is not a number"
        fix = "write a number with a decimal point; the unit has a separate column"
        raise fault(IMPOSSIBLE, file, message, where=where, fix=fix) from error


def _count(text: str, file: str, where: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:12]) <= MOST_RUNS:
        message = f"n is {text}; it must be a whole number of at least 1"
        raise fault(IMPOSSIBLE, file, message, where=where)
    return int(text)


MOST_BYTES: Final = 64 * 1024 * 1024
"""Largest file. hyperfine writes about 40 bytes per run, so this is more than a million runs."""
MOST_COMMANDS: Final = 200
"""Most commands of a session, because the best group compares every pair of commands."""
MOST_LABEL: Final = 1000
"""Most characters of a label. Pages repeat it in tables, captions and sentences."""
KNOWN_VERSION: Final = 2


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file to import, or of a folder with samples of criterion.

    Raises:
        UsageError: it does not exist, is not a file, is empty or is larger than 64 MiB, or is a
            folder without samples (BX450).
    """
    if path.is_dir():
        try:
            return harnesses.bundle(path, MOST_BYTES)
        except (OSError, ValueError) as error:
            message, cause = f"{path} is a directory, and not one of criterion", str(error)
            fix = "name files, or target/criterion after `cargo bench`"
            raise fault(UNREADABLE, str(path), message, cause=cause, fix=fix) from error
    try:
        return read_input(path, MOST_BYTES)
    except ValueError as error:
        raise fault(UNREADABLE, str(path), str(error)) from error


def slug(text: str) -> str:
    """Return a text for a file name: letters, digits, dots, hyphens; otherwise `imported`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:80] or "imported"


def read_session(content: bytes, file: str, number: int) -> Session:
    """Return the session of one file.

    `number` is the position of the file in the set, from 1.

    Raises `UsageError`: the contents are invalid (BX451 to BX454).
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise fault(UNKNOWN, file, f"{file} is not UTF-8 text", cause=str(error)) from error
    digest = hashlib.sha256(content).hexdigest()
    kind: Format | None
    memory: MemoryKind = "none"
    if text.lstrip().startswith(("{", "[")):
        document = _parsed(text, file)
        kind = harnesses.format_of(document)
        if kind is not None:
            commands = _of_harness(document, kind, file)
        else:
            kind, memory, commands = _hyperfine(document, file)
    else:
        kind, commands = _table(text, file)
    if len(commands) > MOST_COMMANDS:
        message = f"{file} has {len(commands)} commands; the limit is {MOST_COMMANDS}"
        fix = "remove commands, or split the file: each file is one session"
        raise fault(UNKNOWN, file, message, fix=fix)
    if any(len(command.label) > MOST_LABEL for command in commands):
        message = f"{file} has a label of more than {MOST_LABEL} characters"
        fix = "give the command a short name (hyperfine -n NAME), or the row a short label"
        raise fault(NAMES, file, message, fix=fix)
    counts = Counter(command.label for command in commands)
    twice = [label for label, count in counts.items() if count > 1]
    if twice:
        message = f"{file} has {twice[0]!r} more than once"
        fix = "give each command a unique name (hyperfine -n NAME), or each row a unique label"
        raise fault(NAMES, file, message, where=", ".join(twice[1:4]), fix=fix)
    return Session(file, f"sources/{number}-{slug(file)}", digest, kind, commands, memory)


def _parsed(text: str, file: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise fault(UNKNOWN, file, f"{file} is not JSON", cause=str(error)) from error


def _unreadable(error: Exception, file: str, what: str, fix: str = "") -> UsageError:
    cause = f"{type(error).__name__}: {error}"
    return fault(UNKNOWN, file, f"{file} is not {what}", cause=cause, fix=fix)


def _of_harness(document: Any, kind: Format, file: str) -> tuple[Command, ...]:
    what, _, read = harnesses.READERS[kind]
    commands = []
    try:
        benchmarks = list(read(document))
    except hyperfine.UNREADABLE as error:
        raise _unreadable(error, file, what) from error
    for one in benchmarks:
        _require_label(one.label, file)
        _require_figures(one.wall, one.cpu, file, one.label)
        series = (series_of(WALL, [*one.wall]), series_of(CPU, [*one.cpu]))
        known = tuple(s for s in series if s is not None)
        commands.append(Command(one.label, known, one.failed))
    if not commands:
        raise fault(UNKNOWN, file, f"{file} has no benchmark")
    return tuple(commands)


def _require_label(label: str, file: str) -> None:
    if not label.strip():
        raise fault(NAMES, file, "a result has no name")
    try:
        label.encode()
    except UnicodeEncodeError as error:
        message = f"{label!a} has an unpaired surrogate, which is not valid Unicode"
        raise fault(NAMES, file, message, fix="give it a valid name") from error


def _require_figures(wall: Iterable[float], cpu: Iterable[float], file: str, where: str) -> None:
    for number, value in enumerate(wall, 1):
        require_time(value, f"the time of run {number}", file, where)
    for value in cpu:
        require_amount(value, MOST_S, "a CPU time", file, where)


def _hyperfine(document: Any, file: str) -> tuple[Format, MemoryKind, tuple[Command, ...]]:
    try:
        export = hyperfine.read_export(document)
    except hyperfine.UNREADABLE as error:
        fix = "use a file of `hyperfine --export-json` (version 1 or schema version 2) or a table"
        raise _unreadable(error, file, "hyperfine's JSON", fix) from error
    if export.version > KNOWN_VERSION:
        message = f"{file} has schema version {export.version}; supported are versions 1 and 2"
        raise fault(UNKNOWN, file, message)
    if not export.commands:
        raise fault(UNKNOWN, file, f"{file} has no command")
    memory = _memory_kind(export)
    commands = tuple(_timed(one, memory, file) for one in export.commands)
    kind: Format = "hyperfine-2" if export.version >= hyperfine.PER_RUN else "hyperfine-1"
    return kind, memory, commands


def _memory_kind(export: hyperfine.Export) -> MemoryKind:
    if not any(one.memory for one in export.commands):
        return "none"
    if export.version >= hyperfine.PER_RUN:
        return "per-run"
    return "one-figure" if len(export.commands) == 1 else "running-maximum"


def _timed(one: hyperfine.Timed, memory: MemoryKind, file: str) -> Command:
    _require_label(one.command, file)
    _require_figures(one.times, (*one.user, *one.system), file, one.command)
    for value in one.memory:
        require_amount(value, MOST_MEMORY, "a memory figure", file, one.command)
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
    known = tuple(s for s in series if s is not None)
    return Command(one.command, known, len(one.times) - len(good))


def series_of(metric: Metric, values: list[float]) -> Series | None:
    """Return a series of single runs, or `None` if no value is above zero."""
    if not values or min(values) <= 0:
        return None
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Series(metric, len(values), statistics.fmean(values), spread, tuple(values))


def _table(text: str, file: str) -> tuple[Format, tuple[Command, ...]]:
    rows = read_table(text, file)
    if not rows[0].single:
        published = ((row.label, Series(WALL, row.n, row.mean, row.sd)) for row in rows)
        return "table", tuple(Command(label, (series,)) for label, series in published)
    runs: dict[str, list[float]] = {}
    for row in rows:
        runs.setdefault(row.label, []).append(row.mean)
    measured = ((label, series_of(WALL, times)) for label, times in runs.items())
    return "runs", tuple(Command(label, (series,) if series else ()) for label, series in measured)

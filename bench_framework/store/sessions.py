"""Reading of an imported file: detect its format and return its session."""

import csv
import hashlib
import io
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import UsageError
from bench_framework.foreign import parse_json, read_input
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.sessions import HarnessSession, MemoryKind, Series, SessionCommand
from bench_framework.store import harnesses
from bench_framework.text.numbers import shortest
from bench_framework.text.reasons import phrase_of
from bench_framework.units import PER_SECOND

LEAST_S, MOST_S = 1e-12, 1e9
MOST_MEMORY: Final = 1e18
MOST_RUNS: Final = 10**9
MOST_BYTES: Final = 64 * 1024 * 1024
"""Largest file. hyperfine writes about 40 bytes per run, so this is more than a million runs."""
MOST_COMMANDS: Final = 200
"""Most commands of a session, because the best group compares every pair of commands."""
MOST_LABEL: Final = 1000
"""Most characters of a label. Pages repeat it in tables, captions and sentences."""
KNOWN_VERSION: Final = 2
COLUMNS: Final = ("label", "mean", "sd", "n", "unit")
RUN_COLUMNS: Final = ("label", "time", "unit")
"""Columns of a table with one row per run."""
_PIPE: Final = re.compile(r"(?<!\\)\|")
"""Separator of the cells of a row. ``\\|`` is a literal bar."""


def fault(key: str, /, *, where: str = "", cause: str = "", **values: Any) -> UsageError:
    """Return an error. `read_session` adds the name of the file."""
    details = tuple(pair for pair in (("where", where), ("cause", cause)) if pair[1])
    return UsageError(key, details=details, **values)


def require_time(seconds: float, what: str | Phrase, where: str) -> float:
    """Check a measured time in seconds and return it.

    Raises `UsageError` (BX452): the time is not finite, not above zero (so that ratios are not
    defined), below a picosecond or above 30 years.
    """
    if not math.isfinite(seconds) or seconds <= 0:
        raise fault("BX452.not-positive", where=where, what=what, seconds=shortest(seconds))
    if not LEAST_S <= seconds <= MOST_S:
        raise fault("BX452.not-a-time", where=where, what=what, seconds=shortest(seconds))
    return seconds


def require_amount(value: float, most: float, what: str | Phrase, where: str) -> float:
    """Return a spread, a CPU time or a size. Raises `UsageError` (BX452): not in 0 to `most`."""
    if not 0 <= value <= most:
        raise fault(
            "BX452.out-of-range", where=where, what=what, value=shortest(value), most=shortest(most)
        )
    return value


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file to import, or of a folder with samples of criterion.

    Raises:
        UsageError: it does not exist, is not a file, is empty or is larger than 64 MiB, or is a
            folder without samples (BX450).
    """
    file = ("file", str(path))
    try:
        if path.is_dir():
            return harnesses.bundle(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        details = (file, ("cause", str(error)))
        raise UsageError("BX450.folder", details=details, path=path) from error
    try:
        return read_input(path, MOST_BYTES)
    except ValueError as error:
        raise UsageError("BX450.not-usable", details=(file,), path=path, fault=error) from error


def slug(text: str) -> str:
    """Return a text for a file name: letters, digits, dots, hyphens; otherwise `imported`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:80] or "imported"


def read_session(content: bytes, file: str, number: int) -> HarnessSession:
    """Return the session of one file.

    `number` is the position of the file in the set, from 1.

    Raises `UsageError`: the contents are invalid (BX451 to BX454).
    """
    try:
        return _session(content, file, number)
    except UsageError as error:
        error.details = (("file", file), *error.details)
        raise


def _session(content: bytes, file: str, number: int) -> HarnessSession:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise fault("BX451.not-utf-8", cause=str(error), file=file) from error
    kind: str
    memory: MemoryKind = "none"
    if text.lstrip().startswith(("{", "[")):
        try:
            document = parse_json(text)
        except ValueError as error:
            raise fault("BX451.not-json", cause=str(error), file=file) from error
        harness = harnesses.format_of(document)
        try:
            if harness is not None:
                kind, key, what = harness, "BX451.other-format", harnesses.readers()[harness].title
                commands = _of_harness(document, harness)
            else:
                key, what = "BX451.not-hyperfine", "hyperfine's JSON"
                kind, memory, commands = _hyperfine(document)
        except harnesses.DocumentError as error:
            raise fault(key, cause=str(error), file=file, what=what) from error
        if not commands:
            raise fault(
                "BX451.no-commands", file=file, harness="benchmark" if harness else "command"
            )
    else:
        kind, commands = _table(text)
    if len(commands) > MOST_COMMANDS:
        raise fault(
            "BX451.too-many-commands",
            file=file,
            commands=len(commands),
            most_commands=MOST_COMMANDS,
        )
    if any(len(command.label) > MOST_LABEL for command in commands):
        raise fault("BX453.label-too-long", file=file, most_label=MOST_LABEL)
    counts = Counter(command.label for command in commands)
    if twice := [label for label, count in counts.items() if count > 1]:
        raise fault("BX453.label-twice", where=", ".join(twice[1:4]), file=file, twice=twice[0])
    digest = hashlib.sha256(content).hexdigest()
    return HarnessSession(file, f"sources/{number}-{slug(file)}", digest, kind, commands, memory)


def _of_harness(document: Any, kind: str) -> tuple[SessionCommand, ...]:
    commands = []
    for one in harnesses.readers()[kind].read(harnesses.Node(document)):
        _require_valid(one.label, one.wall, one.cpu)
        series = (series_of(WALL, [*one.wall]), series_of(CPU, [*one.cpu]))
        commands.append(
            SessionCommand(one.label, tuple(s for s in series if s is not None), one.failed)
        )
    return tuple(commands)


def _require_valid(label: str, wall: Iterable[float], cpu: Iterable[float]) -> None:
    if not label.strip():
        raise fault("BX453.no-name")
    try:
        label.encode()
    except UnicodeEncodeError as error:
        raise fault("BX453.surrogate", label=label) from error
    for number, value in enumerate(wall, 1):
        require_time(value, Phrase(FaultCode.TIME_OF_RUN, number), label)
    for value in cpu:
        require_amount(value, MOST_S, Phrase(FaultCode.A_CPU_TIME), label)


def _hyperfine(document: Any) -> tuple[str, MemoryKind, tuple[SessionCommand, ...]]:
    version, timed = harnesses.read_export(document)
    if version > KNOWN_VERSION:
        raise fault("BX451.schema-version", version=version)
    memory: MemoryKind = "none"
    if any(one.memory for one in timed):
        memory = "one-figure" if len(timed) == 1 else "running-maximum"
        if version >= harnesses.PER_RUN:
            memory = "per-run"
    kind = "hyperfine-2" if version >= harnesses.PER_RUN else "hyperfine-1"
    return kind, memory, tuple(_timed(one, memory) for one in timed)


def _timed(one: harnesses.Timed, memory: MemoryKind) -> SessionCommand:
    _require_valid(one.command, one.times, (*one.user, *one.system))
    for value in one.memory:
        require_amount(value, MOST_MEMORY, Phrase(FaultCode.MEMORY_FIGURE), one.command)
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
    return SessionCommand(one.command, known, len(one.times) - len(good))


def series_of(metric: Metric, values: list[float]) -> Series | None:
    """Return a series of single runs, or `None` if no value is above zero."""
    if not values or min(values) <= 0:
        return None
    spread = statistics.stdev(values) if len(values) > 1 else None
    return Series(metric, len(values), statistics.fmean(values), spread, tuple(values))


def _table(text: str) -> tuple[str, tuple[SessionCommand, ...]]:
    """Read a table, CSV with a header line or Markdown, with `COLUMNS` or `RUN_COLUMNS` in any order."""
    lines = _markdown(text) if text.lstrip().startswith("|") else _comma(text)
    head, *rows = lines or [[]]
    names = [name.strip().lower() for name in head]
    _check_head(names)
    if not rows:
        raise fault("BX451.no-rows")
    series: list[tuple[str, Series]] = []
    units: dict[str, None] = {}
    for number, cells in enumerate(rows, 1):
        if len(cells) != len(names):
            raise fault("BX451.row-length", number=number, cells=len(cells), names=len(names))
        row = dict(zip(names, cells, strict=True))
        series.append(_row(row, phrase_of(FaultCode.ROW, number)))
        units[row.get("unit") or "s"] = None
    if len(units) > 1:
        raise fault("BX454.several-units", units=", ".join(units))
    if "time" not in names:
        return "table", tuple(SessionCommand(label, (one,)) for label, one in series)
    runs: dict[str, list[float]] = {}
    for label, one in series:
        runs.setdefault(label, []).append(one.mean)
    measured = ((label, series_of(WALL, times)) for label, times in runs.items())
    return "runs", tuple(SessionCommand(label, (one,) if one else ()) for label, one in measured)


def _markdown(text: str) -> list[list[str]]:
    """Return the cells of each line of a Markdown table, without the rule below the header."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[cell.strip().replace("\\|", "|") for cell in _PIPE.split(line)[1:]] for line in lines]
    rows = [row[:-1] if row and not row[-1] else row for row in rows]
    return [row for row in rows if not all(cell and set(cell) <= set(":-") for cell in row)]


def _comma(text: str) -> list[list[str]]:
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise fault("BX451.not-csv", cause=str(error)) from error
    return [[cell.strip() for cell in line] for line in lines if any(cell.strip() for cell in line)]


def _check_head(names: list[str]) -> None:
    known = RUN_COLUMNS if "time" in names else COLUMNS
    missing = [name for name in known[:2] if name not in names]
    if not missing and set(names) <= set(known) and len(set(names)) == len(names):
        return
    if names[:1] == ["command"]:
        raise fault("BX451.table-of-hyperfine")
    raise fault(
        "BX451.columns",
        missing=", ".join(missing),
        names=", ".join(names),
        columns=",".join(COLUMNS),
        columns_of_runs=",".join(RUN_COLUMNS),
    )


def _row(cells: dict[str, str], where: str) -> tuple[str, Series]:
    """Return the label of a row, and its time or mean in seconds."""
    label = cells["label"]
    if not label:
        raise fault("BX453.no-label", where=where)
    where = f"{where} ({label})"
    unit = cells.get("unit") or "s"
    if unit not in PER_SECOND:
        raise fault("BX454.not-a-unit", where=where, unit=unit, per_second=", ".join(PER_SECOND))
    column = "time" if "time" in cells else "mean"
    mean = require_time(_seconds(cells[column], unit, column, where), column, where)
    sd, n = None, _count(cells.get("n", ""), where)
    if cells.get("sd"):
        sd = require_amount(_seconds(cells["sd"], unit, "sd", where), MOST_S, "sd", where)
    # A single run has no spread, so a given value is ignored.
    return label, Series(WALL, n, mean, sd if n != 1 else None)


def _seconds(text: str, unit: str, what: str, where: str) -> float:
    """Return a time in seconds, converted in decimal so that 191.2 ms is exactly 0.1912 s."""
    try:
        value = float(text.replace("_", "x"))
    except ValueError as error:
        raise fault("BX452.not-a-number", where=where, what=what, text=text) from error
    return float(Decimal(repr(value)) / PER_SECOND[unit])


def _count(text: str, where: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:12]) <= MOST_RUNS:
        raise fault("BX452.number-of-runs", where=where, text=text)
    return int(text)

"""The append-only ``journal.jsonl``, from which all tables are derived."""

import errno
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import MachineError, RecordError
from bench_framework.foreign import open_regular
from bench_framework.model.faults import FaultCode
from bench_framework.model.plan.looks import RoundLimit
from bench_framework.model.record.functions import FunctionCounts
from bench_framework.model.record.run import (
    Block,
    Build,
    Event,
    Host,
    Look,
    Observation,
    PreparedInput,
)
from bench_framework.store import layout, lines, wire
from bench_framework.store.kinds import Figures
from bench_framework.text.reasons import phrase_of

MOST_SHARED: Final = 1 << 14
"""Parts of blocks that are remembered while a journal is read."""
LONGEST_END: Final = 1 << 10
"""Bytes that contain the digest at the end of a line."""

EARLIER_RECORDS: Final = "BX347"
"""Code of the event that compares a record with earlier ones."""
_CHAIN: Final = re.compile(rb',"chain":"([0-9a-f]{32})"}\n?\Z')
"""The end of a line: a digest of this line and of the digest in the line before."""


class LineWriter:
    """A writer that appends whole lines to a file. Only `sync` flushes them to the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with layout.writing(path):
            self.last = _cut_torn_line(path)
            """The last line of an earlier process without its newline; `None` for a new file."""
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def append(self, text: bytes) -> None:
        """Append one line in one ``write``, so that kill -9 leaves the whole line or none of it.

        Raises `MachineError`: the disk is full (BX235). The file then ends with the previous line.
        """
        with layout.writing(self._path):
            size = os.fstat(self._fd).st_size
            if os.write(self._fd, text) != len(text):
                # A full disk accepts only a part of the line. Remove it, so that the next line is
                # valid.
                os.ftruncate(self._fd, size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def sync(self) -> None:
        """Flush the lines to the disk. Call it only between rounds.

        An fsync after each run would also write back dirty pages of the measured program, which
        would disturb the next run.
        """
        with layout.writing(self._path):
            # macOS has no fdatasync(2), and a record that is imported there is flushed, too.
            getattr(os, "fdatasync", os.fsync)(self._fd)

    def close(self) -> None:
        """Flush and close the file. Calling it again has no effect."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                with layout.writing(self._path):
                    os.fsync(fd)
            finally:
                os.close(fd)


class JournalWriter(LineWriter):
    """The writer of a journal."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        end = _CHAIN.search(self.last or b"")
        self._chain = end[1] if end else b""

    def write(self, line: lines.Line) -> None:
        """Append a line with its digest. Raises `MachineError`: see `append`; the record was removed."""
        text, chain = _chained(wire.dump_line(line), self._chain)
        if not os.fstat(self._fd).st_nlink:
            # Writes to a deleted file succeed, but the lines would be lost.
            raise MachineError("BX235.record-removed", parent=self._path.parent)
        self.append(text)
        self._chain = chain


@dataclass(slots=True)
class Contents:
    """The contents of a journal.

    `blocks` contains every block in the order of execution. The blocks of an interrupted round have
    the status ``skipped`` and are not in any statistic.
    """

    header: lines.Header
    host: Host | None = None
    builds: tuple[Build, ...] = ()
    inputs: tuple[PreparedInput, ...] = ()
    repeats: dict[str, dict[str, int]] = field(default_factory=dict)
    """Number of runs per block, by input id and cell id."""
    limit: RoundLimit | None = None
    """Limit of rounds that follows from the budget; `None` if the plan has one."""
    blocks: list[Block] = field(default_factory=list)
    rounds: dict[str, int] = field(default_factory=dict)
    """Number of complete measured rounds by input id. `warmups` counts the warm-up rounds."""
    warmups: dict[str, int] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Ids of the inputs whose measurement ended because a file changed."""
    dropped: dict[str, lines.Dropped] = field(default_factory=dict)
    """Dropped cells, by cell id."""
    looks: list[Look] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    """Observations of runs outside timing, in the order of execution."""
    functions: dict[tuple[str, int], FunctionCounts] = field(default_factory=dict)
    """Counted functions by cell id and number of the run."""
    elapsed_s: float = 0.0
    at: str = ""
    """Time of the last entry that has a time, UTC, ISO 8601."""
    ended_at: str | None = None
    changed_line: int | None = None
    """Number of the first line that does not continue the chain of digests; `None` if all do."""
    reopened: bool = False
    """True if a gate let the measurement go on after it had ended."""
    starts: int = 0
    """Number of times that the measurement was started, 1 without an interruption."""
    figures: Figures | None = None
    """The figures of a record without rounds, which has no journal and no blocks."""

    @property
    def builds_by_id(self) -> dict[str, Build]:
        """Each build by its id."""
        return {build.id: build for build in self.builds}

    @property
    def complete(self) -> bool:
        """True if the measurement was completed."""
        return self.ended_at is not None

    @property
    def progress(self) -> tuple[int, int]:
        """The numbers of blocks and of interim analyses."""
        return len(self.blocks), len(self.looks)

    def stopped(self, input_id: str) -> bool:
        """Return whether a look, or a change of a file, ended the measurement of an input."""
        return input_id in self.changed or any(
            look.stopped and look.input_id == input_id for look in self.looks
        )


def read_header(path: Path) -> lines.Header:
    """Return the first line of a journal, without reading the others.

    Raises `RecordError`: BX411, the file is missing, or the line is damaged; BX412, of another format.
    """
    try:
        with open_regular(path) as file:
            return _header(path, file.readline())
    except OSError as error:
        raise unreadable(path, error) from error


def read_journal(path: Path) -> Contents:
    """Read a journal. An incomplete last line is ignored, as its writer was killed.

    Raises `RecordError`: BX411, the file is missing, or a line is damaged; BX412, of another format.
    """
    try:
        with open_regular(path) as file:
            return _contents(path, file)
    except OSError as error:
        raise unreadable(path, error) from error


def _contents(path: Path, entries: Iterable[bytes]) -> Contents:
    """Return the contents of a journal from its lines, of which one is in memory at a time."""
    contents, chain, open_round, shared = None, b"", 0, _sharing()
    for number, entry in enumerate(entries, start=1):
        if not entry.endswith(b"\n"):
            break
        if contents is None:
            contents = Contents(header := _header(path, entry), at=header.started_at)
        else:
            try:
                open_round = take(contents, shared(wire.load_line(entry)), open_round)
            except ValueError as error:
                raise RecordError("BX411.journal-damaged", path=path, number=number) from error
        if contents.changed_line is None:
            text, chain = _chained(_CHAIN.sub(b"}\n", entry), chain)
            contents.changed_line = None if text == entry else number
    if contents is None:
        raise RecordError("BX411.journal-empty", path=path)
    skip(contents, open_round)
    return contents


def _sharing() -> Callable[[lines.Line], lines.Line]:
    """Return a function that replaces equal parts of blocks by one object, as most runs have the same."""
    same: Callable[[Any], Any] = lru_cache(MOST_SHARED)(lambda part: part)
    mapping: Callable[[Any], dict[str, str]] = lru_cache(MOST_SHARED)(dict)
    nothing: Mapping[str, Any] = {}

    def shared(line: lines.Line) -> lines.Line:
        if not isinstance(line, lines.Measured):
            return line
        block = line.block
        receipts = (
            replace(
                receipt,
                effective=mapping(tuple(receipt.effective.items())),
                phases_s=receipt.phases_s or nothing,
                counts=receipt.counts or nothing,
                metrics=receipt.metrics or nothing,
            )
            for receipt in block.receipts
        )
        return lines.Measured(
            replace(
                block,
                cell_id=same(block.cell_id),
                answer=same(block.answer),
                receipts=tuple(receipts),
                exit_codes=same(block.exit_codes),
                metrics=block.metrics or nothing,
                missing=block.missing or nothing,
                page_cache=same(block.page_cache),
            )
        )

    return shared


def _chained(text: bytes, before: bytes) -> tuple[bytes, bytes]:
    """Return a line with its digest, and the digest, which depends on the digest `before`."""
    chain = hashlib.sha256(before + text).hexdigest()[:32].encode()
    return text.removesuffix(b"}\n") + b',"chain":"' + chain + b'"}\n', chain


def unreadable(path: Path, error: OSError) -> RecordError:
    """Return the error BX411: a file of a record cannot be read."""
    return RecordError(
        "BX411.journal-not-readable", details=(("cause", str(error.strerror)),), path=path
    )


def _header(path: Path, text: bytes) -> lines.Header:
    try:
        line = wire.load_line(text)
    except ValueError:
        line = None
    if not isinstance(line, lines.Header):
        raise RecordError("BX411.no-header", path=path)
    wire.require_version(path, line.schema_version)
    return line


def take(contents: Contents, line: lines.Line, open_round: int) -> int:
    """Add one line. Return the index of the first block of the round that is open after it."""
    match line:
        case lines.Measured():
            contents.blocks.append(line.block)
            contents.at = line.block.started_at
        case lines.RoundEnd():
            counts = contents.warmups if line.warmup else contents.rounds
            counts[line.input_id] = line.round
            contents.elapsed_s, contents.at = line.elapsed_s, line.at
            return len(contents.blocks)
        case lines.Changed():
            contents.changed.add(line.input_id)
            skip(contents, open_round)
            return len(contents.blocks)
        case lines.Prepared():
            contents.host, contents.builds, contents.inputs = line.host, line.builds, line.inputs
            contents.starts += 1
            contents.at = line.at
            skip(contents, open_round)
            return len(contents.blocks)
        case lines.Repeats():
            contents.repeats[line.input_id] = dict(line.runs)
        case lines.Limit():
            contents.limit = line
        case lines.Looked():
            _take_look(contents, line.look)
        case lines.Dropped():
            contents.dropped[line.cell_id] = line
        case lines.Noted():
            _take_event(contents, line.event)
        case lines.Counted():
            contents.observations.append(line.observation)
            contents.at = line.observation.started_at
        case lines.FunctionsCounted():
            # They are counted again after an interruption before the next line.
            contents.functions[line.counts.cell_id, line.counts.run] = line.counts
        case lines.End():
            contents.ended_at, contents.elapsed_s = line.at, line.elapsed_s
        case lines.Header():
            raise ValueError(phrase_of(FaultCode.SECOND_HEADER))
    return open_round


def _take_look(contents: Contents, look: Look) -> None:
    """Add a look. One that repeats an earlier look reopens a measurement that had ended."""
    others = [o for o in contents.looks if (o.input_id, o.index) != (look.input_id, look.index)]
    if len(others) < len(contents.looks):
        contents.ended_at, contents.reopened = None, True
        left = {cell_id for cell_id, line in contents.dropped.items() if line.left}
        for cell_id in left.difference(look.dropped):
            del contents.dropped[cell_id]
        others = [
            replace(o, dropped=tuple(c for c in o.dropped if c in look.dropped)) for o in others
        ]
    contents.looks = [*others, look]


def _take_event(contents: Contents, event: Event) -> None:
    """Add an event. A comparison with earlier records replaces that of a record that was reopened."""
    if event.code == EARLIER_RECORDS:
        contents.events = [e for e in contents.events if e.code != EARLIER_RECORDS]
    contents.events.append(event)


def skip(contents: Contents, start: int) -> None:
    """Mark the blocks from `start` on as ``skipped``: their round was interrupted."""
    for index in range(start, len(contents.blocks)):
        contents.blocks[index] = replace(contents.blocks[index], status="skipped")


def _cut_torn_line(path: Path) -> bytes | None:
    """Remove an incomplete last line; return the last complete one, `None` without one."""
    if not path.exists():
        return None
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        tail = b""
        while size and b"\n" not in tail:
            step = min(size, 1 << 16)
            size -= step
            file.seek(size)
            tail = file.read(step)
        file.seek(max(0, file.truncate(size + tail.rfind(b"\n") + 1) - LONGEST_END))
        whole = file.read().splitlines()
        return whole[-1] if whole else None

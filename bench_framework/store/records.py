"""Records: creation, opening, and their profiles.

A record without rounds has a file with figures in place of a journal (see `store.kinds`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from bench_framework.errors import MachineError, RecordError
from bench_framework.foreign import read_regular
from bench_framework.masking import masked_source
from bench_framework.model.faults import FaultCode
from bench_framework.model.plan.looks import limited
from bench_framework.model.plan.plan import NO_PART_OF_DIGEST, Plan
from bench_framework.model.record.profile import Profile
from bench_framework.model.record.run import Build, Event, Host, PreparedInput
from bench_framework.store import journal, layout, lines, manifest, wire
from bench_framework.store.finding import kind_of
from bench_framework.store.kinds import Figures
from bench_framework.store.source import Source
from bench_framework.text.reasons import phrase_of
from bench_framework.version import __version__

if TYPE_CHECKING:
    from bench_framework.model.documents.gate import GateDocument
    from bench_framework.model.result.judgement import Judgement
    from bench_framework.store.judged import Judged


class Record:
    """One record on disk, with its journal read.

    `contents` is updated by `append`, so that nothing is read during the measurement. The record is
    a context manager, which flushes the journal to the disk at the end.

    Attributes:
        plan: plan of the record, with the limit of rounds as soon as it is known.
    """

    def __init__(self, path: Path, plan: Plan, contents: journal.Contents) -> None:
        self.path = path.absolute()
        self.plan = plan if contents.limit is None else limited(plan, contents.limit)
        self.contents = contents
        self._writer: journal.JournalWriter | None = None
        self._open_round = len(contents.blocks)
        finished = any((path / name).exists() for name in (layout.MANIFEST, layout.CLAIMS))
        self._renewed: set[str] | None = set() if finished else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @classmethod
    def create(
        cls,
        root: Path,
        plan: Plan,
        scenario_text: str,
        *,
        started_at: str,
        benchctl: str,
        numbers: range = layout.NUMBERS,
    ) -> Record:
        """Create a record under ``root/<scenario>/``.

        `root` is the folder of all records, such as ``results``. The start time `started_at` (UTC,
        ISO 8601) gives the record its id, with one of `numbers` if another record has the id. `benchctl` is
        the version that writes it.
        """
        layout.require_unicode(root.absolute())
        with layout.new_folder(root / plan.name, started_at, numbers) as (folder, draft):
            digests, version = (plan.scenario_sha256, plan_sha256(plan)), wire.SCHEMA_VERSION
            header = lines.Header(version, folder.name, plan.name, *digests, started_at, benchctl)
            layout.write_whole(draft / layout.SCENARIO, masked_source(scenario_text))
            layout.write_whole(draft / layout.PLAN, wire.dump_plan(plan))
            with (
                cls(draft, plan, journal.Contents(header, at=started_at)) as record,
                layout.writing(record.raw.root),
            ):
                record._append_raw(header)
                record.raw.root.mkdir()
        record.path = folder.absolute()
        return record

    @classmethod
    def open(cls, path: Path) -> Record:
        """Open the folder of a measured record. `open_record` opens either kind.

        Raises `RecordError`: BX411, it is not a record, or damaged; BX412, of another format;
        BX455, it has no rounds.
        """
        if kind_of(path) is not None:
            raise RecordError("BX455", path=path)
        contents = journal.read_journal(path / layout.JOURNAL)
        plan = wire.load_plan(_bytes(path / layout.PLAN))
        cells = {cell.id for cell in plan.cells}
        used = {block.cell_id for block in contents.blocks}
        if not used | {o.cell_id for o in contents.observations} <= cells:
            raise RecordError("BX411.other-plan", path=path / layout.JOURNAL)
        return cls(path, plan, contents)

    @property
    def id(self) -> str:
        """Id such as ``20260302T1704Z``."""
        return self.contents.header.record_id

    @property
    def raw(self) -> layout.Raw:
        """The folder of the tools' raw output."""
        return layout.Raw(self.path / "raw")

    def prepare(
        self, *, at: str, host: Host, builds: Iterable[Build], inputs: Iterable[PreparedInput]
    ) -> None:
        """Start or continue measuring: skip blocks of an incomplete round and write ``env.json``.

        Existing results and the manifest are removed, because the record is no longer finished.

        Raises `RecordError` (BX411): the journal was changed.
        """
        if (number := self.contents.changed_line) is not None:
            raise RecordError(
                "BX411.journal-changed", path=self.path / layout.JOURNAL, number=number
            )
        with layout.writing(self.path):
            for name in (layout.MANIFEST, layout.SIGNATURE, layout.CLAIMS):
                (self.path / name).unlink(missing_ok=True)
        self._renewed = None
        self.append(lines.Prepared(at, host, tuple(builds), tuple(inputs)))
        layout.write_whole(self.path / layout.ENV, wire.dump_host(host))
        self.sync()

    def append(self, line: lines.Line) -> None:
        """Append one line to the journal and add it to `contents`."""
        line = lines.without_secrets(line)
        self._append_raw(line)
        self._open_round = journal.take(self.contents, line, self._open_round)
        if isinstance(line, lines.Limit):
            self.plan = limited(self.plan, line)

    def skip_open_round(self) -> None:
        """Mark the blocks of an interrupted round, as reading the journal does."""
        journal.skip(self.contents, self._open_round)

    def note(self, event: Event) -> bool:
        """Append an event unless the record contains it. Return True if it is new."""
        new = event not in self.contents.events
        if new:
            self.append(lines.Noted(event))
        return new

    def sync(self) -> None:
        """Flush the journal to the disk. Call it only while nothing is timed."""
        if self._writer is not None:
            self._writer.sync()

    def save(self, judgement: Judgement | None = None) -> None:
        """Write every table, derived from the journal and the judgement if there is one."""
        # The types of results are slow to import, and a measurement starts without them.
        from bench_framework.store import judged, tables  # noqa: PLC0415 -- see above

        if judgement is not None:
            name = self.plan.name
            content = judged.Judged(judged.VERSION, self.id, name, judgement, __version__)
            layout.write_whole(self.path / layout.CLAIMS, judged.dump_judged(content))
        names = tables.write_tables(self.path, Source(self.plan, self.contents, judgement))
        self.renew(layout.CLAIMS, *names)

    def renew(self, *names: str) -> None:
        """Let `seal` renew the digests of files that were written. ``NAME/`` is a whole folder."""
        if self._renewed is not None:
            self._renewed.update(names)

    def require_manifest(self) -> None:
        """Require a readable manifest if the record has results, since a new one would hide changes.

        Raises `RecordError`: BX411, it is missing or damaged; BX412, of another format.
        """
        if self._renewed is not None:
            try:
                manifest.read_manifest(self.path)
            except RecordError as error:
                error.amend("BX411.not-written")
                raise

    def seal(self) -> None:
        """Write ``manifest.json``, after which nothing in the record changes.

        In a record with results, only the digests of files named by `renew` are replaced.

        Raises `RecordError`: see `require_manifest`.
        """
        self.close()
        with layout.writing(self.path):
            parts = filter(Path.is_file, self.path.rglob(".*.part"))  # of a killed process
            for scratch in (*self.raw.scratch, *parts):
                scratch.unlink(missing_ok=True)
            manifest.write_manifest(self.path, self._renewed)

    def judgement(self) -> Judgement | None:
        """Return the saved judgement, if any; `None` too if another version of benchctl must compute it again.

        Raises `RecordError` (BX411): it is damaged.
        """
        from bench_framework.store.judged import present_judged  # noqa: PLC0415 -- as in `save`

        path = self.path / layout.CLAIMS
        judged = present_judged(path.read_bytes()) if path.is_file() else None
        return judged.judgement if judged is not None else None

    def judged(self) -> Judged | None:
        """Return the saved judgement with the version that made it. Raises `RecordError` (BX411, BX412)."""
        from bench_framework.store.judged import load_judged  # noqa: PLC0415 -- as in `save`

        path = self.path / layout.CLAIMS
        return load_judged(path.read_bytes()) if path.is_file() else None

    def discard(self) -> None:
        """Remove the record if no round was measured."""
        self.close()
        if not self.contents.rounds:
            shutil.rmtree(self.path)

    def close(self) -> None:
        """Flush and close the journal. `append` opens it again."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _append_raw(self, line: lines.Line) -> None:
        if self._writer is None:
            self._writer = journal.JournalWriter(self.path / layout.JOURNAL)
        try:
            self._writer.write(line)
        except MachineError:
            # The output of the last run may fill the disk, and it is no longer needed.
            if not self._free_scratch():
                raise
            self._writer.write(line)

    def _free_scratch(self) -> bool:
        freed = False
        for scratch in self.raw.scratch:
            with contextlib.suppress(OSError):
                freed = freed or scratch.stat().st_size > 0
                os.truncate(scratch, 0)
        return freed


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise journal.unreadable(path, error) from error


def open_record(path: Path) -> Record:
    """Open a record of any kind. Raises `RecordError`: BX411, damaged; BX412, of another format."""
    if (kind := kind_of(path)) is None:
        return Record.open(path)
    figures: Figures = kind.load()(_bytes(path / kind.options["file"]))
    wire.require_version(path, figures.header.schema_version)
    return record_of_figures(path, figures)


def record_of_figures(path: Path, figures: Figures) -> Record:
    """Return the record without rounds in a folder."""
    # Its files do not name their machine.
    cpu, no = phrase_of(FaultCode.NOT_IN_FILES), None
    host = Host("", "", cpu, 0, 0, "", "", no, no, no, no, "", no, no, "", "")
    contents = journal.Contents(
        figures.header, host, ended_at=figures.header.started_at, figures=figures
    )
    return Record(path, figures.plan, contents)


def plan_sha256(plan: Plan) -> str:
    """Return the digest of a plan without `NO_PART_OF_DIGEST`."""
    text = wire.dump_plan(replace(plan, **NO_PART_OF_DIGEST))
    return hashlib.sha256(text.encode()).hexdigest()


FOLDER: Final = "profiles"
NAME: Final = "profile.json"


def write_profile(record: Path, profile: Profile) -> None:
    """Write a profile in place of the cell's earlier one. Raises `MachineError` (BX235): failed."""
    folder = record / FOLDER / profile.cell_id
    layout.write_whole(folder / NAME, wire.dump_profile(profile))
    with layout.writing(folder):
        for file in folder.iterdir():
            if file.name != NAME:
                file.unlink()


def read_gate(record: Path) -> GateDocument | None:
    """Return the content of ``gate.json``, or `None`. Raises `RecordError` (BX411): it is damaged."""
    # Loading these classes takes a tenth of the start of `ab`, which has no gate.
    from bench_framework.model.documents.gate import GateDocument  # noqa: PLC0415

    try:
        text = read_regular(record / layout.GATE)
    except OSError:
        return None
    return wire.load(GateDocument, layout.GATE, text)


def read_profiles(record: Path, plan: Plan) -> tuple[Profile, ...]:
    """Return the profiles in the order of the cells. Raises `RecordError` (BX411): one is damaged."""
    paths = (record / FOLDER / cell.id / NAME for cell in plan.cells)
    return tuple(wire.load_profile(path.read_bytes()) for path in paths if path.is_file())

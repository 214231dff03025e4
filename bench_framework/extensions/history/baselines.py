"""Baselines: save, look up, compare, and move to another machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench_framework.errors import RecordError, UsageError
from bench_framework.execution.machine.host import utc_now
from bench_framework.model.documents.plan import SCHEMA_VERSION, DocumentVersion, fields_of
from bench_framework.model.record.machine import Fingerprint, fingerprint
from bench_framework.store import baselines, finding, layout, manifest
from bench_framework.store.baselines import Baseline
from bench_framework.store.records import Record
from bench_framework.text.builds import condition
from bench_framework.workflow.acceptance import Acceptance
from bench_framework.workflow.comparison import ComparisonPage, RecordsDocument, compare_records
from bench_framework.workflow.documents import FileDocument
from bench_framework.workflow.pages import record_host


class Saved(NamedTuple):
    """A baseline that was written, and the one that it replaced, if any."""

    baseline: Baseline
    before: Baseline | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDocument(Baseline):
    """The result of `baseline save`, `show` and `import`."""

    file: Path
    """File that stores the baseline."""
    folder: Path
    """Folder of the record."""
    fault: str | None
    """A fault of the record, such as a changed file."""
    replaced: str | None
    """Id of the record that had the name before; null without one, and for `list` and `show`."""
    schema_version: DocumentVersion = SCHEMA_VERSION
    """It is also part of the list of baselines."""


@dataclass(frozen=True, slots=True)
class BaselinesDocument:
    """The result of `baseline list`."""

    baselines: tuple[BaselineDocument, ...]
    """All baselines."""


AnyBaseline = BaselineDocument | BaselinesDocument | RecordsDocument | Acceptance | FileDocument


def document(results: Path, baseline: Baseline, before: Baseline | None = None) -> BaselineDocument:
    """Return the document of a baseline, and of the one that it replaced."""
    return BaselineDocument(
        **fields_of(baseline),
        file=baseline.file_in(results),
        folder=baseline.folder_in(results),
        fault=baseline.fault_in(results) or None,
        replaced=before.record if before is not None else None,
    )


def save(results: Path, name: str, record: str = "@last", *, force: bool = False) -> Saved:
    """Give a record a name. A baseline of this name and scenario is replaced.

    Raises:
        UsageError: BX101, there is no such record; BX116, the name is not valid, or the record is not
            in `results`, is a step of a search, or confirms another record; BX117, the name is that of a
            record of another machine, without `force`.
        RecordError: BX413, the measurement is incomplete; BX415, the record was changed; BX455, it was
            imported.
    """
    if not baselines.is_name(name):
        raise UsageError("BX116.not-a-name", name=name)
    folder = finding.resolve_measured(results, record)
    if finding.is_step(folder):
        raise UsageError("BX116.step", folder=folder)
    if first := finding.confirmed_by(folder):
        raise UsageError("BX116.confirmation", folder=folder, first=f"{folder.parent.name}/{first}")
    with Record.open(folder) as opened:
        if not opened.contents.complete or not (folder / layout.MANIFEST).is_file():
            raise RecordError("BX413.baseline-incomplete", folder=folder)
        scenario, machine = opened.plan.name, fingerprint(record_host(opened))
    if folder.resolve() != (results / scenario / opened.id).resolve():
        raise UsageError(
            "BX116.other-folder",
            folder=folder,
            scenario=scenario,
            id=opened.id,
            results=results,
        )
    changed = [m for m in manifest.check_manifest(folder) if manifest.is_measured(m.path)]
    if changed:
        raise RecordError(
            "BX415.not-as-measured", folder=folder, path=changed[0].path, what=changed[0].what
        )
    digest = manifest.digest_of_record(folder)
    baseline = Baseline(name, scenario, opened.id, digest, machine, utc_now())
    before = _replaced(results, baseline, force=force)
    baselines.write(results, baseline)
    return Saved(baseline, before)


def _replaced(results: Path, baseline: Baseline, *, force: bool) -> Baseline | None:
    """Return the baseline of the same name. `None`: no file has it, or the file is damaged.

    Raises `UsageError` (BX117): it is of another machine; `RecordError` (BX412): a newer benchctl wrote it.
    """
    try:
        before = next(iter(baselines.find_all(results, baseline.scenario, baseline.name)), None)
    except RecordError as error:
        if error.code != baselines.DAMAGED:
            raise
        return None
    if before is not None and not force:
        machines = before.machine, baseline.machine
        _require_equal("BX117.of-other-machine", *machines, label=before.label)
    return before


def _require_equal(key: str, before: Fingerprint, after: Fingerprint, /, **values: Any) -> None:
    """Refuse records of different machines. Raises `UsageError` with `key`."""
    if differences := before.differences(after):
        raise UsageError(
            key, details=tuple(("differs", condition(one)) for one in differences), **values
        )


def compare(
    results: Path, name: str, record: str | None = None, *, force: bool = False
) -> ComparisonPage:
    """Compare a record with a baseline. Without `record`, it is the newest one of the scenario.

    With `force`, records of different machines are compared, and the result is marked.

    Raises:
        UsageError: BX116, there is no such baseline; BX117, another machine measured the record; and
            those of `compare_records`.
        RecordError: BX416, the record of the baseline is missing or changed.
    """
    baseline = baselines.find(results, name)
    folder = finding.resolve_measured(results, record or baseline.scenario)
    with Record.open(folder) as opened:
        machine = fingerprint(record_host(opened))
    if not force:
        key, label = "BX117.on-other-machine", baseline.label
        _require_equal(key, baseline.machine, machine, label=label, record=folder)
    differences = baseline.machine.differences(machine)
    return compare_records(results, baseline.label, str(folder), forced=differences)


def export(results: Path, name: str, out: Path | None = None) -> Path:
    """Write a baseline and its record as one archive, ``SCENARIO-NAME.tar.gz`` without `out`.

    Raises:
        UsageError: BX116, there is no such baseline.
        RecordError: BX415 or BX416, its record is missing or changed.
        MachineError: BX235, writing failed.
    """
    baseline = baselines.find(results, name)
    baselines.record_of(results, baseline.label)
    path = Path(f"{baseline.scenario}-{baseline.name}.tar.gz") if out is None else out
    baselines.write_archive(layout.output_path(path), baseline, results)
    return path


def import_archive(results: Path, path: Path, *, force: bool = False) -> Saved:
    """Add the record of an archive to the folder of records, and its name.

    Raises:
        UsageError: BX118, the archive is not valid; BX117, the name is that of a record of another
            machine, without `force`.
        RecordError: BX411 or BX412, the record cannot be read.
        MachineError: BX235, writing failed.
    """
    entry = baselines.read_entry(path)
    _replaced(results, entry, force=force)  # nothing is written if the name is taken
    baseline = baselines.extract(path, entry, results)
    before = _replaced(results, baseline, force=force)
    baselines.write(results, baseline)
    return Saved(baseline, before)

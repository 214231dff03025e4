"""Baselines: names of records, each in a small JSON file next to the records of its scenario."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.machine import Fingerprint
from bench_framework.store import layout, manifest, wire

FOLDER: Final = "baselines"
SCHEMA_VERSION: Final = 1
MOST_BYTES: Final = 1 << 16
MOST_LISTED: Final = 5
RESERVED: Final = frozenset({"last", "prev"})
UNKNOWN: Final = "BX116"
"""Code: no baseline has this name, or it is not a valid name."""
DAMAGED: Final = "BX411"
"""Code: the file of a baseline is damaged."""
CHANGED: Final = "BX416"
"""Code: the record of a baseline is missing or changed."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Baseline:
    """A name for a record of a scenario, with the machine that measured it."""

    schema_version: int
    name: str
    scenario: str
    record: str
    """Id of the record."""
    digest: str
    """Digest of the measured files of the record."""
    machine: Fingerprint
    saved_at: str
    """Time of saving, UTC, ISO 8601."""

    @property
    def label(self) -> str:
        """Return ``SCENARIO@NAME``, which names the record in every command."""
        return f"{self.scenario}@{self.name}"

    def file(self, root: Path) -> Path:
        """Return the path of its file in the folder of records."""
        return root / self.scenario / FOLDER / f"{self.name}.json"

    def folder(self, root: Path) -> Path:
        """Return the path of its record in the folder of records."""
        return root / self.scenario / self.record

    def fault(self, root: Path) -> str:
        """Return what is wrong with its record, without hashing files; empty if nothing is."""
        folder = self.folder(root)
        if not folder.is_dir():
            return "is missing"
        try:
            same = manifest.digest_of(manifest.read_manifest(folder)) == self.digest
        except RecordError:
            same = False
        return "" if same else "was changed or measured further after it was saved"


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a baseline."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


def dump(baseline: Baseline) -> str:
    """Return the text of a baseline's file."""
    return wire.indented(asdict(baseline))


def parse(text: bytes, where: str) -> Baseline:
    """Read the text of a baseline's file.

    Raises `RecordError` (BX411): it is damaged; BX412: a newer benchctl wrote it.
    """
    try:
        content = parse_json(text)
        version = int(content["schema_version"])
        if version > SCHEMA_VERSION:
            message = f"a newer version of benchctl wrote {where}"
            raise RecordError(message, code="BX412", fix="update benchctl")
        baseline = wire.read(Baseline, content)
        json.dumps(content, ensure_ascii=False).encode()  # it may have halves of characters
        valid = is_name(baseline.name) and _NAME.fullmatch(baseline.scenario)
        if not valid or not layout.is_record_id(baseline.record):
            raise ValueError("a name in it is not valid")  # noqa: TRY301 -- one message for all
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise RecordError(
            f"{where} cannot be read",
            code=DAMAGED,
            details=(("cause", str(error)),),
            effect="the baseline is not used",
            fix="save the baseline again, or remove the file",
        ) from error
    return baseline


def find_all(
    root: Path,
    scenario: str = "*",
    name: str = "*",
    damaged: Callable[[Path, RecordError], object] | None = None,
) -> list[Baseline]:
    """Return the baselines in the folder of records, sorted by scenario and name.

    `scenario` and `name` are names, or ``*`` for all. `damaged` gets each file that cannot be used,
    with the error of `parse`; without it, the error is raised.
    """
    matching = []
    for path in _files(root, scenario, name):
        try:
            matching.append(_read(root, path))
        except RecordError as error:
            if damaged is None:
                raise
            damaged(path, error)
    return matching


def _read(root: Path, path: Path) -> Baseline:
    try:
        baseline = parse(read_regular(path, MOST_BYTES), str(path))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise RecordError(message, code=DAMAGED, effect="the baseline is not used") from error
    if baseline.file(root) != path:
        message = f"{path} is the file of {baseline.label}"
        fix = "give the file its old name, or save the baseline again"
        raise RecordError(message, code=DAMAGED, effect="the baseline is not used", fix=fix)
    return baseline


def _files(root: Path, scenario: str = "*", name: str = "*") -> list[Path]:
    return sorted(root.glob(f"{scenario}/{FOLDER}/{name}.json"))


def find(root: Path, text: str) -> Baseline:
    """Return the baseline of a text: ``NAME``, ``@NAME`` or ``SCENARIO@NAME``.

    Raises `UsageError` (BX116): no baseline has this name, or several scenarios have one of this name.
    """
    scenario, _, name = text.rpartition("@")
    valid = _NAME.fullmatch(name) and (not scenario or _NAME.fullmatch(scenario))
    matching = find_all(root, scenario or "*", name) if valid else []
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise UsageError(
            f"several scenarios have a baseline {name}",
            code=UNKNOWN,
            fix=f"name one of: {', '.join(baseline.label for baseline in matching)}",
        )
    known = [f"{path.parent.parent.name}@{path.stem}" for path in _files(root)[:MOST_LISTED]]
    raise UsageError(
        f"there is no baseline {text.removeprefix('@')} in {root}",
        code=UNKNOWN,
        details=tuple(("there is", label) for label in known),
        fix="save it with `benchctl baseline save NAME RECORD`; @last and @prev are the newest records",
    )


def record_of(root: Path, text: str) -> Path:
    """Return the folder of a baseline's record.

    Raises the errors of `find`, and `RecordError` (BX416): the record is missing or changed.
    """
    baseline = find(root, text)
    if fault := baseline.fault(root):
        raise RecordError(
            f"the record {baseline.folder(root)} of the baseline {baseline.label} {fault}",
            code=CHANGED,
            effect="the baseline is not used",
            fix=f"restore it, or save another record as `{baseline.name}`",
        )
    return baseline.folder(root)


def write(root: Path, baseline: Baseline) -> Path:
    """Write a baseline's file, and return its path. Raises `MachineError` (BX235): failed."""
    path = baseline.file(root)
    layout.write_whole(path, dump(baseline))
    return path

"""Search for records by name. Of their contents, only the plan of the newest ones is read."""

import contextlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Final

from bench_framework.errors import RecordError, UsageError
from bench_framework.foreign import parse_json, read_regular, scenario_files
from bench_framework.model.phrases import PhraseCode
from bench_framework.registry import Addition, registry
from bench_framework.store import layout
from bench_framework.text.reasons import phrase_of

NEWEST: Final = frozenset({"@last", "@prev"})


def kind_of(folder: Path) -> Addition | None:
    """Return the kind of a record without rounds; `None` for a measured one, or if there is no record."""
    if (folder / layout.JOURNAL).is_file():
        return None
    kinds = registry().targets("record kind").values()
    return next((kind for kind in kinds if (folder / kind.options["file"]).is_file()), None)


def is_record(folder: Path) -> bool:
    """Return whether a folder contains a record."""
    return (folder / layout.JOURNAL).is_file() or kind_of(folder) is not None


def find_records(
    root: Path, scenario: str | None = None, *, without_rounds: bool = False
) -> list[Path]:
    """Return the folders of all records or of one scenario, oldest first.

    `without_rounds` includes those without rounds, such as imported ones.
    """
    folders = [root / scenario] if scenario is not None else _folders_in(root)
    records = [
        record
        for folder in folders
        for record in _folders_in(folder)
        if layout.is_record_id(record.name)
        and (is_record(record) if without_rounds else (record / layout.JOURNAL).is_file())
    ]
    return _by_start(records)


def _folders_in(folder: Path) -> list[Path]:
    """Return the folders in a folder; nothing if it does not exist, or if another process removed it meanwhile."""
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _by_start(records: list[Path]) -> list[Path]:
    """Return records by their start. An id has its minute, in which two scenarios may have started."""
    scenarios: dict[str, set[Path]] = {}
    for path in records:
        scenarios.setdefault(layout.order_key(path.name)[0], set()).add(path.parent)

    def key(path: Path) -> tuple[str, str, int, str]:
        minute, number = layout.order_key(path.name)
        second = _second_of_start(path) if len(scenarios[minute]) > 1 else ""
        return minute, second, number, path.parent.name

    return sorted(records, key=key)


def _second_of_start(record: Path) -> str:
    """Return the time at which the journal begins, or nothing if it cannot be read."""
    from bench_framework.store.journal import read_header  # noqa: PLC0415 -- it loads pydantic

    try:
        return read_header(record / layout.JOURNAL).started_at
    except RecordError:
        return ""


def find_steps(root: Path) -> list[Path]:
    """Return the folders of all records that are steps of a search, such as a bisection, oldest first.

    They are one folder deeper (``bisect/NAME/ID``), so that `find_records` does not take them for
    records of a scenario.
    """
    names = (name for search in _folders_in(root) for name in _folders_in(search))
    records = (record for name in names for record in _folders_in(name))
    return _by_start([r for r in records if layout.is_record_id(r.name) and is_record(r)])


def is_step(folder: Path) -> bool:
    """Return whether a folder is that of a record of `find_steps`, in any folder of records."""
    return "/" in _plan_of(folder).get("name", "")


def confirmed_by(folder: Path) -> str:
    """Return the id of the record that a gate confirmed by this one; empty for other records."""
    return _plan_of(folder).get("confirms", "")


def _plan_of(folder: Path) -> dict[str, str]:
    """Return the fields of a plan that are texts; none if it cannot be read."""
    try:
        plan = parse_json(read_regular(folder / layout.PLAN))
    except (OSError, ValueError):
        return {}
    texts = plan.items() if isinstance(plan, dict) else ()
    return {str(name): text for name, text in texts if isinstance(text, str)}


def _newest(records: list[Path], back: int = 1) -> Path | None:
    """Return the newest record, or the one before it with `back` 2; `None` if there are fewer.

    A confirmation of a gate measures a part of another record again, and is returned only if
    there is no other record.
    """
    whole = (folder for folder in reversed(records) if not confirmed_by(folder))
    newest = [*islice(whole, back)] or records[::-1][:back]
    return newest[-1] if len(newest) == back else None


def resolve_measured(root: Path, text: str, say: Callable[[str], object] | None = None) -> Path:
    """Return the folder of a measured record. Records without rounds are skipped.

    `say` prints a message about a skipped record without rounds.

    Raises `UsageError` (BX101): no record was found.
    """
    try:
        folder = resolve(root, text, without_rounds=False)
    except UsageError:
        if text in NEWEST:
            raise
        # If only a record without rounds has this name, opening it reports that.
        return resolve(root, text)
    newest = resolve(root, text)
    if say is not None and folder != newest:
        place, other = (f"{path.parent.name}/{path.name}" for path in (folder, newest))
        say(phrase_of(PhraseCode.IMPORTED_LATER, text, place, other))
    return folder


def resolve(root: Path, text: str, *, without_rounds: bool = True) -> Path:
    """Return the folder of a path, ``SCENARIO/ID``, ``@last``, ``@prev`` or ``SCENARIO`` (newest).

    The path of a scenario's folder is its newest record, too. ``@NAME`` and ``SCENARIO@NAME`` are baselines.

    Without `without_rounds`, a newest record always has rounds. A record with an explicit name is
    still returned.

    Raises `UsageError`: no record was found (BX101) or no baseline (BX116). The message lists the
    existing ones. Raises `RecordError` (BX416): the record of a baseline was changed.
    """
    if text in NEWEST:
        records = find_records(root, without_rounds=without_rounds)
        back = 1 if text == "@last" else 2
        if (newest := _newest(records, back)) is not None:
            return newest
        raise UsageError(
            "BX101.too-few-records",
            text=text,
            one=bool(records),
            measured=not without_rounds,
            root=root,
        )
    is_folder = False
    with contextlib.suppress(OSError):  # an invalid file name is not a record
        given = Path(text)
        if given.name in {"", ".."}:
            given = given.resolve()  # messages name the folder and the one above it
        places = (given, root / text) if text.strip() else ()
        for path in places:
            folder = path.parent if path.is_file() else path
            if is_record(folder):
                return folder
        for path in reversed(places):
            records = find_records(path.parent, path.name, without_rounds=without_rounds)
            if (of_scenario := _newest(records)) is not None:
                return of_scenario
        is_folder = any(path.is_dir() for path in places)
    if "@" in text and "/" not in text:
        from bench_framework.store import baselines  # noqa: PLC0415 -- reads files of records

        return baselines.record_of(root, text)
    known = [
        f"{path.parent.name}/{path.name}" for path in find_records(root, without_rounds=True)[-5:]
    ]
    others = ", ".join(reversed(known))
    if not text.strip():
        raise UsageError("BX101.no-name", newest=others)
    if is_folder:
        raise UsageError("BX101.folder-without-records", text=text)
    scenario = scenario_files().get(Path(text).stem, "")
    raise UsageError("BX101.no-record", text=text, newest=others, scenario=scenario)

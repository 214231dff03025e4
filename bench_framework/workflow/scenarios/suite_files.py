"""The scenario files of a suite, from the names and folders of a command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench_framework.errors import UsageError
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.document import Unreadable, parse
from bench_framework.store.finding import is_record
from bench_framework.workflow.run_options import find_scenario

SUITES: Final = "suites"
"""Folder in that of all records with a folder of each suite."""
SUFFIXES: Final = (".yaml", ".yml")
BENCH_SUFFIXES: Final = (".bench.yaml", ".bench.yml")
"""Ends of the names of files that are scenarios whatever they contain, for which editors know the schema."""
_KEYS: Final = frozenset({"version", "worker", "question"})
"""Keys of a scenario that no other YAML file of a folder, such as one of accepted changes, has."""


def scenarios_in(folder: Path) -> tuple[Path, ...]:
    """Return the scenarios of a folder by name: its YAML files with a key that only scenarios have, and `*.bench.yaml`.

    A file that is no YAML counts, so that its error is reported. Folders below are not searched.
    """
    files = (path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES)
    return tuple(
        path
        for path in files
        if path.is_file() and not path.name.startswith(".") and _is_scenario(path)
    )


def _is_scenario(path: Path) -> bool:
    if path.name.endswith(BENCH_SUFFIXES):
        return True
    try:
        data = parse(path.read_text(encoding="utf-8"), str(path)).data
    except (OSError, ValueError, Unreadable):
        return True
    return isinstance(data, dict) and not _KEYS.isdisjoint(data)


def is_suite(names: Sequence[str]) -> bool:
    """Return whether names select a suite: several names, or a folder."""
    return len(names) > 1 or any(name.strip() and Path(name).is_dir() for name in names)


def is_record_name(results: Path, names: Sequence[str]) -> bool:
    """Return whether one name selects a record. Raises `UsageError` (BX138): one of several does."""
    records = [name for name in names if name.startswith("@") or is_record(Path(name))]
    if len(names) > 1:
        for name in records:
            raise UsageError("BX138.record", name=name)
        return False
    # A folder of the crate can have the name of a scenario.
    scenario = (results / names[0]).is_dir() and not scenarios_in(Path(names[0]))
    return bool(records) or scenario


def suite_files(names: Sequence[str]) -> tuple[str, ...]:
    """Return the scenarios that names select: files, bundled scenarios, and all in a folder.

    Raises:
        UsageError: BX102, there is no such scenario; BX138, a folder has no scenario, or a file is named
            twice.
    """
    files: list[str] = []
    for name in names:
        folder = Path(name)
        if not name.strip() or not folder.is_dir():
            files.append(name)
            continue
        inside = scenarios_in(folder)
        if not inside:
            raise UsageError("BX138.no-scenario", folder=folder)
        files += map(str, inside)
    earlier: dict[Path, str] = {}
    for file in files:
        path = find_scenario(file).resolve()
        if path in earlier:
            other = "" if earlier[path] == file else earlier[path]
            raise UsageError("BX138.file-twice", earlier=other, file=file)
        earlier[path] = file
    return tuple(files)


def require_names(plans: Sequence[Plan]) -> None:
    """Refuse two scenarios of one name, whose records would share a folder. Raises `UsageError`, BX138."""
    earlier: dict[str, str] = {}
    for plan in plans:
        if plan.name in earlier:
            first, second = earlier[plan.name], plan.scenario_path
            raise UsageError("BX138.same-name", first=first, second=second, name=plan.name)
        earlier[plan.name] = plan.scenario_path

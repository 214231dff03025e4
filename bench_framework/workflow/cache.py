"""The cache of a machine: builds, binaries, inputs, tools, and records."""

import errno
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from bench_framework.errors import MachineError, RecordError, UsageError
from bench_framework.execution.machine.host import cache_root, file_age_s
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.process import left_scratch_folders
from bench_framework.execution.progress import Observer
from bench_framework.model.phrases import PhraseCode
from bench_framework.registry import registry
from bench_framework.scenario.document import suggest
from bench_framework.store import baselines, finding
from bench_framework.store.layout import (
    draft_of,
    in_use,
    is_draft,
    is_draft_of_record,
    is_in_use,
    is_record_id,
)
from bench_framework.text.reasons import phrase_of
from bench_framework.units import counted
from bench_framework.workflow.scenarios.suite_files import SUITES
from bench_framework.workflow.self_test_results import SELF_TESTS

_OF_EXTENSIONS = tuple(registry().targets("cache folder"))
_IN_RESULTS = ("records", SUITES, SELF_TESTS)
ONLY_BY_NAME = (*_IN_RESULTS, *_OF_EXTENSIONS)
"""Kinds that contain measurements, also unfinished ones. They are removed only if the user names them."""
KINDS = ("builds", "binaries", "data", "tools", "scratch", *ONLY_BY_NAME)
STALE_S = 3600.0
"""Age from which a draft in the results is one of a killed process, which would have taken seconds."""
MOST_CAUSES = 3
FOLDERS = {
    "builds": ("cargo", "builds", "trees", "revisions", "repositories", "registry"),
    "binaries": ("binaries",),
    "data": ("data",),
    "tools": ("tools",),
    **{name: (name,) for name in _OF_EXTENSIONS},
}


@dataclass(frozen=True, slots=True)
class Item:
    """A file or folder that is removed as a whole. All but those of the results are recreated when needed."""

    kind: str
    """Kind of the item, as `clean` takes it."""
    path: Path
    """Path of the file or folder."""
    bytes: int
    """Size with all its files."""
    age_s: float
    """Seconds since the last change."""


@dataclass(frozen=True, slots=True)
class CleanDocument:
    """The result of `clean`: the items that are listed, or with `--yes` removed."""

    items: tuple[Item, ...]
    """The items, the oldest first."""


def list_items(
    results: Path,
    *,
    kinds: tuple[str, ...] = (),
    older_s: float = 0.0,
    warn: Callable[[RecordError], object] = lambda _: None,
) -> tuple[Item, ...]:
    """Return the items in the cache, the oldest first. `ONLY_BY_NAME` kinds are included only on request.

    The kind ``scratch`` is what killed processes left: temporary folders, and drafts of records.
    `warn` gets the error of each baseline that cannot be read. It may name any record of its scenario, so
    all of them are left out.

    Raises `UsageError` (BX105): an unknown kind.
    """
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        names = ", ".join(kind or "''" for kind in unknown)
        near = suggest(unknown[0], KINDS)
        raise UsageError("BX105", unknown=names, near=near, kinds=", ".join(KINDS))
    selected = kinds or tuple(kind for kind in KINDS if kind not in ONLY_BY_NAME)
    items = (item for kind in selected for item in _items_of_kind(kind, results, warn))
    old = (item for item in items if item.age_s >= older_s)
    return tuple(sorted(old, key=lambda item: -item.age_s))


def remove_items(items: Sequence[Item], observer: Observer) -> None:
    """Remove items, unless they are gone, when no other process builds or measures with them.

    Raises `MachineError` (BX235): some remain, such as a record that another process measures.
    """
    refused: list[OSError] = []
    with ExitStack() as opened:
        if any(item.kind in FOLDERS for item in items):
            opened.enter_context(MachineLock(phrase_of(PhraseCode.OF_TOOL, "clean"), observer))
        for item in items:
            try:
                with suppress(FileNotFoundError):
                    remove = _remove_results if item.kind in _IN_RESULTS else _remove
                    remove(item.path)
            except OSError as error:
                refused.append(error)
    if refused:
        details = tuple(("cause", str(error)) for error in refused[:MOST_CAUSES])
        raise MachineError(
            "BX235.not-removed", details=details, refused=counted(len(refused), "item")
        )


def _remove_results(path: Path) -> None:
    """Remove a folder of results, in which no process can begin to measure meanwhile."""
    with in_use(path) as free:
        if not free:
            raise OSError(errno.EBUSY, phrase_of(PhraseCode.MEASURED_HERE), str(path))
        _remove(path)


def _remove(path: Path) -> None:
    if not path.is_dir() or path.is_symlink():
        path.unlink()
        return
    if not is_draft(path):
        # A kill must not leave half a record or half a checkout under a name that is in use.
        draft = draft_of(path)
        if draft.exists():
            shutil.rmtree(draft)
        path = path.replace(draft)
    shutil.rmtree(path)


def _items_of_kind(
    kind: str, results: Path, warn: Callable[[RecordError], object]
) -> Iterator[Item]:
    if kind == "records":
        exclusions = set[Path]()

        def damaged(path: Path, error: RecordError) -> None:
            scenario = path.parents[1]
            exclusions.update(finding.find_records(results, scenario.name, without_rounds=True))
            error.amend("BX411.not-listed", scenario=scenario.name)
            warn(error)

        readable = baselines.find_all(results, damaged=damaged)
        exclusions.update(baseline.folder_in(results) for baseline in readable)
        every = (*finding.find_records(results, without_rounds=True), *finding.find_steps(results))
        paths = [path for path in every if path not in exclusions and not is_in_use(path)]
    elif kind in _IN_RESULTS:
        folders = sorted((results / kind).glob("*Z*"))
        ours = (path for path in folders if is_record_id(path.name) and not finding.is_record(path))
        paths = [path for path in ours if not is_in_use(path)]
    elif kind == "scratch":
        steps = (path for path in results.glob("*/*/.*Z*.part") if is_draft_of_record(path))
        parts = (*results.glob("*/.*.part"), *results.glob("*/baselines/.*.part"), *steps)
        drafts = [path for path in parts if file_age_s(path) >= STALE_S]
        paths = [*left_scratch_folders(), *drafts]
    else:
        roots = [cache_root() / name for name in FOLDERS[kind]]
        paths = [path for root in roots if root.is_dir() for path in sorted(root.iterdir())]
    for path in paths:
        yield Item(kind, path, _size(path), file_age_s(path))


def _size(path: Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(f.stat().st_size for f in files if f.is_file() and not f.is_symlink())

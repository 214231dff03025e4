"""Inputs on disk: generated ones made once and used again, a user's file as it is. The door to `_native`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import MachineError
from bench_framework.execution import folders
from bench_framework.execution.host import cache_root, seconds
from bench_framework.execution.mounts import filesystem_of
from bench_framework.execution.worker import sha256_of
from bench_framework.model.run import PreparedInput
from bench_framework.store.layout import write_whole
from bench_framework.units import format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from bench_framework.execution.progress import Observer
    from bench_framework.model.plan import Dataset, Input, Plan

ROOM_LEFT_BYTES: Final = 64 << 20
"""A disk is not filled to its last byte: the record itself needs room."""


def data_dir(plan: Plan, env: Mapping[str, str]) -> Path:
    """Where generated inputs of a plan are kept."""
    return Path(plan.data_dir) if plan.data_dir else cache_root(env) / "data"


def workplace(plan: Plan, env: Mapping[str, str]) -> Path:
    """The folder in which a plan's programs work, as `target_of` has it: `cwd`, beside the input, or here."""
    own = next((cell.cwd for cell in plan.cells if cell.cwd), None)
    if own is not None:
        return Path(own)
    dataset = next((item.dataset for item in plan.inputs if item.dataset is not None), None)
    if dataset is None:
        return Path.cwd()
    return Path(dataset.path).parent if dataset.path else data_dir(plan, env)


def prepare_inputs(
    plan: Plan, env: Mapping[str, str], observer: Observer
) -> tuple[PreparedInput, ...]:
    """Every input of a plan, made if it is not there; several inputs may share one dataset.

    Raises:
        MachineError: BC401, the disk has no room; BC405, the generator is missing; BC406, a file is.
    """
    folder = data_dir(plan, env)
    missing = _missing_bytes(plan, folder)
    if missing:
        require_room(folder, missing)
    made: dict[str, PreparedInput] = {}
    found = []
    for item in plan.inputs:
        if item.dataset is None:
            found.append(PreparedInput(item.id, None, None, None, None, None))
            continue
        key = item.dataset.id
        if key not in made:
            made[key] = _prepare(item, item.dataset, folder, env, observer)
        found.append(_for_input(made[key], item.id))
    return tuple(found)


def require_room(folder: Path, size: int) -> None:
    """Raise `MachineError`, BC401, unless a folder's filesystem has `size` bytes free, and some more."""
    existing = next(
        path for path in (folder.absolute(), *folder.absolute().parents) if path.exists()
    )
    free = shutil.disk_usage(existing).free
    if free < size + ROOM_LEFT_BYTES:
        raise MachineError(
            f"{format_size(size)} needed in {folder}, {format_size(free)} free",
            code="BC401",
            effect="nothing was generated or measured",
            help="free some space, name another data-dir, or `benchctl clean`",
        )


def generated_path(dataset: Dataset, folder: Path) -> Path:
    """Where a generated dataset lies; a new version of the generator is another file."""
    size, seed = dataset.size_bytes, dataset.seed
    end = "folder" if _is_folder(dataset) else "txt"
    return folder / f"{dataset.family}-{seed}-{size}-{_native().version()}.{end}"


def _is_folder(dataset: Dataset) -> bool:
    return dataset.family in {name for name, _ in _native().session_profiles()}


def _prepare(
    item: Input, dataset: Dataset, folder: Path, env: Mapping[str, str], observer: Observer
) -> PreparedInput:
    from bench_framework.execution.progress import DataFinished  # noqa: PLC0415 -- `benchctl plan` asks for paths alone

    if dataset.kind == "file":
        prepared = _user_file(item, dataset, cache_root(env) / "data" / "digests")
        observer.notify(DataFinished(item.label, prepared, reused=True))
        return prepared
    path = generated_path(dataset, folder)
    known = _known(path, _sidecar(path))
    taken = None
    if known is None:
        start = seconds()
        known = _generate(item, dataset, path, observer)
        taken = seconds() - start
    prepared = PreparedInput(
        item.id,
        str(path.absolute()),
        folders.size(path),
        known,
        dataset.family,
        dataset.seed,
        taken,
        filesystem_of(path),
    )
    observer.notify(DataFinished(item.label, prepared, reused=taken is None))
    return prepared


def _generate(item: Input, dataset: Dataset, path: Path, observer: Observer) -> str:
    """Write a dataset under a temporary name, bring it to the disk, rename it. Returns its digest."""
    from bench_framework.execution.progress import DataStarted, DataStep  # noqa: PLC0415 -- `benchctl plan` writes none

    size = dataset.size_bytes or 0
    observer.notify(DataStarted(item.label, size))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write = _native().write_sessions if _is_folder(dataset) else _native().write_text
        _remove(temporary)  # of an earlier process that had our number
        digest: str = write(
            temporary,
            dataset.family,
            size,
            dataset.seed or 0,
            lambda done: observer.notify(DataStep(item.label, done, size)),
        )
        if temporary.is_dir():
            os.sync()  # one call for a thousand files
            _remove(path)  # a folder replaces no folder that has files
        else:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise MachineError(
            f"the input {path.name} could not be written",
            code="BC407",
            details=(("cause", str(error)),),
            help="free some space or name another data-dir",
        ) from error
    except ValueError as error:
        raise MachineError(
            f"the generator knows no {dataset.family!r}",
            code="BC408",
            details=(
                (
                    "kinds",
                    ", ".join(
                        name for name, _ in (*_native().text_kinds(), *_native().session_profiles())
                    ),
                ),
            ),
            help="name one of these kinds in the scenario's input",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            _remove(temporary)
    _remember(path, _sidecar(path), digest)
    return digest


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _user_file(item: Input, dataset: Dataset, digests: Path) -> PreparedInput:
    path = Path(dataset.path or "")
    if not path.is_file():
        raise MachineError(
            f"the input file {path} does not exist",
            code="BC406",
            effect="nothing was measured",
            help="the path in `input: {file: …}` is taken from the scenario's folder",
        )
    sidecar = (
        digests
        / f"{hashlib.sha256(str(path).encode(errors='surrogateescape')).hexdigest()[:16]}.json"
    )
    digest = _known(path, sidecar)
    if digest is None:
        with reading(path):
            digest = sha256_of(path)
        with contextlib.suppress(MachineError):  # without it the file is read again next time
            _remember(path, sidecar, digest)
    size = path.stat().st_size
    return PreparedInput(
        item.id, str(path), size, digest, dataset.family, None, None, filesystem_of(path)
    )


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Within the block, a file that cannot be read is `MachineError`, BC406."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"the input file {path} cannot be read: {error.strerror}",
            code="BC406",
            effect="nothing was measured",
            help="see to its rights, or name another file",
        ) from error


def _missing_bytes(plan: Plan, folder: Path) -> int:
    wanted = {item.dataset.id: item.dataset for item in plan.inputs if item.dataset}
    return sum(
        dataset.size_bytes or 0
        for dataset in wanted.values()
        if dataset.kind == "generated"
        and _known(path := generated_path(dataset, folder), _sidecar(path)) is None
    )


def _known(path: Path, sidecar: Path) -> str | None:
    """The digest of a file or folder that has kept the sizes and times of change that it had when digested."""
    try:
        said: dict[str, Any] = json.loads(sidecar.read_text(encoding="utf-8"))
        if _stamp(path) == {key: said[key] for key in _stamp(path)}:
            return str(said["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def _remember(path: Path, sidecar: Path, digest: str) -> None:
    write_whole(sidecar, json.dumps({"sha256": digest, **_stamp(path)}) + "\n")


def _stamp(path: Path) -> dict[str, int | str]:
    if path.is_dir():
        return {"size_bytes": folders.size(path), "files": folders.stamp(path)}
    stat = path.stat()
    return {"size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _sidecar(path: Path) -> Path:
    return path.with_suffix(".json")


def _for_input(prepared: PreparedInput, input_id: str) -> PreparedInput:
    return replace(prepared, input_id=input_id)


def _native() -> ModuleType:
    try:
        from bench_framework import _native as found  # noqa: PLC0415 -- not needed to plan or to report
    except ImportError as error:
        raise MachineError(
            "the generator of inputs (bench_framework._native) is not installed",
            code="BC405",
            details=(("cause", str(error)),),
            help="install benchctl from a wheel, or run `maturin develop --release` in a checkout",
        ) from error
    return found

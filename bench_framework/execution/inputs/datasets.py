"""Inputs on disk: generated datasets, which are reused, and files of the user.

Of `execution`, only this module and `profiling.samples` import the extension `_native`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import MachineError
from bench_framework.execution.inputs import folders
from bench_framework.execution.machine.host import cache_root, seconds
from bench_framework.execution.machine.mounts import filesystem_of, free_bytes
from bench_framework.execution.worker import sha256_of
from bench_framework.foreign import fault_of, parse_json
from bench_framework.model.run import PreparedInput
from bench_framework.store.layout import write_whole
from bench_framework.units import format_size

if TYPE_CHECKING:
    from bench_framework.execution.progress import Observer
    from bench_framework.model.plan import Dataset, Input, Plan

ROOM_LEFT_BYTES: Final = 64 << 20
"""Space that a generated input leaves free for the record."""


def data_dir(configured: str | None, env: Mapping[str, str]) -> Path:
    """Return the folder of generated inputs: the one that the scenario gives, or one in the cache."""
    return Path(configured) if configured else cache_root(env) / "data"


def workplace(plan: Plan, env: Mapping[str, str]) -> Path:
    """Return the programs' working directory: `cwd`, the input's folder, or the current one."""
    cwd = next((cell.cwd for cell in plan.cells if cell.cwd), None)
    if cwd is not None:
        return Path(cwd)
    dataset = next((item.dataset for item in plan.inputs if item.dataset is not None), None)
    if dataset is None:
        return Path.cwd()
    return Path(dataset.path).parent if dataset.path else data_dir(plan.data_dir, env)


def prepare_inputs(
    inputs: Sequence[Input], folder: Path, env: Mapping[str, str], observer: Observer
) -> tuple[PreparedInput, ...]:
    """Return the given inputs and generate missing ones; several inputs may share one dataset.

    `folder` is that of generated inputs, see `data_dir`.

    Raises `MachineError` (BC401): the disk has too little space; BC405, the generator is missing;
    BC406, a file is missing.
    """
    missing = _missing_bytes(inputs, folder)
    if missing:
        require_room(folder, missing)
    prepared: dict[str, PreparedInput] = {}
    prepared_inputs = []
    for item in inputs:
        if item.dataset is None:
            prepared_inputs.append(PreparedInput(item.id, None, None, None, None, None))
            continue
        key = item.dataset.id
        if key not in prepared:
            prepared[key] = _prepare(item, item.dataset, folder, env, observer)
        prepared_inputs.append(replace(prepared[key], input_id=item.id))
    return tuple(prepared_inputs)


def require_room(folder: Path, size: int) -> None:
    """Raise `MachineError`, BC401, unless a filesystem has more than `size` bytes free."""
    free = free_bytes(folder)
    if free < size + ROOM_LEFT_BYTES:
        raise MachineError(
            f"the inputs need {format_size(size)} in {folder}, "
            f"but only {format_size(free)} are free",
            code="BC401",
            effect="nothing was generated or measured",
            fix="free some space (`benchctl clean`), or set another `data-dir`",
        )


def generated_path(dataset: Dataset, folder: Path) -> Path:
    """Return the path of a generated dataset; each version of the generator has its own file."""
    size, seed = dataset.size_bytes, dataset.seed
    end = "folder" if _is_folder(dataset) else "txt"
    return folder / f"{dataset.family}-{seed}-{size}-{_native().version()}.{end}"


def _is_folder(dataset: Dataset) -> bool:
    return dataset.family in {name for name, _ in _native().session_profiles()}


def _prepare(
    item: Input, dataset: Dataset, folder: Path, env: Mapping[str, str], observer: Observer
) -> PreparedInput:
    # `benchctl plan` needs only paths.
    from bench_framework.execution.progress import DataFinished  # noqa: PLC0415

    if dataset.kind == "file":
        prepared = _user_file(item, dataset, cache_root(env) / "data" / "digests")
        observer.notify(DataFinished(item.label, reused=True))
        return prepared
    path = generated_path(dataset, folder)
    known = _stored_digest(path, _sidecar(path))
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
    observer.notify(DataFinished(item.label, reused=taken is None))
    return prepared


def _generate(item: Input, dataset: Dataset, path: Path, observer: Observer) -> str:
    """Write a dataset under a temporary name, flush and rename it. Return its digest."""
    # `benchctl plan` writes no data.
    from bench_framework.execution.progress import DataStarted, DataStep  # noqa: PLC0415

    size = dataset.size_bytes or 0
    observer.notify(DataStarted(item.label, size))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write = _native().write_sessions if _is_folder(dataset) else _native().write_text
        _remove(temporary)  # left by an earlier process with the same process id
        digest: str = write(
            temporary,
            dataset.family,
            size,
            dataset.seed or 0,
            lambda done: observer.notify(DataStep(item.label, done, size)),
        )
        if temporary.is_dir():
            os.sync()  # one call for a thousand files
            _remove(path)  # rename(2) does not replace a folder that has files
        else:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise MachineError(
            f"the input {path.name} could not be written",
            code="BC407",
            details=(("cause", str(error)),),
            fix="free some space, or set another `data-dir`",
        ) from error
    except ValueError as error:
        kinds = (*_native().text_kinds(), *_native().session_profiles())
        raise MachineError(
            f"the generator has no kind {dataset.family!r}",
            code="BC408",
            details=(("kinds", ", ".join(name for name, _ in kinds)),),
            fix="use one of these kinds in the scenario's input",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            _remove(temporary)
    _store_digest(path, _sidecar(path), digest)
    return digest


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _user_file(item: Input, dataset: Dataset, digests: Path) -> PreparedInput:
    path = Path(dataset.path or "")
    if fault := fault_of(path):
        message = f"the input file {path} {fault}"
        fix = "correct `input: {file: …}`; the path is relative to the scenario's folder"
        raise MachineError(message, code="BC406", effect="nothing was measured", fix=fix)
    name = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:16]
    sidecar = digests / f"{name}.json"
    digest = _stored_digest(path, sidecar)
    if digest is None:
        try:
            digest = sha256_of(path)
        except OSError as error:
            message = f"the input file {path} cannot be read: {error.strerror}"
            fix, effect = "make it readable, or choose another file", "nothing was measured"
            raise MachineError(message, code="BC406", effect=effect, fix=fix) from error
        # Without the note the file is digested again next time.
        with contextlib.suppress(MachineError):
            _store_digest(path, sidecar, digest)
    size = path.stat().st_size
    return PreparedInput(
        item.id, str(path), size, digest, dataset.family, None, None, filesystem_of(path)
    )


def _missing_bytes(inputs: Sequence[Input], folder: Path) -> int:
    datasets = {item.dataset.id: item.dataset for item in inputs if item.dataset}
    return sum(
        dataset.size_bytes or 0
        for dataset in datasets.values()
        if dataset.kind == "generated"
        and _stored_digest(path := generated_path(dataset, folder), _sidecar(path)) is None
    )


def _stored_digest(path: Path, sidecar: Path) -> str | None:
    """Return the stored digest of a file or folder; `None` if its size or mtime changed since."""
    try:
        note: dict[str, Any] = parse_json(sidecar.read_text(encoding="utf-8"))
        if _stamp(path) == {key: note[key] for key in _stamp(path)}:
            return str(note["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None


def _store_digest(path: Path, sidecar: Path, digest: str) -> None:
    write_whole(sidecar, json.dumps({"sha256": digest, **_stamp(path)}) + "\n")


def _stamp(path: Path) -> dict[str, int | str]:
    if path.is_dir():
        return {"size_bytes": folders.size(path), "files": folders.stamp(path)}
    stat = path.stat()
    return {"size_bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _sidecar(path: Path) -> Path:
    return path.with_suffix(".json")


def _native() -> ModuleType:
    try:
        # `plan` and `report` do not need it.
        from bench_framework import _native as native  # noqa: PLC0415
    except ImportError as error:
        raise MachineError(
            "the input generator (bench_framework._native) is not installed",
            code="BC405",
            details=(("cause", str(error)),),
            fix="install benchctl from a wheel, or run `maturin develop --release` in a checkout",
        ) from error
    return native

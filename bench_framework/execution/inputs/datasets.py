"""Inputs on disk: generated datasets and outputs of commands, which are reused, and user files.

Of `execution`, only this module and `profiling.samplers` import the extension `_native`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError
from bench_framework.execution.inputs import folders, user_inputs
from bench_framework.execution.machine.host import cache_root, filesystem_of, free_bytes, seconds
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.plan import Dataset, Input, Plan
from bench_framework.model.record.run import PreparedInput
from bench_framework.text.numbers import format_size

if TYPE_CHECKING:
    from bench_framework.execution.stop import Driver

USER_KINDS: Final = ("file", "folder", "files")
"""Kinds of datasets that are files of the user."""
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
    if dataset.kind == "files":
        return Path(dataset.path or "")
    if dataset.kind in USER_KINDS:
        return Path(dataset.path or "").parent
    return data_dir(plan.data_dir, env)


def prepare_inputs(
    inputs: Sequence[Input], folder: Path, driver: Driver
) -> tuple[PreparedInput, ...]:
    """Return the given inputs and generate missing ones; several inputs may share one dataset.

    `folder` is that of generated inputs, see `data_dir`. A stop request ends the work at once.

    Raises `MachineError` (BC401): the disk has too little space; BC405, the generator is missing;
    BC406, a file is missing; BC411, a command failed; BC412, an input has another digest.
    """
    missing = _missing_bytes(inputs, folder)
    if missing:
        free = free_bytes(folder)
        if free < missing + ROOM_LEFT_BYTES:
            need = Phrase(PhraseCode.INPUTS_NEED, (missing, str(folder)))
            raise MachineError("BC401", need=need, free=format_size(free))
    by_dataset: dict[str, PreparedInput] = {}
    prepared_inputs = []
    for item in inputs:
        dataset = item.dataset
        if dataset is None:
            prepared_inputs.append(PreparedInput(item.id, None, None, None, None, None))
            continue
        if dataset.id not in by_dataset:
            by_dataset[dataset.id] = _prepare(item, dataset, folder, driver)
        prepared = by_dataset[dataset.id]
        if dataset.sha256 not in {None, prepared.sha256}:
            digests = (("expected", dataset.sha256), ("found", prepared.sha256))
            details = tuple((name, f"sha256 {digest}") for name, digest in digests)
            raise MachineError("BC412", details=details, path=prepared.path)
        prepared_inputs.append(replace(prepared, input_id=item.id))
    return tuple(prepared_inputs)


def generated_path(dataset: Dataset, folder: Path, env: Mapping[str, str]) -> Path:
    """Return the path for this version of the generator. Raises `MachineError` (BX234): none."""
    if dataset.kind == "command":
        return user_inputs.output_path(dataset, folder, env)
    size, seed = dataset.size_bytes, dataset.seed
    end = "folder" if _is_folder(dataset) else "txt"
    return folder / f"{dataset.family}-{seed}-{size}-{_native().version()}.{end}"


def is_present(dataset: Dataset, folder: Path, env: Mapping[str, str]) -> bool:
    """Return whether a dataset need not be generated; `folder` is that of generated inputs."""
    if dataset.kind in USER_KINDS:
        return True
    try:
        return generated_path(dataset, folder, env).exists()
    except (MachineError, OSError):  # `benchctl plan` need not be able to run the command
        return False


def _is_folder(dataset: Dataset) -> bool:
    return dataset.family in {name for name, _ in _native().session_profiles()}


def _prepare(item: Input, dataset: Dataset, folder: Path, driver: Driver) -> PreparedInput:
    # `benchctl plan` needs only paths.
    from bench_framework.execution.progress import DataFinished  # noqa: PLC0415

    env, observer = driver.env, driver.interruptible
    if dataset.kind in USER_KINDS:
        notes = cache_root(env) / "data" / "digests"
        prepared = user_inputs.prepare(item.id, dataset, notes, driver.stop.check)
        observer.notify(DataFinished(item.label, reused=True))
        return prepared
    path = generated_path(dataset, folder, env)
    known = folders.stored_digest(_sidecar(path), path)
    taken = None
    if known is None:
        start = seconds()
        known = _generate(item, dataset, path, driver)
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
        file_count=sum(1 for _ in folders.files(path)) if path.is_dir() else None,
    )
    observer.notify(DataFinished(item.label, reused=taken is None))
    return prepared


def _generate(item: Input, dataset: Dataset, path: Path, driver: Driver) -> str:
    """Write a dataset or the output of a command, and its note. Return its digest."""
    # `benchctl plan` writes no data.
    from bench_framework.execution.progress import DataStarted, DataStep  # noqa: PLC0415

    observer = driver.interruptible

    def step(done: int) -> None:
        observer.notify(DataStep(item.label, done, dataset.size_bytes))

    observer.notify(DataStarted(item.label, dataset.size_bytes))
    with _written(path) as temporary:
        if dataset.kind == "command":
            user_inputs.write_output(dataset, temporary, driver.env, driver.launcher, step)
            digest = folders.digest(temporary, check=driver.stop.check)
        else:
            digest = _write_dataset(dataset, temporary, step)
    folders.store_digest(_sidecar(path), digest, path)
    return digest


def _write_dataset(dataset: Dataset, path: Path, step: Callable[[int], None]) -> str:
    write = _native().write_sessions if _is_folder(dataset) else _native().write_text
    try:
        digest: str = write(path, dataset.family, dataset.size_bytes, dataset.seed or 0, step)
    except ValueError as error:
        kinds = (*_native().text_kinds(), *_native().session_profiles())
        details = (("kinds", ", ".join(name for name, _ in kinds)),)
        raise MachineError("BC408", details=details, family=dataset.family) from error
    return digest


@contextlib.contextmanager
def _written(path: Path) -> Iterator[Path]:
    """Give a temporary name to write to; then flush and rename it, or remove it after a failure."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)  # left by an earlier process with the same process id
        yield temporary
        if temporary.is_dir():
            os.sync()  # one call for a thousand files
            _remove(path)  # rename(2) does not replace a folder that has files
        else:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise MachineError("BC407", details=(("cause", str(error)),), name=path.name) from error
    finally:
        with contextlib.suppress(OSError):
            _remove(temporary)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _missing_bytes(inputs: Sequence[Input], folder: Path) -> int:
    datasets = {item.dataset.id: item.dataset for item in inputs if item.dataset}
    return sum(
        dataset.size_bytes or 0
        for dataset in datasets.values()
        if dataset.kind == "generated"
        and folders.stored_digest(_sidecar(path := generated_path(dataset, folder, {})), path)
        is None
    )


def _sidecar(path: Path) -> Path:
    return path.with_suffix(".json")


def _native() -> ModuleType:
    try:
        # `plan` and `report` do not need it.
        from bench_framework import _native as native  # noqa: PLC0415
    except ImportError as error:
        raise MachineError("BC405", details=(("cause", str(error)),)) from error
    return native

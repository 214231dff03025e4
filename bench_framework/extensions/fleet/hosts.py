"""Hosts of a fleet: the worker of this host, the state of all hosts, and the import of Dask, which is optional."""

import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.machine import host
from bench_framework.execution.machine.lock import locked
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.process import Launcher
from bench_framework.extensions.fleet import selection
from bench_framework.extensions.fleet.programs import BuildTarget
from bench_framework.extensions.fleet.selection import WorkerPlace
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.record.machine import fingerprint
from bench_framework.store.layout import writing
from bench_framework.text.reasons import phrase_of
from bench_framework.version import __version__

State = Literal["free", "measuring", "no contact", "lost"]


@dataclass(frozen=True, slots=True)
class HostStatus:
    """A host that is or was registered at a scheduler."""

    host: str
    """Name of the host."""
    address: str
    """Address of its worker."""
    state: State
    """``no contact`` for a registered host without a heartbeat for 15 s; ``lost`` for one whose worker is gone
    and was not stopped."""
    since_s: float
    """Seconds since the last heartbeat, or since the worker was lost."""
    kind: str
    """Digest of the fingerprint, which is equal for hosts of one kind."""
    facts: dict[str, str]
    """Facts of the machine by name."""
    labels: tuple[str, ...]
    """Labels of the host."""
    versions: dict[str, str | None]
    """Versions of the programs that must agree; null for a missing one."""
    scenario: str = ""
    """Name of the scenario that is measured; empty without one."""
    done: int | None = None
    """Number of finished rounds over all inputs, with warm-up rounds; null before the first round."""
    total: int | None = None
    """Largest number of rounds; null if it is not known."""
    left_s: float | None = None
    """Largest remaining time in seconds; null if it is not known."""
    waiting: int = 0
    """Number of runs that wait for this host."""
    load: float | None = None
    """Load average of the last minute."""
    free_bytes: int | None = None
    """Free disk space for builds, inputs and records."""


def describe_host(folder: Path, labels: Sequence[str]) -> dict[str, Any]:
    """Return what a worker reports to the scheduler once: kind, labels, target and versions of this host.

    Its architecture is a label, too.
    """
    with Launcher() as launcher:
        machine = host.facts(launcher, hyperfine="", results=folder, data=folder)
    kind = fingerprint(machine)
    rust = (machine.rustc or "").split()
    return {
        "host_id": machine.host_id,
        "kind": kind.digest,
        "facts": dict(kind.facts),
        "labels": sorted({platform.machine(), *labels}),
        "target": BuildTarget.here(),
        "versions": {
            "benchctl": __version__,
            "python": machine.python,
            "rust": rust[1] if len(rust) > 1 else None,
        },
    }


def load_cluster(words: str) -> ModuleType:
    """Return the module that uses Dask. Raises `UsageError` (BX132): the package is not installed."""
    try:
        from bench_framework.extensions.fleet import cluster
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("bench_framework"):
            raise
        details = (("missing", str(error.name)),)
        raise UsageError("BX132", details=details, words=words) from error
    return cluster


def hosts_of(scheduler: str, *, insecure: bool) -> list[HostStatus]:
    """Return the hosts of a scheduler by name.

    Raises:
        UsageError: BX132, the package distributed is missing; BX133, the scheduler is on another machine
            and has no TLS.
        MachineError: BX260, there is no connection to the scheduler.
    """
    address = selection.find_address(scheduler, insecure=insecure)
    with load_cluster(phrase_of(PhraseCode.OF_TOOL, "fleet")).connected(
        address, "BX260.no-host-listed"
    ) as connection:
        return sorted(map(_status, connection.hosts()), key=lambda each: each.host)


def _status(place: WorkerPlace) -> HostStatus:
    card, reported = place.card, place.reported
    run: dict[str, Any] = reported.get("run") or {}
    state: State = "measuring" if run else "free"
    if not place.registered:
        state = "lost"
    elif place.silent:
        state = "no contact"
    return HostStatus(
        host=place.name,
        address=place.address,
        state=state,
        since_s=place.since_s,
        kind=card.get("kind", ""),
        facts=card.get("facts", {}),
        labels=tuple(card.get("labels", ())),
        versions=card.get("versions", {}),
        waiting=max(0, place.runs - bool(run)),
        load=reported.get("load"),
        free_bytes=reported.get("free_bytes"),
        **run,
    )


def serve(
    scheduler: str,
    name: str,
    *,
    labels: Sequence[str] = (),
    insecure: bool,
    say: Callable[[str], object],
) -> None:
    """Serve runs until a signal. `say` prints when the worker is ready.

    Raises:
        UsageError: BX132, the package distributed is missing; BX133, the scheduler is on another machine
            and has no TLS; BX136, the name or a label is not valid.
        MachineError: BX260, there is no connection to the scheduler, or it ended; BX265, there is a
            worker on this machine, or one of this name at the scheduler; BC410, this is not Linux.
    """
    require_linux()
    address = selection.find_address(scheduler, insecure=insecure)
    name = name or platform.node()
    selection.require_name(name)
    selection.require_labels(labels)
    cluster = load_cluster(phrase_of(PhraseCode.OF_TOOL, "fleet"))
    folder = host.cache_root() / "fleet-worker"

    def busy() -> None:
        raise MachineError("BX265.on-this-machine", folder=folder)

    def ready(address_here: str) -> None:
        places = (name, address_here, address, cluster.versions())
        say(phrase_of(ExtensionCode.HOST_READY, *places))

    with ExitStack() as lock:
        with writing(folder):
            lock.enter_context(locked(folder, busy))
        if not cluster.serve(address, name, folder / "dask", describe_host(folder, labels), ready):
            raise MachineError("BX260.connection-ended", address=address)

"""The worker of a host, one per machine and user."""

import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from bench_framework.errors import MachineError
from bench_framework.execution.machine import host
from bench_framework.store.layout import locked, writing
from bench_framework.workflow.fleet import access, load_cluster
from bench_framework.workflow.fleet.status import describe_host


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
            and has no TLS; BX136, a label is not valid.
        MachineError: BX260, there is no connection to the scheduler, or it ended; BX265, there is a
            worker on this machine, or one of this name at the scheduler.
    """
    address = access.find_address(scheduler)
    access.require_safe(address, insecure=insecure)
    access.require_labels(labels)
    cluster = load_cluster("benchctl fleet")
    host.require_linux()
    name = name or platform.node()
    folder = host.cache_root() / "fleet-worker"

    def busy() -> None:
        raise access.second_worker(f"another one uses {folder}")

    def ready(address_here: str) -> None:
        say(f"host {name} is ready at {address_here}, scheduler {address}: {cluster.versions()}")

    with ExitStack() as lock:
        with writing(folder):
            lock.enter_context(locked(folder, busy))
        if not cluster.serve(address, name, folder / "dask", describe_host(folder, labels), ready):
            raise MachineError(
                f"the connection to the scheduler {address} ended",
                code="BX260",
                effect="a run in progress was stopped; its finished rounds are kept",
                fix="check the network and the scheduler, then start this worker again",
            )

"""The connection to a Dask cluster. No other module imports `dask` and `distributed`."""

import asyncio
import concurrent.futures
import contextlib
import functools
import logging
import pickle
import platform
import queue
import signal
import ssl
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import dask
from distributed import Client, Future, Security, Worker, get_worker

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.machine import host
from bench_framework.extensions.fleet import arrival, job as jobs, selection
from bench_framework.extensions.fleet.bundle import damaged
from bench_framework.extensions.fleet.greeting import require_dask
from bench_framework.extensions.fleet.job import Job, JobResult
from bench_framework.extensions.fleet.programs import BuildTarget
from bench_framework.extensions.fleet.selection import WorkerPlace
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.plan.policies import HostPolicy
from bench_framework.text.reasons import phrase_of
from bench_framework.text.words import hosts_of
from bench_framework.version import __version__

CONNECT_S = 10.0
"""Time in seconds to connect to a scheduler."""
REGISTER_S = 10.0
"""Time in seconds that a worker has to register after the client connected."""
MACHINE: Final = "machine"
"""Resource of which each worker has one, and each run takes one."""
CARD: Final = "benchctl"
"""Key of a worker's description at the scheduler (`hosts.describe_host`), and of its state in its metrics."""
HOSTS: Final = "benchctl-hosts"
"""Topic with an event for each worker that starts, and for each that a signal stops."""
CHECK_S: Final = 2.0
"""Interval in seconds at which the client asks which workers are registered."""
SILENT_S: Final = 15.0
"""Time in seconds without a heartbeat of a host. With 1000 hosts, there is one every 6 s."""
_RETRY_S: Final = 0.5
_QUIET: Final = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
}
"""Settings of the worker: its own monitoring would wake up 50 to 100 times per second."""


def versions() -> str:
    """Return the versions that client and workers must share. Each worker has it as a resource."""
    major, minor, _ = platform.python_version_tuple()
    return f"benchctl {__version__}, Python {major}.{minor}, distributed {metadata.version('distributed')}"


class Running:
    """A run on a worker. `gone` is True once the worker is not registered any more."""

    def __init__(self, cluster: "Cluster", place: WorkerPlace, job: Job) -> None:
        """Start the run. Dask does not repeat it on another worker."""
        client = cluster.client
        self._cluster, self._client, self._place, self._token = cluster, client, place, job.token
        self._updates = cluster.updates[job.token] = queue.Queue[list[bytes]]()
        self._arriving: concurrent.futures.Future[list[JobResult]] | None = None
        self._heartbeat = (0.0, host.seconds())
        self.gone = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the files of the scenario are a large argument
            self._future: Future[JobResult] = client.submit(
                measure,
                pickle.dumps(job),
                client.id,
                key=f"benchctl-{job.token}",
                workers=[place.address],
                allow_other_workers=False,
                resources={MACHINE: 1},
                retries=0,
                pure=False,
            )

    def updates(self, timeout_s: float) -> Iterator[list[bytes]]:
        """Yield what the run has sent, after waiting for at most `timeout_s` seconds."""
        with contextlib.suppress(queue.Empty):
            yield self._updates.get(timeout=timeout_s)
            while True:
                yield self._updates.get_nowait()

    @property
    def finished(self) -> bool:
        """True if the run has ended in any way."""
        return bool(self._future.done())

    def result(self) -> JobResult | None:
        """Return the result of the run; `None` while it is running or on its way.

        Raises `MachineError` (BX263): it failed, or its worker is gone.
        """
        future, name = self._future, self._place.name
        try:
            # First, because it can wait. If the connection ends meanwhile, Dask cancels the future.
            registered = self._cluster.heartbeats()
            if future.status == "error":
                raise selection.lost(name, str(future.exception(timeout=CONNECT_S)))
            if future.status not in ("pending", "finished", "lost"):
                raise selection.lost(name, phrase_of(ExtensionCode.CONNECTION_ENDED))
            if future.status == "finished" and self._arriving is None:
                # Without blocking: the network of this host can be interrupted now.
                loop: Any = self._client.loop
                arriving = self._client.gather([future], asynchronous=True)
                self._arriving = asyncio.run_coroutine_threadsafe(arriving, loop.asyncio_loop)
            if self._arriving is not None and self._arriving.done():
                return self._arrived(self._arriving)
            heartbeat = registered.get(self._place.address)
            if heartbeat is None:
                self.gone = True
                self.cancel()  # otherwise a new worker with this address would repeat it
                raise selection.lost(name, phrase_of(ExtensionCode.WORKER_GONE))
            if heartbeat != self._heartbeat[0]:
                self._heartbeat = (heartbeat, host.seconds())
        except (OSError, asyncio.CancelledError, TimeoutError) as error:
            raise selection.lost(name, selection.causes(error)) from error
        return None

    def _arrived(self, arriving: "concurrent.futures.Future[list[JobResult]]") -> JobResult:
        error = arriving.exception()
        if error is not None and not isinstance(error, (OSError, TimeoutError)):
            what = phrase_of(ExtensionCode.RESULT_OF, self._place.name)
            raise damaged(selection.causes(error), what)
        return arrival.checked_result(arriving.result()[0], self._place.name)

    @property
    def silent(self) -> bool:
        """True if the host has sent no heartbeat for `SILENT_S`."""
        return host.seconds() - self._heartbeat[1] > SILENT_S

    def stop(self) -> None:
        """Request that the run stops."""
        self._send(jobs.request_stop)

    def stored(self) -> None:
        """Report that the record of the run is stored here, so that its host can remove it."""
        self._send(jobs.remove_record)

    def _send(self, request: Callable[[str], object]) -> None:
        """Call a coroutine on the host, without waiting: its network can be interrupted now."""
        send = functools.partial(self._client.run, on_error="ignore", wait=False)
        loop: Any = self._client.loop
        loop.add_callback(send, request, self._token, workers=[self._place.address])

    def cancel(self) -> None:
        """Withdraw the run, which its worker has not started, or whose worker is gone."""
        self._future.cancel()


class Cluster:
    """The connection of a client to a scheduler."""

    def __init__(self, client: Client, address: str) -> None:
        self.client, self._address = client, address
        self.updates: dict[str, queue.Queue[list[bytes]]] = {}
        self._registered: Mapping[str, float] = {}
        self._asked = -CHECK_S

    def choose(self, policy: HostPolicy, wait: Callable[[float], object]) -> list[WorkerPlace]:
        """Return the workers of the hosts of a policy. `wait` sleeps, and may raise an error to give up.

        Raises:
            MachineError: BX261, too few are registered after `REGISTER_S`; BX262, the version of one is another one.
            UsageError: BX135, two are workers of one machine.
        """
        waited = 0.0
        while True:
            places = self._places()
            chosen, missing = selection.select(policy, places)
            if not missing or waited >= REGISTER_S:
                break
            wait(_RETRY_S)
            waited += _RETRY_S
        if missing:
            names = ", ".join(sorted(map(str, places)))
            details = (("requested", hosts_of(policy)), ("hosts", names or "none"))
            raise MachineError("BX261", details=details, missing=missing, address=self._address)
        usable = [place for place in places if place.versions == versions()]
        if policy.any or policy.labels or policy == HostPolicy():
            chosen, missing = selection.select(policy, usable)
        if others := [p for p in places if p not in usable and (missing or p in chosen)]:
            of_hosts = ((place.name, place.versions) for place in others)
            raise MachineError("BX262", details=(("client", versions()), *of_hosts))
        selection.require_different_machines(chosen)
        return chosen

    def _places(self) -> list[WorkerPlace]:
        return [place for place in self.hosts() if place.registered]

    def hosts(self) -> Iterator[WorkerPlace]:
        """Yield each registered host, and those whose workers are gone and were not stopped."""
        now = self.client.run_on_scheduler(time.time)
        events = ((at, e) for at, e in self.client.get_events(HOSTS) if arrival.checked_event(e))
        gone = {event["host"]: (at, event) for at, event in events}
        runs = self.client.processing()
        for address, worker in _workers(self.client).items():
            if MACHINE in worker["resources"]:
                gone.pop(name := str(worker["name"]), None)
                card, since_s = arrival.checked_card(worker.get(CARD)), now - worker["last_seen"]
                resources = ", ".join({*worker["resources"]} - {MACHINE})
                yield WorkerPlace(
                    address,
                    name,
                    # A host that has no card of benchctl has no version of it.
                    resources if card else "",
                    card.get("kind", ""),
                    frozenset(card.get("labels", ())),
                    len(runs.get(address, ())),
                    silent=since_s > SILENT_S,
                    target=BuildTarget(*card.get("target", ())),
                    since_s=max(0.0, since_s),
                    card=card,
                    reported=arrival.checked_state(worker["metrics"].get(CARD)),
                )
        for at, event in gone.values():
            if not event["stopped"]:
                events = self.client.get_events(event["address"])
                removed = [t for t, msg in events if msg.get("action") == "remove-worker"]
                since_s = max(0.0, now - max((at, *removed)))
                yield WorkerPlace(
                    event["address"],
                    event["host"],
                    registered=False,
                    since_s=since_s,
                    card=arrival.checked_card(event.get("card")),
                )

    def others(
        self, place: WorkerPlace, policy: HostPolicy, used: Collection[str], among: Collection[str]
    ) -> list[WorkerPlace]:
        """Return the hosts that can measure in place of another one, as `selection.suitable`."""
        labels = place.labels.intersection(policy.labels)
        with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
            places = self._places()
            return selection.suitable(places, (place.kind, versions()), labels, used, among)
        return []

    def start(self, place: WorkerPlace, job: Job) -> Running:
        """Start a run on a worker."""
        if not self.updates:
            # The scheduler keeps the last 1000 events of a topic. It forgets those of a client that is gone.
            self.client.subscribe_topic(self.client.id, self._receive)
        self._asked = -CHECK_S
        return Running(self, place, job)

    def _receive(self, event: tuple[float, Any]) -> None:
        match event[1]:  # other events are of the scheduler itself
            case [str(token), [*lines]] if token in self.updates:
                self.updates[token].put(lines)

    def heartbeats(self) -> Mapping[str, float]:
        """Return the time of the last heartbeat by the address of a registered worker.

        The scheduler is asked every `CHECK_S`. If it does not answer, the last answer is returned: Dask
        cancels the runs once it finds that the connection ended.
        """
        if host.seconds() - self._asked >= CHECK_S:
            with contextlib.suppress(OSError):
                workers = _workers(self.client)
                self._registered = {address: each["last_seen"] for address, each in workers.items()}
            self._asked = host.seconds()
        return self._registered


def _workers(client: Client) -> dict[str, Any]:
    """Return the registered workers by address. Raises `OSError`: the scheduler does not answer.

    `Client.scheduler_info` would then return its last answer. This can be the one without workers, which
    Dask requests every 2 s.
    """
    if client.scheduler is None:
        raise OSError(phrase_of(ExtensionCode.CONNECTION_ENDED))
    workers: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    return workers


@contextlib.contextmanager
def connected(address: str, key: str = "BX260.not-measured") -> Iterator[Cluster]:
    """Connect to a scheduler. `key` is the key of the error.

    Raises `MachineError` (BX260): nothing listens there, or a certificate is refused; `UsageError`
    (BX133): the TLS files cannot be used.
    """
    security = _security(address, "client")
    with contextlib.ExitStack() as opened:
        opened.callback(logging.disable, logging.NOTSET)
        logging.disable()  # errors of Dask are reported by benchctl
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # versions are compared with those of the worker
                tls = address.startswith(f"{selection.TLS}://")
                context = security.get_connection_args("client")["ssl_context"] if tls else None
                require_dask(address, context, CONNECT_S)
                client = Client(address, security=security, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise selection.unreachable(address, selection.causes(error), key) from error
        opened.callback(client.close, timeout=CONNECT_S)
        yield Cluster(client, address)


def measure(job: bytes, topic: str) -> JobResult:
    """Run a job in a worker, and publish its updates as events of a topic."""
    request: Job = pickle.loads(job)  # noqa: S301 -- Dask has run code of the client already
    worker = get_worker()
    return jobs.run_job(request, lambda lines: worker.log_event(topic, (request.token, lines)))


def serve(
    address: str, name: str, folder: Path, card: dict[str, Any], ready: Callable[[str], object]
) -> bool:
    """Serve runs until SIGINT or SIGTERM, or until the scheduler ends the connection.

    `card` describes this host. `ready` is called with the address of the worker. Return True after a
    signal.

    Raises `MachineError`: BX260, there is no connection; BX265, the scheduler has a worker of this name.
    """
    dask.config.set(_QUIET)
    logging.disable()
    return asyncio.run(_serve(address, name, folder, card, ready))


async def _serve(
    address: str, name: str, folder: Path, card: dict[str, Any], ready: Callable[[str], object]
) -> bool:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    worker = worker_of(address, name, folder, card)

    def announce(*, stopped: bool) -> None:
        event = {"host": name, "address": worker.address, "card": card, "stopped": stopped}
        worker.log_event(HOSTS, event)

    try:
        await worker
    except (OSError, ValueError, RuntimeError) as error:
        cause = selection.causes(error)
        if "name taken" in cause:
            raise MachineError("BX265.of-this-name", address=address, name=name) from error
        raise selection.unreachable(address, cause, "BX260.worker-not-started") from error
    announce(stopped=False)
    ready(worker.address)
    waiting = {asyncio.create_task(worker.finished()), asyncio.create_task(stopped.wait())}
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if stopped.is_set():
        announce(stopped=True)
    await worker.close(timeout=CONNECT_S, executor_wait=False)
    return stopped.is_set()


def worker_of(address: str, name: str, folder: Path, card: dict[str, Any]) -> Worker:
    """Return the worker of a host, which is not started."""
    return Worker(
        address,
        name=name,
        nthreads=1,
        resources={MACHINE: 1, versions(): 1},
        memory_limit=0,
        security=_security(address, "worker"),
        host="127.0.0.1" if selection.is_local(address) else None,
        dashboard_address="127.0.0.1:0",
        local_directory=str(folder),
        death_timeout=CONNECT_S,
        startup_information={CARD: lambda _: card},
        metrics={CARD: lambda _: jobs.state()},
    )


def _security(address: str, role: str) -> Security:
    """Return the certificates of Dask's configuration. Raises `UsageError` (BX133): unusable."""
    security = Security()
    if address.startswith(f"{selection.TLS}://"):
        names = ("tls_ca_file", f"tls_{role}_cert")
        if missing := [name for name in names if getattr(security, name) is None]:
            code = ExtensionCode.NOT_SET if len(missing) == 1 else ExtensionCode.BOTH_NOT_SET
            raise UsageError("BX133.tls-not-usable", cause=phrase_of(code, *missing))
        try:
            security.get_connection_args(role)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise UsageError("BX133.tls-not-usable", cause=str(error)) from error
    return security

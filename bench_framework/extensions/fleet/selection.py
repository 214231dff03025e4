"""Selection of a Dask scheduler and of its hosts, and the errors of a connection."""

import contextlib
import ipaddress
import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bench_framework.errors import MachineError, UsageError
from bench_framework.extensions.fleet.programs import BuildTarget
from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import AnyCode, Phrase
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import HostPolicy, is_label
from bench_framework.text.reasons import phrase_of

TLS: Final = "tls"
ALL: Final = "all"
"""Name for all hosts that a scheduler knows."""
_SCHEMES: Final = ("tcp", TLS)
_MOST_BYTES: Final = 1 << 20


def find_address(text: str, *, insecure: bool = False) -> str:
    """Return the address of a scheduler from itself, ``HOST:PORT``, or a scheduler file of Dask.

    Raises `UsageError` (BX133): it is not any of these, or it is on another machine without TLS, unless
    `insecure` permits that.
    """
    path = Path(text)
    if "://" not in text and path.exists():
        try:
            text = parse_json(read_regular(path, _MOST_BYTES))["address"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise UsageError("BX133.not-a-scheduler-file", path=path) from error
    text = text if "://" in str(text) else f"tcp://{text}"
    with contextlib.suppress(ValueError):
        parts = urlsplit(text)
        if parts.scheme in _SCHEMES and parts.hostname and parts.port:
            if insecure or parts.scheme == TLS or is_local(text):
                return text
            raise UsageError("BX133.without-tls", text=text)
    raise UsageError("BX133.not-an-address", text=text)


def command_on(host: str, command: str) -> str:
    """Return a command line that measures on one host; empty if `command` is."""
    words = iter(shlex.split(command))
    others = []
    for word in words:
        if word == "--host":
            next(words, None)
        elif not word.startswith("--host="):
            others.append(word)
    return shlex.join((*others, "--host", host)) if others else ""


def hosts_of(text: str) -> HostPolicy | None:
    """Return the hosts that ``--host`` names, which commas separate; `None` for an empty text.

    Raises `UsageError` (BX136): a name is empty, given twice, or next to `ALL`.
    """
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    for number, name in enumerate(names):
        fault: AnyCode | None = None if name else FaultCode.EMPTY
        if name in names[:number]:
            fault = FaultCode.GIVEN_TWICE
        if name == ALL and len(names) > 1:
            fault = ExtensionCode.NOT_WITH_OTHERS
        if fault:
            raise UsageError("BX136.host-name", text=text, name=name, fault=Phrase(fault))
    if names == (ALL,):
        return HostPolicy(everyone=True)
    return HostPolicy(names) if names else None


def require_name(name: str) -> None:
    """Refuse a name that `hosts_of` does not read as one host. Raises `UsageError` (BX136)."""
    if name in ("", ALL) or "," in name or name != name.strip():
        raise UsageError("BX136.worker-name", name=name, everyone=ALL)


def require_labels(labels: Sequence[str]) -> None:
    """Refuse an invalid label of a host. Raises `UsageError` (BX136)."""
    for label in labels:
        if not is_label(label):
            raise UsageError("BX136.label", label=label)


def is_local(address: str) -> bool:
    """Return whether an address is a loopback address of this machine."""
    name = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def unreachable(address: str, cause: str, key: str) -> MachineError:
    """Return the error BX260 with the effect of `key`: there is no connection to the scheduler."""
    tls = any(word in cause.lower() for word in ("ssl", "certificate", "tls"))
    return MachineError(key, details=(("cause", cause),), address=address, tls=tls)


def causes(error: BaseException | None) -> str:
    """Return the messages of an error and of its causes, each once.

    Dask begins messages with the connection (``in <TCPConnector object at 0x7fbd294ebed0>:``).
    """
    texts: list[str] = []
    while error is not None:
        text = re.sub(r"^in <[^>]*>: ", "", str(error)) or type(error).__name__
        if not any(text in earlier for earlier in texts):
            texts.append(text)
        error = error.__cause__ or error.__context__
    return "; ".join(texts)


def lost(host: str, cause: str) -> MachineError:
    """Return the error BX263: a record did not arrive, and no other host measures in its place."""
    return MachineError("BX263.record-lost", details=(("host", host),), host=host, cause=cause)


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """A worker that can measure.

    Attributes:
        versions: versions of its packages, which must equal those of the client.
        kind: digest of the fingerprint that the machine had when the worker started.
        runs: number of runs that it has or waits for.
        silent: it has sent no heartbeat for a while.
        target: the programs that it can run.
        registered: False if the worker is gone and was not stopped.
        since_s: seconds since the last heartbeat, or since the worker was lost.
        card: what the worker reported when it started, see `hosts.describe_host`.
        reported: what it reported with its last heartbeat, see `job.state`.
    """

    address: str
    name: str
    versions: str = ""
    kind: str = ""
    labels: frozenset[str] = frozenset()
    runs: int = 0
    silent: bool = False
    target: BuildTarget = field(default_factory=BuildTarget)
    registered: bool = True
    since_s: float = 0.0
    card: Mapping[str, Any] = field(default_factory=dict)
    reported: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return phrase_of(ExtensionCode.PLACE, self.name, self.kind, ", ".join(sorted(self.labels)))


Selected = tuple[list[WorkerPlace], Phrase | None]


def select(policy: HostPolicy, places: Sequence[WorkerPlace]) -> Selected:
    """Return the hosts of a policy, and what is missing; `None` if nothing is.

    Of several suitable hosts, it takes those with the fewest runs.
    """
    free = sorted(places, key=lambda place: (place.runs, place.name))
    if policy.names:
        by_name = {place.name: place for place in places}
        missing = [name for name in policy.names if name not in by_name]
        chosen = [by_name[name] for name in policy.names if name in by_name]
        lack = Phrase(ExtensionCode.NO_WORKER_OF_HOST, ", ".join(missing))
        return chosen, lack if missing else None
    if not places:
        return [], Phrase(ExtensionCode.NO_WORKER)
    if policy.everyone:
        return sorted(places, key=lambda place: place.name), None
    if policy.labels:
        return _by_label(policy.labels, free)
    if policy.per_kind:
        return _by_kind(policy.per_kind, free)
    if policy.split_inputs:
        return _of_one_kind(policy.split_inputs, free)
    number = policy.any or 1
    few = Phrase(ExtensionCode.TOO_FEW_HOSTS, (len(free), number))
    return free[:number], few if len(free) < number else None


def require_different_machines(places: Sequence[WorkerPlace]) -> None:
    """Refuse two workers of one machine, whose records could not be compared. Raises `UsageError` (BX135)."""
    by_machine: dict[str, str] = {}
    for place in places:
        machine = place.card.get("host_id", "")
        if machine and machine in by_machine:
            details = ((phrase_of(ExtensionCode.HOST_ID), machine),)
            first, second = by_machine[machine], place.name
            raise UsageError("BX135.one-machine", details=details, first=first, second=second)
        by_machine[machine] = place.name


def suitable(
    places: Sequence[WorkerPlace],
    kind_and_versions: tuple[str, str],
    labels: frozenset[str],
    used: Collection[str],
    among: Collection[str],
) -> list[WorkerPlace]:
    """Return the hosts of a kind with these versions and labels.

    They have none of the names `used`, and one of the names `among` if there are any. Those with the
    fewest runs are first. Hosts without contact are left out.
    """
    same = [p for p in places if (p.kind, p.versions) == kind_and_versions and not p.silent]
    others = [p for p in same if p.name not in used and labels <= p.labels]
    others = [p for p in others if not among or p.name in among]
    return sorted(others, key=lambda place: (place.runs, place.name))


def _by_label(labels: Sequence[str], free: Sequence[WorkerPlace]) -> Selected:
    chosen: dict[str, WorkerPlace] = {}
    # The label with the fewest hosts chooses first, so that another one does not take its host.
    for label in sorted(labels, key=lambda label: sum(label in p.labels for p in free)):
        fit = (p for p in free if label in p.labels and p not in chosen.values())
        if (place := next(fit, None)) is not None:
            chosen[label] = place
    missing = ", ".join(label for label in labels if label not in chosen)
    lack = Phrase(ExtensionCode.NO_WORKER_WITH_LABEL, missing) if missing else None
    return [chosen[label] for label in labels if label in chosen], lack


def _by_kind(number: int, free: Sequence[WorkerPlace]) -> Selected:
    kinds = _kinds(free)
    few = tuple(
        Phrase(ExtensionCode.TOO_FEW_OF_KIND, (len(hosts), number, kind))
        for kind, hosts in kinds.items()
        if len(hosts) < number
    )
    chosen = [place for hosts in kinds.values() for place in hosts[:number]]
    return chosen, Phrase(ExtensionCode.SHORTAGES, few) if few else None


def _of_one_kind(number: int, free: Sequence[WorkerPlace]) -> Selected:
    kinds = (hosts[:number] for hosts in _kinds(free).values())
    chosen = min(kinds, key=lambda hosts: (-len(hosts), sum(host.runs for host in hosts)))
    few = Phrase(ExtensionCode.TOO_FEW_OF_ONE_KIND, (len(chosen), number))
    return chosen, few if len(chosen) < number else None


def _kinds(places: Sequence[WorkerPlace]) -> dict[str, list[WorkerPlace]]:
    kinds = defaultdict[str, list[WorkerPlace]](list)
    for place in places:
        kinds[place.kind].append(place)
    return kinds


def shares(plan: Plan, number: int, only: str | None) -> list[str]:
    """Return a selection (``-k``) of inputs for each of at most `number` hosts, with the terms of `only`."""
    labels = [given.label for given in plan.inputs]
    parts = [labels[first::number] for first in range(min(number, len(labels)))]
    return [" ".join(filter(None, (only, _selection(part)))) for part in parts]


def _selection(labels: Sequence[str]) -> str:
    if all(re.fullmatch(r"[\w.+-]+", label) for label in labels):
        return f"input={'|'.join(labels)}"
    # A value has no quotation mark of its own kind. A dot matches it.
    pattern = "|".join(map(re.escape, labels)).replace("'", ".")
    return f"input~'^({pattern})$'"

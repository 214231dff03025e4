"""Selection of the hosts that measure a scenario."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from bench_framework.errors import MachineError
from bench_framework.model.plan import Plan
from bench_framework.model.policies import HostPolicy
from bench_framework.units import counted
from bench_framework.workflow.fleet.programs import Target


@dataclass(frozen=True, slots=True)
class Place:
    """A worker that can measure.

    Attributes:
        versions: versions of its packages, which must equal those of the client.
        kind: digest of the fingerprint that the machine had when the worker started.
        runs: number of runs that it has or waits for.
        silent: it has sent no heartbeat for a while.
        target: the programs that it can run.
    """

    address: str
    name: str
    versions: str = ""
    kind: str = ""
    labels: frozenset[str] = frozenset()
    runs: int = 0
    silent: bool = False
    target: Target = field(default_factory=Target)

    def __str__(self) -> str:
        return f"{self.name} (kind {self.kind}, {', '.join(sorted(self.labels))})"


def select(policy: HostPolicy, places: Sequence[Place]) -> tuple[list[Place], str]:
    """Return the hosts of a policy, and what is missing; empty if nothing is.

    Of several suitable hosts, it takes those with the fewest runs.
    """
    free = sorted(places, key=lambda place: (place.runs, place.name))
    if policy.names:
        by_name = {place.name: place for place in places}
        missing = [name for name in policy.names if name not in by_name]
        chosen = [by_name[name] for name in policy.names if name in by_name]
        return chosen, f"no worker of a host {', '.join(missing)}" if missing else ""
    if not places:
        return [], "no worker of benchctl"
    if policy.everyone:
        return sorted(places, key=lambda place: place.name), ""
    if policy.labels:
        return _by_label(policy.labels, free)
    if policy.per_kind:
        return _by_kind(policy.per_kind, free)
    if policy.split_inputs:
        return _of_one_kind(policy.split_inputs, free)
    number = policy.any or 1
    few = f"only {counted(len(free), 'host')} of {number}" if len(free) < number else ""
    return free[:number], few


def suitable(
    places: Sequence[Place],
    kind: str,
    versions: str,
    labels: frozenset[str],
    used: Collection[str],
) -> list[Place]:
    """Return the hosts of a kind with these versions and labels, except for the names `used`.

    Those with the fewest runs are first. Hosts without contact are left out.
    """
    same = [p for p in places if (p.kind, p.versions, p.silent) == (kind, versions, False)]
    others = [p for p in same if p.name not in used and labels <= p.labels]
    return sorted(others, key=lambda place: (place.runs, place.name))


def unregistered(
    missing: str, address: str, policy: HostPolicy, places: Sequence[Place]
) -> MachineError:
    """Return the error BX261: hosts are not registered at a scheduler."""
    return MachineError(
        f"{missing} is registered at {address}",
        code="BX261",
        details=(
            ("requested", policy.text),
            ("hosts", ", ".join(sorted(map(str, places))) or "none"),
        ),
        effect="nothing was measured",
        fix=f"start one on the host with `benchctl fleet worker {address}`",
    )


def other_versions(versions: str, places: Sequence[Place]) -> MachineError:
    """Return the error BX262: hosts have other versions than the client."""
    return MachineError(
        "the worker has another version than this client",
        code="BX262",
        details=(("client", versions), *((p.name, p.versions) for p in places)),
        effect="nothing was measured",
        fix="install one version on client, scheduler and hosts, then restart the workers",
    )


def _by_label(labels: Sequence[str], free: Sequence[Place]) -> tuple[list[Place], str]:
    chosen: dict[str, Place] = {}
    # The label with the fewest hosts chooses first, so that another one does not take its host.
    for label in sorted(labels, key=lambda label: sum(label in p.labels for p in free)):
        for place in free:
            if label in place.labels and place not in chosen.values():
                chosen[label] = place
                break
    missing = [label for label in labels if label not in chosen]
    text = f"no worker of another host with the label {', '.join(missing)}" if missing else ""
    return [chosen[label] for label in labels if label in chosen], text


def _by_kind(number: int, free: Sequence[Place]) -> tuple[list[Place], str]:
    kinds = _kinds(free)
    few = [
        f"only {counted(len(hosts), 'host')} of {number} of kind {kind}"
        for kind, hosts in kinds.items()
        if len(hosts) < number
    ]
    return [place for hosts in kinds.values() for place in hosts[:number]], "; ".join(few)


def _of_one_kind(number: int, free: Sequence[Place]) -> tuple[list[Place], str]:
    kinds = [hosts[:number] for hosts in _kinds(free).values()]
    chosen = min(kinds, key=lambda hosts: (-len(hosts), sum(host.runs for host in hosts)))
    few = f"only {counted(len(chosen), 'host')} of {number} of one kind"
    return chosen, few if len(chosen) < number else ""


def _kinds(places: Sequence[Place]) -> dict[str, list[Place]]:
    kinds: dict[str, list[Place]] = {}
    for place in places:
        kinds.setdefault(place.kind, []).append(place)
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

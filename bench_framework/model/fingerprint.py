"""Fingerprints of machines: times with the same fingerprint may be put in one series."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench_framework.model.run import Host

_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The facts of a machine that its times depend on and that stay equal between boots.

    Machines of one kind, such as the runners of a CI service, have the same fingerprint.
    """

    digest: str
    """Twelve hex digits over the facts."""
    facts: Mapping[str, str]
    """Names of the facts and their values, to print them."""

    def differences(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the facts that differ, such as ``kernel: 6.1.0 → 6.8.0``; empty if none does."""
        return tuple(
            f"{name}: {value} → {other.facts.get(name, 'unknown')}"
            for name, value in self.facts.items()
            if other.facts.get(name) != value
        )


def fingerprint(host: Host) -> Fingerprint:
    """Return the fingerprint of a machine: CPU, cores, memory in GiB, kernel and governor.

    The kernel reports a few megabytes more or less after an update, so memory is rounded.
    """
    facts = {
        "CPU": host.cpu,
        "cores": str(host.cores),
        "memory": f"{round(host.ram_bytes / _GIB)} GiB",
        "kernel": host.kernel,
        "governor": host.governor or "none",
    }
    text = "\n".join(f"{name}={value}" for name, value in facts.items())
    return Fingerprint(hashlib.sha256(text.encode()).hexdigest()[:12], facts)

"""The fingerprint of a machine, and the environment variables that change measured programs.

Times of machines with the same fingerprint may be put in one series. Variables of the calling shell
apply to every cell whose scenario does not set them. A record stores them, so that records can be
compared and measurements can be repeated.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench_framework.model.reasons import Difference
from bench_framework.model.record.run import Host

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

    def differences(self, other: Fingerprint) -> tuple[Difference, ...]:
        """Return the facts that differ; empty if none does."""
        return tuple(
            Difference(name, value, other.facts.get(name, ""))
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


Variables = tuple[tuple[str, str], ...]
"""Pairs of name and value, sorted by name."""

CHANGES_WHAT_RUNS: Final = re.compile(
    # The dynamic loader: other libraries, or another way to bind them.
    r"LD_(PRELOAD|LIBRARY_PATH|BIND_NOW|AUDIT)|GLIBC_TUNABLES"
    # Allocators: glibc, jemalloc with and without the prefix of its Rust crate, mimalloc, and
    # tcmalloc.
    r"|MALLOC_.+|_RJEM_MALLOC_CONF|MIMALLOC_.+|TCMALLOC_.+"
    # Numbers of threads of Rust's runtimes and of C libraries.
    r"|RAYON_(NUM_THREADS|RS_NUM_CPUS)|TOKIO_WORKER_THREADS|ASYNC_STD_THREAD_COUNT|SMOL_THREADS"
    r"|BLOCKING_MAX_THREADS|(OMP|OPENBLAS|MKL)_NUM_THREADS"
    # Variables that Rust's standard library and its loggers read.
    r"|RUST_(MIN_STACK|BACKTRACE|LIB_BACKTRACE|LOG)"
    # Flags for the compiler. benchctl does not pass them to cargo, but a command or `prepare` that
    # builds something does receive them.
    r"|RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|CARGO_PROFILE_.+"
)
"""Full names of the stored variables. Others are not stored, because they may contain secrets."""


def variables_of(env: Mapping[str, str]) -> Variables:
    """Return the variables that change the behaviour of programs. Empty values are skipped."""
    return tuple(
        (name, env[name]) for name in sorted(env) if env[name] and CHANGES_WHAT_RUNS.fullmatch(name)
    )


def format_variables(variables: Variables) -> str:
    """Return a text such as ``"LD_PRELOAD=libjemalloc.so, RAYON_NUM_THREADS=1"``."""
    return ", ".join(f"{name}={value}" for name, value in variables)

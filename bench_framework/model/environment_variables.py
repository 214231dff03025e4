"""Environment variables of the shell that change what a program does, though no scenario says so.

They reach every arm that does not set them itself. A record keeps them, so that two records can be
held against each other, and a reader can measure the same again. Pure data.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bench_framework.model.run import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.model.plan import Cell, Plan

Variables = tuple[tuple[str, str], ...]
"""Name and value, by name."""

CHANGES_WHAT_RUNS: Final = re.compile(
    # The loader: another library, or another way to bind it.
    r"LD_(PRELOAD|LIBRARY_PATH|BIND_NOW|AUDIT)|GLIBC_TUNABLES"
    # Allocators: glibc's, jemalloc's with and without the prefix of its Rust crate, mimalloc's,
    # tcmalloc's.
    r"|MALLOC_.+|_RJEM_MALLOC_CONF|MIMALLOC_.+|TCMALLOC_.+"
    # Threads of Rust's runtimes and of what C libraries bring along.
    r"|RAYON_(NUM_THREADS|RS_NUM_CPUS)|TOKIO_WORKER_THREADS|ASYNC_STD_THREAD_COUNT|SMOL_THREADS|BLOCKING_MAX_THREADS"
    r"|(OMP|OPENBLAS|MKL)_NUM_THREADS"
    # What Rust's standard library reads, and its loggers.
    r"|RUST_(MIN_STACK|BACKTRACE|LIB_BACKTRACE|LOG)"
    # Flags for the compiler: cargo is not given them, but a command or `prepare` that builds for
    # itself is.
    r"|RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|CARGO_PROFILE_.+"
)
"""Names in full. A value is a setting, never a password: nothing else of an environment is kept."""


def variables_of(env: Mapping[str, str]) -> Variables:
    """Those of an environment that change what runs; an empty value sets nothing."""
    return tuple(
        (name, env[name]) for name in sorted(env) if env[name] and CHANGES_WHAT_RUNS.fullmatch(name)
    )


def told(variables: Variables) -> str:
    """``"LD_PRELOAD=libjemalloc.so, RAYON_NUM_THREADS=1"``."""
    return ", ".join(f"{name}={value}" for name, value in variables)


def events(plan: Plan, variables: Variables) -> tuple[Event, ...]:
    """BX343 for each variable of the shell that reaches the programs: a warning where it reaches some arms only."""
    found = []
    for name, value in variables:
        own = [cell for cell in plan.cells if name in dict(cell.env)]
        if len(own) == len(plan.cells):
            continue
        found.append(_event(name, value, own))
    return tuple(found)


def _event(name: str, value: str, own: list[Cell]) -> Event:
    message = f"{name}={value} is set around benchctl, and no word of the scenario"
    if not own:
        return Event(
            "BX343",
            f"{message}: all variants run with it",
            "note",
            effect="what is told holds with this setting; env.json keeps it",
            help=f"`env -u {name} benchctl run …` measures without it",
        )
    labels = ", ".join(dict.fromkeys(cell.label for cell in own))
    return Event(
        "BX343",
        f"{message}: variants that set none of their own run with it",
        effect=f"the arms may differ in it: it is set by the scenario for {labels} alone",
        help=f"`env -u {name} benchctl run …` measures without it, or the scenario's `env` sets it for all",
    )

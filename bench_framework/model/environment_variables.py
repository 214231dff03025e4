"""Environment variables of the calling shell that change the behaviour of measured programs.

They apply to every cell whose scenario does not set them. A record stores them, so that records can
be compared and measurements can be repeated. Pure data.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from bench_framework.model.run import Event

if TYPE_CHECKING:
    from bench_framework.model.plan import Cell, Plan

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


def events(plan: Plan, variables: Variables) -> tuple[Event, ...]:
    """Return event BX343 per shell variable: a note if it reaches all cells, else a warning."""
    notes = []
    for name, value in variables:
        cells = [cell for cell in plan.cells if name in dict(cell.env)]
        if len(cells) == len(plan.cells):
            continue
        notes.append(_event(name, value, cells))
    return tuple(notes)


def _event(name: str, value: str, cells: list[Cell]) -> Event:
    message = f"{name}={value} is set in the shell of benchctl, not in the scenario"
    if not cells:
        return Event(
            "BX343",
            f"{message}: all variants run with it",
            "note",
            effect="the results apply to this setting only; env.json records it",
            help=f"`env -u {name} benchctl run …` measures without it",
        )
    labels = ", ".join(dict.fromkeys(cell.label for cell in cells))
    return Event(
        "BX343",
        f"{message}: variants that do not set it themselves run with it",
        effect=f"variants may differ in it: the scenario sets it for {labels} only",
        help=f"`env -u {name} benchctl run …` measures without it, or the scenario's `env` sets it "
        "for all",
    )

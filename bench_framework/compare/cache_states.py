"""Verified page-cache state of each cell. See `docs/method.md#page-cache`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.compare.samples import cache_unverified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import CellState
    from bench_framework.model.plan import CacheState, Cell, Plan
    from bench_framework.model.run import Block

NOT_VERIFIED: Final = "cache state not verified"


def observed_state(blocks: Sequence[Block]) -> CacheState:
    """Return the state that was verified for every block; ``unknown`` if they differ."""
    states = {b.page_cache.state if b.page_cache is not None else "unknown" for b in blocks}
    return states.pop() if len(states) == 1 else "unknown"


def needed(cells: Sequence[Cell]) -> dict[str, CacheState]:
    """Return cell id → state that must be verified for each run; its round is void otherwise.

    This applies to every cold cell, and to warm cells only in a plan with cold cells. In a plan
    without cold cells, an input that is larger than memory is partly read from disk by all variants
    equally.
    """
    any_cold = any(c.cache == "cold" for c in cells)
    return {c.id: c.cache for c in cells if c.cache == "cold" or (c.cache == "warm" and any_cold)}


def refusal(cell: Cell, blocks: Sequence[Block]) -> str:
    """Return why a cell cannot be compared: its state was not verified in too many rounds."""
    unverified = [b for b in blocks if cache_unverified(b, cell.cache)]
    first = unverified[0]
    cause = first.page_cache.why if first.page_cache is not None else "not checked"
    return (
        f"{NOT_VERIFIED}: {len(unverified)} of {len(blocks)} samples were not verified "
        f"as {cell.cache} (round {first.round}: {cause})"
    )


def cold_inputs(plan: Plan, states: Sequence[CellState]) -> frozenset[str]:
    """Return the inputs on which every run of every measured cell began with a cold cache."""
    caches_of: dict[str, set[CacheState]] = {}
    for state in states:
        if state.state == "measured":
            caches_of.setdefault(plan.cell(state.cell_id).input_id, set()).add(state.cache)
    return frozenset(input_id for input_id, caches in caches_of.items() if caches == {"cold"})

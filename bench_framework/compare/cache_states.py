"""In which state of the page cache a cell was really measured. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.compare.samples import unseen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.judgement import CellState
    from bench_framework.model.plan import CacheState, Cell, Plan
    from bench_framework.model.run import Block

NOT_VERIFIED: Final = "cache state not verified"


def seen(blocks: Sequence[Block]) -> CacheState:
    """The state that every block was seen to begin with; ``unknown`` if they differ or nobody looked."""
    states = {b.page_cache.state if b.page_cache is not None else "unknown" for b in blocks}
    return states.pop() if len(states) == 1 else "unknown"


def needed(plan: Plan) -> dict[str, CacheState]:
    """Cell id → state that a run must be seen to begin with: its round is void without that.

    Every cold cell; and warm cells only beside cold ones: without them an input that memory cannot hold is read in
    part from the disk by all alike.
    """
    any_cold = any(c.cache == "cold" for c in plan.cells)
    return {
        c.id: c.cache for c in plan.cells if c.cache == "cold" or (c.cache == "warm" and any_cold)
    }


def refusal(cell: Cell, blocks: Sequence[Block]) -> str:
    """Why a cell that `needed` names may be compared with none: what was not seen, in how many of its rounds."""
    against = [b for b in blocks if unseen(b, cell.cache)]
    first = against[0]
    why = first.page_cache.why if first.page_cache is not None else "nobody looked"
    return (
        f"{NOT_VERIFIED}: {len(against)} of {len(blocks)} blocks were not seen to be {cell.cache} "
        f"(round {first.round}: {why})"
    )


def cold_inputs(plan: Plan, states: Sequence[CellState]) -> frozenset[str]:
    """Inputs of which every cell that was measured began with a cold cache in every run."""
    found: dict[str, set[CacheState]] = {}
    for state in states:
        if state.state == "measured":
            found.setdefault(plan.cell(state.cell_id).input_id, set()).add(state.cache)
    return frozenset(input_id for input_id, caches in found.items() if caches == {"cold"})

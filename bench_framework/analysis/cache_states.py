"""In which state of the page cache a cell was really measured. Plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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


def refusal(plan: Plan, cell: Cell, blocks: Sequence[Block]) -> str:
    """Why a cell may be compared with none, as its cache was not what the plan asks for; empty if it may.

    One run that was not seen to be cold is enough: it may be many times faster than the others. Warm runs are held to
    it only beside cold ones; without them an input that memory cannot hold is read in part from the disk by all alike.
    """
    if not _proof_needed(plan, cell):
        return ""
    against = [b for b in blocks if b.page_cache is None or b.page_cache.state != cell.cache]
    if not against:
        return ""
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


def _proof_needed(plan: Plan, cell: Cell) -> bool:
    return cell.cache == "cold" or (cell.cache == "warm" and any(c.cache == "cold" for c in plan.cells))

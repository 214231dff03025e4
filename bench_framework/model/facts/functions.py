"""Counted differences of two configurations by function: instructions, calls, allocations, system calls."""

from dataclasses import dataclass
from typing import Final

from bench_framework.model.facts.fact import Fact

LEAST_CHANGE: Final = 0.005
"""Smallest difference that matters, as a share of all instructions of the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionChange:
    """A function whose own instructions differ. The counts are those of one run of each side."""

    name: str
    """Name without hash and generic parameters; ``[allocator]`` for all functions of the allocator together."""
    module: str = ""
    """File name of the library, or names if the allocator is in several; empty for the program itself."""
    instructions: int
    """Instructions of the function itself, without those of the functions that it calls."""
    reference: int
    """The same in the reference."""
    calls: int
    """Number of times that it was called; for the allocator, calls of its functions such as ``malloc``."""
    reference_calls: int
    """The same in the reference."""
    share: float | None = None
    """Difference ÷ difference of all instructions, null if the two sides have about as many."""
    caller: str = ""
    """Function of the program that causes most additional calls of a library's function, or empty."""
    counterpart: str = ""
    """Function that differs by almost as much in the other direction, because one of the two was renamed, inlined or
    split off; otherwise empty."""
    former: str = ""
    """Function of the reference that the same functions call as often, if each side has only one of the two; otherwise
    empty."""

    @property
    def difference(self) -> int:
        """Return the instructions that were added."""
        return self.instructions - self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class CountChange:
    """A count that differs."""

    metric: str
    """One of ``allocations``, ``reallocations``, ``deallocations`` and ``system_calls``."""
    value: int
    """Count of the candidate."""
    reference: int
    """Count of the reference."""
    function: str = ""
    """Function that makes most of the additional system calls, such as ``write``; empty for the calls of an
    allocator."""
    caller: str = ""
    """Function of the program that causes most of the additional calls, or empty."""


class FunctionChanges(Fact, kind="functions"):
    """The functions that differ between two configurations whose instructions were counted."""

    instructions: int
    """Instructions of the first counted run."""
    reference: int
    """The same of the reference."""
    functions: tuple[FunctionChange, ...] = ()
    """Functions with a difference that matters, the largest first."""
    counts: tuple[CountChange, ...] = ()
    """Counts that differ."""
    rest: int = 0
    """Difference of all other functions together."""
    runs: int = 1
    """Counted runs of each side, the smaller number."""
    iteration: bool = False
    """True if the counts are those of one iteration of a benchmark."""

    @property
    def net_functions(self) -> tuple[FunctionChange, ...]:
        """Return the functions without those that cancel in pairs."""
        return tuple(change for change in self.functions if not change.counterpart)

    @property
    def same(self) -> bool:
        """Return whether neither instructions nor calls differ."""
        return self.ratio is None and not self.functions and not self.counts

    @property
    def ratio(self) -> float | None:
        """Return the ratio of all instructions, `None` if they differ too little to matter."""
        ratio = self.instructions / self.reference if self.reference else 1.0
        return ratio if abs(ratio - 1) >= LEAST_CHANGE else None


@dataclass(frozen=True, slots=True)
class FunctionsOfPair:
    """The counted differences of a configuration against a reference, in a judgement."""

    cell_id: str
    ref_cell_id: str
    changes: FunctionChanges

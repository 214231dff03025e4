"""Counted differences of two configurations by function: instructions, calls, allocations, system calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

LEAST_CHANGE: Final = 0.005
"""Smallest difference that matters, as a share of all instructions of the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionChange:
    """A function whose own instructions differ. The counts are those of one run of each side.

    Attributes:
        name: name without hash and generic parameters.
        module: file name of the library; empty for the program itself.
        instructions: instructions of the function itself, without those of the functions that it calls.
        reference: the same in the reference.
        calls: number of times that it was called.
        reference_calls: the same in the reference.
        share: difference ÷ difference of all instructions, `None` if the two sides have about as many.
        caller: function of the program that causes most additional calls of a library's function, or empty.
    """

    name: str
    module: str = ""
    instructions: int
    reference: int
    calls: int
    reference_calls: int
    share: float | None = None
    caller: str = ""

    @property
    def difference(self) -> int:
        """Return the instructions that were added."""
        return self.instructions - self.reference


@dataclass(frozen=True, slots=True, kw_only=True)
class CountChange:
    """A count that differs.

    Attributes:
        metric: allocations, reallocations, deallocations or system_calls.
        function: function that makes most of the additional system calls, such as ``write``; empty for
            the calls of an allocator.
        caller: function of the program that causes most of the additional calls, or empty.
    """

    metric: str
    value: int
    reference: int
    function: str = ""
    caller: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionChanges:
    """The functions that differ between two configurations whose instructions were counted.

    Attributes:
        instructions: instructions of the first counted run.
        reference: the same of the reference.
        functions: functions with a difference that matters, the largest first.
        counts: counts that differ.
        rest: difference of all other functions together.
        runs: counted runs of each side, the smaller number.
    """

    kind: Literal["functions"] = "functions"
    instructions: int
    reference: int
    functions: tuple[FunctionChange, ...] = ()
    counts: tuple[CountChange, ...] = ()
    rest: int = 0
    runs: int = 1

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

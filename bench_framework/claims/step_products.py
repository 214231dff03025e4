"""A product as it is printed: its figures multiply to what stands behind the equals sign. Plain Python."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_DECIMALS: Final = 2
MORE_DECIMALS: Final = 6
"""Tried at most beyond those of the intervals; printed factors agree with their product long before."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A ratio and the decimals that its interval carries."""

    ratio: float
    decimals: int


def printed_product(factors: Sequence[Factor], total: float | None) -> str:
    """``"0.92 × 0.94 = 0.86"``; with a total ``"1.051 × 1.022 × 1.003 unexplained = 1.077"``.

    Each figure has the digits of its interval, and more where the product would not be true as it is printed.

    Args:
        factors: the steps; at least one.
        total: what they make up, where their typical values can leave something of its own; `None` where the
            product itself is meant.
    """
    product = math.prod(f.ratio for f in factors)
    least = max(FEWEST_DECIMALS, min(f.decimals for f in factors))
    told = ""
    for more in range(MORE_DECIMALS + 1):
        last = f"{product if total is None else total:.{least}f}"
        figures = [f"{f.ratio:.{max(f.decimals, FEWEST_DECIMALS) + more}f}" for f in factors]
        made = math.prod(map(float, figures))
        left = ""
        if total is not None and f"{made:.{least}f}" != last:
            left = f"{total / product:.{least + more}f}"
            made *= float(left)
        unexplained = f" × {left} unexplained" if left else ""
        told = f"{' × '.join(figures)}{unexplained} = {last}"
        if f"{made:.{least}f}" == last and (not left or float(left) != 1):
            break
    return told

"""A printed product whose rounded factors multiply to the printed result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_DECIMALS: Final = 2
MORE_DECIMALS: Final = 6
"""The largest number of decimals that are tried beyond those of the intervals."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A ratio and the number of decimals that its interval supports."""

    ratio: float
    decimals: int


def printed_product(factors: Sequence[Factor], total: float | None) -> str:
    """Return a product such as ``"0.92 × 0.94 = 0.86"``.

    With a total, an example is ``"1.051 × 1.022 × 1.003 unexplained = 1.077"``. Each figure has the
    digits of its interval, and more if the printed product would not be exact otherwise.

    Args:
        factors: the steps (at least one).
        total: the combined ratio, if the steps need not explain all of it. `None` if the product of
            the steps is the total.
    """
    product = math.prod(f.ratio for f in factors)
    least = max(FEWEST_DECIMALS, min(f.decimals for f in factors))
    text = ""
    for more in range(MORE_DECIMALS + 1):
        last = f"{product if total is None else total:.{least}f}"
        figures = [f"{f.ratio:.{max(f.decimals, FEWEST_DECIMALS) + more}f}" for f in factors]
        product_printed = math.prod(map(float, figures))
        left = ""
        if total is not None and f"{product_printed:.{least}f}" != last:
            left = f"{total / product:.{least + more}f}"
            product_printed *= float(left)
        unexplained = f" × {left} unexplained" if left else ""
        text = f"{' × '.join(figures)}{unexplained} = {last}"
        if f"{product_printed:.{least}f}" == last and (not left or float(left) != 1):
            break
    return text

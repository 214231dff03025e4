"""The paired t test of log ratios, for records with fewer rounds than the label test needs.

Source: Student, "The probable error of a mean", Biometrika 6 (1908). The test assumes that the log
ratios of the rounds are independent draws of one normal distribution. The order within rounds is
random, so that their distribution is symmetric if the programs are equal. See
`docs/method.md#few-rounds`.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Final

from bench_framework.model.plan.looks import FEWEST_FOR_T
from bench_framework.stats.portable_math import log
from bench_framework.stats.welch import LogDifference

LEAST_ERROR: Final = 1e-12
"""Standard errors below it are differences in the last bits of equal ratios."""


def compare(candidate: Sequence[float], reference: Sequence[float]) -> LogDifference | None:
    """Return the mean of ln(candidate ÷ reference) over rounds with its standard error.

    The sequences have the values of the same rounds. The result is `None` with fewer than 3 rounds,
    or if all ratios are equal, so that their spread is unknown.
    """
    n = len(candidate)
    if n < FEWEST_FOR_T:
        return None
    ratios = [log(c) - log(r) for c, r in zip(candidate, reference, strict=True)]
    error = math.sqrt(statistics.variance(ratios) / n)
    return LogDifference(statistics.fmean(ratios), error, n - 1, n) if error > LEAST_ERROR else None

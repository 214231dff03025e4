"""Logarithms, exponentials and quantiles that have the same bits on every machine.

numpy, the C library and BLAS choose their code by the features of the processor, and the last
digit of a logarithm, an exponential or a matrix product depends on that choice. A record that was
judged on one machine must verify on another. Everything that is stored, compared or judged
therefore uses the functions of this module. `log`, `log1p`, `exp` and `expm1` are those of the Rust
crate `libm`, and the distributions are those of `native/crates/distributions`. They use only +, −, ×,
÷ and √ on doubles. IEEE 754 defines these to the last bit.

Portable without them: sorting, ranks, medians, counts, comparisons, elementwise numpy arithmetic,
`math.sqrt`, `math.fsum`, and the functions of `statistics`, which sum exactly. Not portable:
`np.log` and similar functions, `@`, `np.dot`, `np.sum` and `np.mean` of floats, `math.log`,
`math.exp`, `**` with a fraction, and `statistics.NormalDist`, which calls `math.log`.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from bench_framework import _native
from bench_framework._native import exp, expm1, log, log1p

__all__ = [
    "NORMAL_95",
    "PORTABLE_DIGITS",
    "ROOT_PRECISION",
    "beta_quantile",
    "drop_unstable_digits",
    "exp",
    "expm1",
    "find_root",
    "log",
    "log1p",
    "normal_quantile",
    "t_quantile",
    "t_tails",
]

NORMAL_95: Final = 1.959964
"""Quantile of the standard normal distribution for a two-sided interval of 95 %."""
PORTABLE_DIGITS: Final = 10
"""Significant digits of a quantile, p-value or root.

In them, `NormalDist` is equal on all machines, and `native/crates/distributions` is equal to scipy, with
which older records were judged.
"""
ROOT_PRECISION: Final = 8.881784197001252e-16
"""Relative precision of a root: four times the distance from 1 to the next double."""


def drop_unstable_digits(value: float) -> float:
    """Round a result to the digits that are equal on all machines."""
    return float(f"{value:.{PORTABLE_DIGITS}g}")


@lru_cache(maxsize=1024)
def normal_quantile(p: float) -> float:
    """Return the quantile z_p of the standard normal distribution."""
    return drop_unstable_digits(NormalDist().inv_cdf(p))


@lru_cache(maxsize=1024)
def t_quantile(p: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution with `freedom` degrees of freedom."""
    return drop_unstable_digits(_native.t_quantile(p, freedom))


def t_tails(t: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t statistic."""
    return drop_unstable_digits(2 * _native.t_cdf(-abs(t), freedom))


def beta_quantile(p: float, a: float, b: float) -> float:
    """Return the quantile of the beta distribution with the parameters `a` and `b`."""
    return drop_unstable_digits(_native.beta_quantile(p, a, b))


def find_root(function: Callable[[float], float], low: float, high: float, xtol: float) -> float:
    """Return a root between two points at which the function has opposite signs, by Brent's method.

    Source: Brent 1973, Algorithms for Minimization without Derivatives, chapter 4. The steps, and
    so the bits of the result, are those of `scipy.optimize.brentq`, whose import takes 0.2 s.
    """
    before, x = low, high
    f_before, fx = function(before), function(x)
    if f_before == 0:
        return before
    other, f_other, step_before, step = before, f_before, 0.0, 0.0
    while fx:
        if (f_before < 0) != (fx < 0):
            other, f_other = before, f_before
            step_before = step = x - before
        if abs(f_other) < abs(fx):
            before, x, other = x, other, x
            f_before, fx, f_other = fx, f_other, fx
        least, half = (xtol + ROOT_PRECISION * abs(x)) / 2, (other - x) / 2
        if abs(half) < least:
            break
        trial = math.inf
        if abs(step_before) > least and abs(fx) < abs(f_before):
            if before == other:  # secant
                trial = -fx * (x - before) / (fx - f_before)
            else:  # inverse quadratic interpolation
                to_before = (f_before - fx) / (before - x)
                to_other = (f_other - fx) / (other - x)
                trial = -fx * (f_other * to_other - f_before * to_before)
                trial /= to_other * to_before * (f_other - f_before)
        short = 2 * abs(trial) < min(abs(step_before), 3 * abs(half) - least)
        step_before, step = (step, trial) if short else (half, half)
        before, f_before = x, fx
        x += step if abs(step) > least else math.copysign(least, half)
        fx = function(x)
    return x

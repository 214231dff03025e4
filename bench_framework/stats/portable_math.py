"""Logarithms, exponentials and quantiles that have the same bits on every machine.

numpy, the C library and BLAS choose their code by the features of the processor, and the last
digit of a logarithm, an exponential or a matrix product depends on that choice. A record that was
judged on one machine must verify on another. Everything that is stored, compared or judged
therefore uses the functions of this module. They use only +, −, × and ÷ on doubles, which IEEE 754
defines to the last bit.

Portable without them: sorting, ranks, medians, counts, comparisons, elementwise numpy arithmetic,
`math.sqrt`, `math.fsum`, and the functions of `statistics`, which sum exactly. Not portable:
`np.log` and similar functions, `@`, `np.dot`, `np.sum` and `np.mean` of floats, `math.log`,
`math.exp`, `**` with a fraction, and the distributions of scipy.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Final

SQRT_HALF: Final = 0.7071067811865476
LN_2: Final = 0.6931471805599453
LN_2_HIGH: Final = 6.93147180369123816490e-01
"""The first 33 bits of ln 2: its product with an exponent is exact."""
LN_2_LOW: Final = 1.90821492927058770002e-10
ATANH_TERMS: Final = tuple(2 / k for k in range(25, 1, -2))
"""Coefficients of s², s⁴, … in 2·atanh(s) ÷ s − 2, highest first; |s| < 0.172."""
EXP_TERMS: Final = 15
"""Terms of the exponential series; enough for |r| < 0.35."""
PORTABLE_DIGITS: Final = 10
"""Significant digits in which results of scipy are equal on all machines."""
ROOT_PRECISION: Final = 8.881784197001252e-16
"""Relative precision of a root: four times the distance from 1 to the next double."""


@lru_cache(maxsize=1 << 16)
def log(x: float) -> float:
    """Return the natural logarithm of a positive number, within one ulp.

    Results are cached, because a measured value is part of many pairs.

    Raises `ValueError`: `x` is not positive or not finite.
    """
    if not 0 < x < math.inf:
        raise ValueError(f"no logarithm of {x}")
    mantissa, exponent = math.frexp(x)
    if mantissa < SQRT_HALF:
        mantissa, exponent = 2 * mantissa, exponent - 1
    return _log1p(mantissa - 1, exponent)


def log1p(x: float) -> float:
    """Return ln(1 + x), accurate for small x."""
    in_range = -0.29 < x < 0.41  # noqa: PLR2004 -- the range of the series
    return _log1p(x, 0) if in_range else log(1 + x)


def _log1p(f: float, exponent: int) -> float:
    """Return ln(1 + f) + exponent·ln 2 by the series of atanh, arranged as in fdlibm's e_log.c."""
    s = f / (2 + f)
    square, rest = s * s, 0.0
    for term in ATANH_TERMS:
        rest = (rest + term) * square
    half = f * f / 2
    return exponent * LN_2_HIGH - ((half - (s * (half + rest) + exponent * LN_2_LOW)) - f)


def exp(x: float) -> float:
    """Return e to the power of a finite number, within two ulps."""
    exponent = round(x / LN_2)
    return math.ldexp(1 + _expm1((x - exponent * LN_2_HIGH) - exponent * LN_2_LOW), exponent)


def expm1(x: float) -> float:
    """Return e to the power of x, minus 1, accurate for small x."""
    return _expm1(x) if abs(x) < LN_2 / 2 else exp(x) - 1


def _expm1(r: float) -> float:
    total = 1.0
    for k in range(EXP_TERMS, 1, -1):
        total = 1 + r / k * total
    return r * total


def drop_unstable_digits(value: float) -> float:
    """Round a result of scipy to the digits that are equal on all machines."""
    return float(f"{value:.{PORTABLE_DIGITS}g}")


@lru_cache(maxsize=1024)
def normal_quantile(p: float) -> float:
    """Return the quantile z_p of the standard normal distribution."""
    return drop_unstable_digits(NormalDist().inv_cdf(p))


@lru_cache(maxsize=1024)
def t_quantile(p: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution with `freedom` degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415 -- scipy is slow to import

    return drop_unstable_digits(float(stdtrit(freedom, p)))


def t_tails(t: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t statistic."""
    from scipy.special import stdtr  # noqa: PLC0415 -- scipy is slow to import

    return drop_unstable_digits(float(2 * stdtr(freedom, -abs(t))))


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

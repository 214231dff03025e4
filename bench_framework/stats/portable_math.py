"""Logarithms, exponentials and quantiles that have the same bits on every machine.

numpy, the C library and BLAS choose their code by what the processor can do, and the last digit of a logarithm, an
exponential or a matrix product depends on that choice. A record that was judged on one machine must verify on
another, so everything that is stored, compared or judged uses the functions of this module. They need nothing but
+, −, × and ÷ on doubles, which IEEE 754 defines to the last bit.

Safe without them: sorting, ranks, medians, counts, comparisons and elementwise numpy arithmetic, `math.sqrt`,
`math.fsum`, and the functions of `statistics`, which sum exactly. Not safe: `np.log` and its like, `@` and
`np.dot`, `np.sum` and `np.mean` of floats, `math.log`, `math.exp`, `**` with a fraction, and scipy's distributions.
"""

from __future__ import annotations

import math
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
"""Of the exponential series for |r| < 0.35."""
KEPT_DIGITS: Final = 10


def log(x: float) -> float:
    """Natural logarithm of a positive number, within an ulp."""
    if not 0 < x < math.inf:
        raise ValueError(f"no logarithm of {x}")
    mantissa, exponent = math.frexp(x)
    if mantissa < SQRT_HALF:
        mantissa, exponent = 2 * mantissa, exponent - 1
    return _log1p(mantissa - 1, exponent)


def log1p(x: float) -> float:
    """ln(1 + x), also where x is tiny."""
    return _log1p(x, 0) if -0.29 < x < 0.41 else log(1 + x)  # noqa: PLR2004 -- the range of the series


def _log1p(f: float, exponent: int) -> float:
    """ln(1 + f) + exponent·ln 2, by the series of atanh (as fdlibm's e_log.c arranges it)."""
    s = f / (2 + f)
    square, rest = s * s, 0.0
    for term in ATANH_TERMS:
        rest = (rest + term) * square
    half = f * f / 2
    return exponent * LN_2_HIGH - ((half - (s * (half + rest) + exponent * LN_2_LOW)) - f)


def exp(x: float) -> float:
    """E to the power of a finite number, within two ulps."""
    exponent = round(x / LN_2)
    return math.ldexp(1 + _expm1((x - exponent * LN_2_HIGH) - exponent * LN_2_LOW), exponent)


def expm1(x: float) -> float:
    """E to the power of x, minus 1, also where x is tiny."""
    return _expm1(x) if abs(x) < LN_2 / 2 else exp(x) - 1


def _expm1(r: float) -> float:
    total = 1.0
    for k in range(EXP_TERMS, 1, -1):
        total = 1 + r / k * total
    return r * total


def settled(value: float) -> float:
    """A value of scipy's without the digits that differ between machines."""
    return float(f"{value:.{KEPT_DIGITS}g}")


@lru_cache(maxsize=1024)
def normal_quantile(p: float) -> float:
    """The standard normal quantile."""
    return settled(NormalDist().inv_cdf(p))


@lru_cache(maxsize=1024)
def t_quantile(p: float, freedom: float) -> float:
    """The quantile of Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415 -- only where a record is judged

    return settled(float(stdtrit(freedom, p)))


def t_tails(t: float, freedom: float) -> float:
    """Two-sided p of Student's t."""
    from scipy.special import stdtr  # noqa: PLC0415 -- likewise

    return settled(float(2 * stdtr(freedom, -abs(t))))

"""The distributions of `native/crates/distributions` against scipy, and their bits."""

import hashlib
import struct

import numpy as np
import pytest
from scipy import special

from bench_framework import _native
from bench_framework.stats import portable_math

FREEDOM = (1.0, 1.5, 2.0, 3.0, 7.25, 40.0, 1234.5)
TAILS = (1e-300, 1e-30, 1e-8, 0.0005, 0.025, 0.3)
T = (0.01, 0.5, 1.96, 12.0, 800.0)
BETAS = ((1, 1), (1, 40), (3, 7), (200, 100_000), (60_000, 50_000))
DIGEST = "f170a5ceb5c0a9fd5286e166d13c27453ef82b272758a4ce231c53c6a28c79e4"
"""SHA-256 of all results below. It is the same on every processor."""


def near(expected: float) -> object:
    """Return a number that is equal to values of which 11 digits are equal."""
    return pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("freedom", FREEDOM)
def test_students_t_agrees_with_scipy(freedom: float) -> None:
    for t in T:
        for signed in (-t, t):
            expected = near(float(special.stdtr(freedom, signed)))
            assert _native.t_cdf(signed, freedom) == expected
    for p in TAILS[1:]:  # stdtrit returns an infinite quantile of 1e-300 for 3 degrees of freedom
        expected = near(float(special.stdtrit(freedom, p)))
        assert _native.t_quantile(p, freedom) == expected
    assert _native.t_quantile(0.5, freedom) == 0
    assert portable_math.t_quantile(0.975, freedom) == -portable_math.t_quantile(0.025, freedom)


@pytest.mark.parametrize(("a", "b"), BETAS)
def test_the_beta_quantile_agrees_with_scipy(a: int, b: int) -> None:
    for p in (*TAILS, 0.5, 0.95, 1 - 1e-9):
        expected = near(float(special.betaincinv(a, b, p)))
        assert _native.beta_quantile(p, a, b) == expected


def test_the_normal_distribution_agrees_with_scipy() -> None:
    z = np.linspace(-37, 8, 500)
    cdf = np.frombuffer(_native.normal_cdf(z))
    np.testing.assert_allclose(cdf, special.ndtr(z), rtol=1e-12)


def test_results_have_the_same_bits_on_every_processor() -> None:
    values = [_native.t_cdf(-t, freedom) for t in T for freedom in FREEDOM]
    values += [_native.t_quantile(p, freedom) for p in TAILS for freedom in FREEDOM]
    values += [_native.beta_quantile(p, a, b) for p in TAILS for a, b in BETAS]
    bits = struct.pack(f"<{len(values)}d", *values) + _native.normal_cdf(np.linspace(-37, 8, 500))
    assert hashlib.sha256(bits).hexdigest() == DIGEST


@pytest.mark.parametrize("parameter", [0.0, -1.0, float("inf"), float("nan"), 1e13])
def test_a_parameter_out_of_range_is_refused(parameter: float) -> None:
    with pytest.raises(ValueError, match="no distribution with the parameter"):
        _native.t_quantile(0.9, parameter)
    with pytest.raises(ValueError, match="no distribution with the parameter"):
        _native.beta_quantile(0.9, 2.0, parameter)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_probability_out_of_range_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="no quantile of"):
        _native.t_quantile(p, 3.0)

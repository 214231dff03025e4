//! Logarithms and exponentials of the crate `libm`, and the crate `distributions`, with the same bits on every
//! processor.

use distributions::Beta;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::labels::doubles;

/// Largest parameter of a distribution. Beyond it, the continued fraction converges slowly.
const LARGEST_PARAMETER: f64 = 1e12;

/// Return the natural logarithm of a positive number.
///
/// Raises:
///     ValueError: `x` is not positive or not finite.
#[pyfunction]
pub(crate) fn log(x: f64) -> PyResult<f64> {
    if x > 0.0 && x.is_finite() {
        Ok(libm::log(x))
    } else {
        Err(PyValueError::new_err(format!("no logarithm of {x:?}")))
    }
}

/// Return ln(1 + x), accurate for small x.
///
/// Raises:
///     ValueError: 1 + x is not positive or not finite.
#[pyfunction]
pub(crate) fn log1p(x: f64) -> PyResult<f64> {
    if x > -1.0 && x.is_finite() {
        Ok(libm::log1p(x))
    } else {
        Err(PyValueError::new_err(format!("no logarithm of 1 + {x:?}")))
    }
}

/// Return e to the power of a number.
///
/// Raises:
///     OverflowError: the result is not finite.
#[pyfunction]
pub(crate) fn exp(x: f64) -> PyResult<f64> {
    finite(libm::exp(x))
}

/// Return e to the power of x, minus 1, accurate for small x.
///
/// Raises:
///     OverflowError: the result is not finite.
#[pyfunction]
pub(crate) fn expm1(x: f64) -> PyResult<f64> {
    finite(libm::expm1(x))
}

/// Return the probability that a standard normal variable is at most z, as doubles, for each of `values`.
///
/// Raises:
///     BufferError: `values` are no doubles.
#[pyfunction]
pub(crate) fn normal_cdf(py: Python<'_>, values: PyBuffer<f64>) -> PyResult<Bound<'_, PyBytes>> {
    let values = values.to_vec(py)?;
    let cdf: Vec<f64> = values.into_iter().map(distributions::normal_cdf).collect();
    Ok(doubles(py, &cdf))
}

/// Return the probability that a variable of Student's t distribution is at most `t`.
///
/// Raises:
///     ValueError: `t` is not a number, or `freedom` is not positive or above 10¹².
#[pyfunction]
pub(crate) fn t_cdf(t: f64, freedom: f64) -> PyResult<f64> {
    if t.is_nan() {
        Err(PyValueError::new_err("no probability of NaN"))
    } else {
        Ok(distributions::t_cdf(t, parameter(freedom)?))
    }
}

/// Return the quantile of Student's t distribution.
///
/// Raises:
///     ValueError: `p` is not from 0 to 1, or `freedom` is not positive or above 10¹².
#[pyfunction]
pub(crate) fn t_quantile(p: f64, freedom: f64) -> PyResult<f64> {
    let (p, freedom) = (probability(p)?, parameter(freedom)?);
    Ok(distributions::t_quantile(p, freedom))
}

/// Return the quantile of the beta distribution.
///
/// Raises:
///     ValueError: `p` is not from 0 to 1, or a parameter is not positive or above 10¹².
#[pyfunction]
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> PyResult<f64> {
    let (p, a, b) = (probability(p)?, parameter(a)?, parameter(b)?);
    Ok(Beta { a, b }.quantile(p))
}

fn probability(p: f64) -> PyResult<f64> {
    if (0.0..=1.0).contains(&p) {
        Ok(p)
    } else {
        Err(PyValueError::new_err(format!("no quantile of {p:?}")))
    }
}

fn parameter(value: f64) -> PyResult<f64> {
    if value > 0.0 && value <= LARGEST_PARAMETER {
        Ok(value)
    } else {
        Err(PyValueError::new_err(format!(
            "no distribution with the parameter {value:?}"
        )))
    }
}

fn finite(value: f64) -> PyResult<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(PyOverflowError::new_err("the result is not finite"))
    }
}

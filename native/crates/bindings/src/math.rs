//! Logarithms and exponentials of the crate `libm`, which have the same bits on every processor.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

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

fn finite(value: f64) -> PyResult<f64> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(PyOverflowError::new_err("the result is not finite"))
    }
}

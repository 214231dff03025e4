//! The label test: tables of doubles go in and out as buffers.

use std::num::NonZero;

use labels::Scale;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Return the values as doubles, rounded to 12 decimals, with `shift` subtracted from the first column.
///
/// Raises:
///     ValueError: `values` is no table with rows and at least two columns.
#[pyfunction]
pub(crate) fn shifted(
    py: Python<'_>,
    values: PyBuffer<f64>,
    shift: f64,
) -> PyResult<Bound<'_, PyBytes>> {
    let (values, runs) = table(py, &values)?;
    Ok(doubles(py, &labels::shifted(&values, runs, shift)))
}

/// Return the sum of log-rank and Cauchy score of each run, as doubles.
///
/// `logs` contains ln(i ÷ 2) at index i, up to twice the number of values.
///
/// Raises:
///     ValueError: `values` is no table with rows and at least two columns, or `logs` is too short.
#[pyfunction]
pub(crate) fn main_score(
    py: Python<'_>,
    values: PyBuffer<f64>,
    logs: PyBuffer<f64>,
) -> PyResult<Bound<'_, PyBytes>> {
    let ((values, runs), logs) = (table(py, &values)?, logs.to_vec(py)?);
    if logs.len() <= 2 * values.len() {
        return Err(PyValueError::new_err("too few logarithms for the values"));
    }
    Ok(doubles(py, &labels::main_score(&values, runs, &logs)))
}

/// Return the rank of each run's distance from the mean of its row, with the sign of it, as doubles.
///
/// Raises:
///     ValueError: `values` is no table with rows and at least two columns.
#[pyfunction]
pub(crate) fn rank_score(py: Python<'_>, values: PyBuffer<f64>) -> PyResult<Bound<'_, PyBytes>> {
    let (values, runs) = table(py, &values)?;
    Ok(doubles(py, &labels::rank_score(&values, runs)))
}

/// Return the doubled rank of each difference's size, with the sign of the difference; zeros get no rank.
///
/// Raises:
///     BufferError: `differences` are no doubles.
#[pyfunction]
pub(crate) fn signed_ranks(py: Python<'_>, differences: PyBuffer<f64>) -> PyResult<Vec<i64>> {
    Ok(labels::signed_ranks(&differences.to_vec(py)?))
}

/// Return the chance of a sum as small as that of the first column, if a column is chosen in each row; with
/// `larger`, of a sum as large.
///
/// Args:
///     scale: the sum over rounds of the score's range after rounding to integers; the rounds after which label
///         counts are divided; the number of labels in so many rounds, and in the rounds after the last division.
///
/// Raises:
///     ValueError: `score` is no table with rows and at least two columns.
#[pyfunction]
pub(crate) fn label_tail(
    py: Python<'_>,
    score: PyBuffer<f64>,
    larger: bool,
    scale: (f64, NonZero<usize>, f64, f64),
) -> PyResult<f64> {
    let (score, runs) = table(py, &score)?;
    let (units, every, labels, rest) = scale;
    let scale = Scale {
        units,
        every: every.get(),
        labels,
        rest,
    };
    Ok(labels::tail(&score, runs, larger, &scale))
}

/// The values row after row, and the number of columns.
fn table(py: Python<'_>, buffer: &PyBuffer<f64>) -> PyResult<(Vec<f64>, usize)> {
    match *buffer.shape() {
        [rows, runs] if rows > 0 && runs > 1 => Ok((buffer.to_vec(py)?, runs)),
        _ => Err(PyValueError::new_err(
            "not a table with rows and at least two columns",
        )),
    }
}

/// The values as doubles in the byte order of the machine.
pub(crate) fn doubles<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    PyBytes::new(py, &bytes)
}

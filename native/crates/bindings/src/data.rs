//! The generator, filling and checking Python's buffers in place.

use std::num::NonZero;
use std::slice;

use dgen::data::{Data, Differences, Settings};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

/// Bytes that a thread handles between two looks for signals: at the slowest path a tenth of a second.
const SLAB: usize = 64 << 20;

/// Bytes compared, bytes that differ, the first offset, and what must be and what is there.
pub(crate) type DifferencesTuple = (u64, u64, Option<u64>, Vec<u8>, Vec<u8>);

/// Seed, dedup and compress as text.
pub(crate) fn settings(
    seed: u64,
    dedup: Option<&str>,
    compress: Option<&str>,
) -> PyResult<Settings> {
    let wrong = |error: dgen::data::SettingsError| PyValueError::new_err(error.to_string());
    Ok(Settings {
        seed,
        dedup: dedup.map(str::parse).transpose().map_err(wrong)?,
        compress: compress.map(str::parse).transpose().map_err(wrong)?,
    })
}

pub(crate) fn differences_tuple(differences: Differences) -> DifferencesTuple {
    let Differences {
        compared,
        count,
        first,
        expected,
        actual,
    } = differences;
    (compared, count, first, expected, actual)
}

/// Return the address of the first byte of a contiguous buffer.
///
/// Raises:
///     TypeError: `buffer` is no buffer.
///     BufferError: it is not contiguous.
#[pyfunction]
pub(crate) fn address(buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(contiguous(buffer)?.buf_ptr() as usize)
}

/// Return the pages of the memory of a contiguous buffer: huge, small or mixed; None if nothing of it is in memory, or
/// if the kernel does not report it.
///
/// Raises:
///     TypeError: `buffer` is no buffer.
///     BufferError: it is not contiguous.
#[pyfunction]
pub(crate) fn pages(buffer: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let view = contiguous(buffer)?;
    let start = view.buf_ptr() as usize;
    let range = start..start + view.len_bytes();
    let found = dgen::write::resident(slice::from_ref(&range));
    Ok(found.and_then(dgen::write::Resident::pages))
}

/// Seeded bytes of any length: a pure function of settings and offset.
///
/// Raises:
///     ValueError: the settings are no settings, contradict each other, or request something unavailable.
///     OverflowError: `seed` is negative or does not fit 64 bits.
#[pyclass(frozen, module = "bench_framework._native")]
pub(crate) struct Generator {
    data: Data,
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(signature = (seed, dedup=None, compress=None))]
    fn new(seed: u64, dedup: Option<&str>, compress: Option<&str>) -> PyResult<Self> {
        let settings = settings(seed, dedup, compress)?;
        let data =
            Data::new(&settings).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { data })
    }

    /// Fill a contiguous, writable buffer with the bytes from `offset` on.
    ///
    /// Raises:
    ///     TypeError: `buffer` is no buffer.
    ///     BufferError: it is read-only or not contiguous.
    ///     ValueError: `threads` is 0.
    ///     OverflowError: `offset` is negative or does not fit 64 bits.
    #[pyo3(signature = (buffer, offset=0, threads=1))]
    fn fill(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        offset: u64,
        threads: usize,
    ) -> PyResult<()> {
        let threads = NonZero::new(threads)
            .ok_or_else(|| PyValueError::new_err("threads must be at least 1"))?;
        let view = contiguous(buffer)?;
        if view.readonly() {
            return Err(PyBufferError::new_err("the buffer is read-only"));
        }
        if view.len_bytes() == 0 {
            return Ok(());
        }
        // SAFETY: the view is writable and contiguous, and its memory is valid until it is dropped.
        // As with `readinto`, nothing but the caller's own threads can touch the bytes meanwhile;
        // they see some of the new bytes or the old ones, as they would with any function that
        // releases the GIL.
        let bytes = unsafe { slice::from_raw_parts_mut(view.buf_ptr().cast(), view.len_bytes()) };
        let slab = SLAB.saturating_mul(threads.get());
        for (number, piece) in (0_u64..).zip(bytes.chunks_mut(slab)) {
            let start = offset.wrapping_add(number * slab as u64);
            py.detach(|| self.data.fill_parallel(start, piece, threads));
            py.check_signals()?;
        }
        Ok(())
    }

    /// Compare a contiguous buffer with the bytes from `offset` on.
    ///
    /// Returns:
    ///     Bytes compared, bytes that differ, the lowest offset of one or None, and up to 16 bytes that must be and
    ///     that are there.
    ///
    /// Raises:
    ///     TypeError: `buffer` is no buffer.
    ///     BufferError: it is not contiguous.
    ///     OverflowError: `offset` is negative or does not fit 64 bits.
    #[pyo3(signature = (buffer, offset=0))]
    fn validate(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        offset: u64,
    ) -> PyResult<DifferencesTuple> {
        let view = contiguous(buffer)?;
        let mut report = Differences::default();
        if view.len_bytes() > 0 {
            // SAFETY: the view is contiguous and its memory is valid until it is dropped.
            let bytes: &[u8] =
                unsafe { slice::from_raw_parts(view.buf_ptr().cast(), view.len_bytes()) };
            for (number, piece) in (0_u64..).zip(bytes.chunks(SLAB)) {
                let start = offset.wrapping_add(number * SLAB as u64);
                py.detach(|| self.data.differences(start, piece, &mut report));
                py.check_signals()?;
            }
        }
        Ok(differences_tuple(report))
    }

    /// Text that is equal if and only if the bytes are.
    #[getter]
    fn identity(&self) -> String {
        self.data.identity()
    }

    /// The path that fills: `portable`, `aes-ni` or `vaes`.
    #[getter]
    fn path(&self) -> &'static str {
        self.data.path()
    }
}

fn contiguous(buffer: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    let view = PyUntypedBuffer::get(buffer)?;
    if view.is_c_contiguous() || view.is_fortran_contiguous() {
        Ok(view)
    } else {
        Err(PyBufferError::new_err("the buffer is not contiguous"))
    }
}

//! `bench_framework._native`: conversions between Python and the crates `dgen`, `distributions`,
//! `labels`, `libm` and `rustc-demangle`.
//!
//! Its stub is `bench_framework/_native.pyi`; a test compares the two.

#![expect(clippy::doc_markdown, reason = "docstrings are read by Python's help")]
#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "PyO3 converts arguments into values, and keywords are arguments"
)]

mod data;
mod files;
mod labels;
mod math;

use std::path::{Path, PathBuf};

use dgen::sessions::{PROFILES, Sessions, write_folder};
use dgen::{KINDS, WriteSummary};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use files::find;

/// Functions of the native workspace for Python.
#[pymodule]
mod _native {
    use super::{
        KINDS, PROFILES, PathBuf, Py, PyAny, PyResult, Python, Sessions, find, write_detached,
        write_folder,
    };
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::data::{Generator, address, pages};
    #[pymodule_export]
    use crate::files::{cached_bytes, direct_alignment, read_and_validate, write_file};
    #[pymodule_export]
    use crate::labels::{label_tail, main_score, rank_score, shifted, signed_ranks};
    #[pymodule_export]
    use crate::math::{beta_quantile, exp, expm1, log, log1p, normal_cdf, t_cdf, t_quantile};

    /// Write a text corpus of exactly `size` bytes to exactly `path`; return its SHA-256, hexadecimal.
    ///
    /// A file that exists is replaced. The GIL is released; about every 8 MiB, and at the end, signals are checked
    /// and `progress` is called with the bytes written so far. What it raises ends the writing and is raised here;
    /// what was written so far is removed.
    ///
    /// Raises:
    ///     ValueError: no kind of text is called `kind`.
    ///     OverflowError: `size` or `seed` is negative or does not fit 64 bits.
    ///     OSError: the file cannot be created or written; with `errno` and `filename`.
    #[pyfunction]
    #[pyo3(signature = (path, kind, size, seed, progress=None))]
    fn write_text(
        py: Python<'_>,
        path: PathBuf,
        kind: &str,
        size: u64,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let kind = find("kind of text", kind, KINDS, |known| known.name)?;
        let text = dgen::Text::new(kind, seed, size);
        write_detached(py, &path, progress, |report| {
            dgen::write_file(&text, &path, report)
        })
    }

    /// Return name and description of every kind of text.
    #[pyfunction]
    fn text_kinds() -> Vec<(&'static str, &'static str)> {
        KINDS.iter().map(|kind| (kind.name, kind.about)).collect()
    }

    /// Write sessions of exactly `size` bytes in all into the new folder `path`; return the SHA-256 of its listing.
    ///
    /// The listing is what `sha256sum` prints of the files in the order of their names. Signals, `progress` and the
    /// GIL are as with `write_text`.
    ///
    /// Raises:
    ///     ValueError: no profile of sessions is called `profile`.
    ///     OverflowError: `size` or `seed` is negative or does not fit 64 bits.
    ///     OSError: the folder exists, or a file cannot be written; with `errno` and `filename`.
    #[pyfunction]
    #[pyo3(signature = (path, profile, size, seed, progress=None))]
    fn write_sessions(
        py: Python<'_>,
        path: PathBuf,
        profile: &str,
        size: u64,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let profile = find("profile of sessions", profile, PROFILES, |known| known.name)?;
        let sessions = Sessions::new(profile.settings, seed, size);
        write_detached(py, &path, progress, |report| {
            write_folder(&sessions, &path, report)
        })
    }

    /// Return name and description of every profile of sessions.
    #[pyfunction]
    fn session_profiles() -> Vec<(&'static str, &'static str)> {
        PROFILES
            .iter()
            .map(|profile| (profile.name, profile.about))
            .collect()
    }

    /// Return the name of a Rust symbol without its hash, or None if it is not one.
    #[pyfunction]
    fn demangle(symbol: &str) -> Option<String> {
        let name = rustc_demangle::try_demangle(symbol).ok()?;
        Some(format!("{name:#}"))
    }

    /// Return the version of the native workspace.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}

/// Reason why writing stopped.
enum Failure {
    Io(std::io::Error),
    Python(PyErr),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes at `path` without the GIL, and returns the digest. While `write` runs, signals are checked and the progress is
/// reported.
fn write_detached(
    py: Python<'_>,
    path: &Path,
    progress: Option<Py<PyAny>>,
    write: impl Send
    + FnOnce(&mut dyn FnMut(u64) -> Result<(), Failure>) -> Result<WriteSummary, Failure>,
) -> PyResult<String> {
    let mut report = |bytes| look(progress.as_ref(), bytes).map_err(Failure::Python);
    match py.detach(|| write(&mut report)) {
        Ok(summary) => Ok(summary.sha256),
        Err(Failure::Io(error)) => Err(os_error(&error, &error.to_string(), path)),
        Err(Failure::Python(error)) => Err(error),
    }
}

/// Checks for signals, and reports the progress.
fn look(progress: Option<&Py<PyAny>>, bytes: u64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        progress.map_or(Ok(()), |progress| progress.call1(py, (bytes,)).map(drop))
    })
}

/// An `OSError` whose class follows from its errno, as Python's own functions raise it.
fn os_error(error: &std::io::Error, text: &str, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(errno) => {
            // Without the errno that Rust appends: Python shows it itself.
            let text = text.split(" (os error").next().unwrap_or(text).to_owned();
            PyOSError::new_err((errno, text, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(text.to_owned()),
    }
}

//! Files of seeded data: written, and compared with the expected bytes.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;

use dgen::data::{Differences, Settings};
use dgen::validate::read_and_validate as read;
use dgen::write::strategy::STRATEGIES;
use dgen::write::{self, FileContents, FileError, Options, Stats, path_of, size_of};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::data::{DifferencesTuple, differences_tuple, settings};
use crate::{look, os_error};

/// Write `size` seeded bytes to `path`, or split over `files` whose names begin with it; return
/// what was observed. No file has its name before all are complete.
///
/// The GIL is released; before the start, about twenty times a second and at the end signals are checked and
/// `progress` is called with the bytes written so far. What it raises ends the writing and is raised here.
///
/// Raises:
///     ValueError: no such strategy, backend, direct or durability; or the settings contradict each other.
///     OverflowError: a number is negative or does not fit 64 bits.
///     OSError: the system refused; with `errno` and `filename` where it gave one.
#[pyfunction]
#[pyo3(signature = (path, size, *, files, seed, dedup, compress, strategy, backend, buffer_size, buffer_count,
    queue_depth, threads, direct, durability, progress))]
pub(crate) fn write_file<'py>(
    py: Python<'py>,
    path: PathBuf,
    size: u64,
    files: usize,
    seed: u64,
    dedup: Option<&str>,
    compress: Option<&str>,
    strategy: &str,
    backend: Option<&str>,
    buffer_size: usize,
    buffer_count: usize,
    queue_depth: usize,
    threads: usize,
    direct: &str,
    durability: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = Options::new(size, settings(seed, dedup, compress)?);
    options.strategy = find("strategy", strategy, STRATEGIES, |known| known.name)?;
    options.backend = match backend {
        None => options.strategy.default_backend(),
        Some(name) => find("backend", name, write::BACKENDS, |known| known.name)?,
    };
    (options.direct, ..) = find("direct", direct, write::DIRECTS, |known| known.1)?;
    options.durability = write::durability_named(durability).ok_or_else(|| {
        let known = write::DURABILITIES.iter().map(|(_, name, _)| *name);
        unknown_name("durability", durability, known)
    })?;
    options.files = at_least_1("files", files)?;
    options.buffer_bytes = at_least_1("buffer_size", buffer_size)?;
    options.buffers = at_least_1("buffer_count", buffer_count)?;
    options.depth = at_least_1("queue_depth", queue_depth)?;
    options.threads = at_least_1("threads", threads)?;

    let mut watch = Watch::start(progress)?;
    let written = py.detach(|| write::write_file(&path, &options, &mut |bytes| watch.look(bytes)));
    match written {
        Ok(stats) => {
            watch.end(stats.bytes)?;
            stats_dict(py, stats)
        }
        Err(error) => Err(watch.raised.unwrap_or_else(|| file_error(&error))),
    }
}

/// Sizes that files must have and that they have, the first that differs, and what `Generator.validate` returns.
type ComparisonTuple = (u64, u64, Option<usize>, DifferencesTuple);

/// Compare the file at `path`, or the `files` whose names begin with it, with seeded bytes, made again; return what was
/// found.
///
/// Returns:
///     The size that they must have together and the one that they have, the number of the first file with a byte that
///     differs or None, and what `Generator.validate` returns, offsets counted in that file.
///
/// Raises:
///     ValueError: the settings contradict each other, or `path` is no regular file.
///     OverflowError: a number is negative or does not fit 64 bits.
///     OSError: a file cannot be read; with `errno` and `filename`.
#[pyfunction]
#[pyo3(signature = (path, *, files, seed, dedup, compress, size, threads, progress))]
pub(crate) fn read_and_validate(
    py: Python<'_>,
    path: PathBuf,
    files: usize,
    seed: u64,
    dedup: Option<&str>,
    compress: Option<&str>,
    size: Option<u64>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ComparisonTuple> {
    let settings: Settings = settings(seed, dedup, compress)?;
    let expected = FileContents::with_period(&settings, None)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let files = at_least_1("files", files)?;
    let threads = match threads {
        None => thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN),
        Some(threads) => at_least_1("threads", threads)?,
    };
    let mut watch = Watch::start(progress)?;
    let (mut must, mut has, mut first) = (0, 0, None);
    let mut whole = Differences::default();
    for index in 0..files.get() {
        let name = path_of(&path, files, index);
        let size = size.map(|size| size_of(size, files, index));
        let before = whole.compared;
        let compared = py.detach(|| {
            let mut look = |bytes| watch.look(before + bytes);
            read(&name, &expected.for_file(index), size, threads, &mut look)
        });
        match compared {
            Ok(validation) => {
                must += validation.size_expected;
                has += validation.size_actual;
                let mut differences = validation.differences;
                if first.is_some() {
                    // The offset of the first difference is that of the first file.
                    differences.first = None;
                } else if differences.first.is_some() {
                    first = Some(index);
                }
                whole.merge(differences);
            }
            Err(error) => {
                return Err(watch.raised.unwrap_or_else(|| file_error(&error)));
            }
        }
    }
    watch.end(whole.compared)?;
    Ok((must, has, first, differences_tuple(whole)))
}

/// Return the bytes of the file at `path` that are in the page cache: 0 without a file, None if the
/// kernel does not report them.
#[pyfunction]
pub(crate) fn cached_bytes(path: PathBuf) -> Option<u64> {
    write::cached_bytes(&path)
}

/// Return to how many bytes memory and offsets must be aligned for direct writes to the file at `path`.
///
/// Raises:
///     OSError: the file system is not known to honour `O_DIRECT`, or does not report the alignment.
#[pyfunction]
pub(crate) fn direct_alignment(path: PathBuf) -> PyResult<(usize, usize)> {
    write::direct_alignment(&path).map_err(PyOSError::new_err)
}

/// Checks for signals and reports progress while the GIL is released.
struct Watch {
    progress: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Watch {
    /// Before anything is done.
    fn start(progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let mut watch = Self {
            progress,
            raised: None,
        };
        watch.end(0)?;
        Ok(watch)
    }

    /// The last look, when everything is done.
    fn end(&mut self, bytes: u64) -> PyResult<()> {
        let _ = self.look(bytes);
        self.raised.take().map_or(Ok(()), Err)
    }

    fn look(&mut self, bytes: u64) -> ControlFlow<()> {
        match look(self.progress.as_ref(), bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

fn at_least_1(name: &str, value: usize) -> PyResult<NonZero<usize>> {
    NonZero::new(value).ok_or_else(|| PyValueError::new_err(format!("{name} must be at least 1")))
}

/// The value of `known` that is called `name`.
pub(crate) fn find<T: Copy>(
    what: &str,
    name: &str,
    known: &[T],
    name_of: fn(&T) -> &'static str,
) -> PyResult<T> {
    let value = known.iter().find(|value| name_of(value) == name);
    value
        .copied()
        .ok_or_else(|| unknown_name(what, name, known.iter().map(name_of)))
}

fn unknown_name<'names>(what: &str, name: &str, known: impl Iterator<Item = &'names str>) -> PyErr {
    let known: Vec<_> = known.collect();
    PyValueError::new_err(format!(
        "no {what} is called {name:?}; known are {}",
        known.join(", ")
    ))
}

fn file_error(error: &FileError) -> PyErr {
    match (error.system(), error) {
        (Some(source), FileError::Fault { fault, path }) => {
            os_error(source, &fault.to_string(), path)
        }
        _ if error.is_usage() => PyValueError::new_err(error.to_string()),
        _ => PyOSError::new_err(error.to_string()),
    }
}

fn stats_dict(py: Python<'_>, stats: Stats) -> PyResult<Bound<'_, PyDict>> {
    let latency = stats.latency;
    let latency_s = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p99", latency.p99),
        ("p999", latency.p999),
        ("max", latency.max),
    ];
    let dict = PyDict::new(py);
    dict.set_item("bytes", stats.bytes)?;
    dict.set_item("files", stats.files)?;
    dict.set_item("digest", stats.digest)?;
    dict.set_item("effective", stats.effective)?;
    dict.set_item("threads", stats.evidence.writers)?;
    dict.set_item("phases_s", stats.phases_s)?;
    dict.set_item("elapsed_s", stats.elapsed_s)?;
    dict.set_item("synced_s", stats.synced_s)?;
    dict.set_item("first_done_s", stats.first_done_s)?;
    dict.set_item("operations", stats.evidence.operations)?;
    dict.set_item("repeated", stats.evidence.repeated)?;
    dict.set_item("short", stats.evidence.short)?;
    dict.set_item("achieved_depth", stats.achieved_depth)?;
    dict.set_item("latency_s", latency_s.into_py_dict(py)?)?;
    dict.set_item("cached_bytes_before", stats.cached_bytes_before)?;
    dict.set_item("cached_bytes_after", stats.cached_bytes_after)?;
    dict.set_item("notes", stats.evidence.notes)?;
    Ok(dict)
}

//! Reading files back: timed, with what was read proved by a digest; and validating, against data made again.

mod access;
mod backend;
mod digest;
mod mmap;
#[cfg(test)]
#[path = "../../../worker/tests/needs/mod.rs"]
mod needs;
mod piece;
mod pread;
mod uring;
mod validate;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use access::{ACCESSES, Access, access};
pub use backend::{BACKENDS, Backend, Evidence, backend};
pub use validate::{Validation, read_and_validate};

use crate::write::{self, Direct, LatencySeconds, name_of_direct};

/// How a file is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// In which order.
    pub access: &'static Access,
    /// By which calls.
    pub backend: &'static Backend,
    /// Bytes of a block; a multiple of 4096.
    pub buffer_bytes: NonZeroUsize,
    /// The most blocks that one thread has under way.
    pub depth: NonZeroUsize,
    /// Threads.
    pub threads: NonZeroUsize,
    /// Whether the page cache is passed by.
    pub direct: Direct,
    /// Determines the order of random access.
    pub seed: u64,
}

/// A fault of the parts that reading shares with writing.
fn unavailable(fault: &sink::Fault) -> ReadError {
    ReadError::Unavailable(fault.to_string())
}

/// What was read, as it was observed.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Bytes that completions reported.
    pub bytes: u64,
    /// SHA-256 over the hashes of all pages, which bytes were read, and the size; the same in every order.
    pub digest: String,
    /// Axis name to the value that really ran.
    pub effective: BTreeMap<&'static str, String>,
    /// Threads that read at least one block.
    pub threads: usize,
    /// Phase name to seconds, summed over the threads.
    pub phases_s: BTreeMap<&'static str, f64>,
    /// From the first request to the last completion, in seconds.
    pub elapsed_s: f64,
    /// From the first request to the first completion, in seconds.
    pub first_done_s: f64,
    /// Blocks.
    pub blocks: u64,
    /// Operations that completed.
    pub operations: u64,
    /// Completions that asked for a repetition.
    pub repeated: u64,
    /// Completions with fewer bytes than asked for.
    pub short: u64,
    /// Blocks under way, mean over the elapsed time.
    pub achieved_depth: f64,
    /// Time of a block from its request until its completion was seen.
    pub latency: LatencySeconds,
    /// Bytes of the file in the page cache before; `None` if the kernel does not tell.
    pub cached_bytes_before: Option<u64>,
    /// Bytes of the file in the page cache after; `None` if the kernel does not tell.
    pub cached_bytes_after: Option<u64>,
    /// Fallbacks, each with its cause.
    pub notes: Vec<String>,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// Where in it, as far as that is known.
        offset: Option<u64>,
        /// What the system said.
        source: io::Error,
    },
    /// The file ended before the size that it said it had.
    Ended {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
    },
    /// While it was read, the file was written, or another took its name.
    Changed {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        how: &'static str,
    },
    /// What was asked for cannot be had here.
    Unavailable(String),
    /// Options that contradict each other.
    Contradiction(String),
    /// The caller's progress function ended it.
    Stopped,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io {
                path,
                offset,
                source,
            } => {
                write!(formatter, "cannot read {}", path.display())?;
                if let Some(offset) = offset {
                    write!(formatter, " at offset {offset}")?;
                }
                write!(formatter, ": {source}")
            }
            Self::Ended { path, offset } => write!(
                formatter,
                "{} ends at offset {offset}, before its size: it was changed meanwhile",
                path.display()
            ),
            Self::Changed { path, how } => write!(
                formatter,
                "{} was changed while it was read: {how}",
                path.display()
            ),
            Self::Unavailable(reason) | Self::Contradiction(reason) => formatter.write_str(reason),
            Self::Stopped => formatter.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    /// Whether the options are at fault, not the work.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Contradiction(_))
    }

    /// What the system said, if the system refused something.
    #[must_use]
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }

    pub(crate) fn of(path: &Path, offset: Option<u64>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            path: path.to_owned(),
            offset,
            source,
        }
    }
}

/// Bytes of which a hash is made: blocks are made of whole ones, and no direct read is aligned to more.
pub const PAGE: usize = 4096;

/// Reads the file at `path` once.
///
/// # Errors
/// Options contradict each other, or something was refused.
pub fn read_file(path: &Path, options: &Options) -> Result<Stats, ReadError> {
    check(options)?;
    let mut notes = Vec::new();
    let (file, direct) = open(path, options, &mut notes)?;
    let before = file.metadata().map_err(ReadError::of(path, None))?;
    let size = before.len();
    let cached_before = sink::cache::cached_bytes(&file).ok();
    let order = (options.access.order)(
        options.seed,
        size.div_ceil(options.buffer_bytes.get() as u64),
    );
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let task = backend::Task {
        path,
        file: &file,
        options,
        size,
        direct,
        order: &order,
        next: &next,
        stop: &stop,
    };
    let started = Instant::now();
    let left: Vec<_> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..options.threads.get())
            .map(|_| {
                scope.spawn(|| {
                    let mut evidence = Evidence::default();
                    let outcome = (options.backend.read)(&task, &mut evidence);
                    if outcome.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    outcome.map(|()| evidence)
                })
            })
            .collect();
        readers
            .into_iter()
            .map(|reader| {
                reader
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let mut evidence = Evidence::default();
    for left in left {
        evidence.merge(left?);
    }
    // What was cut off inside the last page of a mapping was read as zeros.
    validate::unchanged(path, &file, &before)?;
    evidence.notes.append(&mut notes);
    let cached = (cached_before, sink::cache::cached_bytes(&file).ok());
    Ok(stats(options, evidence, size, direct, started, cached))
}

fn check(options: &Options) -> Result<(), ReadError> {
    if let Some(reason) = (options.backend.probe)() {
        return Err(ReadError::Unavailable(format!(
            "{} cannot run here: {reason}",
            options.backend.name
        )));
    }
    if !options.buffer_bytes.get().is_multiple_of(PAGE) {
        return Err(ReadError::Contradiction(format!(
            "a buffer of {} bytes is no multiple of {PAGE}, of which the digest is made",
            options.buffer_bytes
        )));
    }
    if options.buffer_bytes.get() > sink::LARGEST_OPERATION {
        return Err(ReadError::Contradiction(format!(
            "a buffer of {} bytes is more than one read returns",
            options.buffer_bytes
        )));
    }
    most(options.threads)?;
    if options.direct == Direct::Require && !options.backend.direct {
        return Err(ReadError::Contradiction(format!(
            "{} cannot read past the page cache",
            options.backend.name
        )));
    }
    Ok(())
}

/// More than any processor has; starting many more takes longer than reading.
const MOST_THREADS: usize = 4096;

fn most(threads: NonZeroUsize) -> Result<(), ReadError> {
    if threads.get() > MOST_THREADS {
        return Err(ReadError::Contradiction(format!(
            "{threads} threads are more than {MOST_THREADS}"
        )));
    }
    Ok(())
}

fn open_regular(path: &Path) -> Result<File, ReadError> {
    write::open_regular(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            ReadError::Contradiction(format!("{} is no regular file", path.display()))
        }
        _ => ReadError::of(path, None)(error),
    })
}

/// The file, and whether it is read past the page cache.
fn open(
    path: &Path,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<(File, bool), ReadError> {
    let file = open_regular(path)?;
    if options.direct == Direct::Off {
        return Ok((file, false));
    }
    let refused = if options.backend.direct {
        match sink::direct_alignment(&file) {
            Ok((_, offset)) if offset > PAGE => {
                format!("O_DIRECT wants offsets aligned to {offset} bytes here")
            }
            Ok(_) => match File::options()
                .read(true)
                .custom_flags(libc::O_DIRECT)
                .open(path)
            {
                Ok(file) => return Ok((file, true)),
                Err(error) => format!("cannot open with O_DIRECT: {error}"),
            },
            Err(reason) => reason,
        }
    } else {
        format!("{} reads through the page cache", options.backend.name)
    };
    if options.direct == Direct::Require {
        return Err(ReadError::Unavailable(format!(
            "{}: {refused}",
            path.display()
        )));
    }
    notes.push(format!("read through the page cache: {refused}"));
    Ok((file, false))
}

fn stats(
    options: &Options,
    evidence: Evidence,
    size: u64,
    direct: bool,
    started: Instant,
    cached: (Option<u64>, Option<u64>),
) -> Stats {
    let since = |at: Option<Instant>| at.map_or(Duration::ZERO, |at| at - started).as_secs_f64();
    let elapsed_s = since(evidence.last_done);
    let ran = if direct {
        match options.direct {
            Direct::Off => Direct::Require,
            asked => asked,
        }
    } else {
        Direct::Off
    };
    Stats {
        bytes: evidence.bytes,
        digest: digest::conclude(evidence.hash, &evidence.extents, size),
        effective: BTreeMap::from([
            (
                "access",
                access::judge(options.access, &evidence).to_owned(),
            ),
            (
                "backend",
                backend::judge(options.backend, &evidence).to_owned(),
            ),
            ("direct", name_of_direct(ran).to_owned()),
        ]),
        threads: evidence.readers,
        phases_s: BTreeMap::from([
            ("wait", evidence.wait.as_secs_f64()),
            ("read", evidence.read.as_secs_f64()),
            ("digest", evidence.hashing.as_secs_f64()),
        ]),
        elapsed_s,
        first_done_s: since(evidence.first_done),
        blocks: evidence.blocks,
        operations: evidence.operations,
        repeated: evidence.repeated,
        short: evidence.short,
        achieved_depth: if elapsed_s > 0.0 {
            evidence.in_flight.as_secs_f64() / elapsed_s
        } else {
            0.0
        },
        latency: LatencySeconds::of(&evidence.latency),
        cached_bytes_before: cached.0,
        cached_bytes_after: cached.1,
        notes: evidence.notes,
    }
}

//! Files of seeded data: contents are produced straight into the buffers that are written.
//!
//! A strategy says when contents are produced and who writes them ([`strategy`]); a backend of the crate `sink` says by
//! which calls. The two are independent, as far as a strategy says.

mod contents;
pub mod fio;
mod options;
mod pace;
mod programs;
pub mod python;
mod stats;
pub mod strategy;

use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use contents::FileContents;
pub use options::{
    DIRECTS, DURABILITIES, Options, PAGES, durability_named, name_of_direct, name_of_durability,
    name_of_pages,
};
pub use sink::{
    Direct, Durability, Fault, MODES as BACKENDS, Pages, Progress, Resident, path_of, resident,
    size_of,
};
pub use stats::{LatencySeconds, Stats, digest_of};

use self::pace::Pace;
use crate::data::SettingsError;

/// Reason why a file was not written, or not compared.
#[derive(Debug)]
pub enum FileError {
    /// The data are unavailable.
    Settings(SettingsError),
    /// The writing or reading ended early.
    Fault {
        /// The file.
        path: PathBuf,
        /// Cause.
        fault: Fault,
    },
}

impl std::fmt::Display for FileError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Settings(error) => write!(formatter, "{error}"),
            Self::Fault { path, fault } => write!(formatter, "{}: {fault}", path.display()),
        }
    }
}

impl std::error::Error for FileError {}

impl FileError {
    /// Returns the error of the file at `path`, or of the file that the fault names.
    #[must_use]
    pub fn new(path: &Path, fault: Fault) -> Self {
        match fault {
            Fault::In { path, fault } => Self::Fault {
                path,
                fault: *fault,
            },
            fault => Self::Fault {
                path: path.to_owned(),
                fault,
            },
        }
    }

    /// The error of the operating system, if a system call failed.
    #[must_use]
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            Self::Settings(_) => None,
            Self::Fault { fault, .. } => fault.system(),
        }
    }

    /// Returns whether the options caused the error, not the work.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Settings(_)
                | Self::Fault {
                    fault: Fault::Contradiction(_),
                    ..
                }
        )
    }
}

/// Writes the file at `path`, or those whose names begin with it, replacing an existing file.
/// `progress` is called on the calling thread about twenty times a second with the bytes that
/// completions reported so far; `Break` ends the writing. A strategy that writes nothing does not
/// touch `path`.
///
/// # Errors
/// The settings contradict each other, or something was refused, or `progress` ended it. No file has the name then.
pub fn write_file(
    path: &Path,
    options: &Options,
    progress: &mut Progress<'_>,
) -> Result<Stats, FileError> {
    let expected = FileContents::with_period(&options.settings, options.period())
        .map_err(FileError::Settings)?;
    let failed = |fault| FileError::new(path, fault);
    let stride = expected.data().stride();
    let job = options.job(stride).map_err(failed)?;
    let pace = options.rate.map(Pace::new);
    let fill = |offset: u64, room: &mut [u8]| {
        let start = Instant::now();
        expected.data().fill(offset, room);
        if let Some(pace) = &pace {
            pace.wait(start, room.len());
        }
    };
    let cached_before = cached_bytes_of_all(path, options.files);
    let done = if options.strategy.writes {
        sink::write(path, options.backend, &job, &fill, progress)
    } else {
        sink::discard(&job, &fill, progress)
    }
    .map_err(failed)?;
    let cached_after = cached_bytes_of_all(path, options.files);
    let cached = (cached_before, cached_after);
    let mut stats = Stats::new(options, &job, &expected, done, cached);
    stats.evidence.notes.extend(options.rate.map(|rate| {
        format!("data was generated at no more than {rate:.0} bytes per second, as requested")
    }));
    Ok(stats)
}

fn cached_bytes_of_all(path: &Path, files: NonZeroUsize) -> Option<u64> {
    (0..files.get())
        .map(|index| cached_bytes(&sink::path_of(path, files, index)))
        .sum()
}

/// Bytes of the file that are in the page cache; 0 without a file, `None` if the kernel does not
/// report them or the path is not a regular file.
#[must_use]
pub fn cached_bytes(path: &Path) -> Option<u64> {
    match open_regular(path) {
        Ok(file) => sink::cache::cached_bytes(&file).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(0),
        Err(_) => None,
    }
}

/// Opens the regular file at `path`. It is looked at first: to open a pipe is to wait for its other end.
///
/// # Errors
/// The file cannot be opened, or is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no regular file",
        ))
    }
}

/// Alignment of memory and of offsets for `O_DIRECT` on the file at `path`.
///
/// # Errors
/// The file cannot be opened, the file system is not known to honour the flag, or it does not
/// report the alignment.
pub fn direct_alignment(path: &Path) -> Result<(usize, usize), String> {
    let file = open_regular(path).map_err(|error| format!("cannot open it: {error}"))?;
    sink::direct_alignment(&file)
}

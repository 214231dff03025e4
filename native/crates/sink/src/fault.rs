//! Errors that end writing early.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Error that ends writing early. The message contains the offset; the caller adds the path.
#[derive(Debug)]
pub enum Fault {
    /// The system refused.
    Io {
        /// The failed action, as in "cannot …".
        action: &'static str,
        /// Offset in the file.
        offset: Option<u64>,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Writes returned without writing anything, or had to be repeated without end.
    NoProgress {
        /// Offset in the file.
        offset: u64,
    },
    /// A fault of one file of several.
    In {
        /// The file.
        path: PathBuf,
        /// Change of the file.
        fault: Box<Fault>,
    },
    /// A requested feature is unavailable here.
    Unavailable(String),
    /// Options that contradict each other.
    Contradiction(String),
    /// The caller's progress function ended the writing.
    Stopped,
    /// Every write succeeded, and yet the file is not whole: a defect here or below.
    NotWhole {
        /// Bytes of the file that completions reported, each counted once.
        written: u64,
        /// Bytes that were reported more than once.
        twice: u64,
        /// Requested bytes.
        size: u64,
    },
}

impl Fault {
    /// A failed call, away from any offset.
    pub fn during(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            offset: None,
            source,
        }
    }

    /// A failed call at `offset`.
    pub fn at(action: &'static str, offset: u64) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            action,
            offset: Some(offset),
            source,
        }
    }

    /// The error of the system behind it, if there is one.
    #[must_use]
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::In { fault, .. } => fault.system(),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io {
                action,
                offset: Some(offset),
                source,
            } => write!(formatter, "cannot {action} at offset {offset}: {source}"),
            Self::Io { action, source, .. } => write!(formatter, "cannot {action}: {source}"),
            Self::NoProgress { offset } => {
                write!(
                    formatter,
                    "writes at offset {offset} succeed without writing anything"
                )
            }
            Self::In { path, fault } => write!(formatter, "{}: {fault}", path.display()),
            Self::Unavailable(reason) | Self::Contradiction(reason) => formatter.write_str(reason),
            Self::Stopped => formatter.write_str("interrupted"),
            Self::NotWhole {
                written,
                twice,
                size,
            } => write!(
                formatter,
                "completions cover {written} of {size} bytes, {twice} of them more than once"
            ),
        }
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.system()
            .map(|error| error as &(dyn std::error::Error + 'static))
    }
}

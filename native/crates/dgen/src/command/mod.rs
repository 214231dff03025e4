//! The commands, one file each.

pub(crate) mod describe;
pub(crate) mod fio;
pub(crate) mod knobs;
mod metrics;
pub(crate) mod probe;
pub(crate) mod sessions;
pub(crate) mod text;
pub(crate) mod validate;
pub(crate) mod write;

use std::num::NonZeroUsize;
use std::path::Path;

use dgen::write::FileError;
use worker::exit::Failure;

/// The failure to write at `path`.
pub(crate) fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| Failure::Work(format!("cannot write {}: {error}", path.display()))
}

/// The failure to do `action` to a file.
pub(crate) fn failure(action: &'static str) -> impl FnOnce(FileError) -> Failure {
    move |error| {
        if error.is_usage() {
            return Failure::Usage(error.to_string());
        }
        Failure::Work(format!("cannot {action} {error}"))
    }
}

/// One thread per processor.
pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

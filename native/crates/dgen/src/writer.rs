//! A text into a file, with its digest.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{BLOCK_BYTES, Text};

/// Bytes per write.
const BATCH: usize = 1 << 20;

/// Result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteSummary {
    /// Bytes of the file.
    pub bytes: u64,
    /// SHA-256 of its contents, hexadecimal.
    pub sha256: String,
}

/// Bytes between two calls of the progress function.
const PROGRESS_BYTES: u64 = 8 << 20;

/// Counter of written bytes, which reports them about every 8 MiB and at the end.
pub(crate) struct ProgressReport<'run, E> {
    bytes: u64,
    reported: u64,
    progress: &'run mut dyn FnMut(u64) -> Result<(), E>,
}

impl<'run, E> ProgressReport<'run, E> {
    pub(crate) fn new(progress: &'run mut dyn FnMut(u64) -> Result<(), E>) -> Self {
        Self {
            bytes: 0,
            reported: 0,
            progress,
        }
    }

    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), E> {
        self.bytes += bytes as u64;
        if self.bytes - self.reported >= PROGRESS_BYTES {
            self.reported = self.bytes;
            (self.progress)(self.bytes)?;
        }
        Ok(())
    }

    /// Returns the result of the whole write.
    pub(crate) fn finish(self, hash: Sha256) -> Result<WriteSummary, E> {
        (self.progress)(self.bytes)?;
        Ok(WriteSummary {
            bytes: self.bytes,
            sha256: worker::hex(&hash.finalize()),
        })
    }
}

/// Writes `text` to `path`, replacing an existing file. `progress` gets the bytes written so far
/// about every 8 MiB and at the end; its error ends the writing.
///
/// # Errors
/// The file cannot be created or written, or `progress` failed. What was written so far is removed, if it is a regular
/// file: a corpus that looks complete would be a lie.
pub fn write_file<E: From<io::Error>>(
    text: &Text,
    path: &Path,
    progress: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<WriteSummary, E> {
    let mut file = File::create(path)?;
    // If the path is a symbolic link, the truncated file must go, and the link may stay.
    let created = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = write(text, &mut file, progress);
    if written.is_err() && file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        // The returned error is that of the write, not of the removal.
        let _ = fs::remove_file(created);
    }
    written
}

fn write<E: From<io::Error>>(
    text: &Text,
    file: &mut File,
    progress: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<WriteSummary, E> {
    let mut hash = Sha256::new();
    let mut batch = Vec::with_capacity(BATCH + BLOCK_BYTES);
    let mut report = ProgressReport::new(progress);
    let mut index = 0;
    loop {
        let filled = batch.len();
        batch.resize(filled + BLOCK_BYTES, 0);
        let length = text.fill(index, &mut batch[filled..]).len();
        batch.truncate(filled + length);
        index += 1;
        if length > 0 && batch.len() < BATCH {
            continue;
        }
        hash.update(&batch);
        file.write_all(&batch)?;
        report.add(batch.len())?;
        batch.clear();
        if length == 0 {
            return report.finish(hash);
        }
    }
}

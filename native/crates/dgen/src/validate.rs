//! Compares a file with the data that it was written with. These are made again, not stored.

use std::fs::{self, File, Metadata};
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use sink::{Fault, Progress, Shared};

use crate::data::Differences;
use crate::write::{self, FileContents, FileError};

/// Returns the error of a failed read.
fn read_error(path: &Path) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError::new(path, Fault::during("read")(source))
}

/// Bytes that a thread compares at a time.
const BLOCK: usize = 1 << 20;

/// Result of comparing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Bytes that were compared.
    pub bytes: u64,
    /// Size that the file must have.
    pub size_expected: u64,
    /// Size that it has.
    pub size_actual: u64,
    /// Bytes that differ from the expected ones, with the first of them. Bytes that are missing or
    /// too many are not among them.
    pub differences: Differences,
}

impl Validation {
    /// Returns whether the file has the expected contents.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.differences.count == 0 && self.size_expected == self.size_actual
    }
}

/// Reads the file at `path` and compares it with `expected`, with `threads` threads of 1 MiB each. Without `size` it must
/// be as long as it is. `progress` is called as by [`crate::write::write_file`].
///
/// # Errors
/// The file cannot be read, was changed meanwhile, or `progress` ended it.
pub fn read_and_validate(
    path: &Path,
    expected: &FileContents,
    size: Option<u64>,
    threads: NonZeroUsize,
    progress: &mut Progress<'_>,
) -> Result<Validation, FileError> {
    if threads.get() > MAX_THREADS {
        let reason = format!("{threads} threads are more than {MAX_THREADS}");
        return Err(FileError::new(path, Fault::Contradiction(reason)));
    }
    let file = write::open_regular(path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => {
            FileError::new(path, Fault::Contradiction(error.to_string()))
        }
        _ => read_error(path)(error),
    })?;
    let metadata = file.metadata().map_err(read_error(path))?;
    let size_actual = metadata.len();
    let size_expected = size.unwrap_or(size_actual);
    let task = Task {
        file: &file,
        expected,
        end: size_actual.min(size_expected),
        next: AtomicU64::new(0),
        shared: Shared::default(),
    };
    let work = |_| task.run();
    let parts = sink::run_threads("reader", threads.get(), &work, &task.shared, progress)
        .map_err(|fault| FileError::new(path, fault))?;
    let mut differences = Differences::default();
    for part in parts {
        differences.merge(part);
    }
    check_unchanged(path, &file, &metadata)?;
    Ok(Validation {
        bytes: differences.compared,
        size_expected,
        size_actual,
        differences,
    })
}

/// Fails if the file was changed meanwhile: the result would be that of neither version.
fn check_unchanged(path: &Path, file: &File, before: &Metadata) -> Result<(), FileError> {
    let changed = |how| {
        let reason = format!("changed while it was read: {how}");
        Err(FileError::new(path, Fault::Unavailable(reason)))
    };
    let after = file.metadata().map_err(read_error(path))?;
    if after.len() != before.len() {
        return changed("it has another size now");
    }
    let written = |metadata: &Metadata| (metadata.mtime(), metadata.mtime_nsec());
    if written(&after) != written(before) {
        return changed("it was written to");
    }
    let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    match fs::metadata(path) {
        Ok(named) if identity(&named) == identity(before) => Ok(()),
        _ => changed("its name stands for another file now, or for none"),
    }
}

/// More than any processor has; starting many more takes longer than reading.
const MAX_THREADS: usize = 4096;

struct Task<'run> {
    file: &'run File,
    expected: &'run FileContents,
    end: u64,
    next: AtomicU64,
    shared: Shared,
}

impl Task<'_> {
    fn run(&self) -> Result<Differences, Fault> {
        let mut differences = Differences::default();
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(BLOCK).map_err(|error| {
            Fault::Unavailable(format!("a buffer of {BLOCK} bytes cannot be had: {error}"))
        })?;
        buffer.resize(BLOCK, 0);
        while !self.shared.stop.load(Ordering::Relaxed) {
            let offset = self.next.fetch_add(BLOCK as u64, Ordering::Relaxed);
            if offset >= self.end {
                break;
            }
            let length = usize::try_from(self.end - offset).map_or(BLOCK, |rest| rest.min(BLOCK));
            let bytes = &mut buffer[..length];
            self.read_at(bytes, offset)?;
            self.expected.differences(offset, bytes, &mut differences);
            self.shared.done.fetch_add(length as u64, Ordering::Relaxed);
        }
        Ok(differences)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), Fault> {
        let mut have = 0;
        while have < bytes.len() {
            let at = offset + have as u64;
            match self.file.read_at(&mut bytes[have..], at) {
                Ok(0) => {
                    return Err(Fault::Unavailable(format!(
                        "ends at offset {at}, before its size: it was changed meanwhile"
                    )));
                }
                Ok(count) => have += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::at("read", at)(error)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error message after `change` to an open file of 3 MiB.
    fn message_after(change: &dyn Fn(&Path)) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; 3 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        let before = file.metadata().unwrap();
        check_unchanged(&path, &file, &before).unwrap();
        change(&path);
        check_unchanged(&path, &file, &before)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn changes_to_a_file_during_validation_are_reported() {
        let longer = message_after(&|path| {
            let file = File::options().append(true).open(path).unwrap();
            file.set_len((3 << 20) + 1).unwrap();
        });
        assert!(longer.contains("another size"), "{longer}");
        let written = message_after(&|path| {
            // The clock of a file system is coarse: it is written until that shows.
            let file = File::options().write(true).open(path).unwrap();
            let before = file.metadata().unwrap().modified().unwrap();
            while file.metadata().unwrap().modified().unwrap() == before {
                file.write_all_at(b"x", 9).unwrap();
            }
        });
        assert!(written.contains("it was written to"), "{written}");
        let replaced = message_after(&|path| {
            let other = path.with_extension("other");
            fs::write(&other, "x").unwrap();
            fs::rename(&other, path).unwrap();
        });
        assert!(replaced.contains("another file"), "{replaced}");
        let removed = message_after(&|path| fs::remove_file(path).unwrap());
        assert!(removed.contains("or for none"), "{removed}");
    }

    #[test]
    fn the_end_of_a_truncated_file_is_reported_to_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; 5000]).unwrap();
        let file = File::open(&path).unwrap();
        let expected = FileContents::with_period(&crate::data::Settings::default(), None).unwrap();
        let task = Task {
            file: &file,
            expected: &expected,
            end: 6000,
            next: AtomicU64::new(0),
            shared: Shared::default(),
        };
        let error = task.run().unwrap_err().to_string();
        assert!(error.contains("ends at offset 5000,"), "{error}");
    }
}

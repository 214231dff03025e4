//! A file against the data that it was written with, made again: no stored copy, any number of threads.

use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use sink::Progress;

use super::ReadError;
use crate::data::Differences;
use crate::write::Expected;

/// Bytes that a thread compares at a time.
const BLOCK: usize = 1 << 20;

/// What comparing a file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Validation {
    /// Bytes that were compared.
    pub bytes: u64,
    /// Size that the file must have.
    pub size_expected: u64,
    /// Size that it has.
    pub size_actual: u64,
    /// Bytes that are not what they must be, with the first of them. Bytes that are missing or too many are not among them.
    pub differences: Differences,
}

impl Validation {
    /// Whether the file is what it must be.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.differences.count == 0 && self.size_expected == self.size_actual
    }
}

/// Reads the file at `path` and compares it with `expected`, with `threads` threads of 1 MiB each. Without `size` it must
/// be as long as it is. `progress` is called as by [`crate::write::write_file`].
///
/// # Errors
/// The file cannot be read, or `progress` ended it.
pub fn read_and_validate(
    path: &Path,
    expected: &Expected,
    size: Option<u64>,
    threads: NonZeroUsize,
    progress: &mut Progress<'_>,
) -> Result<Validation, ReadError> {
    let file = File::open(path).map_err(ReadError::of(path, None))?;
    let metadata = file.metadata().map_err(ReadError::of(path, None))?;
    if !metadata.is_file() {
        return Err(ReadError::Contradiction(format!(
            "{} is no regular file",
            path.display()
        )));
    }
    let size_actual = metadata.len();
    let size_expected = size.unwrap_or(size_actual);
    let task = Task {
        path,
        file: &file,
        expected,
        end: size_actual.min(size_expected),
        next: AtomicU64::new(0),
        compared: AtomicU64::new(0),
        stop: AtomicBool::new(false),
    };
    let differences = compare(&task, threads, progress)?;
    Ok(Validation {
        bytes: differences.compared,
        size_expected,
        size_actual,
        differences,
    })
}

struct Task<'run> {
    path: &'run Path,
    file: &'run File,
    expected: &'run Expected,
    end: u64,
    next: AtomicU64,
    compared: AtomicU64,
    stop: AtomicBool,
}

fn compare(
    task: &Task<'_>,
    threads: NonZeroUsize,
    progress: &mut Progress<'_>,
) -> Result<Differences, ReadError> {
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.get() {
            let sender = sender.clone();
            scope.spawn(move || {
                let outcome = task.run();
                if outcome.is_err() {
                    task.stop.store(true, Ordering::Relaxed);
                }
                // Nobody listens any more only if the caller panicked.
                let _ = sender.send(outcome);
            });
        }
        drop(sender);
        let (mut whole, mut failure, mut stopped) = (Differences::default(), None, false);
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(Ok(found)) => whole.merge(found),
                Ok(Err(error)) => failure = failure.or(Some(error)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let compared = task.compared.load(Ordering::Relaxed);
                    if !stopped && progress(compared) == ControlFlow::Break(()) {
                        stopped = true;
                        task.stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None if stopped => Err(ReadError::Stopped),
            None => Ok(whole),
        }
    })
}

impl Task<'_> {
    fn run(&self) -> Result<Differences, ReadError> {
        let mut found = Differences::default();
        let mut buffer = vec![0; BLOCK];
        while !self.stop.load(Ordering::Relaxed) {
            let offset = self.next.fetch_add(BLOCK as u64, Ordering::Relaxed);
            if offset >= self.end {
                break;
            }
            let length = usize::try_from(self.end - offset).map_or(BLOCK, |rest| rest.min(BLOCK));
            let bytes = &mut buffer[..length];
            self.file
                .read_exact_at(bytes, offset)
                .map_err(|error| match error.kind() {
                    std::io::ErrorKind::UnexpectedEof => ReadError::Ended {
                        path: self.path.to_owned(),
                        offset,
                    },
                    _ => ReadError::of(self.path, Some(offset))(error),
                })?;
            self.expected.differences(offset, bytes, &mut found);
            self.compared.fetch_add(length as u64, Ordering::Relaxed);
        }
        Ok(found)
    }
}

//! One block under way: what a completion means for it. Apart from any system call, so that every outcome can be tried.

use std::io;
use std::time::Instant;

use super::backend::{Evidence, Task, Wanted};
use super::{PAGE, ReadError};

/// Repetitions in a row without a byte read, after which a read counts as stuck.
const PATIENCE: u32 = 100_000;

/// What is there of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) wanted: Wanted,
    /// Bytes that are there.
    pub(super) have: usize,
    /// When it was asked for.
    pub(super) since: Instant,
    repeated: u32,
}

impl Piece {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            have: 0,
            since: Instant::now(),
            repeated: 0,
        }
    }

    /// Where in the file the rest begins.
    pub(super) fn offset(&self) -> u64 {
        self.wanted.offset + self.have as u64
    }

    /// Takes the outcome of one operation; whether the block is whole. A direct read goes on at a multiple of the alignment:
    /// the bytes behind the last multiple are read again.
    pub(super) fn advance(
        &mut self,
        task: &Task<'_>,
        outcome: io::Result<usize>,
        evidence: &mut Evidence,
    ) -> Result<bool, ReadError> {
        evidence.operations += 1;
        let count = match outcome {
            Ok(count) => count,
            Err(error)
                if self.repeated < PATIENCE
                    && matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                    ) =>
            {
                evidence.repeated += 1;
                self.repeated += 1;
                return Ok(false);
            }
            Err(error) => return Err(ReadError::of(task.path, Some(self.offset()))(error)),
        };
        let came = self.have + count;
        if came >= self.wanted.length {
            self.have = self.wanted.length;
            return Ok(true);
        }
        evidence.short += u64::from(count > 0);
        let have = if task.direct {
            came - came % PAGE
        } else {
            came
        };
        if have <= self.have {
            // The same would be asked for again, for ever: so few bytes stand before an end.
            return Err(ReadError::Ended {
                path: task.path.to_owned(),
                offset: self.wanted.offset + came as u64,
            });
        }
        self.have = have;
        self.repeated = 0;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::super::{BACKENDS, Options, access, backend, needs};
    use super::*;
    use crate::write::Direct;

    const BLOCK: usize = 4 * PAGE;

    /// Does `what` with a task that reads the file at `path` as if it had `size` bytes.
    fn with<T>(
        path: &Path,
        size: u64,
        direct: bool,
        backend: &'static super::super::Backend,
        what: impl FnOnce(&Task<'_>) -> T,
    ) -> T {
        let options = Options {
            access: access("sequential").unwrap(),
            backend,
            buffer_bytes: NonZeroUsize::new(BLOCK).unwrap(),
            depth: NonZeroUsize::new(3).unwrap(),
            threads: NonZeroUsize::MIN,
            direct: Direct::Off,
            seed: 0,
        };
        let order = (options.access.order)(0, size.div_ceil(BLOCK as u64));
        what(&Task {
            path,
            file: &File::open(path).unwrap(),
            options: &options,
            size,
            direct,
            order: &order,
            next: &AtomicU64::new(0),
            stop: &AtomicBool::new(false),
        })
    }

    /// What becomes of one block at offset 100 blocks with those outcomes, in turn: bytes there, or what is said.
    fn told(direct: bool, outcomes: &[Result<usize, i32>]) -> Result<(usize, bool), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        with(&path, 0, direct, BACKENDS[0], |task| {
            let mut piece = Piece::new(Wanted {
                offset: 100 * BLOCK as u64,
                length: BLOCK,
            });
            let mut whole = false;
            for outcome in outcomes {
                let outcome = outcome.map_err(io::Error::from_raw_os_error);
                whole = piece
                    .advance(task, outcome, &mut Evidence::default())
                    .map_err(|error| error.to_string())?;
            }
            Ok((piece.have, whole))
        })
    }

    #[test]
    fn short_counts_and_interruptions_lose_nothing() {
        let again = [Err(libc::EINTR), Err(libc::EAGAIN)];
        assert_eq!(told(true, &again), Ok((0, false)));
        assert_eq!(told(false, &[Ok(100), Ok(200)]), Ok((300, false)));
        assert_eq!(told(true, &[Ok(PAGE + 100)]), Ok((PAGE, false)));
        assert_eq!(told(true, &[Ok(PAGE), Ok(3 * PAGE)]), Ok((BLOCK, true)));
        // A direct read asks for whole pages and may get more than the block has.
        assert_eq!(told(true, &[Ok(BLOCK + 10)]), Ok((BLOCK, true)));
    }

    #[test]
    fn a_count_that_brings_a_block_no_further_is_an_end_at_that_byte() {
        let begins = 100 * BLOCK;
        for (direct, outcomes, ends) in [
            (false, &[Ok(0)][..], 0),
            (false, &[Ok(100), Ok(0)], 100),
            (true, &[Ok(0)], 0),
            (true, &[Ok(100)], 100),
            (true, &[Ok(PAGE + 100), Ok(100)], PAGE + 100),
            (true, &[Ok(PAGE), Ok(0)], PAGE),
        ] {
            let said = told(direct, outcomes).unwrap_err();
            let words = format!("ends at offset {},", begins + ends);
            assert!(said.contains(&words), "{outcomes:?}: {said}");
        }
    }

    #[test]
    fn interruptions_are_repeated_but_not_for_ever() {
        for code in [libc::EINTR, libc::EAGAIN] {
            let said = told(false, &vec![Err(code); PATIENCE as usize + 1]).unwrap_err();
            let words = format!("at offset {}: ", 100 * BLOCK);
            assert!(said.contains(&words), "{said}");
            // Bytes between them make it patient again.
            let mut outcomes = vec![Err(code); PATIENCE as usize];
            outcomes.push(Ok(100));
            outcomes.extend(vec![Err(code); PATIENCE as usize]);
            assert_eq!(told(false, &outcomes), Ok((100, false)));
        }
    }

    #[test]
    fn every_backend_tells_where_a_file_ends_that_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for name in ["pread", "uring"] {
            let backend = backend(name).unwrap();
            if !needs::can_have("io_uring", (backend.probe)()) {
                continue;
            }
            for direct in [false, true] {
                for left in [0, 100, PAGE, BLOCK + 100, BLOCK + PAGE + 100, 2 * BLOCK] {
                    fs::write(&path, vec![7; left]).unwrap();
                    let said = with(&path, 3 * BLOCK as u64, direct, backend, |task| {
                        (backend.read)(task, &mut Evidence::default())
                    })
                    .unwrap_err()
                    .to_string();
                    // Of several under way that lie behind the end, any may be the first to tell.
                    let behind = (left / BLOCK..3).map(|block| (block * BLOCK).max(left));
                    let mut ends = behind.map(|end| format!("ends at offset {end},"));
                    assert!(ends.any(|words| said.contains(&words)), "{left} {said}");
                }
            }
        }
    }
}

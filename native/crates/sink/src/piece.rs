//! State of one block in flight and the effect of a completion on it. The module makes no system
//! calls, so that tests can try every outcome.

use std::io;

use crate::Fault;

/// The most bytes that one write takes: Linux stops at 2 147 479 552, whatever was requested. A
/// multiple of any page.
const MAX_OPERATION: usize = 0x7fff_f000;

/// Repetitions in a row without a byte written, after which a write counts as stuck.
const MAX_RETRIES: u32 = 100_000;

/// Rest of a block that is still to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the rest in the file.
    pub offset: u64,
    /// Offset of the rest in the buffer.
    pub start: usize,
    /// Bytes left.
    pub length: usize,
    repeated: u32,
}

/// Next action for a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing was written: submit the same again.
    Repeat,
    /// `written` bytes are done, the rest is to be submitted.
    Rest {
        /// Bytes that count as written.
        written: usize,
    },
    /// `written` bytes finish the block.
    Done {
        /// Bytes that count as written.
        written: usize,
    },
}

impl Piece {
    /// A whole block.
    #[must_use]
    pub fn new(offset: u64, length: usize) -> Self {
        Self {
            offset,
            start: 0,
            length,
            repeated: 0,
        }
    }

    /// Bytes of the next operation.
    #[must_use]
    pub fn operation(&self) -> usize {
        self.length.min(MAX_OPERATION)
    }

    /// Takes the outcome of one operation. With `alignment` above 1 a rest begins at a multiple of
    /// it: the bytes after the last multiple are written again.
    ///
    /// # Errors
    /// The operation failed, wrote nothing, or had to be repeated too often.
    pub fn advance(&mut self, outcome: io::Result<usize>, alignment: usize) -> Result<Step, Fault> {
        match outcome {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) =>
            {
                self.repeated += 1;
                if self.repeated > MAX_RETRIES {
                    return Err(Fault::at("write", self.offset)(error));
                }
                Ok(Step::Repeat)
            }
            Err(error) => Err(Fault::at("write", self.offset)(error)),
            Ok(written) if written >= self.length => {
                let written = self.length;
                self.length = 0;
                Ok(Step::Done { written })
            }
            Ok(written) => {
                let written = written - written % alignment.max(1);
                if written == 0 {
                    return Err(Fault::NoProgress {
                        offset: self.offset,
                    });
                }
                self.repeated = 0;
                self.offset += written as u64;
                self.start += written;
                self.length -= written;
                Ok(Step::Rest { written })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errno(code: i32) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(code))
    }

    #[test]
    fn a_short_write_goes_on_where_it_stopped() {
        let mut piece = Piece::new(1000, 100);
        assert_eq!(
            piece.advance(Ok(30), 1).unwrap(),
            Step::Rest { written: 30 }
        );
        assert_eq!((piece.offset, piece.start, piece.length), (1030, 30, 70));
        assert_eq!(
            piece.advance(Ok(70), 1).unwrap(),
            Step::Done { written: 70 }
        );
    }

    #[test]
    fn a_short_direct_write_goes_on_at_a_multiple_of_the_alignment() {
        let mut piece = Piece::new(8192, 8192);
        assert_eq!(
            piece.advance(Ok(4096 + 700), 512).unwrap(),
            Step::Rest { written: 4608 }
        );
        assert_eq!(
            (piece.offset, piece.start, piece.length),
            (12_800, 4608, 3584)
        );
    }

    #[test]
    fn no_progress_is_an_error_that_names_the_offset() {
        for outcome in [0, 511] {
            let fault = Piece::new(4096, 4096)
                .advance(Ok(outcome), 512)
                .unwrap_err();
            assert!(matches!(fault, Fault::NoProgress { offset: 4096 }));
        }
    }

    #[test]
    fn interruptions_are_repeated_but_not_for_ever() {
        let mut piece = Piece::new(0, 10);
        for code in [libc::EINTR, libc::EAGAIN] {
            assert_eq!(piece.advance(errno(code), 1).unwrap(), Step::Repeat);
        }
        assert!((0..=MAX_RETRIES).any(|_| piece.advance(errno(libc::EAGAIN), 1).is_err()));
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_offset() {
        let mut piece = Piece::new(0, 8192);
        piece.advance(Ok(4096), 1).unwrap();
        let fault = piece.advance(errno(libc::ENOSPC), 1).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "cannot write at offset 4096: No space left on device (os error 28)"
        );
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_block_beyond_4_gib_is_written_in_pieces() {
        let mut piece = Piece::new(0, 5 << 30);
        let mut operations = 0;
        loop {
            operations += 1;
            if let Step::Done { .. } = piece.advance(Ok(piece.operation()), 4096).unwrap() {
                break;
            }
            assert!(piece.offset.is_multiple_of(4096));
        }
        assert_eq!(operations, 3);
    }
}

//! Distribution of blocks among writers.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Job, Split};

/// A piece of the file that is written from one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its number in the file.
    pub index: u64,
    /// Offset of the block.
    pub offset: u64,
    /// Bytes of it in the file; the last block may be shorter.
    pub length: usize,
}

/// Hands out the blocks of a range of the file in order, each once.
#[derive(Debug)]
pub(crate) struct Cursor {
    next: AtomicU64,
    end: u64,
    block_bytes: u64,
    size: u64,
}

impl Cursor {
    pub(crate) fn take(&self) -> Option<Block> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        if index >= self.end {
            // Undone, or a caller that asks without end would wrap around.
            self.next.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let offset = index * self.block_bytes;
        let length = self.block_bytes.min(self.size - offset);
        Some(Block {
            index,
            offset,
            length: usize::try_from(length).unwrap_or(usize::MAX),
        })
    }

    fn new(job: &Job, size: u64, from: u64, end: u64) -> Self {
        Self {
            next: AtomicU64::new(from),
            end,
            block_bytes: job.block_bytes.get() as u64,
            size,
        }
    }
}

/// Blocks of a file of `size` bytes.
pub(crate) fn count(job: &Job, size: u64) -> u64 {
    size.div_ceil(job.block_bytes.get() as u64)
}

/// The cursors of a file of `size` bytes that `writers` threads share: one for all of them, or one
/// for each.
pub(crate) fn cursors(job: &Job, size: u64, writers: usize) -> Vec<Cursor> {
    let blocks = count(job, size);
    match job.split {
        Split::Next => vec![Cursor::new(job, size, 0, blocks)],
        Split::Parts => {
            let edge = |writer: usize| {
                let edge = u128::from(blocks) * writer as u128 / writers as u128;
                u64::try_from(edge).unwrap_or(blocks)
            };
            (0..writers)
                .map(|writer| Cursor::new(job, size, edge(writer), edge(writer + 1)))
                .collect()
        }
    }
}

//! Seeded text corpora: a pure function of kind, seed and size.
//!
//! A text is a row of blocks of [`BLOCK_BYTES`], the last one shorter. Each block depends only on
//! kind, seed, its index and its length, so any thread may fill any block, and a large text has the
//! statistics of a small one: all but the last block of a text are also the first blocks of every
//! longer one. Every text is valid UTF-8 and exactly as long as asked. The bytes are fixed forever
//! by test vectors: no floating point, no library's random numbers.

pub mod data;
mod kinds;
pub mod probe;
mod random;
pub mod sessions;
pub mod validate;
mod vocabulary;
pub mod write;
mod writer;

pub use kinds::{KINDS, Kind, kind};
pub use writer::{WriteSummary, write_file};

/// Bytes per block: the largest prime below 64 KiB, so that the ends of blocks, where words end, never line up with a
/// reader's blocks.
pub const BLOCK_BYTES: usize = 65_521;

/// A text that is not yet written.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    kind: &'static Kind,
    seed: u64,
    size: u64,
}

impl Text {
    /// The text of `size` bytes.
    #[must_use]
    pub fn new(kind: &'static Kind, seed: u64, size: u64) -> Self {
        Self { kind, seed, size }
    }

    /// Fills the first bytes of `block` with block `index` and returns them; none after the end of
    /// the text.
    ///
    /// # Panics
    /// `block` is shorter than [`BLOCK_BYTES`].
    #[must_use]
    pub fn fill<'block>(&self, index: u64, block: &'block mut [u8]) -> &'block [u8] {
        let start = index.saturating_mul(BLOCK_BYTES as u64);
        let rest = self.size.saturating_sub(start);
        let length = usize::try_from(rest).map_or(BLOCK_BYTES, |rest| rest.min(BLOCK_BYTES));
        let block = &mut block[..length];
        self.kind.fill(self.seed, index, block);
        block
    }
}

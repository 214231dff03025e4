//! Blocks of random bytes: their numbers and their keys.

/// Bytes of a block.
pub(super) const BLOCK: usize = 16;

/// A block, and a round key.
pub(super) type Block = [u8; BLOCK];

/// The key before the first round, and the four round keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys(pub(super) [Block; 5]);

/// Number of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    domain: Domain,
    index: u64,
}

/// Purpose of a block; each purpose has its own range of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Domain {
    /// The random bytes.
    Bytes = 0,
    /// The repeated part of a granule: one block with the number of the granule.
    Fillers = 1,
}

impl Counter {
    pub(super) fn new(domain: Domain, index: u64) -> Self {
        Self { domain, index }
    }

    /// Returns the counter that is `blocks` later.
    pub(super) fn plus(self, blocks: usize) -> Self {
        let index = self.index.wrapping_add(blocks as u64);
        Self { index, ..self }
    }

    /// Returns the initial state of the rounds.
    pub(super) fn to_block(self) -> Block {
        (u128::from(self.domain as u8) << 64 | u128::from(self.index)).to_le_bytes()
    }
}

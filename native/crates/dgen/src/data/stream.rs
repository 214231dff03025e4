//! Random bytes by counter: four AES rounds over the number of a 16-byte block.
//!
//! A block is `R(R(R(R(counter ^ k0, k1), k2), k3), k4)` where R is one AES round (FIPS 197: `SubBytes`, `ShiftRows`,
//! `MixColumns`, round key) and the counter is the number of the block in its low and a domain in its high 8 bytes, both
//! little-endian. Two rounds spread every bit over the block, four leave nothing that the self-tests find. This is for
//! test data, not for secrets: AES proper has ten rounds.

use sha2::{Digest, Sha256};

use super::block::{BLOCK, Block, Counter, Domain, Keys};
use super::path::{Path, Stores};

/// Returns the position of `offset` within its block.
pub(super) fn phase(offset: u64) -> usize {
    usize::from(offset.to_le_bytes()[0]) % BLOCK
}

/// The random bytes of a seed.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    keys: Keys,
    /// Input of the choice of a copied unit.
    pub(super) pick_key: u64,
    pub(super) path: &'static Path,
}

impl Stream {
    /// The keys are SHA-256 of the seed, so that neighbouring seeds share nothing.
    pub(super) fn new(seed: u64, path: &'static Path) -> Self {
        let mut material = [0; 96];
        for (number, digest) in (0_u8..).zip(material.chunks_exact_mut(32)) {
            let hash = Sha256::new()
                .chain_update(b"bench_framework dgen data 1")
                .chain_update(seed.to_le_bytes())
                .chain_update([number]);
            digest.copy_from_slice(&hash.finalize());
        }
        let (blocks, _) = material.as_chunks::<BLOCK>();
        let [keys @ .., pick] = <[Block; 6]>::try_from(blocks).unwrap_or_default();
        Self {
            keys: Keys(keys),
            pick_key: u64::from_le_bytes(*pick.first_chunk().unwrap_or(&[0; 8])),
            path,
        }
    }

    /// The block of a granule's number that repeats in it.
    pub(super) fn filler(&self, granule: u64) -> Block {
        self.block(Domain::Fillers, granule)
    }

    fn block(&self, domain: Domain, index: u64) -> Block {
        let mut block = [Block::default()];
        self.blocks(domain, index, &mut block, Stores::Cached);
        let [block] = block;
        block
    }

    fn blocks(&self, domain: Domain, index: u64, places: &mut [Block], stores: Stores) {
        // SAFETY: a path is only chosen where its probe found the required features.
        unsafe { (self.path.fill)(&self.keys, Counter::new(domain, index), places, stores) };
    }

    /// Fills `buffer` with the random bytes from `offset` on, which do not reach beyond 2^64.
    pub(super) fn fill(&self, offset: u64, buffer: &mut [u8], stores: Stores) {
        let mut index = offset / BLOCK as u64;
        let skipped = phase(offset);
        let mut rest = buffer;
        if skipped > 0 {
            let block = self.block(Domain::Bytes, index);
            let length = rest.len().min(BLOCK - skipped);
            let (head, behind) = rest.split_at_mut(length);
            head.copy_from_slice(&block[skipped..skipped + length]);
            rest = behind;
            index += 1;
        }
        let (blocks, tail) = rest.as_chunks_mut();
        if !blocks.is_empty() {
            self.blocks(Domain::Bytes, index, blocks, stores);
        }
        if !tail.is_empty() {
            let block = self.block(Domain::Bytes, index + blocks.len() as u64);
            tail.copy_from_slice(&block[..tail.len()]);
        }
    }
}

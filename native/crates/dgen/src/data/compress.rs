//! Choice of the random and the repeated bytes of a granule.
//!
//! A granule starts with random bytes, as many as its LZ4 form has room for, and goes on with two different random bytes
//! in turn. So each granule compresses alone and no part of it is empty. A period as short as that is found at once even
//! by a compressor that looks at every tenth place of what seems random; with 16 bytes LZ4 fell short by up to 7 %.

use std::fmt;

use super::block::Block;
use super::path::Stores;
use super::settings::{Compress, SettingsError};
use super::stream::{Stream, phase};

/// Granules and the random part of each.
#[derive(Clone, Debug)]
pub(super) struct Granules {
    /// Bytes.
    granule: u64,
    /// Random bytes at the start of each.
    random: u64,
}

impl Granules {
    /// `None` if granules are random to their end.
    pub(super) fn new(compress: Compress) -> Result<Option<Self>, SettingsError> {
        if compress.ratio.thousandths() == 1000 {
            return Ok(None);
        }
        let granule = u64::from(compress.granule);
        let target = granule * 1000 / u64::from(compress.ratio.thousandths());
        let smallest = compressed_bytes(granule, 0);
        if target < smallest {
            return Err(SettingsError(format!(
                "a granule of {granule} bytes compresses by {} at most, not by {}: ask for less or for larger granules",
                granule / smallest,
                compress.ratio
            )));
        }
        // The compressed size grows with the random part, so the largest that fits is found by halving.
        let (mut fits, mut exceeds) = (0, granule);
        while exceeds - fits > 1 {
            let middle = fits.midpoint(exceeds);
            if compressed_bytes(granule, middle) <= target {
                fits = middle;
            } else {
                exceeds = middle;
            }
        }
        if fits + MIN_FILL > granule {
            return Err(SettingsError(format!(
                "a granule of {granule} bytes cannot compress by as little as {}: ask for 1, for more, or for larger granules",
                compress.ratio
            )));
        }
        Ok(Some(Self {
            granule,
            random: fits,
        }))
    }

    /// Bytes of a granule.
    pub(super) fn bytes(&self) -> u64 {
        self.granule
    }

    /// Fills `buffer` with the bytes from `offset` on.
    pub(super) fn fill(&self, stream: &Stream, offset: u64, buffer: &mut [u8]) {
        let (mut index, mut within) = (offset / self.granule, offset % self.granule);
        let mut rest = buffer;
        while !rest.is_empty() {
            let room = usize::try_from(self.granule - within).unwrap_or(usize::MAX);
            let (piece, behind) = rest.split_at_mut(rest.len().min(room));
            let random = usize::try_from(self.random.saturating_sub(within)).unwrap_or(usize::MAX);
            let (random, repeated) = piece.split_at_mut(random.min(piece.len()));
            stream.fill(index * self.granule + within, random, Stores::Cached);
            if !repeated.is_empty() {
                let from = phase(within + random.len() as u64);
                repeat(stream.filler(index), from, repeated);
            }
            rest = behind;
            index += 1;
            within = 0;
        }
    }
}

/// Bytes that repeat.
const PERIOD: usize = 2;

/// Fills `place` with the start of `filler` over and over, starting at its byte `from`.
fn repeat(filler: Block, from: usize, place: &mut [u8]) {
    let [one, other, ..] = filler;
    let pair = [one, if one == other { !one } else { other }];
    let filler: Block = std::array::from_fn(|at| pair[(from + at) % PERIOD]);
    let (blocks, tail) = place.as_chunks_mut();
    blocks.fill(filler);
    tail.copy_from_slice(&filler[..tail.len()]);
}

/// The least bytes that repeat for an LZ4 match to stand for any of them: the first two, a match, and the 12 bytes at
/// the end of a block in which none starts (LZ4 block format, "End of block conditions").
const MIN_FILL: u64 = PERIOD as u64 + 4 + 12;

/// Bytes of a granule that starts with `random` bytes, as one LZ4 block: literals up to the end of the first period, one
/// match over the others, the last 5 bytes as literals (LZ4 block format).
fn compressed_bytes(granule: u64, random: u64) -> u64 {
    let literals = random + PERIOD as u64;
    let matched = granule.saturating_sub(literals + 5);
    // Lengths that a token's 4 bits cannot hold go on in bytes of up to 255 each.
    let more = |length: u64, limit: u64| length.checked_sub(limit).map_or(0, |rest| rest / 255 + 1);
    1 + more(literals, 15) + literals + 2 + more(matched, 4 + 15) + 1 + 5
}

impl fmt::Display for Granules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "compress={}/{}", self.random, self.granule)
    }
}

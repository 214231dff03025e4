//! Measures how redundant bytes are: different granules, and how far each compresses.
#![allow(
    dead_code,
    reason = "the example and the test that share it each use a part"
)]

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// Statistics of the granules of some bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Redundancy {
    /// Bytes of a granule.
    pub granule: usize,
    /// Whole granules; what is left after them is ignored.
    pub granules: u64,
    /// Different ones among them, by SHA-256.
    pub different: u64,
    /// Granules in which all bytes are the same.
    pub constant: u64,
    /// Compression ratio of each granule alone as an LZ4 block.
    pub lz4: Ratios,
}

/// Bytes ÷ compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratios {
    /// Ratio of all granules together, each compressed alone.
    pub all: f64,
    /// Ratio of the granule that compresses least.
    pub least: f64,
    /// Ratio of the granule that compresses most.
    pub most: f64,
}

impl Redundancy {
    /// Granules ÷ different granules; 1 without granules.
    #[must_use]
    pub fn dedup(&self) -> f64 {
        quotient(self.granules, self.different)
    }
}

/// Looks at every whole granule of `bytes`.
///
/// # Panics
/// `granule` is 0.
#[must_use]
pub fn measure(bytes: &[u8], granule: usize) -> Redundancy {
    let pieces = || bytes.chunks_exact(granule);
    let different: HashSet<_> = pieces().map(Sha256::digest).collect();
    let constant = pieces().filter(|piece| piece.iter().all(|&byte| byte == piece[0]));
    let mut room = vec![0; lz4_flex::block::get_maximum_output_size(granule)];
    Redundancy {
        granule,
        granules: pieces().len() as u64,
        different: different.len() as u64,
        constant: constant.count() as u64,
        lz4: ratios(bytes, granule, |piece| {
            // The room is enough for any granule, so this cannot fail.
            lz4_flex::block::compress_into(piece, &mut room).unwrap_or(piece.len())
        }),
    }
}

/// Returns the compression ratios of the whole granules of `bytes`. `compress` returns the
/// compressed bytes of one.
///
/// # Panics
/// `granule` is 0.
pub fn ratios(bytes: &[u8], granule: usize, mut compress: impl FnMut(&[u8]) -> usize) -> Ratios {
    let (mut count, mut total) = (0, 0);
    let (mut smallest, mut largest) = (u64::MAX, 0);
    for piece in bytes.chunks_exact(granule) {
        let compressed = compress(piece) as u64;
        count += 1;
        total += compressed;
        smallest = smallest.min(compressed);
        largest = largest.max(compressed);
    }
    let granule = granule as u64;
    Ratios {
        all: quotient(count * granule, total),
        least: quotient(granule, largest),
        most: quotient(granule, if count == 0 { granule } else { smallest }),
    }
}

/// 1 for nothing of nothing.
#[expect(clippy::cast_precision_loss, reason = "for reading, not for counting")]
fn quotient(numerator: u64, denominator: u64) -> f64 {
    if denominator == 0 {
        1.0
    } else {
        numerator as f64 / denominator as f64
    }
}

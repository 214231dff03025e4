//! `fold`: one multiplication of 64 × 64 bits for a short word, its halves folded.

use super::{Hash, Hasher, parts};
use crate::table::{Table, Words};

pub(super) static HASHER: Hasher = Hasher {
    name: Fold::NAME,
    about: "a folded multiplication, as in wyhash and foldhash",
    table: || Table::Fold(Words::default()),
};

/// Odd constants without pattern: the fractional parts of the square roots of 2, 3, 5 and 7 (as in SHA-512, FIPS 180-4).
const SEEDS: [u64; 4] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
];

/// See the module.
#[derive(Clone, Debug)]
pub struct Fold;

/// The high and low half of a product, folded: every bit of both factors reaches the middle of the result.
#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
    {
        product as u64 ^ (product >> 64) as u64
    }
}

impl Hash for Fold {
    const NAME: &'static str = "fold";

    #[inline]
    fn short(low: u64, high: u64) -> u64 {
        fold(low ^ SEEDS[0], high ^ SEEDS[1])
    }

    fn long(word: &[u8]) -> u64 {
        let mut hash = fold(word.len() as u64 ^ SEEDS[2], SEEDS[3]);
        for (low, high) in parts(word) {
            hash = fold(low ^ hash, high ^ SEEDS[3]) ^ hash.rotate_left(23);
        }
        hash
    }
}

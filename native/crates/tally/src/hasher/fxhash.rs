//! `fxhash`: the crate `rustc-hash`, which the Rust compiler uses.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

use super::{Hash, Hasher};
use crate::table::{Table, Words};

pub(super) static HASHER: Hasher = Hasher {
    name: FxHash::NAME,
    about: "the crate rustc-hash: multiply and add, no seed",
    table: || Table::FxHash(Words::default()),
};

/// See the module.
#[derive(Clone, Debug)]
pub struct FxHash;

impl Hash for FxHash {
    const NAME: &'static str = "fxhash";

    #[inline]
    fn short(low: u64, high: u64) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(low);
        hasher.write_u64(high);
        hasher.finish()
    }

    fn long(word: &[u8]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(word);
        hasher.finish()
    }
}

//! `siphash`: what `std::collections::HashMap` uses, without its random keys.

use std::hash::{DefaultHasher, Hasher as _};

use super::{Hash, Hasher};
use crate::table::{Table, Words};

pub(super) static HASHER: Hasher = Hasher {
    name: SipHash::NAME,
    about: "the standard library's default hasher (SipHash-1-3), keys of zero",
    table: || Table::SipHash(Words::default()),
};

/// See the module.
#[derive(Clone, Debug)]
pub struct SipHash;

impl Hash for SipHash {
    const NAME: &'static str = "siphash";

    #[inline]
    fn short(low: u64, high: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(low);
        hasher.write_u64(high);
        hasher.finish()
    }

    fn long(word: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(word);
        hasher.finish()
    }
}

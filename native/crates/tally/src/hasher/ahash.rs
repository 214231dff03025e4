//! `ahash`: the crate of that name; by AES rounds in a build for processors that have them (`-C target-feature=+aes`),
//! by folded multiplications in any other.

use std::hash::{BuildHasher, Hasher as _};

use ahash::RandomState;

use super::{Hash, Hasher};
use crate::table::{Table, Words};

pub(super) static HASHER: Hasher = Hasher {
    name: AHash::NAME,
    about: "the crate ahash, fixed keys",
    table: || Table::AHash(Words::default()),
};

/// Any four numbers: what is the same in every run.
const STATE: RandomState = RandomState::with_seeds(2, 3, 5, 7);

/// See the module.
#[derive(Clone, Debug)]
pub struct AHash;

impl Hash for AHash {
    const NAME: &'static str = "ahash";

    #[inline]
    fn short(low: u64, high: u64) -> u64 {
        let mut hasher = STATE.build_hasher();
        hasher.write_u64(low);
        hasher.write_u64(high);
        hasher.finish()
    }

    fn long(word: &[u8]) -> u64 {
        let mut hasher = STATE.build_hasher();
        hasher.write(word);
        hasher.finish()
    }
}

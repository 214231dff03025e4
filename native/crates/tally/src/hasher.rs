//! Axis `hasher`: how a word finds its place in the table. One line of `registry!` per value.
//!
//! Every hasher has fixed seeds: the same input always takes the same path, which a measurement wants, and a flood of
//! colliding words is no threat here. The answer does not depend on the hasher.

use std::hash::{BuildHasher, DefaultHasher, Hasher as _};

use ahash::RandomState;
use rustc_hash::FxHasher;

use crate::table::{Hash, SHORT, Store, Words};

/// A value of the axis `hasher`.
#[derive(Debug)]
pub struct Hasher {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// Creates an empty table that uses it.
    pub table: fn() -> Table,
}

/// Work on the words of a table, compiled once for each hasher.
pub(crate) trait TableWork {
    /// Result of the work.
    type Done;

    /// Does the work.
    fn apply<H: Hash>(self, words: &mut Words<H>) -> Self::Done;
}

macro_rules! registry {
    ($($type:ident: $about:literal;)+) => {
        /// Every hasher, in the order in which help and `describe` list them; the first is the default.
        pub static HASHERS: &[&Hasher] = &[$(&Hasher {
            name: $type::NAME,
            about: $about,
            table: || Table::$type(Words::default()),
        }),+];

        /// Words with their counts, and the hasher that places them.
        #[derive(Clone, Debug)]
        pub enum Table {
            $(
                #[doc = concat!("Placed by [`", stringify!($type), "`].")]
                $type(Words<$type>),
            )+
        }

        impl Table {
            pub(crate) fn run<W: TableWork>(&mut self, work: W) -> W::Done {
                match self {
                    $(Self::$type(words) => work.apply(words),)+
                }
            }
        }

        impl std::ops::Deref for Table {
            type Target = Store;

            fn deref(&self) -> &Store {
                match self {
                    $(Self::$type(words) => &words.store,)+
                }
            }
        }
    };
}

registry! {
    Fold: "a folded multiplication, as in wyhash and foldhash";
    SipHash: "the standard library's default hasher (SipHash-1-3), keys of zero";
    AHash: "the crate ahash, fixed keys";
    FxHash: "the crate rustc-hash: multiply and add, no seed";
}

impl Default for Table {
    fn default() -> Self {
        (HASHERS[0].table)()
    }
}

impl Table {
    /// Counts `count` occurrences of `word`.
    pub fn add_many(&mut self, word: &[u8], count: u64) {
        struct Add<'word>(&'word [u8], u64);
        impl TableWork for Add<'_> {
            type Done = ();

            fn apply<H: Hash>(self, words: &mut Words<H>) {
                words.add_many(self.0, self.1);
            }
        }
        self.run(Add(word, count));
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        struct Merge<'other>(&'other Store);
        impl TableWork for Merge<'_> {
            type Done = ();

            fn apply<H: Hash>(self, words: &mut Words<H>) {
                words.merge(self.0);
            }
        }
        self.run(Merge(other));
    }
}

/// Odd constants without pattern: the fractional parts of the square roots of 2, 3, 5 and 7 (as in SHA-512, FIPS 180-4).
const SEEDS: [u64; 4] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
];

/// One multiplication of 64 × 64 bits for a short word, its halves folded.
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

/// The parts of a long word as [`Hash::short`] takes them.
fn parts(word: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    word.chunks(SHORT).map(|part| {
        let mut window = [0; SHORT];
        window[..part.len()].copy_from_slice(part);
        let number = u128::from_le_bytes(window);
        #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
        (number as u64, (number >> 64) as u64)
    })
}

/// Defines a hasher by one of the standard library's trait, which `$new` creates.
macro_rules! by_std {
    ($(#[$about:meta])* $type:ident = $name:literal, $new:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $type;

        impl Hash for $type {
            const NAME: &'static str = $name;

            #[inline]
            fn short(low: u64, high: u64) -> u64 {
                let mut hasher = $new;
                hasher.write_u64(low);
                hasher.write_u64(high);
                hasher.finish()
            }

            fn long(word: &[u8]) -> u64 {
                let mut hasher = $new;
                hasher.write(word);
                hasher.finish()
            }
        }
    };
}

by_std! {
    /// What `std::collections::HashMap` uses, without its random keys.
    SipHash = "siphash", DefaultHasher::new()
}

/// Any four numbers: what is the same in every run.
const STATE: RandomState = RandomState::with_seeds(2, 3, 5, 7);

by_std! {
    /// The crate `ahash`: by AES rounds in a build for processors that have them (`-C target-feature=+aes`), by folded
    /// multiplications in any other.
    AHash = "ahash", STATE.build_hasher()
}

by_std! {
    /// The crate `rustc-hash`, which the Rust compiler uses.
    FxHash = "fxhash", FxHasher::default()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    /// A hash that leaves the low bits alone would put words into the same places.
    struct Spread;

    impl TableWork for Spread {
        type Done = (usize, usize);

        fn apply<H: Hash>(self, _words: &mut Words<H>) -> (usize, usize) {
            let places = |hashes: &mut dyn Iterator<Item = u64>| {
                hashes
                    .map(|hash| hash % 65_536)
                    .collect::<HashSet<_>>()
                    .len()
            };
            let short = |number: u32| {
                let mut window = [0; SHORT];
                let word = format!("w{number}");
                window[..word.len()].copy_from_slice(word.as_bytes());
                let (low, high) = parts(&window).next().unwrap();
                H::short(low, high)
            };
            let long = |number: u32| H::long(format!("a word that is long {number}").as_bytes());
            (
                places(&mut (0..20_000).map(short)),
                places(&mut (0..20_000).map(long)),
            )
        }
    }

    #[test]
    fn every_hasher_spreads_words_over_the_places() {
        // 20 000 balls in 65 536 boxes fill 17 242 of them on the average, give or take 40.
        for hasher in HASHERS {
            let (short, long) = (hasher.table)().run(Spread);
            for filled in [short, long] {
                assert!(filled > 16_500, "{}: {filled}", hasher.name);
            }
        }
    }

    #[test]
    fn tables_of_different_hashers_merge() {
        for left in HASHERS {
            for right in HASHERS {
                let (mut into, mut from) = ((left.table)(), (right.table)());
                into.add_many(b"short", 1);
                from.add_many(b"short", 2);
                from.add_many(b"a word of more than 16 bytes", 3);
                into.merge(&from);
                into.merge(&from);
                let mut found: Vec<_> = into
                    .entries()
                    .map(|entry| (entry.word().to_vec(), entry.count()))
                    .collect();
                found.sort();
                let expected = [(&b"a word of more than 16 bytes"[..], 6), (b"short", 5)];
                assert_eq!(found, expected.map(|(word, count)| (word.to_vec(), count)));
            }
        }
    }

    fn contents(table: &Table) -> HashMap<Vec<u8>, u64> {
        table
            .entries()
            .map(|entry| (entry.word().to_vec(), entry.count()))
            .collect()
    }

    proptest! {
        #[test]
        fn counts_as_a_plain_map_does(words in prop::collection::vec(prop::collection::vec(0_u8..3, 1..40), 0..300)) {
            for hasher in HASHERS {
                let mut table = (hasher.table)();
                let mut plain = HashMap::new();
                for word in &words {
                    table.add_many(word, 1);
                    *plain.entry(word.clone()).or_insert(0) += 1;
                }
                prop_assert_eq!(contents(&table), plain.clone());
                prop_assert_eq!(table.distinct(), plain.len());
                prop_assert_eq!(table.total(), words.len() as u64);
            }
        }
    }

    #[test]
    fn growing_and_merging_keep_every_count() {
        let (mut left, mut right) = (Table::default(), Table::default());
        for number in 0..20_000_u32 {
            left.add_many(format!("word {number}").as_bytes(), 1);
            right.add_many(
                format!("word {} with a long tail", number % 10_000).as_bytes(),
                3,
            );
        }
        left.merge(&right);
        assert_eq!(left.distinct(), 30_000);
        assert_eq!(left.total(), 80_000);
        assert_eq!(contents(&left)[&b"word 7 with a long tail"[..]], 6);
    }

    #[test]
    fn trailing_nul_bytes_are_part_of_a_word() {
        let mut table = Table::default();
        table.add_many(b"a", 1);
        table.add_many(b"a\0", 1);
        assert_eq!(table.distinct(), 2);
    }
}

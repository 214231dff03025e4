//! Axis `hasher`: how a word finds its place in the table. One file per value, one line in [`registry`].
//!
//! Every hasher has fixed seeds: the same input always takes the same path, which a measurement wants, and a flood of
//! colliding words is no threat here. The answer does not depend on the hasher.

mod ahash;
mod fold;
mod fxhash;
mod siphash;

use crate::table::{SHORT, Store, Words};

/// Hash function for words.
pub trait Hash {
    /// The value of the axis.
    const NAME: &'static str;

    /// The hash of a word of at most 16 bytes, which come as two numbers, zero after the end.
    fn short(low: u64, high: u64) -> u64;

    /// The hash of a longer word.
    fn long(word: &[u8]) -> u64;
}

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
pub(crate) trait Work {
    /// Result of the work.
    type Done;

    /// Does the work.
    fn on<H: Hash>(self, words: &mut Words<H>) -> Self::Done;
}

macro_rules! registry {
    ($($file:ident::$type:ident),+ $(,)?) => {
        /// Every hasher, in the order in which help and `describe` list them; the first is the default.
        pub static HASHERS: &[&Hasher] = &[$(&$file::HASHER),+];

        /// Words with their counts, and the hasher that places them.
        #[derive(Clone, Debug)]
        pub enum Table {
            $(
                #[doc = concat!("Placed by [`", stringify!($type), "`].")]
                $type(Words<$file::$type>),
            )+
        }

        impl Table {
            pub(crate) fn work<W: Work>(&mut self, work: W) -> W::Done {
                match self {
                    $(Self::$type(words) => work.on(words),)+
                }
            }

            fn store(&self) -> &Store {
                match self {
                    $(Self::$type(words) => words.store(),)+
                }
            }
        }
    };
}

registry![fold::Fold, siphash::SipHash, ahash::AHash, fxhash::FxHash];

/// The hasher named `name`.
#[must_use]
pub fn hasher(name: &str) -> Option<&'static Hasher> {
    HASHERS.iter().copied().find(|hasher| hasher.name == name)
}

impl Default for Table {
    fn default() -> Self {
        (HASHERS[0].table)()
    }
}

impl std::ops::Deref for Table {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.store()
    }
}

impl Table {
    /// Counts `count` occurrences of `word`.
    pub fn add_many(&mut self, word: &[u8], count: u64) {
        struct Add<'word>(&'word [u8], u64);
        impl Work for Add<'_> {
            type Done = ();

            fn on<H: Hash>(self, words: &mut Words<H>) {
                words.add_many(self.0, self.1);
            }
        }
        self.work(Add(word, count));
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        struct Merge<'other>(&'other Store);
        impl Work for Merge<'_> {
            type Done = ();

            fn on<H: Hash>(self, words: &mut Words<H>) {
                words.merge(self.0);
            }
        }
        self.work(Merge(other));
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// A hash that leaves the low bits alone would put words into the same places.
    struct Spread;

    impl Work for Spread {
        type Done = (usize, usize);

        fn on<H: Hash>(self, _words: &mut Words<H>) -> (usize, usize) {
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
            let (short, long) = (hasher.table)().work(Spread);
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
}

//! Words and how often they occurred: a hash table that allocates nothing per occurrence.
//!
//! Words of up to 16 bytes live in the slots themselves and are compared as two machine words; longer ones live in
//! one arena. Open addressing with linear probing, at most half full. How a word is hashed is the axis `hasher`: a table
//! is made for one hasher, and its code is compiled for that hasher alone.
//!
//! Not `hashbrown`: the table is part of the work that is measured, and it must not change with the version of a library.

use std::marker::PhantomData;

use crate::memory;

/// Longest word that is stored in the slot itself.
pub(crate) const SHORT: usize = 16;

const FIRST_SLOTS: usize = 1 << 12;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The bytes of a short word, or hash and arena offset of a long one.
    key: [u8; SHORT],
    length: usize,
    /// 0 marks a free slot.
    count: u64,
}

impl Slot {
    fn new(key: Key, count: u64) -> Self {
        let mut bytes = [0; SHORT];
        bytes[..8].copy_from_slice(&key.low.to_le_bytes());
        bytes[8..].copy_from_slice(&key.high.to_le_bytes());
        Self {
            key: bytes,
            length: key.length,
            count,
        }
    }

    /// The key of a short word; for a long one, its hash and its offset.
    #[inline]
    fn key(&self) -> Key {
        let [low, high] = halves(&self.key);
        Key {
            low,
            high,
            length: self.length,
        }
    }
}

#[inline]
fn halves(window: &[u8; SHORT]) -> [u64; 2] {
    [0, 8].map(|at| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&window[at..at + 8]);
        u64::from_le_bytes(bytes)
    })
}

/// A word as the table compares it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    low: u64,
    high: u64,
    length: usize,
}

impl Key {
    /// The key of a word of at most [`SHORT`] bytes: the first `length` of `window`.
    #[inline]
    pub(crate) fn short(window: &[u8; SHORT], length: usize) -> Self {
        /// `MASKS[n]` keeps the first n bytes.
        const MASKS: [(u64, u64); SHORT + 1] = {
            let mut masks = [(0, 0); SHORT + 1];
            let mut length = 1;
            while length <= SHORT {
                let kept = u128::MAX >> (8 * (SHORT - length));
                #[expect(clippy::cast_possible_truncation, reason = "the two halves are meant")]
                {
                    masks[length] = (kept as u64, (kept >> 64) as u64);
                }
                length += 1;
            }
            masks
        };
        let [low, high] = halves(window);
        let (kept_low, kept_high) = MASKS[length];
        Self {
            low: low & kept_low,
            high: high & kept_high,
            length,
        }
    }
}

/// Hash function for words.
pub trait Hash {
    /// The value of the axis `hasher`.
    const NAME: &'static str;

    /// The hash of a word of at most 16 bytes, which come as two numbers, zero after the end.
    fn short(low: u64, high: u64) -> u64;

    /// The hash of a longer word.
    fn long(word: &[u8]) -> u64;
}

/// Words with their counts, wherever their hashes put them.
#[derive(Clone, Debug)]
pub struct Store {
    slots: Box<[Slot]>,
    distinct: usize,
    arena: Vec<u8>,
    total: u64,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); FIRST_SLOTS].into(),
            distinct: 0,
            arena: Vec::new(),
            total: 0,
        }
    }
}

impl Store {
    /// Number of distinct words.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Number of words.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Every word with its count, in no stated order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let used = self.slots.iter().filter(|slot| slot.count > 0);
        used.map(|slot| Entry {
            slot,
            arena: &self.arena,
        })
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the mask keeps the index below the number of slots"
    )]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
}

/// Words put in their places by the hashes of `H`.
#[derive(Clone, Debug)]
pub struct Words<H> {
    pub(crate) store: Store,
    hasher: PhantomData<H>,
}

impl<H> Default for Words<H> {
    fn default() -> Self {
        Self {
            store: Store::default(),
            hasher: PhantomData,
        }
    }
}

impl<H: Hash> Words<H> {
    /// Counts one occurrence of `word`.
    pub fn add(&mut self, word: &[u8]) {
        self.add_many(word, 1);
    }

    /// Counts `count` occurrences of `word`.
    pub fn add_many(&mut self, word: &[u8], count: u64) {
        if word.len() <= SHORT {
            let mut window = [0; SHORT];
            window[..word.len()].copy_from_slice(word);
            self.add_short(Key::short(&window, word.len()), count);
        } else {
            self.add_long(word, count);
        }
    }

    /// Counts `count` occurrences of a short word.
    #[inline]
    pub(crate) fn add_short(&mut self, key: Key, count: u64) {
        self.store.total += count;
        let mut index = self.store.place(H::short(key.low, key.high));
        loop {
            let slot = &mut self.store.slots[index];
            let known = slot.key();
            let differs = (known.low ^ key.low) | (known.high ^ key.high);
            if differs | (known.length ^ key.length) as u64 == 0 {
                // A free slot equals the key of no word: words are not empty.
                slot.count += count;
                return;
            }
            if slot.count == 0 {
                *slot = Slot::new(key, count);
                self.count_insertion();
                return;
            }
            index = (index + 1) & (self.store.slots.len() - 1);
        }
    }

    #[cold]
    fn add_long(&mut self, word: &[u8], count: u64) {
        self.store.total += count;
        let hash = H::long(word);
        let mut index = self.store.place(hash);
        loop {
            let slot = &mut self.store.slots[index];
            if slot.count == 0 {
                let offset = self.store.arena.len() as u64;
                *slot = Slot::new(
                    Key {
                        low: hash,
                        high: offset,
                        length: word.len(),
                    },
                    count,
                );
                memory::append(&mut self.store.arena, word);
                self.count_insertion();
                return;
            }
            if slot.key().low == hash
                && slot.length == word.len()
                && arena_word(&self.store.arena, slot) == word
            {
                slot.count += count;
                return;
            }
            index = (index + 1) & (self.store.slots.len() - 1);
        }
    }

    #[cold]
    fn count_insertion(&mut self) {
        self.store.distinct += 1;
        if self.store.distinct * 2 > self.store.slots.len() {
            let mut grown = Vec::new();
            memory::reserve(&mut grown, self.store.slots.len() * 2);
            grown.resize(self.store.slots.len() * 2, Slot::default());
            let old = std::mem::replace(&mut self.store.slots, grown.into());
            for slot in old.iter().filter(|slot| slot.count > 0) {
                let Key { low, high, length } = slot.key();
                let hash = if length <= SHORT {
                    H::short(low, high)
                } else {
                    low
                };
                let mut index = self.store.place(hash);
                while self.store.slots[index].count > 0 {
                    index = (index + 1) & (self.store.slots.len() - 1);
                }
                self.store.slots[index] = *slot;
            }
        }
    }

    /// Adds all counts of `other`, which may have been placed by another hasher.
    pub fn merge(&mut self, other: &Store) {
        for slot in other.slots.iter().filter(|slot| slot.count > 0) {
            if slot.length <= SHORT {
                self.add_short(slot.key(), slot.count);
            } else {
                self.add_long(arena_word(&other.arena, slot), slot.count);
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the offset came from the arena's length"
)]
fn arena_word<'table>(arena: &'table [u8], slot: &Slot) -> &'table [u8] {
    &arena[slot.key().high as usize..][..slot.length]
}

/// A word with its count.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'table> {
    slot: &'table Slot,
    arena: &'table [u8],
}

impl<'table> Entry<'table> {
    /// The word.
    #[must_use]
    pub fn word(&self) -> &'table [u8] {
        let length = self.slot.length;
        if length <= SHORT {
            &self.slot.key[..length]
        } else {
            arena_word(self.arena, self.slot)
        }
    }

    /// Number of occurrences of the word.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.slot.count
    }

    /// The first bytes of the word as a number that orders like them.
    pub(crate) fn prefix(&self) -> u64 {
        let word = self.word();
        let mut bytes = [0; 8];
        let kept = word.len().min(8);
        bytes[..kept].copy_from_slice(&word[..kept]);
        u64::from_be_bytes(bytes)
    }
}

//! The order of words, and the digest that rests on it.

use std::cmp::Reverse;

use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;
use sha2::{Digest, Sha256};
use worker::command_line::Named;

use crate::hasher::Table;
use crate::memory;
use crate::table::Entry;

/// Axis `sort`: whether the list is sorted.
pub static SORTS: &[Named<bool>] = &[
    (
        true,
        "count",
        "most frequent first, ties by the bytes of the word",
    ),
    (false, "none", "as they lie in the table"),
];

/// The words of `table`, most frequent first; ties by the bytes of the word, so the order is total. Sorted by the
/// threads of `pool`, if there is one.
#[must_use]
pub fn by_count<'table>(table: &'table Table, pool: Option<&ThreadPool>) -> Vec<Entry<'table>> {
    // Prefixes settle nearly every tie of counts without a look at the words.
    let mut keyed = Vec::new();
    memory::reserve(&mut keyed, table.distinct());
    keyed.extend(
        table
            .entries()
            .map(|entry| (Reverse(entry.count()), entry.prefix(), entry)),
    );
    let order = |left: &(Reverse<u64>, u64, Entry<'_>), right: &(Reverse<u64>, u64, Entry<'_>)| {
        (left.0, left.1, left.2.word()).cmp(&(right.0, right.1, right.2.word()))
    };
    match pool {
        Some(pool) => pool.install(|| keyed.par_sort_unstable_by(order)),
        None => keyed.sort_unstable_by(order),
    }
    keyed.into_iter().map(|(_, _, entry)| entry).collect()
}

/// `sha256:` and the hexadecimal digest over the sorted words: for each, its length (u64, little endian), its bytes and
/// its count (u64, little endian).
#[must_use]
pub fn digest(sorted: &[Entry<'_>]) -> String {
    let mut hash = Sha256::new();
    for entry in sorted {
        hash.update((entry.word().len() as u64).to_le_bytes());
        hash.update(entry.word());
        hash.update(entry.count().to_le_bytes());
    }
    format!("sha256:{}", worker::hex(&hash.finalize()))
}

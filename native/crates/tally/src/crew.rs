//! The threads that count, each with its own table.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::case::Case;
use crate::cut;
use crate::hasher::Table;
use crate::job::{Count, Job};
use crate::tokenizer::{BadByte, Tokenizer};

/// Bytes folded and tokenized at once: large enough to make the call overhead negligible, small
/// enough for the L2 cache.
const PIECE: usize = 128 << 10;

#[derive(Debug)]
struct Hand {
    table: Table,
    seen: HashSet<ThreadId>,
    runtimes: BTreeSet<&'static str>,
    tokenizers: BTreeSet<&'static str>,
    hashers: BTreeSet<&'static str>,
}

/// Counts pieces on whatever thread asks, and remembers which threads those were.
#[derive(Debug)]
pub(crate) struct Crew {
    tokenizer: &'static Tokenizer,
    case: Case,
    /// The thread that made the crew: the one that reads.
    reader: ThreadId,
    /// One for each thread of the pool, and the last for a thread outside.
    hands: Vec<Mutex<Hand>>,
    /// Offset of the first bad byte found so far: pieces after it need not be counted.
    first_bad: AtomicU64,
    bad: Mutex<Option<BadByte>>,
}

impl Crew {
    /// Creates a crew of `threads` threads in addition to the calling one; 0 for the calling thread
    /// alone.
    pub(crate) fn new(job: &Job, threads: usize) -> Self {
        Self {
            tokenizer: job.tokenizer,
            case: job.case,
            reader: thread::current().id(),
            hands: (0..=threads)
                .map(|_| {
                    Mutex::new(Hand {
                        table: (job.hasher.table)(),
                        seen: HashSet::new(),
                        runtimes: BTreeSet::new(),
                        tokenizers: BTreeSet::new(),
                        hashers: BTreeSet::new(),
                    })
                })
                .collect(),
            first_bad: AtomicU64::new(u64::MAX),
            bad: Mutex::default(),
        }
    }

    /// Counts a piece at `offset` of the current input, by the hand of the current thread of a
    /// pool, or by the last for any other thread.
    pub(crate) fn count(&self, text: &[u8], offset: u64) {
        let outside = self.hands.len() - 1;
        let index = rayon::current_thread_index()
            .filter(|&index| index < outside)
            .unwrap_or(outside);
        self.count_as(index, text, offset);
    }

    /// The name of the runtime that the current thread belongs to, seen from the thread.
    fn runtime(&self) -> &'static str {
        if rayon::current_thread_index().is_some() {
            "rayon"
        } else if thread::current().id() == self.reader {
            "sequential"
        } else {
            "pipeline"
        }
    }

    /// Counts a piece at `offset` of the current input, by the hand numbered `index`.
    pub(crate) fn count_as(&self, index: usize, text: &[u8], offset: u64) {
        let mut hand = self.hands[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        hand.seen.insert(thread::current().id());
        hand.runtimes.insert(self.runtime());
        for (start, piece) in cut::pieces(text, PIECE) {
            let offset = offset + start as u64;
            if offset > self.first_bad.load(Ordering::Relaxed) {
                return;
            }
            match (self.tokenizer.count)(piece, self.case, &mut hand.table) {
                Ok(signature) => {
                    hand.tokenizers.insert(signature.tokenizer);
                    hand.hashers.insert(signature.hasher);
                }
                Err(bad) => self.found(BadByte {
                    offset: offset + bad.offset,
                    ..bad
                }),
            }
        }
    }

    /// The first of all bad bytes is the one to report, in whatever order the pieces are counted.
    fn found(&self, bad: BadByte) {
        self.first_bad.fetch_min(bad.offset, Ordering::Relaxed);
        let mut first = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none_or(|known| bad.offset < known.offset) {
            *first = Some(bad);
        }
    }

    /// Returns whether an invalid byte was found; bytes after it need not be read.
    pub(crate) fn failed(&self) -> bool {
        self.first_bad.load(Ordering::Relaxed) != u64::MAX
    }

    /// The first bad byte of the current input, once all its pieces are counted.
    pub(crate) fn bad(&self) -> Option<BadByte> {
        *self.bad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was counted into `count`; the table with the most words takes in the others.
    pub(crate) fn finish(self, count: &mut Count) {
        let mut threads = HashSet::new();
        let mut tables = Vec::new();
        for hand in self.hands {
            let hand = hand.into_inner().unwrap_or_else(PoisonError::into_inner);
            count.runtimes.extend(hand.runtimes);
            count.hashers.extend(hand.hashers);
            count.tokenizers.extend(hand.tokenizers);
            threads.extend(hand.seen);
            tables.push(hand.table);
        }
        count.threads = threads.len();
        tables.sort_by_key(|table| Reverse(table.distinct()));
        let mut tables = tables.into_iter();
        count.table = tables.next().unwrap_or_default();
        for table in tables {
            count.table.merge(&table);
        }
    }
}

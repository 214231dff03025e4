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

#[derive(Debug, Default)]
struct WorkerState {
    table: Table,
    threads: HashSet<ThreadId>,
    runtimes: BTreeSet<&'static str>,
    tokenizers: BTreeSet<&'static str>,
    hashers: BTreeSet<&'static str>,
}

/// Counts pieces on whatever thread asks, and remembers which threads those were.
#[derive(Debug)]
pub(crate) struct Workers {
    tokenizer: &'static Tokenizer,
    case: Case,
    /// The thread that created the workers: the one that reads.
    reader: ThreadId,
    /// One for each thread of the pool, and the last for a thread outside.
    states: Vec<Mutex<WorkerState>>,
    /// Offset of the first bad byte found so far: pieces after it need not be counted.
    first_bad: AtomicU64,
    bad: Mutex<Option<BadByte>>,
}

impl Workers {
    /// Creates the state of `threads` threads in addition to the calling one; 0 for the calling thread
    /// alone.
    pub(crate) fn new(job: &Job, threads: usize) -> Self {
        Self {
            tokenizer: job.tokenizer,
            case: job.case,
            reader: thread::current().id(),
            states: (0..=threads)
                .map(|_| {
                    Mutex::new(WorkerState {
                        table: (job.hasher.table)(),
                        ..WorkerState::default()
                    })
                })
                .collect(),
            first_bad: AtomicU64::new(u64::MAX),
            bad: Mutex::default(),
        }
    }

    /// Counts a piece at `offset` of the current input, in the state of the current thread of a
    /// pool, or in the last for any other thread.
    pub(crate) fn count(&self, text: &[u8], offset: u64) {
        let outside = self.states.len() - 1;
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

    /// Counts a piece at `offset` of the current input, in the state numbered `index`.
    pub(crate) fn count_as(&self, index: usize, text: &[u8], offset: u64) {
        let mut worker = self.states[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        worker.threads.insert(thread::current().id());
        worker.runtimes.insert(self.runtime());
        for (start, piece) in cut::pieces(text, PIECE) {
            let offset = offset + start as u64;
            if offset > self.first_bad.load(Ordering::Relaxed) {
                return;
            }
            match (self.tokenizer.count)(piece, self.case, &mut worker.table) {
                Ok(signature) => {
                    worker.tokenizers.insert(signature.tokenizer);
                    worker.hashers.insert(signature.hasher);
                }
                Err(bad) => self.record_bad_byte(BadByte {
                    offset: offset + bad.offset,
                    ..bad
                }),
            }
        }
    }

    /// The first of all bad bytes is the one to report, in whatever order the pieces are counted.
    fn record_bad_byte(&self, bad: BadByte) {
        self.first_bad.fetch_min(bad.offset, Ordering::Relaxed);
        let mut first = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none_or(|known| bad.offset < known.offset) {
            *first = Some(bad);
        }
    }

    /// Returns whether an invalid byte was found; bytes after it need not be read.
    pub(crate) fn has_bad_byte(&self) -> bool {
        self.first_bad.load(Ordering::Relaxed) != u64::MAX
    }

    /// The first bad byte of the current input, once all its pieces are counted.
    pub(crate) fn first_bad_byte(&self) -> Option<BadByte> {
        *self.bad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was counted into `count`; the table with the most words takes in the others.
    pub(crate) fn finish(self, count: &mut Count) {
        let mut threads = HashSet::new();
        let mut tables = Vec::new();
        for worker in self.states {
            let worker = worker.into_inner().unwrap_or_else(PoisonError::into_inner);
            count.runtimes.extend(worker.runtimes);
            count.hashers.extend(worker.hashers);
            count.tokenizers.extend(worker.tokenizers);
            threads.extend(worker.threads);
            tables.push(worker.table);
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

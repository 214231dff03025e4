//! By which calls a file is read.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sink::{Extents, Latency};

use super::access::Order;
use super::{Options, ReadError, digest, mmap, pread, uring};

/// A value of the axis `backend` of reading.
pub struct Backend {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Whether it can read past the page cache.
    pub direct: bool,
    /// Why it cannot run here, or `None`.
    pub probe: fn() -> Option<String>,
    /// Whether `Evidence` is what it leaves behind.
    pub(super) matches: fn(&Evidence) -> bool,
    /// The behaviour of one reader.
    pub(super) read: fn(&Task<'_>, &mut Evidence) -> Result<(), ReadError>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Backend")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Every backend, in the order in which help and `describe` list them.
pub static BACKENDS: &[&Backend] = &[&pread::BACKEND, &uring::BACKEND, &mmap::BACKEND];

/// The backend named `name`.
#[must_use]
pub fn backend(name: &str) -> Option<&'static Backend> {
    BACKENDS
        .iter()
        .copied()
        .find(|backend| backend.name == name)
}

pub(super) fn judge(asked: &Backend, evidence: &Evidence) -> &'static str {
    if (asked.matches)(evidence) {
        return asked.name;
    }
    BACKENDS
        .iter()
        .find(|backend| (backend.matches)(evidence))
        .map_or("unknown", |backend| backend.name)
}

/// What the readers share.
pub(super) struct Task<'run> {
    pub(super) path: &'run Path,
    pub(super) file: &'run File,
    pub(super) options: &'run Options,
    pub(super) size: u64,
    pub(super) direct: bool,
    pub(super) order: &'run Order,
    pub(super) next: &'run AtomicU64,
    pub(super) stop: &'run AtomicBool,
}

/// A block to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) offset: u64,
    pub(super) length: usize,
}

impl Task<'_> {
    /// The next block; none at the end, and none once another reader failed.
    pub(super) fn take(&self, evidence: &mut Evidence) -> Option<Wanted> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let block = self.order.at(self.next.fetch_add(1, Ordering::Relaxed))?;
        let bytes = self.options.buffer_bytes.get() as u64;
        let offset = block * bytes;
        evidence.backward += u64::from(evidence.follows.is_some_and(|follows| offset < follows));
        evidence.follows = Some(offset);
        Some(Wanted {
            offset,
            length: usize::try_from(bytes.min(self.size - offset)).unwrap_or(usize::MAX),
        })
    }

    /// Room that a request for `length` bytes needs: a direct read ends at a multiple of the alignment.
    pub(super) fn room(&self, length: usize) -> usize {
        if self.direct {
            length.next_multiple_of(super::PAGE)
        } else {
            length
        }
    }
}

/// Traces of the readers, counted where the thing happens.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Readers that read at least one block.
    pub readers: usize,
    /// Bytes that completions reported.
    pub bytes: u64,
    /// Bytes that `pread` returned.
    pub call_bytes: u64,
    /// Bytes that completions of a ring reported.
    pub ring_bytes: u64,
    /// Bytes seen in mappings of the file.
    pub mapped_bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// Operations that completed.
    pub operations: u64,
    /// Completions that asked for a repetition.
    pub repeated: u64,
    /// Completions with fewer bytes than asked for.
    pub short: u64,
    /// Times that a reader's next block lay before its previous one.
    pub backward: u64,
    pub(super) follows: Option<u64>,
    pub(super) hash: u64,
    pub(super) extents: Extents,
    pub(super) latency: Latency,
    pub(super) in_flight: Duration,
    pub(super) wait: Duration,
    pub(super) read: Duration,
    pub(super) hashing: Duration,
    pub(super) first_done: Option<Instant>,
    pub(super) last_done: Option<Instant>,
    pub(super) notes: Vec<String>,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            readers: 0,
            bytes: 0,
            call_bytes: 0,
            ring_bytes: 0,
            mapped_bytes: 0,
            blocks: 0,
            operations: 0,
            repeated: 0,
            short: 0,
            backward: 0,
            follows: None,
            hash: 0,
            extents: Extents::default(),
            latency: sink::latency(),
            in_flight: Duration::ZERO,
            wait: Duration::ZERO,
            read: Duration::ZERO,
            hashing: Duration::ZERO,
            first_done: None,
            last_done: None,
            notes: Vec::new(),
        }
    }
}

impl Evidence {
    /// Takes note of a block that was asked for at `since`, and hashes it.
    pub(super) fn finish(&mut self, wanted: Wanted, bytes: &[u8], since: Instant) {
        let now = Instant::now();
        let spent = now - since;
        self.readers = 1;
        self.blocks += 1;
        self.bytes += bytes.len() as u64;
        self.in_flight += spent;
        self.latency
            .saturating_record(u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.first_done.get_or_insert(now);
        self.last_done = Some(now);
        self.extents.add(wanted.offset, bytes.len() as u64);
        self.hash = self
            .hash
            .wrapping_add(digest::of_pages(wanted.offset, bytes));
        self.hashing += now.elapsed();
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.readers += other.readers;
        self.bytes += other.bytes;
        self.call_bytes += other.call_bytes;
        self.ring_bytes += other.ring_bytes;
        self.mapped_bytes += other.mapped_bytes;
        self.blocks += other.blocks;
        self.operations += other.operations;
        self.repeated += other.repeated;
        self.short += other.short;
        self.backward += other.backward;
        self.hash = self.hash.wrapping_add(other.hash);
        for (start, end) in other.extents.iter() {
            self.extents.add(start, end - start);
        }
        // Both have the same bounds, so nothing can be out of them.
        let _ = self.latency.add(&other.latency);
        self.in_flight += other.in_flight;
        self.wait += other.wait;
        self.read += other.read;
        self.hashing += other.hashing;
        self.first_done = match (self.first_done, other.first_done) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.last_done = self.last_done.max(other.last_done);
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

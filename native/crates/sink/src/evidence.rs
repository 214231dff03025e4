//! Observable effects of writing.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::Resident;

/// Nanoseconds of each operation, by the time its completion was seen: three digits, up to an hour.
#[derive(Clone, Debug)]
pub struct Latency(pub Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, MAX_LATENCY_NS, 3);
        Self(histogram.expect("1 to an hour with three digits are bounds"))
    }
}

/// Longest latency that the histogram resolves: an hour.
const MAX_LATENCY_NS: u64 = 3_600_000_000_000;

/// Time of the writers by activity, summed over all writers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Producing contents.
    pub generate: Duration,
    /// Handing operations to a queue.
    pub submit: Duration,
    /// Waiting for completions of a queue.
    pub wait: Duration,
    /// Inside calls that write and return when they have.
    pub write: Duration,
    /// Inside `fdatasync`, `fsync` and `msync`.
    pub sync: Duration,
    /// In the loop of a writer, between the other activities.
    pub rest: Duration,
}

impl Times {
    /// Sum of all activities.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.generate + self.submit + self.wait + self.write + self.sync + self.rest
    }
}

/// Traces of the writers, counted where the thing happens.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Writers that finished at least one block.
    pub writers: usize,
    /// Buffers that were filled at least once.
    pub buffers: usize,
    /// Memory of all buffers at the end; `None` without buffers, or if it cannot be read.
    pub resident: Option<Resident>,
    /// Bytes of contents produced.
    pub filled_bytes: u64,
    /// Bytes that completions reported, padding of an unaligned end included.
    pub written_bytes: u64,
    /// Blocks that were finished.
    pub blocks: u64,
    /// Operations that completed.
    pub operations: u64,
    /// Completions that requested a repetition: `EINTR`, `EAGAIN`.
    pub repeated: u64,
    /// Completions with fewer bytes than requested.
    pub short: u64,
    /// Bytes that `pwritev2` returned.
    pub call_bytes: u64,
    /// Bytes that completions of a ring reported.
    pub ring_bytes: u64,
    /// Bytes stored into mappings of the file; the first window of each writer is looked up in `/proc/self/maps`.
    pub mapped_bytes: u64,
    /// Operations that the kernel accepted with `RWF_DONTCACHE`.
    pub dontcache: u64,
    /// The fewest and the most blocks that a writer filled before its first submission.
    pub first_batch: Option<(usize, usize)>,
    /// The most blocks of one writer in flight at once.
    pub most_in_flight: usize,
    /// Times that a writer's next block did not follow its previous one.
    pub jumps: u64,
    /// Whether the descriptor had `O_DIRECT`, and the file system reported its alignment and is
    /// known to honour it.
    pub direct: bool,
    /// Whether the descriptor had `O_DSYNC`, or every mapped block was synced by `msync`.
    pub dsync: bool,
    /// `fdatasync` calls between writes.
    pub syncs_between: u64,
    /// `fsync` calls on the file after the last write.
    pub syncs_after: u64,
    /// Sum over all operations of their time in flight.
    pub in_flight: Duration,
    /// Time by activity.
    pub times: Times,
    /// Nanoseconds of each block from its submission until its completion was seen.
    pub latency: Latency,
    /// When the last contents were ready.
    pub last_fill: Option<Instant>,
    /// When the first block was handed to the kernel.
    pub first_submit: Option<Instant>,
    /// When the first block was done.
    pub first_done: Option<Instant>,
    /// When the last block was done.
    pub last_done: Option<Instant>,
    /// Fallbacks, each with its cause.
    pub notes: Vec<String>,
}

impl Evidence {
    /// Whether all contents were ready before the first write call.
    #[must_use]
    pub fn generated_first(&self) -> bool {
        match (self.last_fill, self.first_submit) {
            (Some(fill), Some(submit)) => fill <= submit,
            _ => true,
        }
    }

    /// Records one more finished block that was in flight since `since`.
    pub(crate) fn finish(&mut self, since: Instant) {
        let now = Instant::now();
        let spent = now - since;
        self.blocks += 1;
        self.in_flight += spent;
        let nanoseconds = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX).max(1);
        self.latency.0.saturating_record(nanoseconds);
        self.first_done.get_or_insert(now);
        self.last_done = Some(now);
    }

    /// Adds the results of another writer.
    pub(crate) fn merge(&mut self, other: Self) {
        self.writers += other.writers;
        self.buffers += other.buffers;
        self.resident = self.resident.or(other.resident);
        self.filled_bytes += other.filled_bytes;
        self.written_bytes += other.written_bytes;
        self.blocks += other.blocks;
        self.operations += other.operations;
        self.repeated += other.repeated;
        self.short += other.short;
        self.call_bytes += other.call_bytes;
        self.ring_bytes += other.ring_bytes;
        self.mapped_bytes += other.mapped_bytes;
        self.dontcache += other.dontcache;
        self.first_batch = match (self.first_batch, other.first_batch) {
            (Some((few, many)), Some((fewer, more))) => Some((few.min(fewer), many.max(more))),
            (one, other) => one.or(other),
        };
        self.most_in_flight = self.most_in_flight.max(other.most_in_flight);
        self.jumps += other.jumps;
        self.direct |= other.direct;
        self.dsync |= other.dsync;
        self.syncs_between += other.syncs_between;
        self.syncs_after += other.syncs_after;
        self.in_flight += other.in_flight;
        self.times.generate += other.times.generate;
        self.times.submit += other.times.submit;
        self.times.wait += other.times.wait;
        self.times.write += other.times.write;
        self.times.sync += other.times.sync;
        self.times.rest += other.times.rest;
        // Both have the same bounds, so nothing can be out of them.
        let _ = self.latency.0.add(&other.latency.0);
        self.last_fill = self.last_fill.max(other.last_fill);
        self.last_done = self.last_done.max(other.last_done);
        let earlier = |one: Option<Instant>, other: Option<Instant>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        self.first_submit = earlier(self.first_submit, other.first_submit);
        self.first_done = earlier(self.first_done, other.first_done);
        self.note(other.notes);
    }

    /// Adds notes that are not there yet.
    pub(crate) fn note(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

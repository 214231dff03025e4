//! State of one writer: the next block, a buffer with its contents, and measurements.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::blocks::Cursor;
use crate::target::Target;
use crate::{Block, Contents, Durability, Evidence, Extents, Fault, Fill, Job, Pool};

/// State that all threads share.
#[derive(Debug, Default)]
pub struct Shared {
    /// Whether the threads are to end early.
    pub stop: AtomicBool,
    /// Bytes so far.
    pub done: AtomicU64,
}

/// One of the files, as all of its writers see it.
#[derive(Debug)]
pub(crate) struct Share<'run> {
    /// None for contents that are discarded.
    pub(crate) target: Option<&'run Target>,
    /// Offset of the contents.
    pub(crate) base: u64,
    /// The blocks, for all of its writers or for each.
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) extents: Mutex<Extents>,
}

/// Buffers of a writer.
#[derive(Debug)]
pub(crate) enum Buffers<'run> {
    /// Its own, filled for each block.
    Own(Pool),
    /// Buffers of all writers, filled beforehand.
    Shared(&'run Pool),
    /// None: the contents go somewhere else.
    None,
}

impl Buffers<'_> {
    /// The buffers, unless the contents go somewhere else.
    pub(crate) fn pool(&self) -> Option<&Pool> {
        match self {
            Buffers::Own(pool) => Some(pool),
            Buffers::Shared(pool) => Some(pool),
            Buffers::None => None,
        }
    }
}

/// One of the threads that write, while it writes one file.
pub struct Writer<'run> {
    pub(crate) job: &'run Job,
    pub(crate) share: &'run Share<'run>,
    pub(crate) cursor: &'run Cursor,
    pub(crate) fill: &'run Fill<'run>,
    pub(crate) shared: &'run Shared,
    pub(crate) buffers: Buffers<'run>,
    pub(crate) touched: usize,
    pub(crate) follows: Option<u64>,
    pub(crate) unsynced: u64,
    /// Evidence of this writer.
    pub evidence: Evidence,
}

impl<'run> Writer<'run> {
    pub(crate) fn new(
        job: &'run Job,
        share: &'run Share<'run>,
        cursor: &'run Cursor,
        fill: &'run Fill<'run>,
        shared: &'run Shared,
        buffers: Buffers<'run>,
    ) -> Self {
        Self {
            job,
            share,
            cursor,
            fill,
            shared,
            buffers,
            touched: 0,
            follows: None,
            unsynced: 0,
            evidence: Evidence::default(),
        }
    }

    /// The file. Only a writer of a file is given to a mode.
    pub(crate) fn target(&self) -> &'run Target {
        self.share.target.expect("modes write files")
    }

    pub(crate) fn file(&self) -> &'run File {
        self.target().file()
    }

    /// The next block; none at the end, and none once the writing was stopped.
    pub(crate) fn next(&mut self) -> Option<Block> {
        if self.is_stopped() {
            return None;
        }
        let block = self.cursor.take()?;
        if self.follows.is_some_and(|index| index != block.index) {
            self.evidence.jumps += 1;
        }
        self.follows = Some(block.index + 1);
        Some(block)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Blocks that this writer may have in flight at once.
    pub(crate) fn slots(&self) -> usize {
        match &self.buffers {
            Buffers::Own(pool) => pool.count(),
            // A buffer that is only read may be in flight more than once.
            Buffers::Shared(_) | Buffers::None => self.job.depth.get(),
        }
    }

    /// Bytes of an operation that writes `block`: whole multiples of the alignment.
    pub(crate) fn padded_length(&self, block: Block) -> usize {
        let alignment = self.share.target.map_or(1, |target| target.alignment);
        block.length.next_multiple_of(alignment)
    }

    /// Produces the contents of `block` in `slot`, if contents are produced for each block. The
    /// slot must not be in flight.
    pub(crate) fn prepare(&mut self, block: Block, slot: usize) {
        let padded = self.padded_length(block);
        let Buffers::Own(pool) = &mut self.buffers else {
            return;
        };
        let start = Instant::now();
        let buffer = pool.buffer_mut(slot);
        (self.fill)(
            self.share.base.wrapping_add(block.offset),
            &mut buffer[..block.length],
        );
        buffer[block.length..padded].fill(0);
        let end = Instant::now();
        self.note_fill(block.length, start, end);
        self.touched = self.touched.max(slot + 1);
    }

    /// Produces the contents of `block` in memory that is not of the pool.
    pub(crate) fn fill_into(&mut self, block: Block, room: &mut [u8]) {
        let start = Instant::now();
        match &self.buffers {
            Buffers::Shared(pool) => {
                room.copy_from_slice(&pool.buffer(self.index_of(block, 0))[..block.length]);
                self.evidence.times.write += start.elapsed();
            }
            Buffers::Own(_) | Buffers::None => {
                (self.fill)(self.share.base.wrapping_add(block.offset), room);
                self.note_fill(block.length, start, Instant::now());
                self.touched = self.touched.max(1);
            }
        }
    }

    fn note_fill(&mut self, bytes: usize, start: Instant, end: Instant) {
        self.evidence.filled_bytes += bytes as u64;
        self.evidence.times.generate += end - start;
        self.evidence.last_fill = Some(end);
    }

    /// Index in the pool of the buffer of `block`, which this writer keeps in `slot`.
    pub(crate) fn index_of(&self, block: Block, slot: usize) -> usize {
        match &self.buffers {
            Buffers::Shared(pool) => {
                usize::try_from(block.index % pool.count() as u64).unwrap_or_default()
            }
            Buffers::Own(_) | Buffers::None => slot,
        }
    }

    /// The contents of `block`, padded.
    pub(crate) fn bytes(&self, block: Block, slot: usize) -> &[u8] {
        let pool = self.buffers.pool().expect("modes that ask have buffers");
        &pool.buffer(self.index_of(block, slot))[..self.padded_length(block)]
    }

    /// Records that `count` blocks were handed to the kernel, with so many now in flight.
    pub(crate) fn note_submission(&mut self, count: usize, in_flight: usize, at: Instant) {
        self.evidence.first_submit.get_or_insert(at);
        self.evidence.first_batch.get_or_insert((count, count));
        self.evidence.most_in_flight = self.evidence.most_in_flight.max(in_flight);
    }

    /// Records bytes that a completion reported.
    pub(crate) fn note_written(&mut self, offset: u64, bytes: usize) {
        self.evidence.written_bytes += bytes as u64;
        self.shared.done.fetch_add(bytes as u64, Ordering::Relaxed);
        self.extents().add(offset, bytes as u64);
    }

    /// Records that `block` was produced and is discarded.
    pub(crate) fn note_discarded(&mut self, block: Block) {
        let bytes = block.length as u64;
        self.shared.done.fetch_add(bytes, Ordering::Relaxed);
        self.extents().add(block.offset, bytes);
    }

    fn extents(&self) -> std::sync::MutexGuard<'run, Extents> {
        self.share
            .extents
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Records that a block is done which was handed over at `since`.
    pub(crate) fn note_finished(&mut self, since: Instant) {
        self.evidence.finish(since);
        self.unsynced += 1;
    }

    /// Returns whether another block may begin while `pending` blocks are in flight. All of them
    /// complete before the next sync, which must not be late.
    pub(crate) fn may_begin(&self, pending: usize) -> bool {
        match self.job.durability {
            Durability::Fdatasync(every) => self.unsynced.saturating_add(pending as u64) < every,
            Durability::None | Durability::EndFsync | Durability::Dsync => true,
        }
    }

    /// Returns whether an `fdatasync` is due. Must be called with no block in flight.
    pub(crate) fn sync_is_due(&self) -> bool {
        matches!(self.job.durability, Durability::Fdatasync(every) if self.unsynced >= every)
    }

    /// Flushes the written data to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), Fault> {
        let start = Instant::now();
        // SAFETY: fdatasync takes no pointer.
        if unsafe { libc::fdatasync(self.file().as_raw_fd()) } != 0 {
            return Err(Fault::during("sync")(io::Error::last_os_error()));
        }
        self.evidence.times.sync += start.elapsed();
        self.evidence.syncs_between += 1;
        self.unsynced = 0;
        Ok(())
    }

    /// Returns the evidence of the writer and its buffers at the end.
    pub(crate) fn conclude(mut self) -> (Evidence, Buffers<'run>) {
        self.evidence.writers = usize::from(self.evidence.blocks > 0);
        if self.job.contents == Contents::PerBlock {
            self.evidence.buffers = self.touched;
        }
        (self.evidence, self.buffers)
    }
}

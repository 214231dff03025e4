//! `uring`: several blocks in flight at once in an `io_uring`.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use crate::ring::{Operations, Ring, why_unavailable};
use crate::{Block, Evidence, Fault, Mode, Piece, Step, Submit, Writer};

pub(crate) static MODE: Mode = Mode {
    name: "uring",
    about: "io_uring, as many writes under way as the depth allows, registered buffers and file",
    direct: true,
    maps: false,
    queues: true,
    probe: why_unavailable,
    matches,
    write: write::<Ring>,
};

/// Writes by a ring of the kind `R`.
pub(crate) fn write<R: Operations>(writer: &mut Writer<'_>) -> Result<(), Fault> {
    let depth = writer.job.depth.get().min(writer.slots());
    let mut notes = Vec::new();
    let ring = R::open(writer, depth, &mut notes)?;
    if ring.entries() < depth {
        notes.push(format!(
            "a depth of {} instead of {depth}: io_uring takes no more",
            ring.entries()
        ));
    }
    writer.evidence.notes.append(&mut notes);
    let depth = depth.min(ring.entries());
    let mut turns = Loop {
        ring,
        depth,
        pending: vec![None; writer.slots()],
        free: (0..writer.slots()).rev().collect(),
        ready: VecDeque::new(),
        pushed: 0,
    };
    let outcome = turns.run(writer);
    if outcome.is_err() && !turns.ring.drain() {
        // If the memory were freed now, the kernel could write bytes of another allocation.
        if let Some(pool) = writer.buffers.pool() {
            pool.keep();
        }
    }
    outcome
}

/// A block in a slot.
#[derive(Clone, Copy, Debug)]
struct PendingBlock {
    block: Block,
    piece: Piece,
    since: Instant,
}

struct Loop<R> {
    ring: R,
    depth: usize,
    pending: Vec<Option<PendingBlock>>,
    /// Empty slots, the one last used on top: its bytes are most likely still in the processor's
    /// cache.
    free: Vec<usize>,
    /// Slots with contents that wait for room in the queue.
    ready: VecDeque<usize>,
    /// Operations in the queue that were not submitted to the kernel.
    pushed: usize,
}

impl<R: Operations> Loop<R> {
    /// One thread fills and submits while the kernel writes.
    fn run(&mut self, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let mut more = true;
        loop {
            self.reap(writer)?;
            if writer.is_stopped() {
                more = false;
                self.forget_ready();
            }
            if more
                && writer.may_begin(self.pending_count())
                && let Some(slot) = self.free.pop()
            {
                if let Some(block) = writer.next() {
                    self.prepare(writer, block, slot);
                } else {
                    self.free.push(slot);
                    more = false;
                }
            }
            // Nothing is in flight then: no block was begun beyond those that are finished.
            if writer.sync_is_due() {
                writer.sync()?;
                continue;
            }
            while self.ring.in_flight() < self.depth
                && let Some(slot) = self.ready.pop_front()
            {
                self.push(writer, slot)?;
            }
            let can_fill = more && !self.free.is_empty() && writer.may_begin(self.pending_count());
            if self.ring.in_flight() == 0 && self.ready.is_empty() && !can_fill {
                return Ok(());
            }
            match writer.job.submit {
                Submit::Each if can_fill => {
                    if self.pushed > 0 {
                        self.enter(writer, 0)?;
                    }
                }
                // Goes on pushing until the queue is full, and then waits.
                Submit::WhenFull if can_fill && self.ring.in_flight() < self.depth => {}
                _ => self.enter(writer, 1)?,
            }
        }
    }

    /// Blocks that are filled or in flight.
    fn pending_count(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    fn prepare(&mut self, writer: &mut Writer<'_>, block: Block, slot: usize) {
        writer.prepare(block, slot);
        self.pending[slot] = Some(PendingBlock {
            block,
            piece: Piece::new(block.offset, writer.padded_length(block)),
            since: Instant::now(),
        });
        self.ready.push_back(slot);
    }

    fn forget_ready(&mut self) {
        while let Some(slot) = self.ready.pop_front() {
            self.pending[slot] = None;
            self.free.push(slot);
        }
    }

    fn push(&mut self, writer: &mut Writer<'_>, slot: usize) -> Result<(), Fault> {
        let Some(pending) = &mut self.pending[slot] else {
            return Ok(());
        };
        if pending.piece.start == 0 {
            pending.since = Instant::now();
        }
        let PendingBlock { block, piece, .. } = *pending;
        let index = writer.index_of(block, slot);
        let bytes = &writer.bytes(block, slot)[piece.start..piece.start + piece.operation()];
        let flags = if writer.job.dontcache {
            libc::RWF_DONTCACHE
        } else {
            0
        };
        // SAFETY: a slot is filled only while it is free, which it becomes when its completion was
        // seen; the pool lives until the ring is drained, or is kept forever.
        unsafe {
            self.ring.push(
                writer.file(),
                bytes,
                index,
                piece.offset,
                flags,
                slot as u64,
            )
        }?;
        self.pushed += 1;
        Ok(())
    }

    fn enter(&mut self, writer: &mut Writer<'_>, completions: usize) -> Result<(), Fault> {
        let start = Instant::now();
        if self.pushed > 0 {
            writer.note_submission(self.pushed, self.ring.in_flight(), start);
        }
        if self.ring.enter(completions)? {
            self.pushed = 0;
        }
        let spent = start.elapsed();
        if completions == 0 {
            writer.evidence.times.submit += spent;
        } else {
            writer.evidence.times.wait += spent;
        }
        Ok(())
    }

    fn reap(&mut self, writer: &mut Writer<'_>) -> Result<(), Fault> {
        while let Some((key, outcome)) = self.ring.reap() {
            let slot = usize::try_from(key).unwrap_or(usize::MAX);
            let Some(pending) = self.pending.get_mut(slot).and_then(Option::as_mut) else {
                return Err(Fault::during("read a completion")(io::Error::other(
                    "io_uring completed an operation that was not submitted",
                )));
            };
            let (offset, requested) = (pending.piece.offset, pending.piece.operation());
            writer.evidence.operations += 1;
            if let Ok(written) = outcome {
                writer.evidence.ring_bytes += written as u64;
                writer.evidence.short += u64::from(written < requested);
                writer.evidence.dontcache += u64::from(writer.job.dontcache);
            }
            match pending.piece.advance(outcome, writer.target().alignment)? {
                Step::Repeat => {
                    writer.evidence.repeated += 1;
                    self.ready.push_front(slot);
                }
                Step::Rest { written } => {
                    writer.note_written(offset, written);
                    self.ready.push_front(slot);
                }
                Step::Done { written } => {
                    let since = pending.since;
                    writer.note_written(offset, written);
                    writer.note_finished(since);
                    self.pending[slot] = None;
                    self.free.push(slot);
                }
            }
        }
        Ok(())
    }
}

fn matches(evidence: &Evidence) -> bool {
    evidence.call_bytes == 0
        && evidence.mapped_bytes == 0
        && evidence.ring_bytes >= evidence.written_bytes
}

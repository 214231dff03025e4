//! `uring`: several reads under way at once in an `io_uring`.

use std::time::Instant;

use sink::{Pool, Ring};

use super::backend::{Backend, Evidence, Task};
use super::piece::Piece;
use super::{ReadError, unavailable};

pub(super) static BACKEND: Backend = Backend {
    name: "uring",
    about: "io_uring, as many reads under way as the depth allows",
    direct: true,
    probe: sink::why_no_ring,
    matches: |evidence| {
        evidence.call_bytes == 0
            && evidence.mapped_bytes == 0
            && evidence.ring_bytes >= evidence.bytes
    },
    read,
};

struct Reader {
    ring: Ring,
    pool: Pool,
    slots: Vec<Option<Piece>>,
}

fn read(task: &Task<'_>, evidence: &mut Evidence) -> Result<(), ReadError> {
    let depth = task.options.depth;
    let pool = Pool::new(task.options.buffer_bytes, depth).map_err(|fault| unavailable(&fault))?;
    let ring = Ring::open(depth.get(), task.file, None, &mut evidence.notes)
        .map_err(|fault| unavailable(&fault))?;
    let slots = vec![None; depth.get().min(ring.entries())];
    let mut reader = Reader { ring, pool, slots };
    let outcome = reader.run(task, evidence);
    if outcome.is_err() && !reader.ring.drain() {
        // The kernel may still write into the buffers: the memory is never given back.
        reader.pool.keep();
    }
    outcome
}

impl Reader {
    fn run(&mut self, task: &Task<'_>, evidence: &mut Evidence) -> Result<(), ReadError> {
        let mut free: Vec<_> = (0..self.slots.len()).rev().collect();
        let mut more = true;
        loop {
            while more && let Some(slot) = free.pop() {
                if let Some(wanted) = task.take(evidence) {
                    self.slots[slot] = Some(Piece::new(wanted));
                    self.push(task, slot)?;
                } else {
                    free.push(slot);
                    more = false;
                }
            }
            if self.ring.in_flight == 0 {
                return Ok(());
            }
            let start = Instant::now();
            self.ring.enter(1).map_err(|fault| unavailable(&fault))?;
            evidence.wait += start.elapsed();
            while let Some((key, outcome)) = self.ring.reap() {
                let slot = usize::try_from(key).unwrap_or(usize::MAX);
                if self.advance(task, evidence, slot, outcome)? {
                    free.push(slot);
                } else {
                    self.push(task, slot)?;
                }
            }
        }
    }

    /// Takes a completion; whether the block is whole.
    fn advance(
        &mut self,
        task: &Task<'_>,
        evidence: &mut Evidence,
        slot: usize,
        outcome: std::io::Result<usize>,
    ) -> Result<bool, ReadError> {
        let Some(piece) = self.slots.get_mut(slot).and_then(Option::as_mut) else {
            return Err(ReadError::of(task.path, None)(std::io::Error::other(
                "io_uring completed an operation that was not submitted",
            )));
        };
        evidence.ring_bytes += *outcome.as_ref().unwrap_or(&0) as u64;
        if !piece.advance(task, outcome, evidence)? {
            return Ok(false);
        }
        let Piece { wanted, since, .. } = *piece;
        self.slots[slot] = None;
        evidence.finish(wanted, &self.pool.buffer(slot)[..wanted.length], since);
        Ok(true)
    }

    fn push(&mut self, task: &Task<'_>, slot: usize) -> Result<(), ReadError> {
        let Some(piece) = self.slots[slot] else {
            return Ok(());
        };
        let room = task.room(piece.wanted.length);
        let room = &mut self.pool.buffer_mut(slot)[piece.have..room];
        // SAFETY: the slot stays under way, and so untouched, until its completion was seen; the pool outlives that, or
        // is kept for ever.
        unsafe {
            self.ring
                .push_read(task.file, room, piece.offset(), slot as u64)
        }
        .map_err(|fault| unavailable(&fault))
    }
}

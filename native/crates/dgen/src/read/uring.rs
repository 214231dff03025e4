//! `uring`: several reads under way at once in an `io_uring`.

use std::time::Instant;

use sink::{Pool, Ring};

use super::backend::{Backend, Evidence, Task, Wanted};
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

/// A block in a slot.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    wanted: Wanted,
    have: usize,
    since: Instant,
}

struct Reader {
    ring: Ring,
    pool: Pool,
    slots: Vec<Option<UnderWay>>,
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
                    self.slots[slot] = Some(UnderWay {
                        wanted,
                        have: 0,
                        since: Instant::now(),
                    });
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
        let Some(UnderWay {
            wanted,
            have,
            since,
        }) = self.slots.get(slot).copied().flatten()
        else {
            return Err(ReadError::of(task.path, None)(std::io::Error::other(
                "io_uring completed an operation that was not submitted",
            )));
        };
        evidence.operations += 1;
        let at = wanted.offset + have as u64;
        let have = match outcome {
            Ok(0) => {
                return Err(ReadError::Ended {
                    path: task.path.to_owned(),
                    offset: at,
                });
            }
            Ok(count) => {
                evidence.ring_bytes += count as u64;
                have + count
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock
                ) =>
            {
                evidence.repeated += 1;
                return Ok(false);
            }
            Err(error) => return Err(ReadError::of(task.path, Some(at))(error)),
        };
        if have >= wanted.length {
            self.slots[slot] = None;
            let bytes = &self.pool.buffer(slot)[..wanted.length];
            evidence.finish(wanted, bytes, since);
            return Ok(true);
        }
        evidence.short += 1;
        // A direct read goes on at a multiple of the alignment.
        let have = if task.direct {
            have - have % super::PAGE
        } else {
            have
        };
        self.slots[slot] = Some(UnderWay {
            wanted,
            have,
            since,
        });
        Ok(false)
    }

    fn push(&mut self, task: &Task<'_>, slot: usize) -> Result<(), ReadError> {
        let Some(UnderWay { wanted, have, .. }) = self.slots[slot] else {
            return Ok(());
        };
        let room = &mut self.pool.buffer_mut(slot)[have..task.room(wanted.length)];
        let offset = wanted.offset + have as u64;
        // SAFETY: the slot stays under way, and so untouched, until its completion was seen; the pool outlives that, or
        // is kept for ever.
        unsafe { self.ring.push_read(task.file, room, offset, slot as u64) }
            .map_err(|fault| unavailable(&fault))
    }
}

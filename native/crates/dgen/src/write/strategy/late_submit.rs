//! The seed's loop: blocks are produced until the queue is full, and only then does the kernel hear of them.

use sink::{Durability, Submit};

use super::{Driver, Strategy, first_batch, produced_between};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "late-submit",
    about: "produces blocks until the queue is full, and only then submits and waits",
    writes: true,
    recycles: false,
    driver: Driver::Own,
    backend: "uring",
    refuses: |mode| mode.maps.then_some("a mapping has no queue to fill"),
    shape: |job| {
        job.submit = Submit::WhenFull;
        Ok(())
    },
    matches: |evidence, job| {
        let queue = job
            .depth
            .get()
            .min(job.buffers.get() / job.writers.get())
            .max(1);
        // A block that a sync would come too late for is not begun.
        let batch = match job.durability {
            Durability::Fdatasync(every) => queue.min(usize::try_from(every).unwrap_or(queue)),
            _ => queue,
        };
        // Of several threads or files, one at least finds its share of the blocks.
        let turns = evidence.writers.max(job.files.get());
        let share = evidence.blocks / turns.max(1) as u64;
        let at_once = evidence.blocks <= (queue * turns) as u64;
        (produced_between(evidence, job) || at_once)
            && evidence.filled_bytes >= job.size
            && first_batch(evidence) as u64 >= share.min(batch as u64)
    },
};

//! The seed's loop: blocks are produced until the queue is full, and only then does the kernel hear of them.

use sink::Submit;

use super::{Strategy, blocks, first_batch, produced_between};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "late-submit",
    about: "produces blocks until the queue is full, and only then submits and waits",
    writes: true,
    recycles: false,
    backend: "uring",
    refuses: |mode| mode.maps.then_some("a mapping has no queue to fill"),
    shape: |job| {
        job.submit = Submit::WhenFull;
        Ok(())
    },
    matches: |evidence, job| {
        // With several threads the last of them may find fewer blocks than its queue holds.
        let full = job
            .depth
            .get()
            .min(job.buffers.get() / job.writers.get())
            .max(1);
        let full = blocks(job).map_or(full, |blocks| {
            full.min(blocks.get() / evidence.writers.max(1))
        });
        (produced_between(evidence, job) || evidence.blocks <= (full * evidence.writers) as u64)
            && evidence.filled_bytes >= job.size
            && first_batch(evidence) >= full
    },
};

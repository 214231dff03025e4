//! All blocks of the file in their own buffers: produced, then written by a ring.

use sink::Contents;

use super::{Driver, Strategy, blocks, produced_first};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "pregenerated-uring",
    about: "produces all blocks in buffers of their own, then writes them by io_uring",
    writes: true,
    recycles: false,
    driver: Driver::Own,
    backend: "uring",
    refuses: |mode| (mode.name != "uring").then_some("this strategy is io_uring's"),
    shape: |job| {
        job.buffers = blocks(job)?;
        job.contents = Contents::Before;
        Ok(())
    },
    matches: |evidence, job| {
        produced_first(evidence, job) && evidence.ring_bytes >= evidence.written_bytes
    },
};

//! A pool is filled once and written again and again: the other bound.

use sink::Contents;

use super::{Driver, Strategy, takes_any};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "write-only",
    about: "fills a pool of buffers once and writes it over and over, so the file repeats",
    writes: true,
    recycles: true,
    driver: Driver::Own,
    backend: "uring",
    refuses: takes_any,
    shape: |job| {
        job.contents = Contents::Before;
        Ok(())
    },
    matches: |evidence, job| {
        let pool = (job.block_bytes.get() as u64).saturating_mul(job.buffers.get() as u64);
        evidence.generated_first()
            && evidence.filled_bytes <= pool
            && evidence.written_bytes >= job.size
    },
};

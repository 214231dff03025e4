//! Writers that have a part of the file each, at their own offsets.

use sink::Split;

use super::{Driver, Strategy, first_batch, produced_between, takes_any};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "threads",
    about: "each thread fills and writes a part of the file of its own",
    writes: true,
    recycles: false,
    driver: Driver::Own,
    backend: "pwrite",
    refuses: takes_any,
    shape: |job| {
        job.split = Split::Parts;
        Ok(())
    },
    matches: |evidence, job| {
        produced_between(evidence, job) && first_batch(evidence) <= 1 && evidence.jumps == 0
    },
};

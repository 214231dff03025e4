//! The real thing: a small pool whose buffers are filled again as soon as completions free them.

use super::{Driver, Strategy, first_batch, produced_between, takes_any};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "streaming",
    about: "fills and submits while the kernel writes; completions free the buffers of a small pool; threads take the next block in turn",
    writes: true,
    recycles: false,
    driver: Driver::Own,
    backend: "uring",
    refuses: takes_any,
    shape: |_| Ok(()),
    matches: |evidence, job| produced_between(evidence, job) && first_batch(evidence) <= 1,
};

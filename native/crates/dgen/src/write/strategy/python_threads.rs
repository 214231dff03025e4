//! The seed's producer and consumers in Python, at offsets of their own.

use super::{Driver, Strategy, runs_elsewhere, takes_pwrite_alone};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "python-threads",
    about: "threads in Python: one fills the buffers of a pool through the extension, the others write them; a queue between",
    writes: true,
    recycles: false,
    driver: Driver::Python,
    backend: "pwrite",
    refuses: takes_pwrite_alone,
    shape: runs_elsewhere,
    matches: |_, _| false,
};

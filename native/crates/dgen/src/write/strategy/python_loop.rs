//! The seed's loop in Python: a buffer is produced, then written, then the next one.

use super::{Driver, Strategy, runs_elsewhere, takes_pwrite_alone};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "python-loop",
    about: "a loop in Python: fills a buffer through the extension, then writes it, one after the other",
    writes: true,
    recycles: false,
    driver: Driver::Python,
    backend: "pwrite",
    refuses: takes_pwrite_alone,
    shape: runs_elsewhere,
    matches: |_, _| false,
};

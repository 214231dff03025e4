//! Contents are produced and not written: one of the two bounds of everything that does both.

use super::{Driver, Strategy, takes_any};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "generate-only",
    about: "fills the buffers again and again and writes nothing; the file is not touched",
    writes: false,
    recycles: false,
    driver: Driver::Own,
    backend: "pwrite",
    refuses: takes_any,
    shape: |_| Ok(()),
    matches: |evidence, job| evidence.written_bytes == 0 && evidence.filled_bytes >= job.size,
};

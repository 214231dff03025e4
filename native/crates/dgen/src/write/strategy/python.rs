//! A loop and threads in Python, as an application in Python would write.

use super::{Driver, Strategy, runs_elsewhere};

pub(super) static LOOP: Strategy = Strategy {
    name: "python-loop",
    about: "a loop in Python: fills a buffer through the extension, then writes it, one after the other",
    ..PYTHON
};

pub(super) static THREADS: Strategy = Strategy {
    name: "python-threads",
    about: "threads in Python: one fills the buffers of a pool through the extension, others write them",
    ..PYTHON
};

const PYTHON: Strategy = Strategy {
    name: "",
    about: "",
    writes: true,
    recycles: false,
    driver: Driver::Python,
    backend: "pwrite",
    refuses: |mode| (mode.name != "pwrite").then_some("Python writes by pwrite"),
    shape: runs_elsewhere,
    matches: |_, _| false,
};

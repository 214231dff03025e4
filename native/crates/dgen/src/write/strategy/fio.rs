//! The equivalent job of fio, for comparison: another program, which fills its buffers in its own way.

use super::{Driver, Strategy, runs_elsewhere};
use crate::write::fio;

pub(super) static STRATEGY: Strategy = Strategy {
    name: "fio",
    about: "fio writes: the same block, depth, threads, direct and syncs, its buffers refilled for every block with contents of its own",
    writes: true,
    recycles: false,
    driver: Driver::Fio,
    backend: "uring",
    refuses: |mode| {
        fio::engine(mode)
            .is_none()
            .then_some("fio's job has uring or pwrite")
    },
    shape: runs_elsewhere,
    matches: |_, _| false,
};

//! Engines, which distribute the work: one file per engine, one line in [`ENGINES`].

mod collect;
mod rayon;
mod rayon_chunked;
mod sequential;
mod smol_global;
mod smol_own_executor;
mod tokio_hybrid;
mod tokio_runtime;
mod tokio_task_per_file;
mod tokio_worker_pool;

use std::sync::Arc;

use worker::exit::Failure;

use crate::found::Found;
use crate::job::Search;

/// A way of sharing out the work.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Options and environment variables that act on it and not on every engine.
    pub knobs: &'static [Knob],
    /// Searches every file of the job.
    pub run: fn(&Arc<Search>) -> Result<Found, Failure>,
}

/// Something that acts on some engines only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knob {
    /// `--channel`.
    Channel,
    /// `--chunk`.
    Chunk,
    /// `--concurrency`.
    Concurrency,
    /// `--threads`.
    Threads,
    /// `--tokio-blocking`.
    TokioBlocking,
    /// `--tokio-workers`.
    TokioWorkers,
    /// `--whole-file`.
    WholeFile,
    /// The variable `BLOCKING_MAX_THREADS` of the crate `blocking`.
    BlockingMaxThreads,
    /// The variable `SMOL_THREADS` of smol.
    SmolThreads,
}

/// Every engine, in the order in which help lists them.
pub static ENGINES: &[Engine] = &[
    sequential::ENGINE,
    rayon::ENGINE,
    rayon_chunked::ENGINE,
    tokio_task_per_file::ENGINE,
    tokio_worker_pool::ENGINE,
    tokio_hybrid::ENGINE,
    smol_global::ENGINE,
    smol_own_executor::ENGINE,
];

/// The engine named `name`.
#[must_use]
pub fn engine(name: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.name == name)
}

//! Who does the work: one file per engine, one line in [`ENGINES`].

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
    /// What it is, in one line.
    pub about: &'static str,
    /// Searches every file of the job.
    pub run: fn(&Arc<Search>) -> Result<Found, Failure>,
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

/// Whether the engine keeps to a limit of files searched at one time, and has a channel.
#[must_use]
pub fn is_asynchronous(name: &str) -> bool {
    name.starts_with("tokio-") || name.starts_with("smol-")
}

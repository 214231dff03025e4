//! Engines, which distribute the work: one line in [`ENGINES`] per engine, one file per library.

mod rayon;
mod sequential;
mod smol;
mod tokio;

use std::sync::Arc;

use async_channel::{Receiver, Sender};
use worker::exit::Failure;

use crate::job::{CHANNEL, Search};
use crate::results::SearchResults;
use crate::threads::Host;

/// A way of sharing out the work.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Options and environment variables that act on it and not on every engine.
    pub knobs: &'static [Knob],
    /// Thread that its searching belongs to.
    host: Host,
    /// Searches every file of the job.
    pub run: fn(&Arc<Search>) -> Part,
}

impl Engine {
    /// Its name, and the kind of thread that its searching belongs to.
    fn identity(&self) -> (&'static str, Host) {
        (self.name, self.host)
    }
}

/// Runs a function that is generic over the parser with the parser of the job.
macro_rules! by_parser {
    ($run:ident) => {
        |search| {
            struct Run<'search>(&'search Arc<Search>);
            impl crate::parser::Work for Run<'_> {
                type Output = crate::engine::Part;

                fn with<P: Parser>(self) -> Self::Output {
                    $run::<P>(self.0)
                }
            }
            crate::parser::dispatch(search.job.parser, Run(search))
        }
    };
}
use by_parser;

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
    rayon::FILES,
    rayon::CHUNKED,
    tokio::TASK_PER_FILE,
    tokio::WORKER_POOL,
    tokio::HYBRID,
    smol::GLOBAL,
    smol::OWN_EXECUTOR,
];

/// The engine named `name`.
#[must_use]
pub fn engine(name: &str) -> Option<&'static Engine> {
    ENGINES.iter().find(|engine| engine.name == name)
}

/// Result of a task, and of an engine.
pub type Part = Result<SearchResults, Failure>;

/// The channel that the job asks for.
fn channel(search: &Search) -> (Sender<Part>, Receiver<Part>) {
    if search.job.bounded {
        async_channel::bounded(CHANNEL)
    } else {
        async_channel::unbounded()
    }
}

/// Merges parts until every sender is gone. A task that panicked sends nothing, and its files are missed.
async fn merge(search: &Search, parts: Receiver<Part>) -> Part {
    let mut results = SearchResults::new(search.job.limit);
    while let Ok(part) = parts.recv().await {
        results.merge(part?);
    }
    let files = search.job.sessions.len() as u64;
    if results.observations.files != files {
        return Err(Failure::Work(format!(
            "{} of {files} files were searched: a task ended early",
            results.observations.files
        )));
    }
    let bounded = if parts.capacity().is_some() {
        "bounded"
    } else {
        "unbounded"
    };
    results.observations.channels.insert(bounded);
    results.observations.at_end(search);
    Ok(results)
}

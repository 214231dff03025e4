//! A task of an executor of smol for each file, which hands it to the blocking pool: the global executor (`smol-global`),
//! or a static one that our own threads drive (`smol-own-executor`).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use smol::lock::Semaphore;
use smol::{Executor, Task};
use worker::exit::Failure;

use super::Knob::{BlockingMaxThreads, Channel, Concurrency, SmolThreads, Threads};
use super::{Engine, Part, by_parser};
use crate::job::Search;
use crate::parser::Parser;
use crate::results::SearchResults;
use crate::scanner::Scanner;
use crate::threads::{EXECUTOR_PREFIX, Host};

pub(super) const GLOBAL: Engine = Engine {
    name: "smol-global",
    about: "smol::spawn for each file, searched by blocking::unblock (SMOL_THREADS, BLOCKING_MAX_THREADS)",
    knobs: &[Channel, Concurrency, BlockingMaxThreads, SmolThreads],
    host: Host::Blocking,
    run: by_parser!(global),
};

pub(super) const OWN_EXECUTOR: Engine = Engine {
    name: "smol-own-executor",
    about: "a static Executor with --threads threads, files searched by blocking::unblock (BLOCKING_MAX_THREADS)",
    knobs: &[Channel, Concurrency, Threads, BlockingMaxThreads],
    run: by_parser!(own_executor),
    ..GLOBAL
};

static EXECUTOR: Executor<'static> = Executor::new();

/// Threads of the executor that were started. They live as long as the process, as the executor does.
static THREADS: Mutex<usize> = Mutex::new(0);

fn global<P: Parser>(search: &Arc<Search>) -> Part {
    run::<P>(search, &GLOBAL, Host::Smol, smol::spawn)
}

fn own_executor<P: Parser>(search: &Arc<Search>) -> Part {
    let mut started = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    while *started < search.job.threads {
        Builder::new()
            .name(format!("{EXECUTOR_PREFIX}{started}"))
            .spawn(|| smol::block_on(EXECUTOR.run(smol::future::pending::<()>())))
            .map_err(|error| Failure::Work(format!("cannot start a thread: {error}")))?;
        *started += 1;
    }
    drop(started);
    run::<P>(search, &OWN_EXECUTOR, Host::Own, |task| {
        EXECUTOR.spawn(task)
    })
}

/// A future that sends its part.
type Sending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Searches every file in a task of the executor that `spawn` belongs to; `executor` is what its threads must be.
fn run<P: Parser>(
    search: &Arc<Search>,
    engine: &'static Engine,
    executor: Host,
    spawn: impl Fn(Sending) -> Task<()> + Clone + Send + 'static,
) -> Part {
    let (sender, parts) = super::channel(search);
    let shared = Arc::clone(search);
    let spawn_file = spawn.clone();
    let spawning = async move {
        let limit = shared
            .job
            .concurrency
            .map(|limit| Arc::new(Semaphore::new(limit)));
        for file in 0..shared.job.sessions.len() {
            let permit = match &limit {
                Some(limit) => Some(limit.acquire_arc().await),
                None => None,
            };
            let (search, sender) = (Arc::clone(&shared), sender.clone());
            let task = spawn_file(Box::pin(async move {
                let on = Host::observe();
                let part = blocking::unblock(move || {
                    let mut scanner = Scanner::<P>::new(&search, engine.identity());
                    scanner.search_file(file)?;
                    Ok(scanner.finish())
                })
                .await;
                drop(permit);
                // The receiver is gone once another part has failed.
                let _ = sender
                    .send(part.map(|part| label_executor(part, on, executor)))
                    .await;
            }));
            task.detach();
        }
    };
    spawn(Box::pin(spawning)).detach();
    smol::block_on(super::merge(search, parts))
}

/// Says so if the task ran on another executor than its engine's.
fn label_executor(mut part: SearchResults, on: Host, executor: Host) -> SearchResults {
    if on != executor {
        part.observations.engines = part
            .observations
            .engines
            .into_iter()
            .map(|engine| format!("{engine} with tasks on a thread of kind {on:?}"))
            .collect();
    }
    part
}

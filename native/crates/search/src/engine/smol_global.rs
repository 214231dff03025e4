//! `smol-global`: a task of smol's global executor for each file, which hands it to the blocking pool.

use std::sync::Arc;

use smol::Task;
use smol::lock::Semaphore;
use worker::exit::Failure;

use super::collect::{self, Part};
use super::{Engine, Knob};
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::{Scanner, Stand};
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "smol-global",
    about: "smol::spawn for each file, searched by blocking::unblock (SMOL_THREADS, BLOCKING_MAX_THREADS)",
    knobs: &[
        Knob::Channel,
        Knob::Concurrency,
        Knob::BlockingMaxThreads,
        Knob::SmolThreads,
    ],
    run: |search| dispatch(search.job.parser, Global(search)),
};

struct Global<'search>(&'search Arc<Search>);

impl Work for Global<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        run::<P>(self.0, ENGINE.name, Host::Smol, smol::spawn)
    }
}

/// A future that sends its part.
pub(super) type Sending = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Searches every file in a task of the executor that `spawn` belongs to; `executor` is what its threads must be.
pub(super) fn run<P: Parser>(
    search: &Arc<Search>,
    engine: &'static str,
    executor: Host,
    spawn: impl Fn(Sending) -> Task<()> + Clone + Send + 'static,
) -> Part {
    let (sender, parts) = collect::channel(search);
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
                let stand = Stand {
                    engine,
                    host: Host::Blocking,
                };
                let on = Host::observe();
                let part = blocking::unblock(move || {
                    let mut scanner = Scanner::<P>::new(&search, stand);
                    scanner.file(file)?;
                    Ok(scanner.finish())
                })
                .await;
                drop(permit);
                // The receiver is gone once another part has failed.
                let _ = sender
                    .send(part.map(|part| seen_on(part, on, executor)))
                    .await;
            }));
            task.detach();
        }
    };
    spawn(Box::pin(spawning)).detach();
    smol::block_on(collect::merge(search, parts))
}

/// Says so if the task ran on another executor than its engine's.
fn seen_on(mut part: Found, on: Host, executor: Host) -> Found {
    if on != executor {
        part.seen.engines = part
            .seen
            .engines
            .into_iter()
            .map(|engine| format!("{engine} with tasks on a thread of kind {on:?}"))
            .collect();
    }
    part
}

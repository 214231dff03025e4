//! `tokio-worker-pool`: a fixed number of tasks take files from one list, each with buffers that it keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use worker::exit::Failure;

use super::tokio_runtime::{runtime, search_file};
use super::{Engine, Knob, collect};
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::{Scanner, Stand};
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "tokio-worker-pool",
    about: "as many tokio tasks as --concurrency says (without a limit one per worker thread), buffers reused",
    knobs: &[
        Knob::Channel,
        Knob::Concurrency,
        Knob::TokioBlocking,
        Knob::TokioWorkers,
    ],
    run: |search| dispatch(search.job.parser, WorkerPool(search)),
};

struct WorkerPool<'search>(&'search Arc<Search>);

impl Work for WorkerPool<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let search = self.0;
        let stand = Stand {
            engine: ENGINE.name,
            host: Host::Tokio,
        };
        let runtime = runtime(search)?;
        let (sender, parts) = collect::channel(search);
        let next = Arc::new(AtomicUsize::new(0));
        let workers = search
            .job
            .concurrency
            .unwrap_or_else(|| runtime.handle().metrics().num_workers());
        for _ in 0..workers {
            let (search, next, sender) = (Arc::clone(search), Arc::clone(&next), sender.clone());
            runtime.spawn(async move {
                let part = take_files::<P>(&search, stand, &next).await;
                // The receiver is gone once another part has failed.
                let _ = sender.send(part).await;
            });
        }
        drop(sender);
        runtime.block_on(collect::merge(search, parts))
    }
}

async fn take_files<P: Parser>(
    search: &Arc<Search>,
    stand: Stand,
    next: &AtomicUsize,
) -> Result<Found, Failure> {
    let mut scanner = Scanner::<P>::new(search, stand);
    loop {
        let file = next.fetch_add(1, Ordering::Relaxed);
        if file >= search.job.sessions.len() {
            return Ok(scanner.finish());
        }
        search_file(&mut scanner, search, file).await?;
    }
}

//! The runtime of the engines that use tokio.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use worker::exit::Failure;

use super::collect::{self, Part};
use crate::job::{Reading, Search};
use crate::parser::Parser;
use crate::scanner::{Scanner, Stand};

/// A runtime with the threads that the job asks for; tokio's own numbers where it does not.
pub(super) fn runtime(search: &Search) -> Result<Runtime, Failure> {
    let mut builder = Builder::new_multi_thread();
    if let Some(threads) = search.job.tokio_workers {
        builder.worker_threads(threads);
    }
    if let Some(threads) = search.job.tokio_blocking {
        builder.max_blocking_threads(threads);
    }
    builder
        .build()
        .map_err(|error| Failure::Work(format!("cannot start tokio: {error}")))
}

/// Searches one file inside a task: in blocks that tokio reads, or mapped.
pub(super) async fn search_file<P: Parser>(
    scanner: &mut Scanner<P>,
    search: &Search,
    file: usize,
) -> Result<(), Failure> {
    let _entered = search.in_flight.enter();
    match search.job.reading {
        Reading::Read => scanner.stream(file).await?,
        Reading::Mmap => scanner.mapped(file)?,
    }
    scanner.file_done();
    Ok(())
}

/// Searches every file in its own task; no more of them at one time than the job allows.
pub(super) fn task_per_file<P, S, F>(search: &Arc<Search>, stand: Stand, one: S) -> Part
where
    P: Parser,
    S: Fn(Scanner<P>, Arc<Search>, usize) -> F + Send + 'static,
    F: Future<Output = Part> + Send + 'static,
{
    let runtime = runtime(search)?;
    let (sender, parts) = collect::channel(search);
    let shared = Arc::clone(search);
    runtime.spawn(async move {
        let limit = shared
            .job
            .concurrency
            .map(|limit| Arc::new(Semaphore::new(limit)));
        for file in 0..shared.job.sessions.len() {
            let permit = match &limit {
                // The semaphore is never closed.
                Some(limit) => Arc::clone(limit).acquire_owned().await.ok(),
                None => None,
            };
            let part = one(Scanner::new(&shared, stand), Arc::clone(&shared), file);
            let sender = sender.clone();
            tokio::spawn(async move {
                let part = part.await;
                drop(permit);
                // The receiver is gone once another part has failed.
                let _ = sender.send(part).await;
            });
        }
    });
    runtime.block_on(collect::merge(search, parts))
}

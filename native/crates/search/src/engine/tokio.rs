//! Tasks of a tokio runtime. `tokio-task-per-file` reads each file in blocks through `tokio::fs` and searches them;
//! `tokio-hybrid` reads small files whole on the blocking pool; in `tokio-worker-pool` a fixed number of tasks take files
//! from one list, each with buffers that it keeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use worker::exit::Failure;

use super::Knob::{Channel, Concurrency, TokioBlocking, TokioWorkers, WholeFile};
use super::{Engine, Part, by_parser};
use crate::job::{Reading, Search};
use crate::parser::Parser;
use crate::scanner::{Scanner, unreadable};
use crate::threads::Host;

pub(super) const TASK_PER_FILE: Engine = Engine {
    name: "tokio-task-per-file",
    about: "a tokio task for each file, with buffers of its own",
    knobs: &[Channel, Concurrency, TokioBlocking, TokioWorkers],
    host: Host::Tokio,
    run: by_parser!(task_for_each),
};

pub(super) const WORKER_POOL: Engine = Engine {
    name: "tokio-worker-pool",
    about: "as many tokio tasks as --concurrency says (without a limit one per worker thread), buffers reused",
    run: by_parser!(worker_pool),
    ..TASK_PER_FILE
};

pub(super) const HYBRID: Engine = Engine {
    name: "tokio-hybrid",
    about: "a tokio task for each file; one of at most --whole-file bytes is read whole by the blocking pool",
    knobs: &[Channel, Concurrency, TokioBlocking, TokioWorkers, WholeFile],
    run: by_parser!(hybrid),
    ..TASK_PER_FILE
};

fn task_for_each<P: Parser>(search: &Arc<Search>) -> Part {
    let one = |mut scanner: Scanner<P>, search: Arc<Search>, file: usize| async move {
        search_file(&mut scanner, &search, file).await?;
        Ok(scanner.finish())
    };
    task_per_file(search, &TASK_PER_FILE, one)
}

fn hybrid<P: Parser>(search: &Arc<Search>) -> Part {
    let one = |mut scanner: Scanner<P>, search: Arc<Search>, file: usize| async move {
        let job = &search.job;
        if job.reading == Reading::Read && job.sessions[file].size <= job.whole_bytes {
            let _in_flight = search.in_flight.enter();
            let path = job.sessions[file].path.clone();
            let contents = tokio::task::spawn_blocking(move || std::fs::read(path))
                .await
                .map_err(|error| Failure::Work(format!("a reading thread failed: {error}")))?
                .map_err(|error| unreadable(&search, file, &error))?;
            scanner.search_contents(file, &contents);
            scanner.count_file();
        } else {
            search_file(&mut scanner, &search, file).await?;
        }
        Ok(scanner.finish())
    };
    task_per_file(search, &HYBRID, one)
}

fn worker_pool<P: Parser>(search: &Arc<Search>) -> Part {
    let runtime = runtime(search)?;
    let (sender, parts) = super::channel(search);
    let next = Arc::new(AtomicUsize::new(0));
    let workers = search
        .job
        .concurrency
        .unwrap_or_else(|| runtime.handle().metrics().num_workers());
    for _ in 0..workers {
        let (search, next, sender) = (Arc::clone(search), Arc::clone(&next), sender.clone());
        runtime.spawn(async move {
            let part = take_files::<P>(&search, &next).await;
            // The receiver is gone once another part has failed.
            let _ = sender.send(part).await;
        });
    }
    drop(sender);
    runtime.block_on(super::merge(search, parts))
}

async fn take_files<P: Parser>(search: &Arc<Search>, next: &AtomicUsize) -> Part {
    let mut scanner = Scanner::<P>::new(search, WORKER_POOL.identity());
    loop {
        let file = next.fetch_add(1, Ordering::Relaxed);
        if file >= search.job.sessions.len() {
            return Ok(scanner.finish());
        }
        search_file(&mut scanner, search, file).await?;
    }
}

/// A runtime with the threads that the job asks for; tokio's own numbers where it does not.
fn runtime(search: &Search) -> Result<Runtime, Failure> {
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
async fn search_file<P: Parser>(
    scanner: &mut Scanner<P>,
    search: &Search,
    file: usize,
) -> Result<(), Failure> {
    let _in_flight = search.in_flight.enter();
    match search.job.reading {
        Reading::Read => scanner.stream(file).await?,
        Reading::Mmap => scanner.search_mapping(file)?,
    }
    scanner.count_file();
    Ok(())
}

/// Searches every file in its own task; no more of them at one time than the job allows.
fn task_per_file<P, S, F>(search: &Arc<Search>, engine: &'static Engine, one: S) -> Part
where
    P: Parser,
    S: Fn(Scanner<P>, Arc<Search>, usize) -> F + Send + 'static,
    F: Future<Output = Part> + Send + 'static,
{
    let runtime = runtime(search)?;
    let (sender, parts) = super::channel(search);
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
            let part = one(
                Scanner::new(&shared, engine.identity()),
                Arc::clone(&shared),
                file,
            );
            let sender = sender.clone();
            tokio::spawn(async move {
                let part = part.await;
                drop(permit);
                // The receiver is gone once another part has failed.
                let _ = sender.send(part).await;
            });
        }
    });
    runtime.block_on(super::merge(search, parts))
}

//! `tokio-hybrid`: a task for each file; small files are read whole on the blocking pool, large ones in blocks.

use std::sync::Arc;

use worker::exit::Failure;

use super::tokio_runtime::{search_file, task_per_file};
use super::{Engine, Knob};
use crate::found::Found;
use crate::job::{Reading, Search};
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::{Scanner, Stand, unreadable};
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "tokio-hybrid",
    about: "a tokio task for each file; one of at most --whole-file bytes is read whole by the blocking pool",
    knobs: &[
        Knob::Channel,
        Knob::Concurrency,
        Knob::TokioBlocking,
        Knob::TokioWorkers,
        Knob::WholeFile,
    ],
    run: |search| dispatch(search.job.parser, Hybrid(search)),
};

struct Hybrid<'search>(&'search Arc<Search>);

impl Work for Hybrid<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let stand = Stand {
            engine: ENGINE.name,
            host: Host::Tokio,
        };
        let one = |mut scanner: Scanner<P>, search: Arc<Search>, file: usize| async move {
            let job = &search.job;
            if job.reading == Reading::Read && job.sessions[file].size <= job.whole_bytes {
                let _entered = search.in_flight.enter();
                let path = job.sessions[file].path.clone();
                let contents = tokio::task::spawn_blocking(move || std::fs::read(path))
                    .await
                    .map_err(|error| Failure::Work(format!("a reading thread failed: {error}")))?
                    .map_err(|error| unreadable(&search, file, &error))?;
                scanner.whole(file, &contents);
                scanner.file_done();
            } else {
                search_file(&mut scanner, &search, file).await?;
            }
            Ok(scanner.finish())
        };
        task_per_file(self.0, stand, one)
    }
}

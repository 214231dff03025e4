//! `tokio-task-per-file`: a task for each file, which reads it in blocks through `tokio::fs` and searches them.

use std::sync::Arc;

use worker::exit::Failure;

use super::tokio_runtime::{search_file, task_per_file};
use super::{Engine, Knob};
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::{Scanner, Stand};
use crate::threads::Host;

pub(super) const ENGINE: Engine = Engine {
    name: "tokio-task-per-file",
    about: "a tokio task for each file, with buffers of its own",
    knobs: &[
        Knob::Channel,
        Knob::Concurrency,
        Knob::TokioBlocking,
        Knob::TokioWorkers,
    ],
    run: |search| dispatch(search.job.parser, TaskPerFile(search)),
};

struct TaskPerFile<'search>(&'search Arc<Search>);

impl Work for TaskPerFile<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let stand = Stand {
            engine: ENGINE.name,
            host: Host::Tokio,
        };
        let one = |mut scanner: Scanner<P>, search: Arc<Search>, file: usize| async move {
            search_file(&mut scanner, &search, file).await?;
            Ok(scanner.finish())
        };
        task_per_file(self.0, stand, one)
    }
}

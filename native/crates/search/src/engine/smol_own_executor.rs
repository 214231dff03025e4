//! `smol-own-executor`: as `smol-global`, on a static executor that our own threads drive.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use smol::Executor;
use worker::exit::Failure;

use super::{Engine, Knob, smol_global};
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::threads::{Host, OWN};

pub(super) const ENGINE: Engine = Engine {
    name: "smol-own-executor",
    about: "a static Executor with --threads threads, files searched by blocking::unblock (BLOCKING_MAX_THREADS)",
    knobs: &[
        Knob::Channel,
        Knob::Concurrency,
        Knob::Threads,
        Knob::BlockingMaxThreads,
    ],
    run: |search| dispatch(search.job.parser, Own(search)),
};

static EXECUTOR: Executor<'static> = Executor::new();

/// Threads of the executor that were started. They live as long as the process, as the executor does.
static THREADS: Mutex<usize> = Mutex::new(0);

struct Own<'search>(&'search Arc<Search>);

impl Work for Own<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let mut started = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        while *started < self.0.job.threads {
            Builder::new()
                .name(format!("{OWN}{started}"))
                .spawn(|| smol::block_on(EXECUTOR.run(smol::future::pending::<()>())))
                .map_err(|error| Failure::Work(format!("cannot start a thread: {error}")))?;
            *started += 1;
        }
        drop(started);
        smol_global::run::<P>(self.0, ENGINE.name, Host::Own, |task| EXECUTOR.spawn(task))
    }
}

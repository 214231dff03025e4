//! `rayon`: the threads of a pool take whole files.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use worker::exit::Failure;

use super::{Engine, Knob};
use crate::found::Found;
use crate::job::Search;
use crate::parser::{Parser, Work, dispatch};
use crate::scanner::{Scanner, Stand};
use crate::threads::{Host, RAYON};

pub(super) const ENGINE: Engine = Engine {
    name: "rayon",
    about: "a rayon pool, one file at a time for each thread",
    knobs: &[Knob::Threads],
    run: |search| dispatch(search.job.parser, Rayon(search)),
};

struct Rayon<'search>(&'search Arc<Search>);

impl Work for Rayon<'_> {
    type Output = Result<Found, Failure>;

    fn with<P: Parser>(self) -> Self::Output {
        let stand = Stand {
            engine: ENGINE.name,
            host: Host::Rayon,
        };
        let files: Vec<usize> = (0..self.0.job.sessions.len()).collect();
        share_out::<P, _>(self.0, stand, &files, |scanner, file| scanner.file(*file))
    }
}

/// Does every piece of work on a pool, each thread with its own scanner.
pub(super) fn share_out<P: Parser, T: Sync>(
    search: &Arc<Search>,
    stand: Stand,
    pieces: &[T],
    work: impl Fn(&mut Scanner<P>, &T) -> Result<(), Failure> + Sync,
) -> Result<Found, Failure> {
    let threads = search.job.threads;
    let pool: ThreadPool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("{RAYON}{index}"))
        .build()
        .map_err(|error| Failure::Work(format!("cannot start {threads} threads: {error}")))?;
    let scanners: Vec<Mutex<Scanner<P>>> = (0..threads)
        .map(|_| Mutex::new(Scanner::new(search, stand)))
        .collect();
    pool.install(|| {
        pieces.par_iter().with_max_len(1).try_for_each(|piece| {
            let index = ::rayon::current_thread_index().unwrap_or(0);
            let mut scanner = scanners[index]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            work(&mut scanner, piece)
        })
    })?;
    let mut found = Found::new(search.job.limit);
    for scanner in scanners {
        let scanner = scanner.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.merge(scanner.finish());
    }
    found.seen.at_end(search);
    Ok(found)
}

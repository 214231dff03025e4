//! The threads of a rayon pool: `rayon` gives them whole files, `rayon-chunked` pieces of files, so that one large
//! file does not delay the end.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use worker::exit::Failure;

use super::{Engine, Knob, Part, by_parser};
use crate::job::Search;
use crate::parser::Parser;
use crate::results::SearchResults;
use crate::scanner::Scanner;
use crate::threads::{Host, RAYON};

pub(super) const FILES: Engine = Engine {
    name: "rayon",
    about: "a rayon pool, one file at a time for each thread",
    knobs: &[Knob::Threads],
    host: Host::Rayon,
    run: by_parser!(files),
};

pub(super) const CHUNKED: Engine = Engine {
    name: "rayon-chunked",
    about: "a rayon pool, one piece of --chunk bytes of a file at a time for each thread",
    knobs: &[Knob::Chunk, Knob::Threads],
    host: Host::Rayon,
    run: by_parser!(chunks),
};

fn files<P: Parser>(search: &Arc<Search>) -> Part {
    let files: Vec<usize> = (0..search.job.sessions.len()).collect();
    share_out::<P, _>(search, &FILES, &files, |scanner, file| {
        scanner.search_file(*file)
    })
}

/// A piece of a file.
struct Chunk {
    file: usize,
    from: u64,
    to: u64,
}

fn chunks<P: Parser>(search: &Arc<Search>) -> Part {
    let job = &search.job;
    let mut chunks = Vec::new();
    for (file, session) in job.sessions.iter().enumerate() {
        let mut from = 0;
        // An empty file has one chunk, too: it is opened like the others.
        loop {
            let to = from + job.chunk_bytes;
            // A file that grew since it was listed is searched to its end, as by the other engines.
            let last = to >= session.size;
            let to = if last { u64::MAX } else { to };
            chunks.push(Chunk { file, from, to });
            if last {
                break;
            }
            from = to;
        }
    }
    share_out::<P, _>(search, &CHUNKED, &chunks, |scanner, chunk| {
        scanner.search_chunk(chunk.file, chunk.from, chunk.to)
    })
}

/// Does every piece of work on a pool, each thread with its own scanner.
fn share_out<P: Parser, T: Sync>(
    search: &Arc<Search>,
    engine: &'static Engine,
    pieces: &[T],
    work: impl Fn(&mut Scanner<P>, &T) -> Result<(), Failure> + Sync,
) -> Part {
    let threads = search.job.threads;
    let pool: ThreadPool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("{RAYON}{index}"))
        .build()
        .map_err(|error| Failure::Work(format!("cannot start {threads} threads: {error}")))?;
    let scanners: Vec<Mutex<Scanner<P>>> = (0..threads)
        .map(|_| Mutex::new(Scanner::new(search, engine.identity())))
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
    let mut results = SearchResults::new(search.job.limit);
    for scanner in scanners {
        let scanner = scanner.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.merge(scanner.finish());
    }
    results.observations.at_end(search);
    Ok(results)
}

//! `rayon`: the threads of a pool count, each into its own table.
//!
//! An input that is whole in memory is split in place. Blocks of bounded size are copied into buffers that go to the
//! pool and come back; a fixed number of them bounds the memory, and the reading thread waits when all are out.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use source::Reader;
use worker::exit::Failure;

use super::queue::{Batch, Queue};
use super::{Runtime, continue_unless_bad, each_input, split};
use crate::cut::Stitcher;
use crate::job::{Count, Job, unreadable};
use crate::workers::Workers;

pub(super) static RUNTIME: Runtime = Runtime {
    name: "rayon",
    about: "a rayon pool counts, each thread into a table of its own",
    run,
};

/// Buffers per thread: one that is counted, and one that waits.
const BUFFERS_PER_THREAD: usize = 2;

fn run(job: &Job) -> Result<Count, Failure> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(job.threads)
        .build()
        .map_err(|error| Failure::Work(format!("cannot start {} threads: {error}", job.threads)))?;
    let mut count = Count::default();
    let workers = Workers::new(job, job.threads);
    each_input(
        job,
        &workers,
        &mut count,
        "count",
        |input, reader, count| {
            let count_input = if reader.is_whole() {
                count_whole
            } else {
                count_blocks
            };
            count_input(reader, job, &pool, &workers, count).map_err(unreadable(input))
        },
    )?;
    let start = Instant::now();
    workers.finish(&mut count);
    count.phases.add("merge", start.elapsed());
    count.pool = Some(pool);
    Ok(count)
}

/// Counts one block that is the whole input, and returns the time that counting took.
fn count_whole(
    reader: Reader,
    job: &Job,
    pool: &ThreadPool,
    workers: &Workers,
    count: &mut Count,
) -> io::Result<Duration> {
    let mut counting = Duration::ZERO;
    let observation = reader.for_each_block(&job.options(), &mut |block| {
        let start = Instant::now();
        let pieces = split(block, pool.current_num_threads());
        pool.install(|| {
            pieces
                .par_iter()
                .with_max_len(1)
                .for_each(|&(offset, piece)| workers.count(piece, offset as u64));
        });
        counting += start.elapsed();
        ControlFlow::Continue(())
    })?;
    count.note(observation);
    Ok(counting)
}

/// Counts blocks while the next ones are read. Returns the time in which the reading thread did not read.
fn count_blocks(
    reader: Reader,
    job: &Job,
    pool: &ThreadPool,
    workers: &Workers,
    count: &mut Count,
) -> io::Result<Duration> {
    let mut stitcher = Stitcher::default();
    let mut counting = Duration::ZERO;
    let mut rest = Instant::now();
    let home = Arc::new(Queue::default());
    for _ in 0..pool.current_num_threads() * BUFFERS_PER_THREAD {
        // That queue is never closed.
        let _ = home.push(Vec::new());
    }
    let observation = pool.in_place_scope(|scope| {
        let observation = reader.for_each_block(&job.options(), &mut |block| {
            let start = Instant::now();
            let mut batch = Batch::take(&home);
            stitcher.feed(block, &mut |piece, offset| batch.push(piece, offset));
            spawn_count(batch, scope, workers);
            counting += start.elapsed();
            continue_unless_bad(workers)
        });
        rest = Instant::now();
        let mut batch = Batch::take(&home);
        stitcher.finish(&mut |piece, offset| batch.push(piece, offset));
        spawn_count(batch, scope, workers);
        observation
    });
    counting += rest.elapsed();
    count.note(observation?);
    count.carry_peak = count.carry_peak.max(stitcher.peak);
    Ok(counting)
}

fn spawn_count<'scope>(batch: Batch, scope: &Scope<'scope>, workers: &'scope Workers) {
    if !batch.text.is_empty() {
        scope.spawn(move |_| workers.count(&batch.text, batch.offset));
    }
}

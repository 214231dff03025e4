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
use source::Opened;
use worker::exit::Failure;

use super::queue::{Batch, Queue};
use super::{Runtime, each_input, go_on, split};
use crate::crew::Crew;
use crate::cut::Stitcher;
use crate::job::{Count, Job, unreadable};

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
    let crew = Crew::new(job, job.threads);
    each_input(job, &crew, &mut count, "count", |input, opened, count| {
        let visit = if opened.is_whole() { whole } else { blocks };
        visit(opened, job, &pool, &crew, count).map_err(unreadable(input))
    })?;
    let start = Instant::now();
    crew.finish(&mut count);
    count.phases.add("merge", start.elapsed());
    count.pool = Some(pool);
    Ok(count)
}

/// Counts one block that is the whole input, and returns the time that counting took.
fn whole(
    opened: Opened,
    job: &Job,
    pool: &ThreadPool,
    crew: &Crew,
    count: &mut Count,
) -> io::Result<Duration> {
    let mut counting = Duration::ZERO;
    let observed = opened.visit_blocks(&job.options(), &mut |block| {
        let start = Instant::now();
        let pieces = split(block, pool.current_num_threads());
        pool.install(|| {
            pieces
                .par_iter()
                .with_max_len(1)
                .for_each(|&(offset, piece)| crew.count(piece, offset as u64));
        });
        counting += start.elapsed();
        ControlFlow::Continue(())
    })?;
    count.note(observed);
    Ok(counting)
}

/// Counts blocks while the next ones are read. Returns the time in which the reading thread did not read.
fn blocks(
    opened: Opened,
    job: &Job,
    pool: &ThreadPool,
    crew: &Crew,
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
    let observed = pool.in_place_scope(|scope| {
        let observed = opened.visit_blocks(&job.options(), &mut |block| {
            let start = Instant::now();
            let mut batch = Batch::take(&home);
            stitcher.feed(block, &mut |piece, offset| batch.push(piece, offset));
            hand_on(batch, scope, crew);
            counting += start.elapsed();
            go_on(crew)
        });
        rest = Instant::now();
        let mut batch = Batch::take(&home);
        stitcher.finish(&mut |piece, offset| batch.push(piece, offset));
        hand_on(batch, scope, crew);
        observed
    });
    counting += rest.elapsed();
    count.note(observed?);
    count.carry_peak = count.carry_peak.max(stitcher.peak);
    Ok(counting)
}

fn hand_on<'scope>(batch: Batch, scope: &Scope<'scope>, crew: &'scope Crew) {
    if !batch.text.is_empty() {
        scope.spawn(move |_| crew.count(&batch.text, batch.offset));
    }
}

//! `rayon`: the threads of a pool count, each into its own table.
//!
//! An input that is whole in memory is split in place. Blocks of bounded size are copied into buffers that go to the
//! pool and come back; a fixed number of them bounds the memory, and the reading thread waits when all are out.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use source::{Opened, Options};
use worker::exit::Failure;

use super::{PIECE, PIECES_PER_THREAD, Runtime, merge};
use crate::crew::Crew;
use crate::cut::{self, Stitcher};
use crate::job::{Count, Job, not_text, unreadable};
use crate::memory;

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
    let options = job.options();
    for input in &job.inputs {
        let start = Instant::now();
        let opened = source::open(job.mode, input).map_err(|error| unreadable(input, &error))?;
        let counting = if opened.is_whole() {
            whole(opened, options, &pool, &crew, &mut count)
        } else {
            blocks(opened, options, &pool, &crew, &mut count)
        };
        let counting = counting.map_err(|error| unreadable(input, &error))?;
        if let Some(bad) = crew.bad() {
            return Err(not_text(input, bad));
        }
        count.phases.add("count", counting);
        count
            .phases
            .add("read", start.elapsed().saturating_sub(counting));
    }
    let start = Instant::now();
    merge(crew, &mut count);
    count.phases.add("merge", start.elapsed());
    count.pool = Some(pool);
    Ok(count)
}

/// Counts one block that is the whole input, and returns the time that counting took.
fn whole(
    opened: Opened,
    options: Options,
    pool: &ThreadPool,
    crew: &Crew,
    count: &mut Count,
) -> std::io::Result<Duration> {
    let mut counting = Duration::ZERO;
    let observed = opened.visit_blocks(&options, &mut |block| {
        let start = Instant::now();
        let target = block.len() / (pool.current_num_threads() * PIECES_PER_THREAD);
        let pieces: Vec<_> =
            cut::pieces(block, target.clamp(*PIECE.start(), *PIECE.end())).collect();
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
    options: Options,
    pool: &ThreadPool,
    crew: &Crew,
    count: &mut Count,
) -> std::io::Result<Duration> {
    let mut stitcher = Stitcher::default();
    let mut counting = Duration::ZERO;
    let mut rest = Instant::now();
    let (home, returned) = channel();
    for _ in 0..pool.current_num_threads() * BUFFERS_PER_THREAD {
        // The receiver lives to the end of this function.
        let _ = home.send(Vec::new());
    }
    let observed = pool.in_place_scope(|scope| {
        let observed = opened.visit_blocks(&options, &mut |block| {
            let start = Instant::now();
            let mut batch = Batch::take(&home, &returned);
            stitcher.feed(block, &mut |piece, offset| batch.push(piece, offset));
            batch.hand_on(scope, crew);
            counting += start.elapsed();
            if crew.failed() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        rest = Instant::now();
        let mut batch = Batch::take(&home, &returned);
        stitcher.finish(&mut |piece, offset| batch.push(piece, offset));
        batch.hand_on(scope, crew);
        observed
    });
    counting += rest.elapsed();
    count.note(observed?);
    count.carry_peak = count.carry_peak.max(stitcher.peak);
    Ok(counting)
}

/// Pieces that follow each other, in a buffer that goes home when it is dropped, even by a panic.
struct Batch {
    text: Vec<u8>,
    offset: u64,
    home: Sender<Vec<u8>>,
}

impl Batch {
    /// Waits for a free buffer.
    fn take(home: &Sender<Vec<u8>>, returned: &Receiver<Vec<u8>>) -> Self {
        let text = returned.recv().unwrap_or_default();
        Self {
            text,
            offset: 0,
            home: home.clone(),
        }
    }

    fn push(&mut self, piece: &[u8], offset: u64) {
        if self.text.is_empty() {
            self.offset = offset;
        }
        memory::append(&mut self.text, piece);
    }

    fn hand_on<'scope>(self, scope: &Scope<'scope>, crew: &'scope Crew) {
        if !self.text.is_empty() {
            scope.spawn(move |_| crew.count(&self.text, self.offset));
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // The receiver is gone once the input is read.
        let _ = self.home.send(text);
    }
}

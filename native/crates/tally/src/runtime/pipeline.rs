//! `pipeline`: the calling thread reads while other threads count.
//!
//! Blocks are copied into buffers that go to the counting threads by one queue and come back by another; their number
//! bounds the memory, and the reading thread waits when all are out. An input that is whole in memory is split
//! in place: its reading is over when the counting starts, so nothing overlaps there but page faults.
//!
//! Phases: `read` and `wait` are the calling thread's, `count` is that of the busiest counting thread, which overlaps
//! them.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, Scope};
use std::time::{Duration, Instant};

use source::{Input, Reader};
use worker::exit::Failure;

use super::queue::{Batch, Queue};
use super::{Runtime, continue_unless_bad, each_input, split};
use crate::cut::Stitcher;
use crate::job::{Count, Job, unreadable};
use crate::workers::Workers;

pub(super) static RUNTIME: Runtime = Runtime {
    name: "pipeline",
    about: "the calling thread reads while n others count, by a queue of few recycled buffers",
    run,
};

/// Buffers per counting thread: one that is counted, and some that wait, so that a reader that is
/// late to wake up leaves no thread without work.
const BUFFERS_PER_THREAD: usize = 4;

fn run(job: &Job) -> Result<Count, Failure> {
    let workers = Workers::new(job, job.threads);
    let busy: Vec<_> = (0..job.threads).map(|_| Mutex::default()).collect();
    let mut count = Count::default();
    // The counting threads live until the inputs are read.
    thread::scope(|scope| {
        let mut counting_threads = None;
        each_input(job, &workers, &mut count, "wait", |input, reader, count| {
            if reader.is_whole() {
                return count_whole(input, reader, job, &workers, &busy, count);
            }
            let counting_threads = match &mut counting_threads {
                Some(counting_threads) => counting_threads,
                none => none
                    .insert(CountingThreads::start(scope, &workers, &busy).map_err(cannot_start)?),
            };
            counting_threads.count_blocks(input, reader, job, &workers, count)
        })
    })?;
    let busiest = busy
        .into_iter()
        .map(|busy| busy.into_inner().unwrap_or_else(PoisonError::into_inner))
        .max();
    count.phases.add("count", busiest.unwrap_or_default());
    let start = Instant::now();
    workers.finish(&mut count);
    count.phases.add("merge", start.elapsed());
    Ok(count)
}

/// Adds the time of `work` to the account of a thread.
fn add_time_of(busy: &Mutex<Duration>, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    *busy.lock().unwrap_or_else(PoisonError::into_inner) += start.elapsed();
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape of a closure for map_err"
)]
fn cannot_start(error: io::Error) -> Failure {
    Failure::Work(format!("cannot start a thread: {error}"))
}

/// Counts one block that is the whole input, and returns the time that the calling thread waited for it.
fn count_whole(
    input: &Input,
    reader: Reader,
    job: &Job,
    workers: &Workers,
    busy: &[Mutex<Duration>],
    count: &mut Count,
) -> Result<Duration, Failure> {
    let mut counting = Ok(Duration::ZERO);
    let observation = reader.for_each_block(&job.options(), &mut |block| {
        let start = Instant::now();
        let pieces = split(block, busy.len());
        let next = AtomicUsize::new(0);
        let (pieces, next) = (&pieces, &next);
        let started: io::Result<()> = thread::scope(|scope| {
            for (worker, busy) in busy.iter().enumerate().take(pieces.len()) {
                Builder::new().spawn_scoped(scope, move || {
                    while let Some(&(offset, piece)) =
                        pieces.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        add_time_of(busy, || workers.count_as(worker, piece, offset as u64));
                    }
                })?;
            }
            Ok(())
        });
        counting = started.map(|()| start.elapsed());
        ControlFlow::Continue(())
    });
    count.note(observation.map_err(unreadable(input))?);
    counting.map_err(cannot_start)
}

/// Guard of a counting thread: if it panics, no thread waits for its result.
struct QueueGuard(Arc<Queue<Batch>>);

impl Drop for QueueGuard {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The counting threads, and the buffers that go to them and come back.
struct CountingThreads {
    work: Arc<Queue<Batch>>,
    home: Arc<Queue<Vec<u8>>>,
    buffers: usize,
    wait_time: Duration,
}

impl Drop for CountingThreads {
    fn drop(&mut self) {
        self.work.close();
    }
}

impl CountingThreads {
    fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        workers: &'scope Workers,
        busy: &'scope [Mutex<Duration>],
    ) -> io::Result<Self> {
        let counting_threads = Self {
            work: Arc::default(),
            home: Arc::default(),
            buffers: busy.len() * BUFFERS_PER_THREAD + 1,
            wait_time: Duration::ZERO,
        };
        for (worker, busy) in busy.iter().enumerate() {
            let work = QueueGuard(Arc::clone(&counting_threads.work));
            Builder::new().spawn_scoped(scope, move || {
                while let Some(batch) = work.0.pop() {
                    add_time_of(busy, || workers.count_as(worker, &batch.text, batch.offset));
                }
            })?;
        }
        for _ in 0..counting_threads.buffers {
            let _ = counting_threads.home.push(Vec::new());
        }
        Ok(counting_threads)
    }

    /// Waits for a free buffer.
    fn take(&mut self) -> Batch {
        let start = Instant::now();
        let batch = Batch::take(&self.home);
        self.wait_time += start.elapsed();
        batch
    }

    /// Fills one buffer by `feed`, and hands it on; whether anybody is left to count it.
    fn pass(&mut self, feed: impl FnOnce(&mut dyn FnMut(&[u8], u64))) -> bool {
        let mut batch = self.take();
        feed(&mut |piece, offset| batch.push(piece, offset));
        batch.text.is_empty() || self.work.push(batch).is_ok()
    }

    /// Hands on the blocks of one input, and returns the time that the calling thread waited, all of it for counting.
    fn count_blocks(
        &mut self,
        input: &Input,
        reader: Reader,
        job: &Job,
        workers: &Workers,
        count: &mut Count,
    ) -> Result<Duration, Failure> {
        self.wait_time = Duration::ZERO;
        let mut stitcher = Stitcher::default();
        let observation = reader.for_each_block(&job.options(), &mut |block| {
            let passed = self.pass(|on_piece| stitcher.feed(block, on_piece));
            if passed {
                continue_unless_bad(workers)
            } else {
                ControlFlow::Break(())
            }
        });
        self.pass(|on_piece| stitcher.finish(on_piece));
        // All buffers are home: everything is counted.
        let idle: Vec<_> = (0..self.buffers).map(|_| self.take()).collect();
        drop(idle);
        count.note(observation.map_err(unreadable(input))?);
        count.carry_peak = count.carry_peak.max(stitcher.peak);
        Ok(self.wait_time)
    }
}

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

use source::{Input, Opened};
use worker::exit::Failure;

use super::queue::{Batch, Queue};
use super::{Runtime, each_input, go_on, split};
use crate::crew::Crew;
use crate::cut::Stitcher;
use crate::job::{Count, Job, unreadable};

pub(super) static RUNTIME: Runtime = Runtime {
    name: "pipeline",
    about: "the calling thread reads while n others count, by a queue of few recycled buffers",
    run,
};

/// Buffers per counting thread: one that is counted, and some that wait, so that a reader that is
/// late to wake up leaves no thread without work.
const BUFFERS_PER_THREAD: usize = 4;

fn run(job: &Job) -> Result<Count, Failure> {
    let crew = Crew::new(job, job.threads);
    let busy: Vec<_> = (0..job.threads).map(|_| Mutex::default()).collect();
    let mut count = Count::default();
    // The counting threads live until the inputs are read.
    thread::scope(|scope| {
        let mut belt = None;
        each_input(job, &crew, &mut count, "wait", |input, opened, count| {
            if opened.is_whole() {
                return whole(input, opened, job, &crew, &busy, count);
            }
            let belt = match &mut belt {
                Some(belt) => belt,
                none => none.insert(Belt::start(scope, &crew, &busy).map_err(unstarted)?),
            };
            belt.blocks(input, opened, job, &crew, count)
        })
    })?;
    let busiest = busy
        .into_iter()
        .map(|busy| busy.into_inner().unwrap_or_else(PoisonError::into_inner))
        .max();
    count.phases.add("count", busiest.unwrap_or_default());
    let start = Instant::now();
    crew.finish(&mut count);
    count.phases.add("merge", start.elapsed());
    Ok(count)
}

/// Adds the time of `work` to the account of a thread.
fn timed(busy: &Mutex<Duration>, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    *busy.lock().unwrap_or_else(PoisonError::into_inner) += start.elapsed();
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape of a closure for map_err"
)]
fn unstarted(error: io::Error) -> Failure {
    Failure::Work(format!("cannot start a thread: {error}"))
}

/// Counts one block that is the whole input, and returns the time that the calling thread waited for it.
fn whole(
    input: &Input,
    opened: Opened,
    job: &Job,
    crew: &Crew,
    busy: &[Mutex<Duration>],
    count: &mut Count,
) -> Result<Duration, Failure> {
    let mut counting = Ok(Duration::ZERO);
    let observed = opened.visit_blocks(&job.options(), &mut |block| {
        let start = Instant::now();
        let pieces = split(block, busy.len());
        let next = AtomicUsize::new(0);
        let (pieces, next) = (&pieces, &next);
        let started: io::Result<()> = thread::scope(|scope| {
            for (hand, busy) in busy.iter().enumerate().take(pieces.len()) {
                Builder::new().spawn_scoped(scope, move || {
                    while let Some(&(offset, piece)) =
                        pieces.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        timed(busy, || crew.count_as(hand, piece, offset as u64));
                    }
                })?;
            }
            Ok(())
        });
        counting = started.map(|()| start.elapsed());
        ControlFlow::Continue(())
    });
    count.note(observed.map_err(unreadable(input))?);
    counting.map_err(unstarted)
}

/// Guard of a counting thread: if it panics, no thread waits for its result.
struct Counting(Arc<Queue<Batch>>);

impl Drop for Counting {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// The counting threads, and the buffers that go to them and come back.
struct Belt {
    work: Arc<Queue<Batch>>,
    home: Arc<Queue<Vec<u8>>>,
    buffers: usize,
    waited: Duration,
}

impl Drop for Belt {
    fn drop(&mut self) {
        self.work.close();
    }
}

impl Belt {
    fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        crew: &'scope Crew,
        busy: &'scope [Mutex<Duration>],
    ) -> io::Result<Self> {
        let belt = Self {
            work: Arc::default(),
            home: Arc::default(),
            buffers: busy.len() * BUFFERS_PER_THREAD + 1,
            waited: Duration::ZERO,
        };
        for (hand, busy) in busy.iter().enumerate() {
            let work = Counting(Arc::clone(&belt.work));
            Builder::new().spawn_scoped(scope, move || {
                while let Some(batch) = work.0.pop() {
                    timed(busy, || crew.count_as(hand, &batch.text, batch.offset));
                }
            })?;
        }
        for _ in 0..belt.buffers {
            let _ = belt.home.push(Vec::new());
        }
        Ok(belt)
    }

    /// Waits for a free buffer.
    fn take(&mut self) -> Batch {
        let start = Instant::now();
        let batch = Batch::take(&self.home);
        self.waited += start.elapsed();
        batch
    }

    /// Fills one buffer by `feed`, and hands it on; whether anybody is left to count it.
    fn pass(&mut self, feed: impl FnOnce(&mut dyn FnMut(&[u8], u64))) -> bool {
        let mut batch = self.take();
        feed(&mut |piece, offset| batch.push(piece, offset));
        batch.text.is_empty() || self.work.push(batch).is_ok()
    }

    /// Hands on the blocks of one input, and returns the time that the calling thread waited, all of it for counting.
    fn blocks(
        &mut self,
        input: &Input,
        opened: Opened,
        job: &Job,
        crew: &Crew,
        count: &mut Count,
    ) -> Result<Duration, Failure> {
        self.waited = Duration::ZERO;
        let mut stitcher = Stitcher::default();
        let observed = opened.visit_blocks(&job.options(), &mut |block| {
            let passed = self.pass(|hand_on| stitcher.feed(block, hand_on));
            if passed {
                go_on(crew)
            } else {
                ControlFlow::Break(())
            }
        });
        self.pass(|hand_on| stitcher.finish(hand_on));
        // All buffers are home: everything is counted.
        let idle: Vec<_> = (0..self.buffers).map(|_| self.take()).collect();
        drop(idle);
        count.note(observed.map_err(unreadable(input))?);
        count.carry_peak = count.carry_peak.max(stitcher.peak);
        Ok(self.waited)
    }
}

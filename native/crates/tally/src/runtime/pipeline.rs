//! `pipeline`: the calling thread reads while other threads count.
//!
//! Blocks are copied into buffers that go to the counting threads by one queue and come back by another; their number
//! bounds the memory, and the reading thread waits when all are out. An input that is whole in memory is split
//! in place: its reading is over when the counting starts, so nothing overlaps there but page faults.
//!
//! Phases: `read` and `wait` are the calling thread's, `count` is that of the busiest counting thread, which overlaps
//! them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, Scope};
use std::time::{Duration, Instant};

use source::{Input, Opened, Options};
use worker::exit::Failure;

use super::queue::Queue;
use super::{PIECE, PIECES_PER_THREAD, Runtime, merge};
use crate::crew::Crew;
use crate::cut::{self, Stitcher};
use crate::job::{Count, Job, not_text, unreadable};
use crate::memory;

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
    thread::scope(|scope| read(job, scope, &crew, &busy, &mut count))?;
    let busiest = busy
        .into_iter()
        .map(|busy| busy.into_inner().unwrap_or_else(PoisonError::into_inner))
        .max();
    count.phases.add("count", busiest.unwrap_or_default());
    let start = Instant::now();
    merge(crew, &mut count);
    count.phases.add("merge", start.elapsed());
    Ok(count)
}

/// Reads the inputs in turn. The counting threads live until this returns.
fn read<'scope>(
    job: &'scope Job,
    scope: &'scope Scope<'scope, '_>,
    crew: &'scope Crew,
    busy: &'scope [Mutex<Duration>],
    count: &mut Count,
) -> Result<(), Failure> {
    let mut belt = None;
    for input in &job.inputs {
        let start = Instant::now();
        let opened = source::open(job.mode, input).map_err(|error| unreadable(input, &error))?;
        let waited = if opened.is_whole() {
            whole(opened, job, crew, busy, count)
        } else {
            let belt = match &mut belt {
                Some(belt) => belt,
                none => none.insert(Belt::start(scope, crew, busy).map_err(unstarted)?),
            };
            belt.blocks(opened, job.options(), crew, count)
        };
        let waited = waited.map_err(|error| failure(input, error))?;
        if let Some(bad) = crew.bad() {
            return Err(not_text(input, bad));
        }
        count.phases.add("wait", waited);
        count
            .phases
            .add("read", start.elapsed().saturating_sub(waited));
    }
    Ok(())
}

enum Trouble {
    Reading(std::io::Error),
    Starting(std::io::Error),
}

fn failure(input: &Input, trouble: Trouble) -> Failure {
    match trouble {
        Trouble::Reading(error) => unreadable(input, &error),
        Trouble::Starting(error) => unstarted(error),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape of a closure for map_err"
)]
fn unstarted(error: std::io::Error) -> Failure {
    Failure::Work(format!("cannot start a thread: {error}"))
}

/// Adds the time of `work` to the account of a thread.
fn timed(busy: &Mutex<Duration>, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    *busy.lock().unwrap_or_else(PoisonError::into_inner) += start.elapsed();
}

/// Counts one block that is the whole input, and returns the time that the calling thread waited for it.
fn whole(
    opened: Opened,
    job: &Job,
    crew: &Crew,
    busy: &[Mutex<Duration>],
    count: &mut Count,
) -> Result<Duration, Trouble> {
    let mut counting = Ok(Duration::ZERO);
    let observed = opened.visit_blocks(&job.options(), &mut |block| {
        let start = Instant::now();
        let target = block.len() / (busy.len() * PIECES_PER_THREAD);
        let pieces: Vec<_> =
            cut::pieces(block, target.clamp(*PIECE.start(), *PIECE.end())).collect();
        let next = AtomicUsize::new(0);
        let (pieces, next) = (&pieces, &next);
        let started: std::io::Result<()> = thread::scope(|scope| {
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
    count.note(observed.map_err(Trouble::Reading)?);
    counting.map_err(Trouble::Starting)
}

/// Pieces that follow each other, in a buffer that goes home when it is dropped, even by a panic.
struct Batch {
    text: Vec<u8>,
    offset: u64,
    home: Arc<Queue<Vec<u8>>>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // That queue is never closed.
        let _ = self.home.push(text);
    }
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
    ) -> std::io::Result<Self> {
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
        let text = self.home.pop().unwrap_or_default();
        self.waited += start.elapsed();
        Batch {
            text,
            offset: 0,
            home: Arc::clone(&self.home),
        }
    }

    /// Fills one buffer by `feed`, and hands it on; whether anybody is left to count it.
    fn pass(&mut self, feed: impl FnOnce(&mut dyn FnMut(&[u8], u64))) -> bool {
        let mut batch = self.take();
        feed(&mut |piece, offset| {
            if batch.text.is_empty() {
                batch.offset = offset;
            }
            memory::append(&mut batch.text, piece);
        });
        batch.text.is_empty() || self.work.push(batch).is_ok()
    }

    /// Hands on the blocks of one input, and returns the time that the calling thread waited, all of it for counting.
    fn blocks(
        &mut self,
        opened: Opened,
        options: Options,
        crew: &Crew,
        count: &mut Count,
    ) -> Result<Duration, Trouble> {
        self.waited = Duration::ZERO;
        let mut stitcher = Stitcher::default();
        let observed = opened.visit_blocks(&options, &mut |block| {
            let passed = self.pass(|hand_on| stitcher.feed(block, hand_on));
            if passed && !crew.failed() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        self.pass(|hand_on| stitcher.finish(hand_on));
        // All buffers are home: everything is counted.
        let idle: Vec<_> = (0..self.buffers).map(|_| self.take()).collect();
        drop(idle);
        count.note(observed.map_err(Trouble::Reading)?);
        count.carry_peak = count.carry_peak.max(stitcher.peak);
        Ok(self.waited)
    }
}

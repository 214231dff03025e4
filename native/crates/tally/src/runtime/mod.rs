//! Axis `runtime`: who does the work. One file per value, one line in [`RUNTIMES`].

mod pipeline;
mod queue;
mod rayon;
mod sequential;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use source::{Input, Reader};
use worker::exit::Failure;

use crate::cut;
use crate::job::{Count, Job, unreadable};
use crate::workers::Workers;

/// Bounds of the pieces that an input in memory is split into: small enough that the threads end together, large
/// enough that handing out does not show.
const PIECE: std::ops::RangeInclusive<usize> = 64 << 10..=1 << 20;

/// Pieces per thread that the split aims at.
const PIECES_PER_THREAD: usize = 16;

/// A value of the axis `runtime`.
#[derive(Debug)]
pub struct Runtime {
    /// Kebab-case name.
    pub name: &'static str,
    /// Runtime that does the work.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&Job) -> Result<Count, Failure>,
}

/// Every runtime, in the order in which help and `describe` list them.
pub static RUNTIMES: &[&Runtime] = &[&sequential::RUNTIME, &rayon::RUNTIME, &pipeline::RUNTIME];

/// The runtime named `name`.
#[must_use]
pub fn runtime(name: &str) -> Option<&'static Runtime> {
    RUNTIMES.iter().copied().find(|known| known.name == name)
}

/// Reads the inputs in turn by `one`, which returns the time that belongs to `phase`; the rest is reading.
fn each_input(
    job: &Job,
    workers: &Workers,
    count: &mut Count,
    phase: &str,
    mut one: impl FnMut(&Input, Reader, &mut Count) -> Result<Duration, Failure>,
) -> Result<(), Failure> {
    for input in &job.inputs {
        let message = format!("tally: cannot read {input}: it became shorter while it was mapped");
        worker::mapped::exit_on_truncation(&message);
        let start = Instant::now();
        let reader = source::open(job.mode, input).map_err(unreadable(input))?;
        let spent = one(input, reader, count)?;
        if let Some(bad) = workers.first_bad_byte() {
            let (what, offset) = (bad.what, bad.offset);
            return Err(Failure::Work(format!(
                "{input}: {what} at byte offset {offset}"
            )));
        }
        count.phases.add(phase, spent);
        let read = start.elapsed().saturating_sub(spent);
        count.phases.add("read", read);
    }
    Ok(())
}

/// Continues until a byte was found that is no text.
fn continue_unless_bad(workers: &Workers) -> ControlFlow<()> {
    if workers.has_bad_byte() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Splits a block that is the whole input among `threads`.
fn split(block: &[u8], threads: usize) -> Vec<(usize, &[u8])> {
    let target = block.len() / (threads * PIECES_PER_THREAD);
    cut::pieces(block, target.clamp(*PIECE.start(), *PIECE.end())).collect()
}

//! Axis `runtime`: who does the work. One file per value, one line in [`RUNTIMES`].

mod pipeline;
mod queue;
mod rayon;
mod sequential;

use worker::exit::Failure;

use crate::crew::Crew;
use crate::job::{Count, Job};

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
    RUNTIMES
        .iter()
        .copied()
        .find(|runtime| runtime.name == name)
}

/// Puts what `crew` counted into `count`; the table with the most words takes in the others.
fn merge(crew: Crew, count: &mut Count) {
    let done = crew.done();
    count.threads = done.threads;
    count.runtimes = done.runtimes;
    count.hashers = done.hashers;
    count.tokenizers = done.tokenizers;
    let mut tables = done.tables;
    tables.sort_by_key(|table| std::cmp::Reverse(table.distinct()));
    let mut tables = tables.into_iter();
    count.table = tables.next().unwrap_or_default();
    for table in tables {
        count.table.merge(&table);
    }
}

//! When contents are produced and who writes them: one file and one line in [`STRATEGIES`] each.

mod fio;
mod generate_only;
mod late_submit;
mod pregenerated_uring;
mod python;
mod single_buffer;
mod streaming;
mod threads;
mod write_only;

use std::fmt;
use std::num::NonZeroUsize;

use sink::{Evidence, Fault, Job, Mode};

/// A value of the axis `strategy`.
pub struct Strategy {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Whether the strategy writes a file.
    pub writes: bool,
    /// Whether the strategy writes the contents of a pool repeatedly, so that the file repeats.
    pub recycles: bool,
    /// Implementation. [`super::write_file`] accepts only drivers inside this process.
    pub driver: Driver,
    /// The default backend.
    backend: &'static str,
    /// Reason why the strategy is unavailable with a backend, or `None`.
    pub refuses: fn(&Mode) -> Option<&'static str>,
    /// Changes a job of streaming into its own.
    pub(super) shape: fn(&mut Job) -> Result<(), Fault>,
    /// Whether `Evidence` of that job matches this strategy.
    pub(super) matches: fn(&Evidence, &Job) -> bool,
}

/// Implementation that fills the buffers and writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Threads of this process.
    Own,
    /// A script in Python, which replaces the worker ([`super::python`]).
    Python,
    /// fio, which the worker starts ([`super::fio`]).
    Fio,
}

impl fmt::Debug for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Strategy")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Every strategy, in the order in which help and `describe` list them.
pub static STRATEGIES: &[&Strategy] = &[
    &generate_only::STRATEGY,
    &write_only::STRATEGY,
    &single_buffer::STRATEGY,
    &pregenerated_uring::STRATEGY,
    &late_submit::STRATEGY,
    &streaming::STRATEGY,
    &threads::STRATEGY,
    &python::LOOP,
    &python::THREADS,
    &fio::STRATEGY,
];

/// The strategy named `name`.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static Strategy> {
    STRATEGIES
        .iter()
        .copied()
        .find(|strategy| strategy.name == name)
}

/// The default strategy.
#[must_use]
pub fn default() -> &'static Strategy {
    &streaming::STRATEGY
}

impl Strategy {
    /// Returns whether the strategy requires `io_uring`.
    #[must_use]
    pub fn needs_ring(&self) -> bool {
        self.writes
            && sink::MODES
                .iter()
                .all(|mode| mode.queues == (self.refuses)(mode).is_none())
    }

    /// Returns the reason why the strategy cannot run here, or `None`.
    #[must_use]
    pub fn why_unavailable(&self) -> Option<String> {
        match self.driver {
            Driver::Python => super::python::why_unavailable(),
            Driver::Fio => super::fio::why_unavailable(),
            Driver::Own => self.needs_ring().then(sink::why_no_ring).flatten(),
        }
    }

    /// The default backend.
    ///
    /// # Panics
    /// Never: a test asks every strategy.
    #[must_use]
    pub fn default_backend(&self) -> &'static Mode {
        sink::mode(self.backend).expect("strategies name backends of the registry")
    }
}

/// The name of the strategy that left `evidence`: `asked`, if it can be, else the first of the registry that can.
pub(super) fn judge(asked: &Strategy, evidence: &Evidence, job: &Job) -> &'static str {
    if (asked.matches)(evidence, job) {
        return asked.name;
    }
    STRATEGIES
        .iter()
        .find(|strategy| (strategy.matches)(evidence, job))
        .map_or("unknown", |strategy| strategy.name)
}

/// Accepts every backend.
fn takes_any(_: &Mode) -> Option<&'static str> {
    None
}

/// No thread of this process can run what another program does.
fn runs_elsewhere(_: &mut Job) -> Result<(), Fault> {
    Err(Fault::Contradiction(
        "this strategy is another program's, which only `dgen run write` starts".to_owned(),
    ))
}

/// Memory for the whole file is no stream: a mapping needs none.
fn takes_no_mapping(mode: &Mode) -> Option<&'static str> {
    mode.maps
        .then_some("contents are produced in the mapping, never beforehand")
}

/// Refuses several files, for strategies that keep the whole contents in memory.
fn of_one_file(job: &Job) -> Result<(), Fault> {
    if job.files.get() > 1 {
        return Err(Fault::Contradiction(
            "this strategy keeps the whole file in memory and can write only one file".to_owned(),
        ));
    }
    Ok(())
}

/// Blocks of the file, and at least one.
fn blocks(job: &Job) -> Result<NonZeroUsize, Fault> {
    of_one_file(job)?;
    let blocks = job.size.div_ceil(job.block_bytes.get() as u64);
    usize::try_from(blocks)
        .map(|blocks| NonZeroUsize::new(blocks).unwrap_or(NonZeroUsize::MIN))
        .map_err(|_| too_large(job))
}

fn too_large(job: &Job) -> Fault {
    Fault::Unavailable(format!("{} bytes do not fit in memory", job.size))
}

/// Returns whether all contents were produced once and before the first write.
fn produced_first(evidence: &Evidence, job: &Job) -> bool {
    evidence.generated_first() && evidence.filled_bytes >= job.size
}

/// Whether contents were produced while others were written. A file of no more blocks than threads shows nothing else.
fn produced_between(evidence: &Evidence, job: &Job) -> bool {
    evidence.filled_bytes >= job.size
        && (!evidence.generated_first() || evidence.blocks <= evidence.writers as u64)
}

/// The most blocks that were filled before the first submission.
fn first_batch(evidence: &Evidence) -> usize {
    evidence.first_batch.map_or(0, |(_, many)| many)
}

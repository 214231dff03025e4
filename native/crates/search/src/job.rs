//! Settings of a search.

use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use worker::command_line::{Named, named};

use crate::corpus::Session;
use crate::fold::Fold;
use crate::parser::Choice;
use crate::prefilter::Prefilter;
use crate::query::{Matcher, Query};
use crate::record::{Message, ROLES, Role};
use crate::timestamp::Timestamp;

/// Method of reading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// In blocks, into a buffer.
    Read,
    /// Mapped whole.
    Mmap,
}

/// Every method of reading.
pub static READINGS: &[Named<Reading>] = &[
    (
        Reading::Read,
        "read",
        "blocks of --buffer bytes into a buffer; what the engine reads whole, whole",
    ),
    (Reading::Mmap, "mmap", "each file mapped whole"),
];

/// Limit on the files that may be searched at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// No limit.
    None,
    /// So many files for two processors.
    PerTwoProcessors(usize),
    /// So many files.
    Files(usize),
}

impl Concurrency {
    /// The limit on a machine with `processors`.
    #[must_use]
    pub fn limit(self, processors: usize) -> Option<usize> {
        match self {
            Self::None => None,
            Self::PerTwoProcessors(files) => Some((processors * files / 2).max(1)),
            Self::Files(files) => Some(files),
        }
    }
}

/// Every limit.
pub static CONCURRENCY: &[Named<Concurrency>] = &[
    (Concurrency::None, "none", "no limit"),
    (
        Concurrency::PerTwoProcessors(1),
        "half-cpu",
        "half as many files as processors, at least one",
    ),
    (
        Concurrency::PerTwoProcessors(2),
        "cpu",
        "as many files as processors",
    ),
    (
        Concurrency::PerTwoProcessors(4),
        "two-cpu",
        "twice as many files as processors",
    ),
    (Concurrency::Files(200), "200", "200 files"),
];

/// Capacity of a bounded channel: results of that many files wait before a sender does.
pub const CHANNEL: usize = 32;

// The comments of the fields are the help of the options.
/// A message must satisfy every condition that is set. One without a time was written neither before nor after another.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only messages of this type
    #[arg(long, value_parser = named(ROLES))]
    pub role: Option<Role>,
    /// Only messages of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only messages written before this, such as 2025-06-01T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub before: Option<Timestamp>,
    /// Only messages written after this
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub after: Option<Timestamp>,
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "write a time such as 2025-06-01T12:00:00Z".to_owned())
}

impl Filter {
    /// Returns whether a message passes the filter.
    #[must_use]
    pub fn passes(&self, message: &Message<'_>) -> bool {
        let time = |condition: &dyn Fn(Timestamp) -> bool| message.time.is_some_and(condition);
        self.role.is_none_or(|role| role == message.role)
            && self.session.as_ref().is_none_or(|session| {
                message
                    .session
                    .as_ref()
                    .is_some_and(|own| own.0 == session.as_str())
            })
            && self.before.is_none_or(|limit| time(&|own| own < limit))
            && self.after.is_none_or(|limit| time(&|own| own > limit))
    }
}

/// One value of each axis, and the files.
#[derive(Debug)]
pub struct Job {
    /// Query.
    pub query: Query,
    /// Filter in addition to the query.
    pub filter: Filter,
    /// Comparison of literals.
    pub fold: Fold,
    /// Parser of a line.
    pub parser: Choice,
    /// Method of reading.
    pub reading: Reading,
    /// Size of a block that is read, in bytes.
    pub buffer_bytes: usize,
    /// Files up to this size are read whole by an engine that distinguishes them.
    pub whole_bytes: u64,
    /// Size of a piece of a large file, for an engine that cuts.
    pub chunk_bytes: u64,
    /// Files searched at one time by an asynchronous engine.
    pub concurrency: Option<usize>,
    /// Whether the channel of an asynchronous engine is bounded.
    pub bounded: bool,
    /// Whether each line is copied into its own allocation.
    pub fresh_lines: bool,
    /// Whether to skip lines that cannot match before parsing.
    pub prefilter: bool,
    /// Threads of rayon's pool or of our own executor; at least 1.
    pub threads: usize,
    /// tokio's worker threads; its own default if `None`.
    pub tokio_workers: Option<usize>,
    /// tokio's blocking threads at most; its own default if `None`.
    pub tokio_blocking: Option<usize>,
    /// Number of the newest messages to keep.
    pub limit: usize,
    /// In the order of their names.
    pub sessions: Vec<Session>,
}

/// A prepared job: values that are compiled once and shared by all threads.
#[derive(Debug)]
pub struct Search {
    /// The job.
    pub job: Job,
    pub(crate) matcher: Matcher,
    pub(crate) prefilter: Option<Prefilter>,
    pub(crate) in_flight: Gauge,
}

impl Search {
    /// Makes a job ready.
    ///
    /// # Errors
    /// A literal is too long to be searched in any case.
    pub fn new(job: Job) -> Result<Self, String> {
        let prefilter = job.prefilter.then(|| Prefilter::new(&job.query)).flatten();
        Ok(Self {
            matcher: Matcher::new(&job.query, job.fold)?,
            prefilter,
            in_flight: Gauge::default(),
            job,
        })
    }

    /// Whether a prefilter is wanted and the query demands no text that one could look for.
    #[must_use]
    pub fn prefilter_impossible(&self) -> bool {
        self.job.prefilter && self.prefilter.is_none()
    }
}

/// Counts concurrent work.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    now: AtomicUsize,
    peak: AtomicUsize,
}

impl Gauge {
    /// Counts until the result is dropped.
    pub(crate) fn enter(&self) -> InFlight<'_> {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(now, Ordering::Relaxed);
        InFlight(self)
    }

    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(crate) struct InFlight<'gauge>(&'gauge Gauge);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

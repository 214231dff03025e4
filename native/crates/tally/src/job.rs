//! Settings and result of a count.

use std::collections::BTreeSet;

use rayon::ThreadPool;
use source::{Advice, Input, Mode, Observation, Options};
use worker::exit::Failure;
use worker::phases::Phases;

use crate::case::Case;
use crate::hasher::{Hasher, Table};
use crate::tokenizer::Tokenizer;

/// One value of each axis, and the inputs.
#[derive(Clone, Debug)]
pub struct Job {
    /// Mode of reading.
    pub mode: &'static Mode,
    /// Tokenizer: the definition of a word.
    pub tokenizer: &'static Tokenizer,
    /// Transformation of a word before it is counted.
    pub case: Case,
    /// Hash function of the table.
    pub hasher: &'static Hasher,
    /// Advice to the kernel on a mapping.
    pub advice: &'static Advice,
    /// Size of a block in bytes, for the modes that read in blocks.
    pub block_bytes: usize,
    /// Threads that a parallel runtime may use; at least 1.
    pub threads: usize,
    /// Read one after the other.
    pub inputs: Vec<Input>,
}

impl Job {
    /// Returns the options of reading.
    pub(crate) fn options(&self) -> Options {
        Options {
            block_bytes: self.block_bytes,
            advice: self.advice,
        }
    }
}

/// Result of a count, with observations.
#[derive(Debug, Default)]
pub struct Count {
    /// The words.
    pub table: Table,
    /// Input bytes consumed.
    pub bytes: u64,
    /// Actual modes of reading; exactly one if all inputs were read as requested.
    pub modes: BTreeSet<&'static str>,
    /// Tokenizers that signed a piece.
    pub tokenizers: BTreeSet<&'static str>,
    /// Hashers that signed a piece.
    pub hashers: BTreeSet<&'static str>,
    /// Actual advice to the kernel on the mappings.
    pub advices: BTreeSet<&'static str>,
    /// Threads that counted at least one piece.
    pub threads: usize,
    /// The runtimes that those threads belong to, one if all went as asked.
    pub runtimes: BTreeSet<&'static str>,
    /// The pool, for what is left to do in parallel.
    pub pool: Option<ThreadPool>,
    /// The most bytes that were carried from block to block.
    pub carry_peak: usize,
    /// `read` calls.
    pub read_calls: u64,
    /// Operations that an `io_uring` completed.
    pub ring_completions: u64,
    /// Stated fallbacks.
    pub notes: Vec<String>,
    /// Seconds by phase.
    pub phases: Phases,
}

impl Count {
    /// Records one input that was read.
    pub(crate) fn note(&mut self, observation: Observation) {
        self.bytes += observation.evidence.bytes;
        self.read_calls += observation.evidence.read_calls;
        self.ring_completions += observation.evidence.ring_completions();
        self.modes.insert(observation.mode);
        self.advices.extend(observation.evidence.advice);
        self.notes.extend(observation.notes);
    }
}

/// Returns the failure of an input that cannot be read.
pub(crate) fn unreadable(input: &Input) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Work(format!("cannot read {input}: {error}"))
}

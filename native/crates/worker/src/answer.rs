//! Result of a run: the line that it appends to the file named by `BENCHCTL_ANSWERS`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{allocator, exit::Failure, phases::Phases, usage};

/// Names the file that receives the answer line.
pub const ANSWERS: &str = "BENCHCTL_ANSWERS";
/// Set by hyperfine: `0`, `1`, … or `warmup-0`, ….
pub const ITERATION: &str = "HYPERFINE_ITERATION";

/// The work done, as one comparable value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Number of results.
    pub count: u64,
    /// Text that is equal if and only if the result is.
    pub digest: String,
    /// Further whole numbers, such as `distinct`.
    #[serde(flatten)]
    pub more: BTreeMap<String, u64>,
}

/// The part of the answer line that only the worker knows.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The work done.
    pub answer: Answer,
    /// Actual value of each axis, by axis name. [`deliver`] adds `allocator`.
    pub effective: BTreeMap<String, String>,
    /// Threads that did work.
    pub threads: usize,
    /// Seconds by phase.
    pub phases: Phases,
    /// Input bytes consumed.
    pub bytes: u64,
    /// The metrics that `describe` announces.
    pub metrics: BTreeMap<String, f64>,
    /// Notes for the reader of a result.
    pub notes: Vec<String>,
}

/// The whole answer line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Always [`crate::PROTOCOL`].
    pub protocol: u32,
    /// `HYPERFINE_ITERATION` as found in the environment.
    pub iteration: Option<String>,
    /// The work done.
    pub answer: Answer,
    /// Actual value of each axis, by axis name.
    pub effective: BTreeMap<String, String>,
    /// Threads that did work.
    pub threads: usize,
    /// Phase name to seconds.
    pub phases_s: BTreeMap<String, f64>,
    /// Input bytes consumed.
    pub bytes: u64,
    /// The counters of the kernel, by the keys of [`usage::COUNTERS`].
    #[serde(flatten)]
    pub counters: BTreeMap<String, Option<u64>>,
    /// The metrics announced by `describe`.
    pub metrics: BTreeMap<String, f64>,
    /// Notes for the reader of a result.
    pub notes: Vec<String>,
}

/// Appends the answer line if the environment requests one. Must be the last call.
///
/// # Errors
/// The file cannot be opened, or did not take the whole line in one write.
pub fn deliver(outcome: Outcome) -> Result<(), Failure> {
    deliver_for(outcome, usage::Process::Own)
}

/// Appends the answer for work that a child process did, with the memory, page faults and context
/// switches of the child.
///
/// # Errors
/// Those of [`deliver`].
pub fn deliver_of_child(outcome: Outcome) -> Result<(), Failure> {
    deliver_for(outcome, usage::Process::Child)
}

fn deliver_for(outcome: Outcome, process: usage::Process) -> Result<(), Failure> {
    let Some(path) = std::env::var_os(ANSWERS).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let iteration = std::env::var_os(ITERATION);
    let line = complete(outcome, iteration.as_deref(), process);
    append(Path::new(&path), &line)
        .map_err(|error| Failure::Work(format!("cannot append the answer line: {error}")))
}

/// Adds what the process itself can see to `outcome`; memory is read last.
fn complete(outcome: Outcome, iteration: Option<&OsStr>, process: usage::Process) -> Line {
    let mut effective = outcome.effective;
    effective.insert("allocator".to_owned(), allocator::observe().name);
    let phases_s = outcome.phases.into_seconds();
    Line {
        protocol: crate::PROTOCOL,
        iteration: iteration.map(|text| text.to_string_lossy().into_owned()),
        answer: outcome.answer,
        effective,
        threads: outcome.threads,
        phases_s,
        bytes: outcome.bytes,
        counters: usage::counters(process),
        metrics: outcome.metrics,
        notes: outcome.notes,
    }
}

/// One `write` to an `O_APPEND` descriptor: lines of workers that end at the same moment never mix.
fn append(path: &Path, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let written = file.write(&text)?;
    if written == text.len() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::WriteZero,
        format!(
            "only {written} of {} bytes of the answer line were written",
            text.len()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            answer: Answer {
                count: 3,
                digest: "d".to_owned(),
                more: BTreeMap::from([("distinct".to_owned(), 2)]),
            },
            effective: BTreeMap::from([("io".to_owned(), "read".to_owned())]),
            threads: 1,
            phases: Phases::default(),
            bytes: 9,
            metrics: BTreeMap::new(),
            notes: vec!["line\nbreak".to_owned()],
        }
    }

    #[test]
    fn a_line_is_one_line_and_appends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        for iteration in ["warmup-0", "0"] {
            append(
                &path,
                &complete(outcome(), Some(OsStr::new(iteration)), usage::Process::Own),
            )
            .unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<Line> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].iteration.as_deref(), Some("warmup-0"));
        assert_eq!(lines[1].answer.more["distinct"], 2);
        assert!(lines[1].counters["peak_rss_bytes"].unwrap() > 0);
        assert!(lines[1].effective.contains_key("allocator"));
    }

    #[test]
    fn an_answers_file_that_cannot_be_opened_is_an_error() {
        assert!(
            append(
                Path::new("/no/such/folder/answers"),
                &complete(outcome(), None, usage::Process::Own)
            )
            .is_err()
        );
    }
}

//! Exit codes of the contract, and the one place that turns a failure into one.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// The work failed; the reason is on stderr, in one line.
pub const FAILED: u8 = 1;
/// The command line was wrong.
pub const USAGE: u8 = 2;

/// Reason why a worker stops without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The work failed: exit code 1.
    Work(String),
    /// The command line was wrong: exit code 2.
    Usage(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Work(reason) | Self::Usage(reason)) = self;
        formatter.write_str(reason)
    }
}

impl std::error::Error for Failure {}

/// Prints `line` on stdout. A reader that is gone, or a full disk, is a failure like any other.
///
/// # Errors
/// The line cannot be written.
pub fn print_line(line: &impl fmt::Display) -> Result<(), Failure> {
    writeln!(io::stdout(), "{line}")
        .map_err(|error| Failure::Work(format!("cannot write to stdout: {error}")))
}

/// Returns the exit code of `result`, and prints a failure on stderr in one line that starts with
/// the worker's name.
#[must_use]
pub fn conclude(worker: &str, result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let reason = failure.to_string().replace(['\n', '\r'], " ");
            // `eprintln!` would panic where stderr is full or closed; the exit code says it then.
            let _ = writeln!(io::stderr(), "{worker}: {reason}");
            ExitCode::from(match failure {
                Failure::Work(_) => FAILED,
                Failure::Usage(_) => USAGE,
            })
        }
    }
}

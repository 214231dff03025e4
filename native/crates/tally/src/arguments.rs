//! The command line. Values of axes come from the registries.

use std::path::PathBuf;

use clap::ArgAction::Set;
use clap::{Args, Parser, Subcommand};
use source::{Advice, Mode};
use tally::case::{CASES, Case};
use tally::hasher::{HASHERS, Hasher};
use tally::order::SORTS;
use tally::output::{FORMATS, Format, OUTPUTS};
use tally::runtime::{RUNTIMES, Runtime};
use tally::tokenizer::{TOKENIZERS, Tokenizer};
use worker::command_line::{named, one_of};

/// Counts distinct words.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print what this worker is, as one JSON object
    Describe,
    /// Count the words of the inputs once
    Run(Box<Options>),
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How bytes are read
    #[arg(long, default_value = "read", value_parser = one_of(source::MODES, |mode| (mode.name, mode.about)))]
    pub(crate) io: &'static Mode,
    /// Who does the work
    #[arg(long, default_value = "sequential", value_parser = one_of(RUNTIMES, |runtime| (runtime.name, runtime.about)))]
    pub(crate) runtime: &'static Runtime,
    /// What a word is
    #[arg(long, default_value = "unicode", value_parser = one_of(TOKENIZERS, |tokenizer| (tokenizer.name, tokenizer.about)))]
    pub(crate) tokenizer: &'static Tokenizer,
    /// What happens to a word before it is counted
    #[arg(long, default_value = "original", value_parser = named(CASES))]
    pub(crate) case: Case,
    /// How a word finds its place in the table
    #[arg(long, default_value = "fold", value_parser = one_of(HASHERS, |hasher| (hasher.name, hasher.about)))]
    pub(crate) hasher: &'static Hasher,
    /// Advice to the kernel on a mapping
    #[arg(long, value_name = "ADVICE", default_value = "sequential", value_parser = one_of(source::ADVICE, |advice| (advice.name, advice.about)))]
    pub(crate) madvise: &'static Advice,
    /// Order of the word list
    #[arg(long = "sort", value_name = "SORT", default_value = "count", action = Set, value_parser = named(SORTS))]
    pub(crate) sorted: bool,
    /// Format of the word list
    #[arg(long, default_value = "text", value_parser = named(FORMATS))]
    pub(crate) format: Format,
    /// Where the word list goes
    #[arg(long = "output", value_name = "OUTPUT", default_value = "stdout", action = Set, value_parser = named(OUTPUTS))]
    pub(crate) written: bool,
    /// List only the first N words [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,
    /// Size of a block: bytes, or with KiB, MiB, GiB
    #[arg(long, value_name = "SIZE", default_value = "64KiB", value_parser = parse_size)]
    pub(crate) block: usize,
    /// Threads that count in a parallel runtime [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Files to read one after the other; `-` is standard input
    #[arg(value_name = "INPUT", default_value = "-")]
    pub(crate) inputs: Vec<PathBuf>,
}

/// `4096`, `64KiB`, `1MiB`, `1GiB`; at least 1 byte.
fn parse_size(text: &str) -> Result<usize, String> {
    worker::size::parse_within(text, 1..=usize::MAX, "at least 1 byte")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("7"), Ok(7));
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("2MiB"), Ok(2 << 20));
        for wrong in ["", "0", "-1", "1.0005KiB", "KiB", "64kb", "99999999999GiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}

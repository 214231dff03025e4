//! The command line. Values of axes come from the registries.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
use search::timestamp::Timestamp;
use search::{engine, fold, job, parser, record};

/// Searches JSONL sessions.
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
    /// Search the inputs once
    Run(Box<Options>),
}

/// Values that a message may have to have.
#[derive(Debug, Args)]
pub(crate) struct Conditions {
    /// Only messages of this type
    #[arg(long, value_parser = names(record::ROLES.iter().map(|(_, name)| (*name, ""))))]
    pub(crate) role: Option<String>,
    /// Only messages of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only messages written before this, such as 2025-06-01T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) before: Option<Timestamp>,
    /// Only messages written after this
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) after: Option<Timestamp>,
}

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What is looked for: words, "quoted text", /regex/flags, and, or, not, parentheses
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) conditions: Conditions,
    /// Who does the work
    #[arg(long, default_value = "rayon", value_parser = names(engine::ENGINES.iter().map(|engine| (engine.name, engine.about))))]
    pub(crate) engine: String,
    /// Who reads a line
    #[arg(long, default_value = "sonic-rs", value_parser = names(parser::PARSERS.iter().map(|parser| (parser.name, parser.about))))]
    pub(crate) parser: String,
    /// How literals are compared; the answers are the same
    #[arg(long, default_value = "ascii", value_parser = names(fold::FOLDS.iter().map(|(_, name, about)| (*name, *about))))]
    pub(crate) fold: String,
    /// Whether lines that cannot match are left out before they are parsed
    #[arg(long, default_value = "off", value_parser = names(PREFILTERS.iter().copied()))]
    pub(crate) prefilter: String,
    /// How bytes come in
    #[arg(long, default_value = "read", value_parser = names(job::READINGS.iter().map(|(_, name, about)| (*name, *about))))]
    pub(crate) reading: String,
    /// Whether a line gets a buffer of its own
    #[arg(long, default_value = "reuse", value_parser = names(job::LINE_BUFFERS.iter().copied()))]
    pub(crate) line_buffer: String,
    /// Files that an asynchronous engine searches at one time
    #[arg(long, default_value = "two-cpu", value_parser = names(job::CONCURRENCY.iter().copied()))]
    pub(crate) concurrency: String,
    /// How results of an asynchronous engine are handed on
    #[arg(long, default_value = "bounded", value_parser = names(job::CHANNELS.iter().copied()))]
    pub(crate) channel: String,
    /// Size of a block: bytes, or with KiB, MiB; at most 256MiB
    #[arg(long, value_name = "SIZE", default_value = "64KiB", value_parser = parse_buffer)]
    pub(crate) buffer: usize,
    /// tokio-hybrid reads files up to this size whole
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_size)]
    pub(crate) whole_file: usize,
    /// rayon-chunked cuts files into pieces of this size, at least 4KiB
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_chunk)]
    pub(crate) chunk: usize,
    /// Threads of rayon's pool, or of smol-own-executor; `default` is one per processor
    #[arg(long, value_name = "N", default_value = "default", value_parser = parse_threads)]
    pub(crate) threads: Threads,
    /// tokio's worker threads; `default` is tokio's, one per processor
    #[arg(long, value_name = "N", default_value = "default", value_parser = parse_threads)]
    pub(crate) tokio_workers: Threads,
    /// tokio's blocking threads at most; `default` is tokio's, 512
    #[arg(long, value_name = "N", default_value = "default", value_parser = parse_most)]
    pub(crate) tokio_blocking: Threads,
    /// How many of the newest messages are listed
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Where the list goes
    #[arg(long, default_value = "stdout", value_parser = names(OUTPUTS.iter().copied()))]
    pub(crate) output: String,
    /// Files, or folders with *.jsonl files at any depth
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
}

/// Values of `--prefilter`.
pub(crate) static PREFILTERS: &[(&str, &str)] = &[
    ("off", "every line is parsed"),
    (
        "on",
        "a line is parsed only if its raw bytes may hold what the query demands",
    ),
];

/// Values of `--output`.
pub(crate) static OUTPUTS: &[(&str, &str)] = &[
    (
        "stdout",
        "the newest messages and the total are written to stdout",
    ),
    ("none", "nothing is written"),
];

fn names(values: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    PossibleValuesParser::new(values.map(|(name, about)| {
        let value = PossibleValue::new(name);
        if about.is_empty() {
            value
        } else {
            value.help(about)
        }
    }))
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "write a time such as 2025-06-01T12:00:00Z".to_owned())
}

/// A number of threads, or `None` where the runtime's own is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threads(pub(crate) Option<usize>);

/// Threads that are started at once: more than any machine has processors, and few enough to start.
fn parse_threads(text: &str) -> Result<Threads, String> {
    threads(text, 1024)
}

/// Threads that are started when there is work for them.
fn parse_most(text: &str) -> Result<Threads, String> {
    threads(text, 10_000)
}

fn threads(text: &str, most: usize) -> Result<Threads, String> {
    if text == "default" {
        return Ok(Threads(None));
    }
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(Threads(Some(number))),
        _ => Err(format!(
            "write `default`, or a whole number from 1 to {most}"
        )),
    }
}

/// Below 4 GiB.
fn parse_size(text: &str) -> Result<usize, String> {
    size(
        text,
        1,
        u32::MAX as usize,
        "at least 1 byte and below 4096MiB",
    )
}

/// Up to 200 files have a buffer at one time, and memory for it is asked for before anything is read.
fn parse_buffer(text: &str) -> Result<usize, String> {
    size(text, 1, 256 << 20, "at least 1 byte and at most 256MiB")
}

/// A file is opened for each piece, and all pieces are listed beforehand.
fn parse_chunk(text: &str) -> Result<usize, String> {
    size(
        text,
        4 << 10,
        u32::MAX as usize,
        "at least 4KiB and below 4096MiB",
    )
}

fn size(text: &str, least: usize, most: usize, bounds: &str) -> Result<usize, String> {
    usize::try_from(worker::size::parse(text)?)
        .ok()
        .filter(|size| (least..=most).contains(size))
        .ok_or_else(|| bounds.to_owned())
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
    fn threads() {
        assert_eq!(parse_threads("default"), Ok(Threads(None)));
        assert_eq!(parse_threads("2"), Ok(Threads(Some(2))));
        assert_eq!(parse_most("10000"), Ok(Threads(Some(10_000))));
        assert!(parse_most("10001").is_err());
        for wrong in ["", "0", "-1", "1025", "two"] {
            assert!(parse_threads(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("7"), Ok(7));
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_buffer("256MiB"), Ok(256 << 20));
        assert!(parse_buffer("257MiB").is_err());
        assert_eq!(parse_chunk("4KiB"), Ok(4096));
        assert!(parse_chunk("4095").is_err());
        for wrong in ["", "0", "-1", "1.0005KiB", "64kb", "4096MiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}

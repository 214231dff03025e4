//! The command line, with values of axes from the registries, and the environment variables that runtimes read by
//! themselves.

use std::env;
use std::path::PathBuf;

use clap::ArgAction::Set;
use clap::{Args, Parser, Subcommand};
use search::engine::{ENGINES, Engine, Knob};
use search::fold::{FOLDS, Fold};
use search::job::{CONCURRENCY, Concurrency, Filter, READINGS, Reading};
use search::parser::{Choice, PARSERS};
use worker::command_line::{Named, named, one_of};
use worker::size::parse_within;

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

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each axis of two values"
)]
pub(crate) struct Options {
    /// What is looked for: words, "quoted text", /regex/flags, and, or, not, parentheses
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// Who does the work
    #[arg(long, default_value = "rayon", value_parser = one_of(ENGINES, |engine| (engine.name, engine.about)))]
    pub(crate) engine: Engine,
    /// Who reads a line
    #[arg(long, default_value = "sonic-rs", value_parser = one_of(PARSERS, |parser| (parser.name, parser.about)))]
    pub(crate) parser: Choice,
    /// How literals are compared; the answers are the same
    #[arg(long, default_value = "ascii", value_parser = named(FOLDS))]
    pub(crate) fold: Fold,
    /// Whether lines that cannot match are left out before they are parsed
    #[arg(long, default_value = "off", action = Set, value_parser = named(PREFILTERS))]
    pub(crate) prefilter: bool,
    /// How bytes come in
    #[arg(long, default_value = "read", value_parser = named(READINGS))]
    pub(crate) reading: Reading,
    /// Whether a line gets a buffer of its own
    #[arg(long = "line-buffer", value_name = "LINE_BUFFER", default_value = "reuse", action = Set, value_parser = named(LINE_BUFFERS))]
    pub(crate) fresh_lines: bool,
    /// Files that an asynchronous engine searches at one time
    #[arg(long, default_value = "two-cpu", value_parser = named(CONCURRENCY))]
    pub(crate) concurrency: Concurrency,
    /// How results of an asynchronous engine are handed on
    #[arg(long = "channel", value_name = "CHANNEL", default_value = "bounded", action = Set, value_parser = named(CHANNELS))]
    pub(crate) bounded: bool,
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
    #[arg(long = "output", value_name = "OUTPUT", default_value = "stdout", action = Set, value_parser = named(OUTPUTS))]
    pub(crate) written: bool,
    /// Files, or folders with *.jsonl files at any depth
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
}

static PREFILTERS: &[Named<bool>] = &[
    (false, "off", "every line is parsed"),
    (
        true,
        "on",
        "a line is parsed only if its raw bytes may hold what the query demands",
    ),
];

/// Whether each line is copied.
static LINE_BUFFERS: &[Named<bool>] = &[
    (false, "reuse", "a line is parsed where it was read"),
    (
        true,
        "fresh",
        "each line is copied into a new allocation, as `BufRead::lines` does",
    ),
];

/// Whether the channel is bounded.
static CHANNELS: &[Named<bool>] = &[
    (
        true,
        "bounded",
        "the results of at most 32 files wait to be merged",
    ),
    (false, "unbounded", "any number of results wait"),
];

/// Whether the list is written.
static OUTPUTS: &[Named<bool>] = &[
    (
        true,
        "stdout",
        "the newest messages and the total are written to stdout",
    ),
    (false, "none", "nothing is written"),
];

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

fn parse_size(text: &str) -> Result<usize, String> {
    let bounds = "at least 1 byte and below 4096MiB";
    parse_within(text, 1..=u32::MAX as usize, bounds)
}

/// Up to 200 files have a buffer at one time. The system provides its pages when they are first used.
fn parse_buffer(text: &str) -> Result<usize, String> {
    parse_within(text, 1..=256 << 20, "at least 1 byte and at most 256MiB")
}

/// A file is opened for each piece, and all pieces are listed beforehand.
fn parse_chunk(text: &str) -> Result<usize, String> {
    let bounds = "at least 4KiB and below 4096MiB";
    parse_within(text, 4 << 10..=u32::MAX as usize, bounds)
}

/// A variable of a runtime.
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) knob: Knob,
    /// The largest number that its runtime takes; the smallest is 1.
    most: usize,
}

/// Every variable. The limit of `BLOCKING_MAX_THREADS` is that of the crate, which starts threads when there is work for
/// them; smol has none and starts all of them at once, so it gets that of `--threads`.
pub(crate) static VARIABLES: &[Variable] = &[
    Variable {
        name: "BLOCKING_MAX_THREADS",
        knob: Knob::BlockingMaxThreads,
        most: 10_000,
    },
    Variable {
        name: "SMOL_THREADS",
        knob: Knob::SmolThreads,
        most: 1024,
    },
];

/// Whether the variables that act on `engine` are numbers that their runtimes obey. `blocking` takes what it does not
/// understand for its default and moves the rest into its range, smol makes no thread at all of 0 and would wait
/// forever: a run would not be what it was asked to be.
pub(crate) fn check_variables(engine: &Engine) -> Result<(), String> {
    for variable in VARIABLES {
        if let Some(given) = env::var_os(variable.name)
            && engine.knobs.contains(&variable.knob)
        {
            let number = given.to_str().and_then(|text| text.parse().ok());
            if !number.is_some_and(|number| (1..=variable.most).contains(&number)) {
                return Err(format!(
                    "{} is `{}`; {} needs a whole number from 1 to {} there, or the variable unset",
                    variable.name,
                    given.display(),
                    engine.name,
                    variable.most
                ));
            }
        }
    }
    Ok(())
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

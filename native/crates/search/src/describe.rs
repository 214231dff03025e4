//! Description of this worker.

use clap::{Args, Command};
use search::parser::PARSERS;
use search::results::SearchResults;
use worker::command_line;
use worker::describe::{Description, Direction, Metric, Unit};

use crate::arguments::Options;

pub(crate) fn describe() -> Description {
    let mut axes = command_line::axes(&Options::augment_args(Command::new("run")));
    if let Some(axis) = axes.get_mut("parser") {
        for (value, parser) in axis.values.iter_mut().zip(PARSERS) {
            value.limited = (parser.simd)().limitation();
        }
    }
    let metrics = METRICS
        .iter()
        .map(|value| Metric::new(value.name, value.unit, value.direction, value.about));
    Description::new("search", env!("CARGO_PKG_VERSION"), axes, metrics.collect())
}

/// A metric, and its value after a search.
pub(crate) struct ResultMetric {
    pub(crate) name: &'static str,
    about: &'static str,
    unit: Unit,
    direction: Direction,
    pub(crate) value: fn(&SearchResults) -> u64,
}

const fn count(
    name: &'static str,
    about: &'static str,
    value: fn(&SearchResults) -> u64,
) -> ResultMetric {
    ResultMetric {
        name,
        about,
        unit: Unit::Count,
        direction: Direction::None,
        value,
    }
}

/// A count of which fewer are better.
const fn effort(
    name: &'static str,
    about: &'static str,
    value: fn(&SearchResults) -> u64,
) -> ResultMetric {
    ResultMetric {
        direction: Direction::Lower,
        ..count(name, about, value)
    }
}

pub(crate) static METRICS: &[ResultMetric] = &[
    count(
        "bad_lines",
        "lines that are not what they must be, among those parsed",
        |value| value.bad,
    ),
    ResultMetric {
        unit: Unit::Bytes,
        ..count(
            "buffer_peak",
            "the largest buffer that lines were read into",
            |value| value.observations.buffer_peak as u64,
        )
    },
    count("files", "files searched", |value| value.observations.files),
    count(
        "files_whole",
        "files that tokio-hybrid read in one piece",
        |value| value.observations.files_whole,
    ),
    count(
        "in_flight_peak",
        "files, or pieces of files, searched at one time, at most",
        |value| value.observations.in_flight_peak as u64,
    ),
    count("lines", "lines, blank ones included", |value| {
        value.observations.lines
    }),
    count(
        "lines_copied",
        "lines that were copied into an allocation of their own",
        |value| value.observations.lines_copied,
    ),
    count(
        "lines_judged",
        "lines that serde-json judged because the chosen parser refused them",
        |value| value.observations.lines_judged,
    ),
    count("lines_parsed", "lines given to the parser", |value| {
        value.observations.lines_parsed
    }),
    count(
        "pieces",
        "files, or pieces of files, that were one piece of work each",
        |value| value.observations.pieces,
    ),
    effort("reads", "reads that the engine asked for", |value| {
        value.observations.reads
    }),
    effort(
        "texts_folded",
        "texts folded by Unicode's full table",
        |value| value.observations.pieces_folded,
    ),
    count(
        "threads_alive",
        "threads of the process when the search ended, idle ones and the first one included",
        |value| value.observations.threads_alive as u64,
    ),
    count(
        "threads_blocking",
        "of these, threads of tokio's or smol's pool for calls that block",
        |value| value.observations.threads_blocking as u64,
    ),
    count(
        "threads_executor",
        "of these, threads of rayon's pool, tokio's workers, or threads of smol's executor",
        |value| value.observations.threads_executor as u64,
    ),
];

//! Description of this worker.

use clap::{Args, Command};
use search::found::Found;
use search::parser::PARSERS;
use worker::command_line;
use worker::describe::{Description, Direction, Metric, Unit};

use crate::arguments::Options;

pub(crate) fn describe() -> Description {
    let mut axes = command_line::axes(&Options::augment_args(Command::new("run")));
    if let Some(axis) = axes.get_mut("parser") {
        for (value, parser) in axis.values.iter_mut().zip(PARSERS) {
            value.limited = (parser.simd)().limited();
        }
    }
    let metrics = METRICS
        .iter()
        .map(|of| Metric::new(of.name, of.unit, of.direction, of.about));
    Description::new("search", env!("CARGO_PKG_VERSION"), axes, metrics.collect())
}

/// A metric, and its value after a search.
pub(crate) struct Counted {
    pub(crate) name: &'static str,
    about: &'static str,
    unit: Unit,
    direction: Direction,
    pub(crate) of: fn(&Found) -> u64,
}

const fn count(name: &'static str, about: &'static str, of: fn(&Found) -> u64) -> Counted {
    Counted {
        name,
        about,
        unit: Unit::Count,
        direction: Direction::None,
        of,
    }
}

/// A count of which fewer are better.
const fn effort(name: &'static str, about: &'static str, of: fn(&Found) -> u64) -> Counted {
    Counted {
        direction: Direction::Lower,
        ..count(name, about, of)
    }
}

pub(crate) static METRICS: &[Counted] = &[
    count(
        "bad_lines",
        "lines that are not what they must be, among those parsed",
        |of| of.bad,
    ),
    Counted {
        unit: Unit::Bytes,
        ..count(
            "buffer_peak",
            "the largest buffer that lines were read into",
            |of| of.seen.buffer_peak as u64,
        )
    },
    count("files", "files searched", |of| of.seen.files),
    count(
        "files_whole",
        "files that tokio-hybrid read in one piece",
        |of| of.seen.files_whole,
    ),
    count(
        "in_flight_peak",
        "files, or pieces of files, searched at one time, at most",
        |of| of.seen.in_flight_peak as u64,
    ),
    count("lines", "lines, blank ones included", |of| of.seen.lines),
    count(
        "lines_copied",
        "lines that were copied into an allocation of their own",
        |of| of.seen.lines_copied,
    ),
    count(
        "lines_judged",
        "lines that serde-json judged because the chosen parser refused them",
        |of| of.seen.lines_judged,
    ),
    count("lines_parsed", "lines given to the parser", |of| {
        of.seen.lines_parsed
    }),
    count(
        "pieces",
        "files, or pieces of files, that were one piece of work each",
        |of| of.seen.pieces,
    ),
    effort("reads", "reads that the engine asked for", |of| {
        of.seen.reads
    }),
    effort(
        "texts_folded",
        "texts folded by Unicode's full table",
        |of| of.seen.pieces_folded,
    ),
    count(
        "threads_alive",
        "threads of the process when the search ended, idle ones and the first one included",
        |of| of.seen.threads_alive as u64,
    ),
    count(
        "threads_blocking",
        "of these, threads of tokio's or smol's pool for calls that block",
        |of| of.seen.threads_blocking as u64,
    ),
    count(
        "threads_executor",
        "of these, threads of rayon's pool, tokio's workers, or threads of smol's executor",
        |of| of.seen.threads_executor as u64,
    ),
];

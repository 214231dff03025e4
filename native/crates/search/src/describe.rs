//! Description of this worker.

use clap::{Args, Command};
use search::parser::PARSERS;
use search::results::SearchResults;
use worker::describe::Description;
use worker::{command_line, metrics};

use crate::arguments::Options;

pub(crate) fn describe() -> Description {
    let mut axes = command_line::axes(&Options::augment_args(Command::new("run")));
    if let Some(axis) = axes.get_mut("parser") {
        for (value, parser) in axis.values.iter_mut().zip(PARSERS) {
            value.limited = (parser.simd)().limitation();
        }
    }
    let metrics = metrics::describe(METRICS);
    Description::new("search", env!("CARGO_PKG_VERSION"), axes, metrics)
}

worker::metrics! { SearchResults {
    "bad_lines": Count None, |of| of.bad, "lines that are not what they must be, among those parsed";
    "buffer_peak": Bytes None, |of| of.observations.buffer_peak,
        "the largest buffer that lines were read into";
    "files": Count None, |of| of.observations.files, "files searched";
    "files_whole": Count None, |of| of.observations.files_whole, "files that tokio-hybrid read in one piece";
    "in_flight_peak": Count None, |of| of.observations.in_flight_peak,
        "files, or pieces of files, searched at one time, at most";
    "lines": Count None, |of| of.observations.lines, "lines, blank ones included";
    "lines_copied": Count None, |of| of.observations.lines_copied,
        "lines that were copied into an allocation of their own";
    "lines_judged": Count None, |of| of.observations.lines_judged,
        "lines that serde-json judged because the chosen parser refused them";
    "lines_parsed": Count None, |of| of.observations.lines_parsed, "lines given to the parser";
    "pieces": Count None, |of| of.observations.pieces,
        "files, or pieces of files, that were one piece of work each";
    "reads": Count Lower, |of| of.observations.reads, "reads that the engine asked for";
    "texts_folded": Count Lower, |of| of.observations.pieces_folded, "texts folded by Unicode's full table";
    "threads_alive": Count None, |of| of.observations.threads_alive,
        "threads of the process when the search ended, idle ones and the first one included";
    "threads_blocking": Count None, |of| of.observations.threads_blocking,
        "of these, threads of tokio's or smol's pool for calls that block";
    "threads_executor": Count None, |of| of.observations.threads_executor,
        "of these, threads of rayon's pool, tokio's workers, or threads of smol's executor";
} }

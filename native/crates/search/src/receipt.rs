//! Report of a run in addition to its answer.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::Parser;
use search::engine::Knob;
use search::job::{Reading, Search};
use search::parser::parser;
use search::results::{BAD_LINES_NAMED, SearchResults};
use worker::answer::{Answer, Outcome};
use worker::metrics;
use worker::phases::Phases;
use worker::recognition::join;

use crate::arguments::{Arguments, Command, Options, VARIABLES};
use crate::describe::METRICS;

/// The answer with everything that was observed.
pub(crate) fn outcome(
    answer: Answer,
    results: SearchResults,
    phases: Phases,
    notes: Vec<String>,
) -> Outcome {
    let metrics = metrics::values(METRICS, &results);
    let observations = results.observations;
    let sets: BTreeSet<_> = observations
        .parsers
        .iter()
        .filter_map(|name| parser(name))
        .map(|parser| (parser.simd)().used)
        .collect();
    let prefilter = match (observations.lines, observations.prefiltered) {
        (0, _) => "",
        (_, true) => "on",
        (_, false) => "off",
    };
    let buffers = match (observations.lines_parsed, observations.lines_copied) {
        (0, _) => "",
        (_, 0) => "reuse",
        (parsed, copied) if copied == parsed => "fresh",
        _ => "fresh+reuse",
    };
    // ASCII texts distinguish the two methods: one folds them, the other searches them unchanged.
    let fold = match (observations.pieces_plain, observations.ascii_folded) {
        (0, 0) => "",
        (0, _) => "unicode",
        _ => "ascii",
    };
    let effective = [
        ("engine", join(&observations.engines)),
        ("parser", join(&observations.parsers)),
        ("simd", join(&sets)),
        ("channel", join(&observations.channels)),
        ("reading", join(&observations.readings)),
        ("prefilter", prefilter.to_owned()),
        ("line-buffer", buffers.to_owned()),
        ("fold", fold.to_owned()),
    ]
    .into_iter()
    // An empty input shows nothing.
    .filter(|(_, value)| !value.is_empty())
    .map(|(axis, value)| (axis.to_owned(), value))
    .collect();
    Outcome {
        answer,
        effective,
        threads: observations.threads.len(),
        phases,
        bytes: observations.bytes,
        metrics,
        notes,
    }
}

/// Returns notes for the reader of a result.
pub(crate) fn notes(search: &Search, results: &SearchResults) -> Vec<String> {
    let mut notes = Vec::new();
    let job = &search.job;
    if results.bad > 0 {
        let named: Vec<_> = results
            .named_bad_lines
            .iter()
            .map(|(place, why)| {
                let session = &job.sessions[place.file];
                match line_number(&session.path, place.offset) {
                    Ok(number) => format!("{}:{number}: {why}", session.name),
                    Err(_) => format!("{} at byte {}: {why}", session.name, place.offset),
                }
            })
            .collect();
        let more = if results.bad > BAD_LINES_NAMED as u64 {
            "; and more"
        } else {
            ""
        };
        notes.push(format!(
            "{} bad lines: {}{more}",
            results.bad,
            named.join("; ")
        ));
    }
    if search.prefilter_impossible() {
        notes.push(
            "no prefilter: the query can match without any ASCII text that could be looked for"
                .to_owned(),
        );
    }
    let observations = &results.observations;
    if observations.prefiltered && observations.lines_parsed < observations.lines {
        notes.push(format!(
            "{} of {} lines were not parsed: bad lines among them are not counted",
            observations.lines - observations.lines_parsed,
            observations.lines
        ));
    }
    if observations.lines_judged > 0 && !observations.parsers.contains("serde-json") {
        notes.push(format!(
            "{} lines were judged by serde-json, because {} refused them",
            observations.lines_judged, job.parser.name
        ));
    }
    notes
}

/// The number, from 1, of the line that begins at `offset`.
fn line_number(path: &Path, offset: u64) -> io::Result<u64> {
    let mut before = File::open(path)?.take(offset);
    let mut block = vec![0; 64 << 10];
    let mut number = 1;
    loop {
        let count = before.read(&mut block)?;
        if count == 0 {
            return Ok(number);
        }
        number += memchr::memchr_iter(b'\n', &block[..count]).count() as u64;
    }
}

/// Notes on options and variables that were set and do nothing to this engine.
pub(crate) fn idle(options: &Options) -> Vec<String> {
    let engine = &options.engine;
    // The default of each option, from the command-line parser itself.
    let bare = Arguments::try_parse_from(["search", "run", "--query", "x", "x"]);
    let Ok(Command::Run(default)) = bare.map(|arguments| arguments.command) else {
        return Vec::new();
    };
    let without = |knob| !engine.knobs.contains(&knob);
    macro_rules! options {
        ($($knob:ident $name:literal $field:ident,)*) => {
            [$((Knob::$knob, $name, options.$field != default.$field)),*]
        };
    }
    let set = options! {
        Channel "--channel" bounded,
        Chunk "--chunk" chunk,
        Concurrency "--concurrency" concurrency,
        Threads "--threads" threads,
        TokioBlocking "--tokio-blocking" tokio_blocking,
        TokioWorkers "--tokio-workers" tokio_workers,
        WholeFile "--whole-file" whole_file,
    };
    let variables = VARIABLES.iter().map(|variable| {
        (
            variable.knob,
            variable.name,
            std::env::var_os(variable.name).is_some(),
        )
    });
    let idle: Vec<_> = set
        .into_iter()
        .chain(variables)
        .filter(|(knob, _, set)| *set && without(*knob))
        .map(|(_, name, _)| name)
        .collect();
    let mut notes = Vec::new();
    if !idle.is_empty() {
        notes.push(format!(
            "without effect on {}: {}",
            engine.name,
            idle.join(", ")
        ));
    }
    if options.reading == Reading::Mmap {
        // A file is mapped whole, whatever its size.
        let blocks = [
            ("--buffer", options.buffer != default.buffer),
            (
                "--whole-file",
                options.whole_file != default.whole_file && !without(Knob::WholeFile),
            ),
        ];
        notes.extend(
            blocks
                .iter()
                .filter(|(_, set)| *set)
                .map(|(name, _)| format!("without effect with --reading mmap: {name}")),
        );
    }
    notes
}

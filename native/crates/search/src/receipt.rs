//! Report of a run in addition to its answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::Parser;
use search::engine::Knob;
use search::job::{Reading, Search};
use search::parser::parser;
use search::results::{BAD_LINES_NAMED, SearchResults};
use worker::answer::{Answer, Outcome};
use worker::phases::Phases;

use crate::arguments::{Arguments, Command, Options, VARIABLES};
use crate::describe::METRICS;

/// The answer with everything that was observed.
pub(crate) fn outcome(
    answer: Answer,
    results: SearchResults,
    phases: Phases,
    notes: Vec<String>,
) -> Outcome {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    let metrics = METRICS
        .iter()
        .map(|metric| (metric.name.to_owned(), (metric.value)(&results) as f64))
        .collect();
    let observations = results.observations;
    let joined = |values: Vec<&str>| values.join("+");
    // An empty input shows nothing.
    let mut effective = BTreeMap::new();
    let mut put = |axis: &str, value: String| {
        if !value.is_empty() {
            effective.insert(axis.to_owned(), value);
        }
    };
    put(
        "engine",
        joined(observations.engines.iter().map(String::as_str).collect()),
    );
    put(
        "parser",
        joined(observations.parsers.iter().copied().collect()),
    );
    let sets: BTreeSet<_> = observations
        .parsers
        .iter()
        .filter_map(|name| parser(name))
        .map(|parser| (parser.simd)().used)
        .collect();
    put("simd", joined(sets.into_iter().collect()));
    put(
        "channel",
        joined(observations.channels.iter().copied().collect()),
    );
    put(
        "reading",
        joined(observations.readings.iter().copied().collect()),
    );
    if observations.lines > 0 {
        let prefilter = if observations.prefiltered {
            "on"
        } else {
            "off"
        };
        put("prefilter", prefilter.to_owned());
    }
    if observations.lines_parsed > 0 {
        let buffers = match observations.lines_copied {
            0 => "reuse",
            copied if copied == observations.lines_parsed => "fresh",
            _ => "fresh+reuse",
        };
        put("line-buffer", buffers.to_owned());
    }
    // ASCII texts distinguish the two methods: one folds them, the other searches them unchanged.
    if observations.pieces_plain > 0 {
        put("fold", "ascii".to_owned());
    } else if observations.ascii_folded > 0 {
        put("fold", "unicode".to_owned());
    }
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
    let set = [
        (
            Knob::Channel,
            "--channel",
            options.bounded != default.bounded,
        ),
        (Knob::Chunk, "--chunk", options.chunk != default.chunk),
        (
            Knob::Concurrency,
            "--concurrency",
            options.concurrency != default.concurrency,
        ),
        (
            Knob::Threads,
            "--threads",
            options.threads != default.threads,
        ),
        (
            Knob::TokioBlocking,
            "--tokio-blocking",
            options.tokio_blocking != default.tokio_blocking,
        ),
        (
            Knob::TokioWorkers,
            "--tokio-workers",
            options.tokio_workers != default.tokio_workers,
        ),
        (
            Knob::WholeFile,
            "--whole-file",
            options.whole_file != default.whole_file,
        ),
    ];
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

//! One run: list the files, search, write, answer.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use search::corpus::{self, Session};
use search::filter::Filter;
use search::fold::FOLDS;
use search::found::{BAD_LINES_NAMED, Found, Place};
use search::job::{Job, READINGS, Search, concurrency};
use search::query::Query;
use search::record::ROLES;
use search::{engine, parser};
use worker::answer::{self, Answer, Outcome};
use worker::exit::Failure;
use worker::phases::Phases;

use crate::arguments::{Conditions, Options};

pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let mut phases = Phases::default();
    let engine =
        engine::engine(&options.engine).ok_or_else(|| unknown("engine", &options.engine))?;
    let written = options.output == "stdout";
    let concurrency = options.concurrency.clone();
    let job = job(options, &mut phases)?;
    let search = Search::new(job).map_err(Failure::Usage)?;
    let search = Arc::new(search);
    let found = phases.time("search", || (engine.run)(&search))?;
    if written {
        phases
            .time("write", || write(&search.job, &found))
            .map_err(|error| Failure::Work(format!("cannot write to stdout: {error}")))?;
    }
    if std::env::var_os(answer::ANSWERS).is_none() {
        return Ok(());
    }
    let answer = Answer {
        count: found.total,
        digest: phases.time("answer", || found.digest()),
        more: BTreeMap::from([("listed".to_owned(), found.newest().len() as u64)]),
    };
    let notes = notes(&search, engine.name, &concurrency, &found);
    answer::deliver(outcome(answer, &search, found, phases, notes))
        .map_err(|error| Failure::Work(format!("cannot append the answer line: {error}")))?;
    Ok(())
}

fn job(options: Options, phases: &mut Phases) -> Result<Job, Failure> {
    let query = Query::parse(&options.query)
        .map_err(|wrong| Failure::Usage(format!("--query {:?}: {wrong}", options.query)))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let fold = FOLDS.iter().find(|(_, name, _)| *name == options.fold);
    let reading = READINGS
        .iter()
        .find(|(_, name, _)| *name == options.reading);
    let sessions: Vec<Session> = phases
        .time("list", || corpus::sessions(&options.inputs))
        .map_err(Failure::Work)?;
    Ok(Job {
        query,
        filter: filter(options.conditions)?,
        fold: fold.ok_or_else(|| unknown("fold", &options.fold))?.0,
        parser: parser::parser(&options.parser)
            .ok_or_else(|| unknown("parser", &options.parser))?,
        reading: reading
            .ok_or_else(|| unknown("reading", &options.reading))?
            .0,
        buffer_bytes: options.buffer,
        whole_bytes: options.whole_file as u64,
        chunk_bytes: options.chunk as u64,
        concurrency: concurrency(&options.concurrency, processors),
        bounded: options.channel == "bounded",
        fresh_lines: options.line_buffer == "fresh",
        prefilter: options.prefilter == "on",
        threads: options.threads.0.unwrap_or(processors),
        tokio_workers: options.tokio_workers.0,
        tokio_blocking: options.tokio_blocking.0,
        limit: usize::try_from(options.limit).unwrap_or(usize::MAX),
        sessions,
    })
}

fn filter(conditions: Conditions) -> Result<Filter, Failure> {
    let role = match conditions.role {
        None => None,
        Some(name) => Some(
            ROLES
                .iter()
                .find(|(_, known)| *known == name)
                .ok_or_else(|| unknown("role", &name))?
                .0,
        ),
    };
    Ok(Filter {
        role,
        session: conditions.session,
        before: conditions.before,
        after: conditions.after,
    })
}

fn unknown(axis: &str, value: &str) -> Failure {
    Failure::Usage(format!("--{axis} has no value {value}"))
}

/// The newest messages, one line each, and the total.
fn write(job: &Job, found: &Found) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    for hit in found.newest() {
        let time = hit.time.map_or_else(
            || "-".to_owned(),
            |time| format!("{}.{:09}", time.seconds, time.nanoseconds),
        );
        let Place { file, offset } = hit.place;
        let name = &job.sessions[file].name;
        writeln!(out, "{time}\t{name}:{offset}\t{}", hit.shown)?;
    }
    writeln!(out, "{} messages match", found.total)?;
    out.flush()
}

fn outcome(
    answer: Answer,
    search: &Search,
    found: Found,
    phases: Phases,
    notes: Vec<String>,
) -> Outcome {
    let seen = found.seen;
    let joined = |values: Vec<&str>| values.join("+");
    // Of an empty input nothing can be seen.
    let mut effective = BTreeMap::new();
    let mut put = |axis: &str, value: String| {
        if !value.is_empty() {
            effective.insert(axis.to_owned(), value);
        }
    };
    put(
        "engine",
        joined(seen.engines.iter().map(String::as_str).collect()),
    );
    put("parser", joined(seen.parsers.iter().copied().collect()));
    put("reading", joined(seen.readings.iter().copied().collect()));
    if seen.lines > 0 {
        let prefilter = if seen.prefiltered { "on" } else { "off" };
        put("prefilter", prefilter.to_owned());
    }
    if seen.lines_parsed > 0 {
        let buffers = match seen.lines_copied {
            0 => "reuse",
            copied if copied == seen.lines_parsed => "fresh",
            _ => "fresh+reuse",
        };
        put("line-buffer", buffers.to_owned());
    }
    // Texts of ASCII tell the two ways apart: they are folded by the one and searched as they are by the other.
    if seen.pieces_plain > 0 {
        put("fold", "ascii".to_owned());
    } else if seen.ascii_folded > 0 {
        put("fold", "unicode".to_owned());
    }
    let counts = [
        ("bad_lines", found.bad),
        ("buffer_peak_bytes", seen.buffer_peak as u64),
        ("files", seen.files),
        ("in_flight_peak", seen.in_flight_peak as u64),
        ("lines", seen.lines),
        ("lines_copied", seen.lines_copied),
        ("lines_judged", seen.lines_judged),
        ("lines_parsed", seen.lines_parsed),
        ("pieces_folded", seen.pieces_folded),
        ("reads", seen.reads),
        ("threads_alive", seen.threads_alive as u64),
    ];
    debug_assert_eq!(seen.files, search.job.sessions.len() as u64);
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
    let metrics = counts
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count as f64))
        .collect();
    Outcome {
        answer,
        effective,
        threads: seen.threads.len(),
        phases,
        bytes: seen.bytes,
        metrics,
        notes,
    }
}

fn notes(search: &Search, engine: &str, concurrency: &str, found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    let job = &search.job;
    if found.bad > 0 {
        let named: Vec<_> = found
            .bad_named
            .iter()
            .map(|(place, why)| {
                let session = &job.sessions[place.file];
                match line_number(&session.path, place.offset) {
                    Ok(number) => format!("{}:{number}: {why}", session.name),
                    Err(_) => format!("{} at byte {}: {why}", session.name, place.offset),
                }
            })
            .collect();
        let more = if found.bad > BAD_LINES_NAMED as u64 {
            "; and more"
        } else {
            ""
        };
        notes.push(format!(
            "{} bad lines: {}{more}",
            found.bad,
            named.join("; ")
        ));
    }
    if search.prefilter_impossible() {
        notes.push(
            "no prefilter: the query can match without any ASCII text that could be looked for"
                .to_owned(),
        );
    }
    let seen = &found.seen;
    if seen.prefiltered && seen.lines_parsed < seen.lines {
        notes.push(format!(
            "{} of {} lines were not parsed: bad lines among them are not counted",
            seen.lines - seen.lines_parsed,
            seen.lines
        ));
    }
    if seen.lines_judged > 0 && !seen.parsers.contains("serde-json") {
        notes.push(format!(
            "{} lines were judged by serde-json, because {} refused them",
            seen.lines_judged, job.parser.name
        ));
    }
    if !engine::is_asynchronous(engine) && !matches!(concurrency, "two-cpu") {
        notes.push(format!(
            "--concurrency {concurrency} has no effect on {engine}"
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
        number += block[..count].iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
}

//! One run: list the files, search, write, answer.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use search::corpus;
use search::job::{Job, Search};
use search::query::Query;
use search::results::{Place, SearchResults};
use worker::answer::{self, Answer};
use worker::exit::Failure;
use worker::phases::Phases;

use crate::arguments::{Options, check_variables};
use crate::receipt;

pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let mut phases = Phases::default();
    check_variables(&options.engine).map_err(Failure::Usage)?;
    let idle = receipt::idle(&options);
    let (engine, written) = (options.engine, options.written);
    let search = Search::new(job(options, &mut phases)?).map_err(Failure::Usage)?;
    let search = Arc::new(search);
    let results = phases.time("search", || (engine.run)(&search))?;
    check_bytes(&search.job, &results)?;
    if written {
        phases
            .time("write", || write(&search.job, &results))
            .map_err(|error| Failure::Work(format!("cannot write to stdout: {error}")))?;
    }
    if std::env::var_os(answer::ANSWERS).is_none() {
        return Ok(());
    }
    let answer = Answer {
        count: results.total,
        digest: phases.time("answer", || results.digest()),
        more: BTreeMap::from([("listed".to_owned(), results.newest().len() as u64)]),
    };
    let mut notes = receipt::notes(&search, &results);
    notes.extend(idle);
    answer::deliver(receipt::outcome(answer, results, phases, notes))
}

fn job(options: Options, phases: &mut Phases) -> Result<Job, Failure> {
    let query = Query::parse(&options.query)
        .map_err(|wrong| Failure::Usage(format!("--query {}: {wrong}", excerpt(&options.query))))?;
    let filter = options.filter;
    if let (Some(after), Some(before)) = (filter.after, filter.before)
        && before <= after
    {
        return Err(Failure::Usage(
            "--before is not later than --after: no message can lie between them".to_owned(),
        ));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let sessions = phases
        .time("list", || corpus::sessions(&options.inputs))
        .map_err(Failure::Work)?;
    Ok(Job {
        query,
        filter,
        fold: options.fold,
        parser: options.parser,
        reading: options.reading,
        buffer_bytes: options.buffer,
        whole_bytes: options.whole_file as u64,
        chunk_bytes: options.chunk as u64,
        concurrency: options.concurrency.limit(processors),
        bounded: options.bounded,
        fresh_lines: options.fresh_lines,
        prefilter: options.prefilter,
        threads: options.threads.0.unwrap_or(processors),
        tokio_workers: options.tokio_workers.0,
        tokio_blocking: options.tokio_blocking.0,
        limit: usize::try_from(options.limit).unwrap_or(usize::MAX),
        sessions,
    })
}

/// A file that changes while it is searched gives an answer of no state that it ever had.
fn check_bytes(job: &Job, results: &SearchResults) -> Result<(), Failure> {
    let listed: u64 = job.sessions.iter().map(|session| session.size).sum();
    if results.observations.bytes == listed {
        return Ok(());
    }
    Err(Failure::Work(format!(
        "the inputs changed: {listed} bytes were there at first, {} were searched",
        results.observations.bytes
    )))
}

/// A query as an error shows it: its beginning, when it is long.
fn excerpt(query: &str) -> String {
    const MAX_CHARS: usize = 200;
    match query.char_indices().nth(MAX_CHARS) {
        None => format!("{query:?}"),
        Some((end, _)) => format!("{:?}… ({} bytes)", &query[..end], query.len()),
    }
}

/// A name may contain a line end, which would end its line in the output.
fn one_line(name: &str) -> String {
    name.chars()
        .map(|letter| {
            if letter.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                letter
            }
        })
        .collect()
}

/// The newest messages, one line each, and the total.
fn write(job: &Job, results: &SearchResults) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    for hit in results.newest() {
        let time = hit.time.map_or_else(
            || "-".to_owned(),
            |time| format!("{}.{:09}", time.seconds, time.nanoseconds),
        );
        let Place { file, offset } = hit.place;
        let name = one_line(&job.sessions[file].name);
        writeln!(out, "{time}\t{name}:{offset}\t{}", hit.excerpt)?;
    }
    writeln!(out, "{} messages match", results.total)?;
    out.flush()
}

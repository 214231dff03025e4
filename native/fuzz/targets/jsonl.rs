//! Every parser, however the bytes come in, finds the same messages and the same bad lines in any bytes; and a prefilter leaves
//! none out.
//!
//! The first bytes of the input choose the query and the knobs; the rest is a file.

#![no_main]

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use search::corpus::Session;
use search::engine::engine;
use search::fold::FOLDS;
use search::job::{Filter, Job, READINGS, Search};
use search::parser::{PARSERS, Parser, SerdeJson, too_deep};
use search::query::Query;
use search::record::Message;
use search::results::SearchResults;

/// Each meets every line, or none, or lines by texts that JSON may hide.
const QUERIES: &[&str] = &["a or not a", "task", "\"u\" or 1", "k not s", "/./"];

/// In memory where there is such a place: the fuzzer writes thousands of files a second.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    // libFuzzer's second thread has the name of the first. An engine that counts its threads waits 100 ms
    // for such a thread to name itself, which would allow three inputs a second.
    std::fs::write("/proc/self/comm", "fuzzed").expect("a thread can be renamed");
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    folder.join(format!("benchctl-fuzz-{}.jsonl", std::process::id()))
});

const BUFFERS: &[usize] = &[1, 2, 7, 64, 300, 1 << 16];

thread_local! {
    /// A search is made ready once: compiling its expressions takes far longer than searching the small files here.
    static READY: RefCell<HashMap<[usize; 7], Arc<Search>>> = RefCell::default();
}

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (query, knobs, contents) = input;
    let query = usize::from(query) % QUERIES.len();
    let knob = |shift: u32, of: usize| usize::from(knobs >> shift) % of;
    let expected = plain(contents, QUERIES[query]);
    std::fs::write(&*FILE, contents).expect("the folder for temporary files takes a file");
    for parser in 0..PARSERS.len() {
        let prefilter = knob(0, 2);
        let key = [
            query,
            parser,
            prefilter,
            knob(1, 2),
            knob(2, 2),
            knob(3, 2),
            knob(4, BUFFERS.len()),
        ];
        let search = READY.with_borrow_mut(|ready| {
            Arc::clone(ready.entry(key).or_insert_with(|| Arc::new(search(key))))
        });
        // No threads: they would make the fuzzer slow, and the other engines share this code.
        let engine = engine("sequential").expect("it is listed");
        let results = (engine.run)(&search).expect("a file that was just written can be read");
        let label = format!("{} {key:?}", PARSERS[parser].name);
        assert_eq!(results.digest(), expected.digest(), "{label}");
        assert_eq!(results.total, expected.total, "{label}");
        if prefilter == 0 || search.prefilter_impossible() {
            assert_eq!(results.bad, expected.bad, "{label}");
            assert!(
                results
                    .named_bad_lines
                    .keys()
                    .eq(expected.named_bad_lines.keys()),
                "{label}"
            );
        }
    }
    let _ = std::fs::remove_file(&*FILE);
});

fn search([query, parser, prefilter, fold, reading, fresh, buffer]: [usize; 7]) -> Search {
    let job = Job {
        query: Query::parse(QUERIES[query]).expect("the queries above are queries"),
        filter: Filter::default(),
        fold: FOLDS[fold].0,
        parser: PARSERS[parser],
        reading: READINGS[reading].0,
        buffer_bytes: BUFFERS[buffer],
        whole_bytes: 1,
        chunk_bytes: 1,
        concurrency: None,
        bounded: true,
        fresh_lines: fresh == 1,
        prefilter: prefilter == 1,
        threads: 1,
        tokio_workers: None,
        tokio_blocking: None,
        limit: 3,
        sessions: vec![Session {
            path: FILE.clone(),
            name: "file".to_owned(),
            // This engine does not ask for it.
            size: 0,
        }],
    };
    Search::new(job).expect("the queries above can be searched")
}

/// Whole lines, `serde_json` alone, every text folded anew.
fn plain(contents: &[u8], query: &str) -> SearchResults {
    let query = Query::parse(query).expect("the queries above are queries");
    let mut results = SearchResults::new(3);
    let mut offset = 0;
    for line in contents.split_inclusive(|byte| *byte == b'\n') {
        let place = search::results::Place { file: 0, offset };
        offset += line.len() as u64;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.iter().all(|byte| b" \t\r".contains(byte)) {
            continue;
        }
        let mut parser = SerdeJson;
        let parsed = if too_deep(line) {
            Err(String::new())
        } else {
            parser.parse(line)
        };
        match parsed.and_then(|line| Message::from_line(line).map_err(|why| why.into_owned())) {
            Ok(message) if query_matches(&query, &message) => results.take(&message, place, "file"),
            Ok(_) => {}
            Err(why) => results.reject(place, || why),
        }
    }
    results
}

fn query_matches(query: &Query, message: &Message<'_>) -> bool {
    use search::fold::fold_text;
    match query {
        Query::Literal(text) => message
            .texts()
            .any(|own| fold_text(own).contains(&fold_text(text))),
        Query::Regex(pattern) => {
            let regex = regex::Regex::new(&pattern.text).expect("it was read from a query");
            message.texts().any(|own| regex.is_match(own))
        }
        Query::All(queries) => queries.iter().all(|query| query_matches(query, message)),
        Query::Any(queries) => queries.iter().any(|query| query_matches(query, message)),
        Query::Not(query) => !query_matches(query, message),
    }
}

//! Every engine × parser × fold × prefilter × way of reading × line buffer on the same corpora and queries, against the
//! plainest search; the number of combinations is printed
//! (`cargo test -p search conformance -- --nocapture --include-ignored`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use search::corpus;
use search::engine::{ENGINES, Knob};
use search::fold::{FOLDS, Fold, fold_text};
use search::job::{Filter, Job, READINGS, Reading, Search};
use search::parser::{PARSERS, Parser, SerdeJson, too_deep};
use search::query::Query;
use search::record::Message;
use search::results::SearchResults;

/// One message, as JSON text for its content.
fn user(number: usize, content: &str) -> String {
    format!(
        r#"{{"type":"user","sessionId":"session-{}","uuid":"uuid-{number}","timestamp":"2025-06-{:02}T12:00:00.{:03}Z","message":{{"role":"user","content":{content}}}}}"#,
        number % 3,
        1 + number * 7 % 28,
        number % 5,
    )
}

/// Contents that a naive search gets wrong, with queries that show it.
const CONTENTS: &[&str] = &[
    r#""plain Task one""#,
    r#""escaped \u0074ask""#,
    r#""kelvin tas\u212a""#,
    "\"kelvin tas\u{212a}\"",
    "\"long s ta\u{17f}k\"",
    r#""Straße""#,
    r#""STRASSE""#,
    r#""stra\u00dfe""#,
    r#""C:\\task\/x \"quoted\" \n\t""#,
    r#""surrogates \ud83e\udd80 crab""#,
    "\"raw 🦀 crab ÉTÉ\"",
    r#""Σίσυφος ΣΊΣΥΦΟΣ""#,
    r"[]",
    r#"[{"type":"text","text":"in a block: task"},{"type":"image","source":{"data":"task"}}]"#,
    r#"[{"type":"tool_use","id":"task","name":"Edit","input":{"task":"key","deep":[{"a":["needle in input"]},1,-2.5,1e3,true,null]}}]"#,
    r#"[{"type":"tool_result","content":[{"type":"text","text":"needle in result"}]},{"type":"tool_result","content":"needle 2"},{"type":"tool_result"}]"#,
    r#"[{"type":"thinking","thinking":"needle thought","signature":"task"}]"#,
    r#""split""#,
    r#"[{"type":"text","text":"needle"},{"type":"text","text":"task"}]"#,
    r#""""#,
];

/// Lines that are no messages. Every parser must refuse every one of them.
const BAD: &[&str] = &[
    "not json with task",
    r#"{"type":"user""#,
    r#"{"type":"user","message":{"content":"task"}} trailing"#,
    r#"{"type":"unknown","message":{"content":"task"}}"#,
    r#"{"type":"user","message":{"content":5},"uuid":"task"}"#,
    r#"{"type":"user","uuid":"task"}"#,
    r#"{"type":"user","type":"user","message":{"content":"task"}}"#,
    r#"{"type":"user","message":{"content":"task"},"timestamp":"yesterday"}"#,
    r#"{"type":"user","message":{"content":[{"type":"text"}]},"uuid":"task"}"#,
    r#"{"type":"user","message":{"content":[{"type":"video","text":"task"}]}}"#,
    r#"{"type":"user","message":["task"]}"#,
    r#"["user","task"]"#,
    r#"{"type":"user","message":{"content":"task\ud83e"}}"#,
    "{\"type\":\"user\",\"message\":{\"content\":\"task\u{1}\"}}",
    r#"{"type":"user","message":{"content":"task"},"extra":01}"#,
    r#"{"type":"user","message":{"content":"task"},"extra":[1,]}"#,
    r#"{"type":"user","message":{"content":"task"},"extra":"\x"}"#,
    r#"{"type":"user","message":{"content":"task"},"extra":tru}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_use","name":"task","input":1e999}]}}"#,
    r#""task""#,
    "\u{feff}{}",
];

/// Lines that are unusual and fine.
const ODD: &[&str] = &[
    r#"  {"type":"summary","summary":"odd task","leafUuid":"x","timestamp":null,"uuid":null}	"#,
    r#"{"summary":"odd task two","type":"summary","extra":{"deep":[[[{"type":"x"}]]],"n":123456789012345678901234567890}}"#,
    r#"{"type":"system","content":"odd system task","timestamp":"2025-06-30T23:59:59+02:00","sessionId":"session-1"}"#,
    r#"{"\u0074ype":"assistant","message":{"content":"odd escaped key task","usage":{"x":1e-3}},"timestamp":"2025-06-01T00:00:00.123456789Z"}"#,
    r#"{"type":"user","message":{"content":"task"},"extra":"lone surrogate in a string that is skipped \ud83e"}"#,
    r#"{"type":"user","message":{"content":"task"},"extra":1e999}"#,
];

fn corpora(folder: &Path) -> Vec<(String, PathBuf)> {
    let place = |name: &str, files: &[(&str, Vec<u8>)]| {
        let path = folder.join(name);
        for (file, contents) in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, contents).unwrap();
        }
        (name.to_owned(), path)
    };
    let good: Vec<String> = CONTENTS
        .iter()
        .enumerate()
        .map(|(number, content)| user(number, content))
        .collect();
    let joined = |lines: &[String], end: &str| lines.join(end).into_bytes();
    let mixed: Vec<String> = good
        .iter()
        .map(String::as_str)
        .zip(BAD.iter().chain(ODD).cycle())
        .flat_map(|(good, other)| [good.to_owned(), (*other).to_owned(), String::new()])
        .chain(BAD.iter().chain(ODD).map(|line| (*line).to_owned()))
        .collect();
    let invalid = [
        b"\xff\n{\"type\":\"user\",\"message\":{\"content\":\"task\xc3\"}}\n".to_vec(),
        b"{\"type\":\"user\",\"message\":{\"content\":\"task\"},\"extra\":\"\xed\xa0\x80\"}\n"
            .to_vec(),
        joined(&good, "\n"),
    ]
    .concat();
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"type":"user","message":{{"content":"task deep"}},"extra":{open}{close}}}"#)
    };
    let deeper = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_use","name":"task","input":{}}}]}}}}"#,
        "[".repeat(100_000)
    );
    let huge = user(
        1,
        &format!("\"{} task {}\"", "x".repeat(40_000), "y ".repeat(10_000)),
    );
    let generated = folder.join("generated");
    let profile = dgen::sessions::profile("sessions").unwrap();
    let sessions = dgen::sessions::Sessions::new(profile.settings, 42, 60_000);
    dgen::sessions::write_folder::<std::io::Error>(&sessions, &generated, &mut |_| Ok(())).unwrap();
    vec![
        place(
            "plain",
            &[
                ("a.jsonl", joined(&good, "\n")),
                ("b/c.jsonl", joined(&good[3..], "\n")),
            ],
        ),
        place(
            "crlf",
            &[(
                "a.jsonl",
                [joined(&good, "\r\n"), b"\r\n\r\n".to_vec()].concat(),
            )],
        ),
        place(
            "bad",
            &[("a.jsonl", joined(&mixed, "\n")), ("b.jsonl", invalid)],
        ),
        place(
            "sizes",
            &[
                ("blank.jsonl", b"\n \n\t\r\n".to_vec()),
                (
                    "deep.jsonl",
                    [deep(126), deep(127), deep(128), deep(300), deeper]
                        .join("\n")
                        .into_bytes(),
                ),
                ("empty.jsonl", Vec::new()),
                (
                    "huge.jsonl",
                    [huge, user(2, "\"task\""), String::new()]
                        .join("\n")
                        .into_bytes(),
                ),
                ("one.jsonl", user(3, "\"no line end, task\"").into_bytes()),
            ],
        ),
        ("generated".to_owned(), generated),
    ]
}

const QUERIES: &[&str] = &[
    "task",
    "TASK and needle",
    "strasse or Σίσυφος",
    "straße",
    "not task",
    "\"session-1\" not (needle or uuid-7)",
    r#""task/x \"quoted\"""#,
    r"/\btask\b/i not /needle\s\d/",
    "\u{212a}elvin or 🦀 or été",
    "zyzzyva",
    "needletask",
];

/// The plainest search: whole files, whole lines, `serde_json`, every text folded anew for every literal.
fn plain(job: &Job) -> SearchResults {
    fn query_matches(query: &Query, message: &Message<'_>) -> bool {
        match query {
            Query::Literal(text) => message
                .texts()
                .any(|own| fold_text(own).contains(&fold_text(text))),
            Query::Regex(pattern) => {
                let inline = if pattern.flags.is_empty() {
                    pattern.text.clone()
                } else {
                    format!("(?{}:{})", pattern.flags, pattern.text)
                };
                let regex = regex::Regex::new(&inline).unwrap();
                message.texts().any(|own| regex.is_match(own))
            }
            Query::All(queries) => queries.iter().all(|query| query_matches(query, message)),
            Query::Any(queries) => queries.iter().any(|query| query_matches(query, message)),
            Query::Not(query) => !query_matches(query, message),
        }
    }
    let mut results = SearchResults::new(job.limit);
    for (file, session) in job.sessions.iter().enumerate() {
        let contents = fs::read(&session.path).unwrap();
        let mut offset = 0;
        for line in contents.split_inclusive(|byte| *byte == b'\n') {
            let place = search::results::Place { file, offset };
            offset += line.len() as u64;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            if too_deep(line) {
                results.reject(place, String::new);
                continue;
            }
            let mut parser = SerdeJson;
            match parser.parse(line).map(Message::from_line) {
                Ok(Ok(message)) => {
                    if job.filter.passes(&message) && query_matches(&job.query, &message) {
                        results.take(&message, place, &session.name);
                    }
                }
                Ok(Err(why)) => results.reject(place, || why.into_owned()),
                Err(why) => results.reject(place, || why),
            }
        }
    }
    results
}

fn job(path: &Path, query: &str) -> Job {
    Job {
        query: Query::parse(query).unwrap(),
        filter: Filter::default(),
        fold: Fold::Ascii,
        parser: PARSERS[0],
        reading: Reading::Read,
        buffer_bytes: 64 << 10,
        whole_bytes: 1 << 20,
        chunk_bytes: 1 << 20,
        concurrency: Some(4),
        bounded: true,
        fresh_lines: false,
        prefilter: false,
        threads: 2,
        tokio_workers: Some(2),
        tokio_blocking: Some(4),
        limit: 7,
        sessions: corpus::sessions(&[path.to_owned()]).unwrap(),
    }
}

/// A name, a change of the job, and the numbers of parser, folding and way of reading.
type Variation = (String, Change, usize, usize, usize);

type Change = fn(&mut Job);

/// All variations other than corpus, query and engine.
fn variations() -> Vec<Variation> {
    let mut list = Vec::new();
    let sizes: [(&str, Change); 4] = [
        ("defaults", |_| {}),
        ("small buffers", |job| {
            job.buffer_bytes = 200;
            job.chunk_bytes = 3000;
            job.whole_bytes = 500;
            job.concurrency = None;
            job.bounded = false;
        }),
        ("fresh lines, prefilter", |job| {
            job.fresh_lines = true;
            job.prefilter = true;
        }),
        ("small buffers, prefilter", |job| {
            job.buffer_bytes = 7;
            job.chunk_bytes = 10_000;
            job.prefilter = true;
            job.concurrency = Some(1);
        }),
    ];
    for (name, change) in sizes {
        for parser in 0..PARSERS.len() {
            for fold in 0..FOLDS.len() {
                for reading in 0..READINGS.len() {
                    list.push((name.to_owned(), change, parser, fold, reading));
                }
            }
        }
    }
    list
}

#[test]
fn a_sample_of_combinations_gives_the_reference_answer_and_reports_the_actual_mode() {
    // No axis has a multiple of 37 values, so the sample has each value of each axis.
    check_combinations(37);
}

#[test]
#[ignore = "takes long; `nox -s release` runs it"]
fn every_combination_gives_the_reference_answer_and_reports_the_actual_mode() {
    check_combinations(1);
}

/// Checks every `step`th combination of each corpus.
fn check_combinations(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (corpora, combinations) = (Mutex::new(corpora(folder.path())), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((corpus, path)) = corpora.lock().unwrap().pop() else {
                        return;
                    };
                    let checked = check_corpus(&corpus, &path, step);
                    combinations.fetch_add(checked, Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!("{combinations:?} combinations gave the plain answer");
}

/// Checks every `step`th combination of one corpus, and returns their number.
fn check_corpus(corpus: &str, path: &Path, step: usize) -> usize {
    let (mut number, mut combinations) = (0_usize, 0);
    for (query_number, query) in QUERIES.iter().enumerate() {
        let expected = plain(&job(path, query));
        for (index, (name, change, parser, fold, reading)) in variations().into_iter().enumerate() {
            // Every engine meets every variation; on most queries each variation is met by a part of them.
            for engine in ENGINES.iter().skip((query_number + index) % 4).step_by(4) {
                number += 1;
                if !number.is_multiple_of(step) {
                    continue;
                }
                let mut job = job(path, query);
                change(&mut job);
                job.parser = PARSERS[parser];
                job.fold = FOLDS[fold].0;
                job.reading = READINGS[reading].0;
                let label = format!(
                    "{corpus} {query:?} {name} {} {} {} {}",
                    engine.name, PARSERS[parser].name, FOLDS[fold].1, READINGS[reading].1
                );
                let search = Arc::new(Search::new(job).unwrap());
                let results =
                    (engine.run)(&search).unwrap_or_else(|error| panic!("{label}: {error}"));
                check(&label, engine.name, &search, &results, &expected);
                combinations += 1;
            }
        }
    }
    combinations
}

fn check(
    label: &str,
    engine: &str,
    search: &Search,
    results: &SearchResults,
    expected: &SearchResults,
) {
    assert_eq!(results.total, expected.total, "{label}");
    assert_eq!(results.newest(), expected.newest(), "{label}");
    assert_eq!(results.digest(), expected.digest(), "{label}");
    let (job, observations) = (&search.job, &results.observations);
    let prefiltered = job.prefilter && !search.prefilter_impossible();
    if prefiltered {
        assert!(results.bad <= expected.bad, "{label}");
        assert!(
            observations.prefiltered && observations.lines_parsed <= observations.lines,
            "{label}"
        );
    } else {
        assert_eq!(results.bad, expected.bad, "{label}");
        assert_eq!(
            results.named_bad_lines.keys().collect::<Vec<_>>(),
            expected.named_bad_lines.keys().collect::<Vec<_>>(),
            "{label}"
        );
        assert!(!observations.prefiltered, "{label}");
    }
    assert_eq!(
        observations.engines.iter().collect::<Vec<_>>(),
        [engine],
        "{label}"
    );
    let reading = READINGS
        .iter()
        .find(|(reading, ..)| *reading == job.reading)
        .unwrap();
    assert_eq!(
        observations.readings.iter().collect::<Vec<_>>(),
        [&reading.1],
        "{label}"
    );
    if observations.lines_parsed > observations.lines_judged + results.bad {
        assert_eq!(
            observations.parsers.iter().collect::<Vec<_>>(),
            [&job.parser.name],
            "{label}"
        );
    }
    assert_eq!(
        observations.lines_copied,
        if job.fresh_lines {
            observations.lines_parsed
        } else {
            0
        },
        "{label}"
    );
    if job.fold == Fold::Unicode {
        assert_eq!(observations.pieces_plain, 0, "{label}");
    } else {
        assert_eq!(observations.ascii_folded, 0, "{label}");
    }
    assert_eq!(observations.files, job.sessions.len() as u64, "{label}");
    let bytes: u64 = job.sessions.iter().map(|session| session.size).sum();
    assert_eq!(observations.bytes, bytes, "{label}");
    assert!(
        observations.threads_alive >= observations.threads.len().min(1),
        "{label}"
    );
    if let Some(limit) = job.concurrency
        && ENGINES
            .iter()
            .any(|known| known.name == engine && known.knobs.contains(&Knob::Concurrency))
    {
        assert!(
            observations.in_flight_peak <= limit,
            "{label} {}",
            observations.in_flight_peak
        );
    }
}

#[test]
fn filters_are_conditions_on_top() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = corpora(folder.path()).swap_remove(2);
    let time = |text| search::timestamp::Timestamp::parse(text);
    let filters = [
        Filter {
            role: Some(search::record::Role::System),
            ..Filter::default()
        },
        Filter {
            session: Some("session-2".to_owned()),
            ..Filter::default()
        },
        Filter {
            before: time("2025-06-10T00:00:00Z"),
            ..Filter::default()
        },
        Filter {
            after: time("2025-06-10T00:00:00Z"),
            before: time("2025-06-20T00:00:00Z"),
            ..Filter::default()
        },
    ];
    for filter in filters {
        let mut wanted = job(&path, "task or not task");
        wanted.filter = filter.clone();
        let expected = plain(&wanted);
        assert!(expected.total > 0, "{filter:?}");
        for engine in ENGINES {
            let mut job = job(&path, "task or not task");
            job.filter = filter.clone();
            let results = (engine.run)(&Arc::new(Search::new(job).unwrap())).unwrap();
            assert_eq!(
                results.digest(),
                expected.digest(),
                "{} {filter:?}",
                engine.name
            );
        }
    }
}

/// Keeping the first n and sorting them afterwards would list other messages.
#[test]
fn the_newest_messages_are_listed_whatever_their_position() {
    let folder = tempfile::tempdir().unwrap();
    let line = |day: usize| {
        user(0, "\"task\"").replace(
            "2025-06-01T12:00:00.000Z",
            &format!("2025-07-{day:02}T00:00:00Z"),
        )
    };
    // The newest at the end of the last file; equal times in two files.
    let days = |from: usize| (from..from + 9).map(line).collect::<Vec<_>>().join("\n");
    fs::write(folder.path().join("a.jsonl"), days(1)).unwrap();
    fs::write(folder.path().join("b.jsonl"), days(8)).unwrap();
    for engine in ENGINES {
        let mut job = job(folder.path(), "task");
        job.limit = 10;
        let results = (engine.run)(&Arc::new(Search::new(job).unwrap())).unwrap();
        let listed: Vec<_> = results
            .newest()
            .iter()
            .map(|hit| (hit.place.file, hit.time.unwrap().seconds / 86_400 - 20_269))
            .collect();
        let b = (9..17).rev().map(|day| (1, day));
        let expected: Vec<_> = b
            .filter(|(_, day)| *day > 9)
            .chain([(0, 9), (1, 9), (0, 8)])
            .collect();
        assert_eq!(listed, expected, "{}", engine.name);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "b.jsonl"] {
        fs::write(folder.path().join(name), user(1, "\"task\"")).unwrap();
    }
    for engine in ENGINES {
        for (reading, ..) in READINGS {
            let mut job = job(folder.path(), "task");
            job.reading = *reading;
            job.sessions[1].path = folder.path().join("gone.jsonl");
            let error = (engine.run)(&Arc::new(Search::new(job).unwrap())).unwrap_err();
            assert!(
                error.to_string().contains("gone.jsonl"),
                "{}: {error}",
                engine.name
            );
        }
    }
}

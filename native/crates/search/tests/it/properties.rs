//! The parsers of queries and of lines, on arbitrary and damaged text. The fuzz targets `query` and `jsonl` check the
//! same with coverage guidance.

use std::sync::Arc;

use proptest::prelude::*;
use search::corpus::Session;
use search::engine::engine;
use search::fold::FOLDS;
use search::job::{Filter, Job, READINGS, Search};
use search::parser::{Choice, PARSERS};
use search::query::Query;
use search::results::SearchResults;

const LINES: &[u8] = include_bytes!("../../../../../tests/fixtures/search/corpus/bad.jsonl");
/// What splits, opens or ends something in a query or a line.
const PIECES: &[&str] = &[
    "and",
    "or",
    "not",
    "task",
    "(",
    ")",
    "\"",
    "\\",
    "/",
    "/i",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "\n",
    "\r",
    "\0",
    " ",
    "9",
    "-1e999",
    "null",
    "\\u0074",
    "\\ud83e",
    "ſ",
    "\u{feff}",
    "🦀",
    "\"type\"",
    "\"user\"",
    "\"content\"",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|parts| parts.concat())
}

/// A part of the fixture with up to three damages.
fn damaged_lines() -> impl Strategy<Value = Vec<u8>> {
    let damage = (
        any::<prop::sample::Index>(),
        0..9_usize,
        prop_oneof![
            pieces().prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..4),
        ],
    );
    (
        any::<prop::sample::Index>(),
        prop::collection::vec(damage, 1..4),
    )
        .prop_map(|(start, damages)| {
            let start = start.index(LINES.len());
            let mut text = LINES[start..LINES.len().min(start + 2000)].to_vec();
            for (at, length, new) in damages {
                let at = at.index(text.len() + 1);
                text.splice(at..text.len().min(at + length), new);
            }
            text
        })
}

fn search_file(
    file: &std::path::Path,
    query: &str,
    parser: Choice,
    buffer_bytes: usize,
) -> SearchResults {
    let search = Search::new(Job {
        query: Query::parse(query).unwrap(),
        filter: Filter::default(),
        fold: FOLDS[0].0,
        parser,
        reading: READINGS[0].0,
        buffer_bytes,
        whole_bytes: 1,
        chunk_bytes: 1,
        concurrency: None,
        bounded: true,
        fresh_lines: false,
        prefilter: false,
        threads: 1,
        tokio_workers: None,
        tokio_blocking: None,
        limit: 3,
        sessions: vec![Session {
            path: file.to_owned(),
            name: "file".to_owned(),
            size: 0,
        }],
    });
    (engine("sequential").unwrap().run)(&Arc::new(search.unwrap())).unwrap()
}

proptest! {
    #[test]
    fn a_printed_query_is_read_as_the_same_query(text in pieces()) {
        match Query::parse(&text) {
            Ok(query) => {
                let printed = query.to_string();
                prop_assert_eq!(Query::parse(&printed), Ok(query), "{}", printed);
            }
            Err(wrong) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&wrong.column), "{}", wrong);
            }
        }
    }

    #[test]
    fn every_parser_finds_the_same_messages_in_damaged_lines(
        text in damaged_lines(),
        query in prop::sample::select(&["a or not a", "task"][..]),
        buffer in prop::sample::select(&[1_usize, 7, 1 << 16][..]),
    ) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &text).unwrap();
        let [first, others @ ..] = PARSERS else { unreachable!("there are parsers") };
        let expected = search_file(file.path(), query, *first, 1 << 16);
        for parser in others {
            let other = search_file(file.path(), query, *parser, buffer);
            prop_assert_eq!(other.digest(), expected.digest(), "{}", parser.name);
            prop_assert_eq!((other.total, other.bad), (expected.total, expected.bad), "{}", parser.name);
        }
    }
}

//! Comparison with the answers of an independent program,
//! `tests/unit/native_oracle/test_search_answers.py`, on the files in
//! `tests/fixtures/search/corpus`.

use std::path::Path;
use std::sync::Arc;

use search::corpus;
use search::engine::ENGINES;
use search::fold::FOLDS;
use search::job::{Filter, Job, READINGS, Search};
use search::parser::PARSERS;
use search::query::Query;
use search::record::ROLES;
use search::timestamp::Timestamp;
use serde_json::Value;

#[test]
fn a_sample_of_combinations_gives_the_answers_of_the_program_in_python() {
    // No axis has a multiple of 13 values, so the sample has each value of each axis.
    check_combinations(13);
}

#[test]
#[ignore = "takes long; `nox -s release` runs it"]
fn every_combination_gives_the_answers_of_the_program_in_python() {
    check_combinations(1);
}

/// Checks every `step`th combination.
fn check_combinations(step: usize) {
    let fixtures = Path::new("../../../tests/fixtures/search");
    let text = std::fs::read_to_string(fixtures.join("answers.json")).unwrap();
    let answers: Vec<Value> = serde_json::from_str(&text).unwrap();
    let sessions = corpus::sessions(&[fixtures.join("corpus")]).unwrap();
    let (mut number, mut combinations) = (0_usize, 0);
    for answer in &answers {
        let condition = |key: &str| answer["condition"].get(key).and_then(Value::as_str);
        for (index, engine) in ENGINES.iter().enumerate() {
            for parser in PARSERS {
                for (fold, ..) in FOLDS {
                    for prefilter in [false, true] {
                        number += 1;
                        if !number.is_multiple_of(step) {
                            continue;
                        }
                        let search = Arc::new(
                            Search::new(Job {
                                query: Query::parse(answer["query"].as_str().unwrap()).unwrap(),
                                filter: Filter {
                                    role: condition("role").map(|name| {
                                        ROLES.iter().find(|(_, known, _)| *known == name).unwrap().0
                                    }),
                                    session: condition("session").map(str::to_owned),
                                    before: condition("before").and_then(Timestamp::parse),
                                    after: condition("after").and_then(Timestamp::parse),
                                },
                                fold: *fold,
                                parser: *parser,
                                reading: READINGS[index % READINGS.len()].0,
                                buffer_bytes: 4096,
                                whole_bytes: 4096,
                                chunk_bytes: 4096,
                                concurrency: Some(2),
                                bounded: true,
                                fresh_lines: false,
                                prefilter,
                                threads: 2,
                                tokio_workers: Some(2),
                                tokio_blocking: None,
                                limit: usize::try_from(answer["limit"].as_u64().unwrap()).unwrap(),
                                sessions: sessions.clone(),
                            })
                            .unwrap(),
                        );
                        let results = (engine.run)(&search).unwrap();
                        let label = format!(
                            "{} {} {} {fold:?} {prefilter}",
                            answer["query"], engine.name, parser.name
                        );
                        assert_eq!(results.total, answer["total"].as_u64().unwrap(), "{label}");
                        assert_eq!(
                            results.digest(),
                            answer["digest"].as_str().unwrap(),
                            "{label}"
                        );
                        if !prefilter {
                            let bad = answer["bad"].as_array().unwrap().len() as u64;
                            assert_eq!(results.bad, bad, "{label}");
                        }
                        combinations += 1;
                    }
                }
            }
        }
    }
    eprintln!("{combinations} combinations gave the answers of the program in Python");
}

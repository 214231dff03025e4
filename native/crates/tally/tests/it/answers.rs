//! Literal answers, which the tests in Python compute again by the plainest means.

use std::fs;

use serde_json::Value;
use source::Input;
use tally::case::CASES;
use tally::job::Job;
use tally::{order, runtime, tokenizer};

#[test]
fn examples() {
    let fixture = "../../../tests/fixtures/protocol/tally-answers.json";
    let examples: Value = serde_json::from_str(&fs::read_to_string(fixture).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    for example in examples.as_array().unwrap() {
        fs::write(&path, example["text"].as_str().unwrap()).unwrap();
        let job = Job {
            mode: source::mode("read").unwrap(),
            tokenizer: tokenizer::tokenizer(example["tokenizer"].as_str().unwrap()).unwrap(),
            case: CASES
                .iter()
                .find(|(_, name, _)| example["case"] == *name)
                .unwrap()
                .0,
            hasher: tally::hasher::HASHERS[0],
            advice: source::ADVICE[0],
            block_bytes: 16,
            threads: 1,
            inputs: vec![Input::File(path.clone())],
        };
        let count = (runtime::runtime("sequential").unwrap().run)(&job).unwrap();
        let sorted = order::by_count(&count.table, None);
        let words: Vec<_> = sorted
            .iter()
            .map(|entry| serde_json::json!([String::from_utf8_lossy(entry.word()), entry.count()]))
            .collect();
        assert_eq!(Value::from(words), example["words"], "{}", example["text"]);
        assert_eq!(
            order::digest(&sorted),
            example["digest"],
            "{}",
            example["text"]
        );
    }
}

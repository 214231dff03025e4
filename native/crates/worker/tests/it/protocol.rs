//! The golden pair of the protocol, which benchctl reads too.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use worker::answer::Line;
use worker::describe::Description;
use worker::usage;

fn golden(name: &str) -> Value {
    let path = Path::new("../../../tests/fixtures/protocol").join(name);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn describe_is_read_and_written_back_equal() {
    let document = golden("describe.json");
    let description: Description = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(serde_json::to_value(&description).unwrap(), document);
    assert_eq!(description.protocol, worker::PROTOCOL);
}

#[test]
fn an_answer_is_read_and_written_back_equal() {
    let document = golden("answer.json");
    let line: Line = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(serde_json::to_value(&line).unwrap(), document);
    assert_eq!(line.protocol, worker::PROTOCOL);
}

#[test]
fn an_answer_line_has_every_key_of_the_contract() {
    let document = golden("answer.json");
    let line: Line = serde_json::from_value(document.clone()).unwrap();
    let table: BTreeSet<_> = usage::COUNTERS.iter().map(|c| c.key.to_owned()).collect();
    assert_eq!(
        line.counters.keys().cloned().collect::<BTreeSet<_>>(),
        table
    );
    for key in document.as_object().unwrap().keys() {
        let mut without = document.clone();
        without.as_object_mut().unwrap().remove(key);
        // serde takes an absent key of an optional value for null.
        let optional = key == "iteration" || table.contains(key);
        let read = serde_json::from_value::<Line>(without);
        assert_eq!(read.is_ok(), optional, "{key}");
    }
}

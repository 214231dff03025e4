//! The receipt contradicts the request when a mode is silently swapped. Built only with the feature `test-swap-io`:
//! `cargo test -p tally --features test-swap-io --test it`.

use std::fs;
use std::process::Command;

use serde_json::Value;

#[test]
fn asking_for_mmap_is_answered_with_read() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, "some words ".repeat(20_000)).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["run", "--io", "mmap", "--output", "none"])
        .arg(&input)
        .env("BENCHCTL_ANSWERS", &answers)
        .status()
        .unwrap();
    assert!(status.success());
    let line: Value = serde_json::from_str(&fs::read_to_string(&answers).unwrap()).unwrap();
    assert_eq!(line["effective"]["io"], "read");
    assert_eq!(line["answer"]["count"], 40_000);
}

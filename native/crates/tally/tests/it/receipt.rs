//! Description and receipts of the binary.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use worker::answer::Line;
use worker::describe::Description;

fn tally(arguments: &[&str], answers: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
    command
        .args(arguments)
        .env("BENCHCTL_ANSWERS", answers)
        .env("HYPERFINE_ITERATION", "3");
    command
}

fn lines(answers: &Path) -> Vec<Line> {
    let text = fs::read_to_string(answers).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn description() -> Description {
    let output = Command::new(env!("CARGO_BIN_EXE_tally"))
        .arg("describe")
        .output()
        .unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn describe_lists_every_registry() {
    let description = description();
    let names = |axis: &str| -> Vec<_> {
        description.axes[axis]
            .values
            .iter()
            .map(|value| value.name.clone())
            .collect()
    };
    assert_eq!(
        names("io"),
        source::MODES
            .iter()
            .map(|mode| mode.name)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        names("runtime"),
        tally::runtime::RUNTIMES
            .iter()
            .map(|runtime| runtime.name)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        names("tokenizer"),
        tally::tokenizer::TOKENIZERS
            .iter()
            .map(|tokenizer| tokenizer.name)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        names("hasher"),
        tally::hasher::HASHERS
            .iter()
            .map(|hasher| hasher.name)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        names("madvise"),
        source::ADVICE
            .iter()
            .map(|advice| advice.name)
            .collect::<Vec<_>>()
    );
    assert_eq!(
        names("format"),
        tally::output::FORMATS
            .iter()
            .map(|(_, name, _)| *name)
            .collect::<Vec<_>>()
    );
    let allocator = &description.axes["allocator"].values;
    let here: Vec<_> = allocator
        .iter()
        .filter(|value| value.unavailable.is_none())
        .collect();
    assert_eq!(here.len(), 1);
    assert_eq!(here[0].name, description.allocator.name);
}

#[test]
fn every_combination_gives_the_same_answer_and_reports_the_actual_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(
        &input,
        "The quick brown fox; the lazy dog.\n".repeat(20_000),
    )
    .unwrap();
    let description = description();
    let available = |axis: &str| {
        let values = description.axes[axis].values.clone();
        values
            .into_iter()
            .filter(|value| value.unavailable.is_none())
    };
    for io in available("io") {
        for runtime in &description.axes["runtime"].values {
            for sort in &description.axes["sort"].values {
                let arguments = [
                    "run",
                    "--io",
                    &io.name,
                    "--runtime",
                    &runtime.name,
                    "--sort",
                    &sort.name,
                ];
                let status = tally(&arguments, &answers)
                    .args(["--output", "none", "--threads", "2"])
                    .arg(&input)
                    .status();
                assert!(status.unwrap().success());
                let line = lines(&answers).pop().unwrap();
                assert_eq!(line.effective["io"], io.name);
                assert_eq!(line.effective["runtime"], runtime.name);
                assert_eq!(line.effective["tokenizer"], "unicode");
                assert_eq!(line.effective["hasher"], "fold");
                assert_eq!(
                    line.effective.get("madvise").map(String::as_str),
                    (io.name == "mmap").then_some("sequential")
                );
                assert_eq!(line.effective["allocator"], description.allocator.name);
                let metrics: Vec<_> = description
                    .metrics
                    .iter()
                    .map(|metric| &metric.name)
                    .collect();
                assert_eq!(line.metrics.keys().collect::<Vec<_>>(), metrics);
                assert_eq!(line.bytes, 700_000);
                assert!(line.phases_s.contains_key("count") && line.phases_s.contains_key("read"));
            }
        }
    }
    let lines = lines(&answers);
    assert!(lines.iter().all(|line| line.answer == lines[0].answer));
    assert!(
        lines
            .iter()
            .all(|line| line.iteration.as_deref() == Some("3"))
    );
    assert_eq!(lines[0].answer.count, 140_000);
    assert_eq!(lines[0].answer.more["distinct"], 7);
}

#[test]
fn standard_input_falls_back_to_read_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers");
    let mut child = tally(&["run", "--io", "mmap", "--output", "none", "-"], &answers)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"one two two")
        .unwrap();
    assert!(child.wait().unwrap().success());
    let line = lines(&answers).pop().unwrap();
    assert_eq!(line.effective["io"], "read");
    assert_eq!(
        line.notes,
        ["standard input is a stream: read in blocks instead of mmap"]
    );
    assert_eq!(line.answer.count, 3);
}

/// Mapping the file behind a redirection would read what another program has already taken.
#[test]
fn redirected_standard_input_is_read_from_its_current_offset() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, "one two three").unwrap();
    for io in source::MODES {
        let mut file = fs::File::open(&input).unwrap();
        file.read_exact(&mut [0; 4]).unwrap();
        let status = tally(&["run", "--io", io.name, "--output", "none"], &answers)
            .stdin(file)
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(
            lines(&answers).pop().unwrap().answer.count,
            2,
            "{}",
            io.name
        );
    }
}

#[test]
fn a_word_longer_than_a_block_is_counted_and_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, "x".repeat(300_000) + " y").unwrap();
    assert!(
        tally(&["run", "--output", "none"], &answers)
            .arg(&input)
            .status()
            .unwrap()
            .success()
    );
    let line = lines(&answers).pop().unwrap();
    assert_eq!(line.answer.count, 2);
    assert!(
        line.notes[0].starts_with("300000 bytes without a safe cut"),
        "{:?}",
        line.notes
    );
}

#[test]
fn a_failed_run_appends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, b"broken \xff").unwrap();
    let output = tally(&["run"], &answers).arg(&input).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.ends_with("invalid UTF-8 at byte offset 7\n"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1);
    assert!(!answers.exists());
}

#[test]
fn an_answer_that_cannot_be_delivered_is_a_failure() {
    let output = tally(&["run", "/dev/null"], Path::new("/no/such/folder/answers"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}

/// The promise of bounded memory, on a text of 100 000 distinct words.
#[test]
fn reading_in_blocks_stays_small() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    let mut file = fs::File::create(&input).unwrap();
    let words = (0..100_000).fold(String::new(), |words, number| {
        words + &format!("{number:07} ")
    });
    for _ in 0..60 {
        file.write_all(words.as_bytes()).unwrap();
    }
    let status = tally(&["run", "--output", "none"], &answers)
        .arg(&input)
        .status()
        .unwrap();
    assert!(status.success());
    let line = lines(&answers).pop().unwrap();
    assert_eq!(line.answer.more["distinct"], 100_000);
    assert!(
        line.counters["peak_rss_bytes"] < Some(40 << 20),
        "{} bytes",
        line.counters["peak_rss_bytes"].unwrap()
    );
}

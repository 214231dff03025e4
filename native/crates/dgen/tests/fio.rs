//! fio's equivalent job: what is told of it, what is refused, and what a fio that fails leaves.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` stops at once"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use worker::answer::Line;

const DGEN: &str = env!("CARGO_BIN_EXE_dgen");
const SIZE: u64 = 1 << 20;

fn dgen(words: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(DGEN);
    command.args(words).current_dir(folder);
    command
}

fn write(more: &[&str], file: &str, folder: &Path) -> Command {
    let start = ["run", "write", "--strategy", "fio", "--buffer", "64KiB"];
    let mut command = dgen(&start, folder);
    command.args(["--size", "1MiB"]).args(more).arg(file);
    command.env("BENCHCTL_ANSWERS", folder.join("answers"));
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether fio can run here; why not is said.
fn is_here() -> bool {
    let absent = dgen::write::fio::why_unavailable();
    if let Some(reason) = &absent {
        eprintln!("not tried: {reason}");
    }
    absent.is_none()
}

fn validate(file: &str, folder: &Path) -> Output {
    let words = ["validate", "--strategy", "fio", "--size", "1MiB", file];
    dgen(&words, folder).output().unwrap()
}

/// The answer of a run that went well.
fn answer(mut command: Command, folder: &Path) -> Line {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(output.stdout.is_empty());
    let text = fs::read_to_string(folder.join("answers")).unwrap();
    serde_json::from_str(text.lines().next_back().unwrap()).unwrap()
}

/// One line on stderr with those words, that code, and nothing left.
fn fails(mut command: Command, code: i32, words: &str, folder: &Path) {
    let output = command.output().unwrap();
    let said = said(&output);
    assert_eq!(
        (output.status.code(), said.lines().count()),
        (Some(code), 1),
        "{said}"
    );
    assert!(said.contains(words), "{words}: {said}");
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "fio")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn it_writes_the_whole_file_and_says_what_it_did() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut digests = Vec::new();
    for more in [
        &["--threads", "2", "--durability", "end-fsync"][..],
        &["--backend", "pwrite", "--durability", "dsync"],
        &["--threads", "3"],
        &["--threads", "17"],
        &[
            "--durability",
            "fdatasync:4",
            "--reserve",
            "--direct",
            "try",
        ],
    ] {
        // Colons are for fio what lies between files.
        let line = answer(write(more, "a:file", folder.path()), folder.path());
        assert_eq!(line.effective["strategy"], "fio");
        assert_eq!((line.answer.count, line.bytes), (SIZE, SIZE));
        assert_eq!(line.answer.more["blocks"], 16);
        assert!(line.metrics["latency_max_s"] >= line.metrics["latency_p50_s"]);
        assert!(line.metrics["latency_p50_s"] > 0.0);
        assert!(line.phases_s["fio"] > 0.0);
        // More than this program itself needs: the account is fio's.
        assert!(line.peak_rss_bytes > 0 && line.anon_bytes.is_none());
        assert!(
            line.notes
                .iter()
                .any(|note| note.contains("contents of its own"))
        );
        assert_eq!(folder.path().join("a:file").metadata().unwrap().len(), SIZE);
        let found = validate("a:file", folder.path());
        assert!(found.status.success(), "{}", said(&found));
        digests.push(line.answer.digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 1, "the same work each time");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_its_job_has_not_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (more, words) in [
        (&["--backend", "mmap"][..], "uring or pwrite"),
        (&["--size", "1000000"], "whole blocks"),
        (&["--size", "0"], "whole blocks"),
        (&["--dontcache", "on"], "--dontcache"),
        (&["--cpus", "0"], "--cpus"),
        (&["--dedup", "2"], "--dedup"),
        (&["--compress", "2"], "--compress"),
    ] {
        let mut command = dgen(&["run", "write", "--strategy", "fio"], folder.path());
        command.args(["--buffer", "64KiB"]).args(more);
        if !more.contains(&"--size") {
            command.args(["--size", "1MiB"]);
        }
        command.arg("file");
        fails(command, 2, words, folder.path());
    }
}

/// A program in place of fio that answers with `script`.
fn in_place_of_fio(script: &str, folder: &Path) -> Command {
    let program = folder.join("fio");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = write(&[], "file", folder);
    command.env("PATH", format!("{}:/bin:/usr/bin", folder.display()));
    command
}

#[test]
fn a_job_that_fails_is_one_error_and_leaves_nothing() {
    let told = |error: u32, bytes: u64| {
        format!(
            r#"echo '{{"fio version": "fio-0", "jobs": [{{"error": {error}, "job_runtime": 1, "write": {{"io_bytes": {bytes},
            "total_ios": 16, "short_ios": 0, "runtime": 1, "lat_ns": {{"max": 1, "mean": 1, "N": 1}}}}}}]}}'"#
        )
    };
    let folder = tempfile::tempdir().unwrap();
    for (script, words) in [
        (
            "echo 'fio: engine io_uring not loadable' >&2; exit 1",
            "fio failed: fio: engine io_uring not loadable",
        ),
        ("kill -9 $$", "fio failed: signal: 9"),
        ("echo '{nothing'", "what fio printed cannot be read"),
        (&told(28, 1 << 19), "No space left on device"),
        (
            &told(0, 1 << 19),
            "completions cover 524288 of 1048576 bytes",
        ),
        // Its account is not believed where the file says otherwise.
        (&told(0, SIZE), "completions cover 0 of 1048576 bytes"),
    ] {
        fails(
            in_place_of_fio(script, folder.path()),
            1,
            words,
            folder.path(),
        );
    }
}

#[test]
fn a_missing_folder_stays_missing() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fails(
        write(&[], "missing/file", folder.path()),
        1,
        "No such file",
        folder.path(),
    );
}

#[test]
fn without_fio_it_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let mut describe = dgen(&["describe"], folder.path());
    let output = describe.env("PATH", folder.path()).output().unwrap();
    let described: worker::describe::Description = serde_json::from_slice(&output.stdout).unwrap();
    let mut values = described.axes["strategy"].values.iter();
    let fio = values.find(|value| value.name == "fio").unwrap();
    assert_eq!(fio.unavailable.as_deref(), Some("fio is not installed"));
    let mut command = write(&[], "file", folder.path());
    command.env("PATH", folder.path());
    fails(command, 1, "fio is not installed", folder.path());
}

#[test]
fn a_file_that_is_short_or_has_holes_is_not_right() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let code = || validate("file", folder.path()).status.code();
    assert_eq!(code(), Some(1), "there is none");
    fs::write(&file, vec![7; 1 << 20]).unwrap();
    assert_eq!(code(), Some(0));
    fs::write(&file, vec![7; (1 << 20) - 1]).unwrap();
    assert_eq!(code(), Some(1));
    let mut holed = vec![7; 1 << 20];
    holed[40_960..45_056].fill(0);
    fs::write(&file, holed).unwrap();
    let found = validate("file", folder.path());
    assert!(
        said(&found).contains("1 pages of zeros"),
        "{}",
        said(&found)
    );
}

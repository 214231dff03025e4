//! The equivalent fio job: its receipt, refused options, and the remaining files if fio fails.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use dgen::write::strategy::strategy;
use worker::answer::Line;

use crate::needs;

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

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns whether fio and a ring are available.
fn is_here() -> bool {
    if !needs::can_have("io_uring", sink::why_no_ring()) {
        return false;
    }
    needs::can_have("fio", strategy("fio").unwrap().why_unavailable())
}

fn validate(file: &str, folder: &Path) -> Output {
    let words = ["validate", "--strategy", "fio", "--size", "1MiB", file];
    dgen(&words, folder).output().unwrap()
}

/// The answer of a run that went well.
fn answer(mut command: Command, folder: &Path) -> Line {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    let text = fs::read_to_string(folder.join("answers")).unwrap();
    serde_json::from_str(text.lines().next_back().unwrap()).unwrap()
}

/// One line on stderr with those words, that code, and nothing left.
fn fails(mut command: Command, code: i32, words: &str, folder: &Path) {
    let output = command.output().unwrap();
    let message = stderr(&output);
    assert_eq!(
        (output.status.code(), message.lines().count()),
        (Some(code), 1),
        "{message}"
    );
    assert!(message.contains(words), "{words}: {message}");
    let left: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "fio")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn fio_writes_the_whole_file_and_the_receipt_reports_it() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut digests = Vec::new();
    // With 17 threads for 16 blocks, one thread has nothing to write.
    for (threads, more) in [
        (2, &["--threads", "2", "--durability", "end-fsync"][..]),
        (1, &["--backend", "pwrite", "--durability", "dsync"]),
        (3, &["--threads", "3"]),
        (16, &["--threads", "17"]),
        (
            1,
            &[
                "--durability",
                "fdatasync:4",
                "--reserve",
                "--direct",
                "try",
            ],
        ),
    ] {
        // fio splits a file name at colons.
        let line = answer(write(more, "a:file", folder.path()), folder.path());
        assert_eq!(line.effective["strategy"], "fio");
        assert_eq!((line.answer.count, line.bytes), (SIZE, SIZE));
        assert_eq!(line.answer.more["blocks"], 16);
        assert_eq!(line.threads, threads);
        assert!(line.metrics["latency_max_s"] >= line.metrics["latency_p50_s"]);
        assert!(line.metrics["latency_p50_s"] > 0.0);
        assert!(line.phases_s["fio"] > 0.0);
        // More than this program itself needs: the account is fio's.
        assert!(line.counters["peak_rss_bytes"] > Some(0));
        assert!(
            line.notes
                .iter()
                .any(|note| note.contains("contents of its own"))
        );
        assert_eq!(folder.path().join("a:file").metadata().unwrap().len(), SIZE);
        let found = validate("a:file", folder.path());
        assert!(found.status.success(), "{}", stderr(&found));
        digests.push(line.answer.digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 1, "the same work each time");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn options_that_the_fio_job_lacks_are_refused() {
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
    let report = |error: u32, bytes: u64| {
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
        (&report(28, 1 << 19), "No space left on device"),
        (
            &report(0, 1 << 19),
            "completions cover 524288 of 1048576 bytes",
        ),
        // Its account is not believed where the file says otherwise.
        (&report(0, SIZE), "completions cover 0 of 1048576 bytes"),
    ] {
        fails(
            in_place_of_fio(script, folder.path()),
            1,
            words,
            folder.path(),
        );
    }
}

/// A program in place of fio that fails to set a ring up if its command line has that word, and else writes.
fn refusing(word: &str, folder: &Path) -> Command {
    let script = format!(
        r#"echo "$*" >> words; for word; do case $word in --filename=*) file=${{word#--filename=}};; esac; done
        job() {{ echo '{{"fio version": "fio-0", "jobs": [{{"error": '$1', "job_runtime": 1, "write": {{"io_bytes": '$2',
            "total_ios": 16, "short_ios": 0, "runtime": 1, "lat_ns": {{"max": 1, "mean": 1, "N": 1}}}}}}]}}'; }}
        case "$*" in
        *{word}*) head -c 99 /dev/zero > "$file"; echo 'fio: err=12, func=io_queue_init'; job 12 0; exit 1;;
        *) test ! -s "$file" && head -c {SIZE} /dev/zero > "$file"; job 0 {SIZE};;
        esac"#
    );
    in_place_of_fio(&script, folder)
}

#[test]
fn fio_registers_the_same_resources_as_the_ring_of_dgen_and_notes_failures() {
    for (word, without, attempts) in [
        ("--no-such-word", "", 1),
        ("--fixedbufs", "registered buffers", 2),
        ("--registerfiles", "registered buffers and file", 3),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let line = answer(refusing(word, folder.path()), folder.path());
        let noted = format!("fio without {without}: Cannot allocate memory (os error 12)");
        assert_eq!(
            line.notes.contains(&noted),
            attempts > 1,
            "{:?}",
            line.notes
        );
        let words = fs::read_to_string(folder.path().join("words")).unwrap();
        let expected = [
            "--ioengine=io_uring --fixedbufs --registerfiles --filename=",
            "--ioengine=io_uring --registerfiles --filename=",
            "--ioengine=io_uring --filename=",
        ];
        assert_eq!(words.lines().count(), attempts);
        for (words, expected) in words.lines().zip(expected) {
            assert!(words.starts_with(expected), "{words}");
        }
    }
}

#[test]
fn without_a_ring_there_is_nothing_to_register() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = refusing("--fixedbufs", folder.path());
    command.args(["--backend", "pwrite"]);
    answer(command, folder.path());
    let words = fs::read_to_string(folder.path().join("words")).unwrap();
    assert!(!words.contains("--registerfiles"), "{words}");
    // A ring that cannot be set up at all fails in the words of its last attempt.
    let folder = tempfile::tempdir().unwrap();
    let output = refusing("--ioengine=io_uring", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("cannot write with fio: Cannot allocate memory"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn too_little_locked_memory_leaves_the_buffers_of_fio_unregistered() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = write(&[], "file", folder.path());
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(|| {
            // The limit applies to processes without the capability; dropping it from the bounding
            // set takes it from root at exec.
            libc::prctl(libc::PR_CAPBSET_DROP, 14, 0, 0, 0);
            let limit = libc::rlimit {
                rlim_cur: 128 << 10,
                rlim_max: 128 << 10,
            };
            if libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let line = answer(command, folder.path());
    let noted = "fio without registered buffers: Cannot allocate memory (os error 12)";
    assert!(
        line.notes.iter().any(|note| note == noted),
        "{:?}",
        line.notes
    );
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
    assert_eq!(code(), Some(1), "without a file");
    fs::write(&file, vec![7; 1 << 20]).unwrap();
    assert_eq!(code(), Some(0));
    fs::write(&file, vec![7; (1 << 20) - 1]).unwrap();
    assert_eq!(code(), Some(1));
    let mut holed = vec![7; 1 << 20];
    holed[40_960..45_056].fill(0);
    fs::write(&file, holed).unwrap();
    let found = validate("file", folder.path());
    assert!(
        stderr(&found).contains("1 pages of zeros"),
        "{}",
        stderr(&found)
    );
}

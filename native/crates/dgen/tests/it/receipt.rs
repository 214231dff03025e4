//! The binary: its command line, its description and its receipts.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use dgen::write;
use worker::answer::Line;
use worker::describe::{Description, Value};

const DGEN: &str = env!("CARGO_BIN_EXE_dgen");

fn description(folder: &Path) -> Description {
    let output = Command::new(DGEN)
        .arg("describe")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run(arguments: &[&str], folder: &Path) -> Line {
    let answers = folder.join("answers");
    let output = Command::new(DGEN)
        .arg("run")
        .args(arguments)
        .arg(folder.join("file"))
        .env("BENCHCTL_ANSWERS", &answers)
        .env("HYPERFINE_ITERATION", "3")
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty());
    let text = fs::read_to_string(&answers).unwrap();
    serde_json::from_str(text.lines().next_back().unwrap()).unwrap()
}

fn available_values<'axis>(
    description: &'axis Description,
    axis: &'axis str,
) -> impl Iterator<Item = &'axis Value> {
    let values = description.axes[axis].values.iter();
    values.filter(move |value| match &value.unavailable {
        None => true,
        Some(reason) => {
            eprintln!("not run here: {axis} {}: {reason}", value.name);
            false
        }
    })
}

#[test]
fn describe_lists_every_registry() {
    let folder = tempfile::tempdir().unwrap();
    let description = description(folder.path());
    let names = |axis: &str| -> Vec<_> {
        let values = description.axes[axis].values.iter();
        values.map(|value| value.name.clone()).collect()
    };
    let strategies = write::strategy::STRATEGIES.iter();
    assert_eq!(
        names("strategy"),
        strategies.map(|known| known.name).collect::<Vec<_>>()
    );
    let backends = sink::MODES.iter().map(|mode| mode.name);
    assert_eq!(names("backend"), backends.collect::<Vec<_>>());
    let mut metrics: Vec<_> = description
        .metrics
        .iter()
        .map(|metric| &metric.name)
        .collect();
    let listed = metrics.len();
    metrics.sort();
    metrics.dedup();
    assert_eq!(metrics.len(), listed);
}

#[test]
fn available_values_run_and_the_actual_mode_is_the_requested_one() {
    let folder = tempfile::tempdir().unwrap();
    let description = description(folder.path());
    let metrics: Vec<_> = description
        .metrics
        .iter()
        .map(|metric| metric.name.as_str())
        .collect();
    for axis in [
        "strategy",
        "backend",
        "pages",
        "direct",
        "dontcache",
        "durability",
    ] {
        for value in available_values(&description, axis) {
            let flag = format!("--{axis}");
            let arguments = [
                "write",
                "--size",
                "1MiB",
                "--buffer",
                "64KiB",
                &flag,
                &value.name,
            ];
            let line = run(&arguments, folder.path());
            assert_eq!(line.effective[axis], value.name, "{line:?}");
            assert_eq!(line.answer.count, 1 << 20);
            assert_eq!(line.iteration.as_deref(), Some("3"));
            let mut reported: Vec<_> = line.metrics.keys().map(String::as_str).collect();
            reported.sort_unstable();
            if value.name == "fio" || value.name.starts_with("python-") {
                // Other programs report fewer metrics.
                assert!(reported.iter().all(|name| metrics.contains(name)));
                continue;
            }
            assert_eq!(
                reported, metrics,
                "every metric that is announced, and no other"
            );
        }
    }
}

#[test]
fn buffers_of_every_strategy_have_the_requested_pages() {
    let folder = tempfile::tempdir().unwrap();
    let description = description(folder.path());
    for value in available_values(&description, "pages") {
        for more in [
            &["--strategy", "threads", "--threads", "2"][..],
            &["--strategy", "single-buffer"],
            &["--strategy", "generate-only"],
            &["--strategy", "write-only", "--backend", "pwrite"],
        ] {
            let write = ["write", "--size", "9MiB", "--pages", &value.name];
            let line = run(&[&write[..], more].concat(), folder.path());
            assert_eq!(line.effective["pages"], value.name, "{more:?}: {line:?}");
        }
    }
}

#[test]
fn a_mapping_of_the_file_has_no_buffers_and_no_pages() {
    let folder = tempfile::tempdir().unwrap();
    let write = ["write", "--size", "1MiB", "--backend", "mmap"];
    assert!(!run(&write, folder.path()).effective.contains_key("pages"));
}

#[test]
fn phases_of_one_thread_do_not_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let write = ["write", "--size", "16MiB", "--backend", "pwrite"];
    let start = Instant::now();
    let line = run(&write, folder.path());
    let whole = start.elapsed().as_secs_f64();
    assert!(line.phases_s["loop"] > 0.0, "{line:?}");
    assert!(line.phases_s.values().sum::<f64>() <= whole, "{line:?}");
}

#[test]
fn a_rate_slows_the_generation_down_and_changes_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let tuning = folder.path().join("tuning.json");
    let choice = r#""block_bytes": 1048576, "depth": 2, "threads": 1"#;
    fs::write(
        &tuning,
        format!(
            r#"{{"folder": "", "effective": {{}}, "trial_bytes": 1, "seconds": 1, "basis": "",
                "choice": {{{choice}}},
                "rows": [{{{choice}, "seconds": [1], "bytes_per_s": 33554432}}]}}"#
        ),
    )
    .unwrap();
    for strategy in ["streaming", "single-buffer", "threads"] {
        let write = [
            "write",
            "--backend",
            "pwrite",
            "--depth",
            "1",
            "--size",
            "8MiB",
        ];
        let written = |more: &[&str]| {
            let both: Vec<_> = write.iter().chain(more).copied().collect();
            run(
                &[both.as_slice(), &["--strategy", strategy]].concat(),
                folder.path(),
            )
        };
        let fast = written(&[]);
        for rate in [
            &["--rate", "64MiB"][..],
            &["--rate", "2x", "--tuning", tuning.to_str().unwrap()],
        ] {
            let slow = written(rate);
            assert_eq!(slow.answer, fast.answer, "{strategy} {rate:?}");
            assert!(slow.metrics["elapsed_s"] >= 0.124, "{strategy} {rate:?}");
            assert!(
                slow.notes
                    .iter()
                    .any(|note| note.contains("67108864 bytes"))
            );
        }
    }
}

#[test]
fn a_rate_is_refused_where_nothing_would_be_slowed_down() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, reason) in [
        (
            ["--strategy", "write-only", "--rate", "1GiB"],
            "has no --rate",
        ),
        (
            ["--strategy", "streaming", "--rate", "1.5x"],
            "--tuning FILE",
        ),
    ] {
        let output = Command::new(DGEN)
            .args(["run", "write", "--size", "1MiB", "--backend", "pwrite"])
            .args(arguments)
            .arg(folder.path().join("file"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn the_cache_is_looked_at_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let line = run(
        &["write", "--backend", "pwrite", "--size", "1MiB"],
        folder.path(),
    );
    assert!(line.metrics["cached_bytes_before"].abs() < 1.0);
    assert!((line.metrics["cached_bytes_after"] - 1_048_576.0).abs() < 1.0);
}

#[test]
fn threads_run_on_the_requested_processors_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "write",
        "--backend",
        "pwrite",
        "--size",
        "1MiB",
        "--threads",
        "2",
        "--cpus",
    ];
    let line = run(&[&arguments[..], &["0"]].concat(), folder.path());
    let noted = |words: &str| line.notes.iter().any(|note| note.contains(words));
    assert!(noted("writer 1 runs on processor 0"), "{:?}", line.notes);
    let file = folder.path().join("file");
    fs::write(&file, "the previous file").unwrap();
    let refused = Command::new(DGEN)
        .arg("run")
        .args(arguments)
        .arg("0,900")
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("on processor 900: "), "{message}");
    assert_eq!(fs::read(&file).unwrap(), b"the previous file");
}

#[test]
fn validating_prints_one_line_and_fails_where_it_must() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let contents = [
        "--strategy",
        "write-only",
        "--buffer",
        "64KiB",
        "--buffers",
        "3",
        "--seed",
        "5",
    ];
    let knobs = ["--compress", "2", "--dedup", "1.5"];
    run(
        &[&["write", "--size", "1000001"], &contents[..], &knobs].concat(),
        folder.path(),
    );
    let validate = |more: &[&str]| {
        let output = Command::new(DGEN)
            .arg("validate")
            .args(contents)
            .args(knobs)
            .args(more)
            .arg(&file)
            .output()
            .unwrap();
        let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (
            output.status.code(),
            line,
            String::from_utf8_lossy(&output.stderr).lines().count(),
        )
    };
    let (code, line, messages) = validate(&["--size", "1000001"]);
    assert_eq!((code, messages), (Some(0), 0), "{line}");
    assert_eq!(line["bytes"], 1_000_001);
    assert_eq!(validate(&["--size", "1000000"]).0, Some(1));
    let mut bytes = fs::read(&file).unwrap();
    bytes[777_777] ^= 0xff;
    fs::write(&file, &bytes).unwrap();
    let (code, line, messages) = validate(&["--readers", "2"]);
    assert_eq!((code, messages), (Some(1), 1));
    assert_eq!(
        (&line["first_bad_offset"], &line["bad_bytes"]),
        (&777_777.into(), &1.into())
    );
    assert_eq!(line["actual"], worker::hex(&bytes[777_777..777_793]));
}

#[test]
fn generating_alone_leaves_no_file_and_validating_reports_an_existing_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let arguments = ["--strategy", "generate-only", "--size", "1MiB"];
    run(&[&["write"], &arguments[..]].concat(), folder.path());
    let path = file.to_str().unwrap();
    let validate = [&["validate"], &arguments[..], &[path]].concat();
    let (code, out, _) = dgen(&validate);
    assert_eq!(code, Some(0));
    assert_eq!(out, "{\"bytes\":0,\"file\":null}\n");
    fs::write(path, "left by another").unwrap();
    let (code, out, error) = dgen(&validate);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(
        error,
        format!("dgen: {path} is there, and the strategy writes no file\n")
    );
}

fn dgen(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dgen"))
        .args(arguments)
        .output()
        .expect("dgen starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_text_is_written_and_its_digest_printed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let path = path.to_str().unwrap();
    let (code, out, _) = dgen(&[
        "text", "--kind", "prose", "--size", "1MiB", "--seed", "42", "--output", path,
    ]);
    assert_eq!(code, Some(0));
    assert!(include_str!("../vectors.txt").contains(&format!("prose 42 1048576 {out}")));
    assert_eq!(std::fs::metadata(path).unwrap().len(), 1 << 20);
}

#[test]
fn wrong_usage_and_failure_have_different_exit_codes() {
    assert_eq!(
        dgen(&[
            "text",
            "--kind",
            "verse",
            "--size",
            "1",
            "--output",
            "/dev/null"
        ])
        .0,
        Some(2)
    );
    assert_eq!(
        dgen(&["text", "--size", "1.5B", "--output", "/dev/null"]).0,
        Some(2)
    );
    let (code, _, error) = dgen(&["text", "--size", "1", "--output", "/no/such/folder/text"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        error,
        "dgen: cannot write /no/such/folder/text: No such file or directory (os error 2)\n"
    );
}

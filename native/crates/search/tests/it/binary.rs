//! The binary: every engine writes the same list, every option is in the receipt, and failures are
//! reported.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use search::engine::{ENGINES, Knob};
use search::parser::{self, Simd};
use worker::answer::Line;
use worker::describe::Description;

/// Files of one message each, and a larger one.
const SMALL: usize = 40;

fn corpus(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("sessions");
    fs::create_dir(&path).unwrap();
    let line = |number: usize, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u-{number}\",\"timestamp\":\"2025-06-01T12:00:{:02}Z\",\
             \"message\":{{\"content\":\"{text}\"}}}}\n",
            number % 60
        )
    };
    for number in 0..SMALL {
        fs::write(
            path.join(format!("{number:02}.jsonl")),
            line(number, "Task of straße"),
        )
        .unwrap();
    }
    let large: String = (0..900)
        .map(|number| line(number, if number % 9 == 0 { "task" } else { "other" }))
        .collect();
    fs::write(path.join("large.jsonl"), large + "no message\n").unwrap();
    path
}

struct Ran {
    output: Output,
    line: Line,
}

impl Ran {
    fn metric(&self, name: &str) -> usize {
        let text = self.line.metrics[name].to_string();
        text.parse().unwrap()
    }
}

fn run(corpus: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let answers = corpus.with_extension("answers");
    let _ = fs::remove_file(&answers);
    let output = Command::new(env!("CARGO_BIN_EXE_search"))
        .args(["run", "--query", "task"])
        .args(arguments)
        .arg(corpus)
        .env("BENCHCTL_ANSWERS", &answers)
        .env_remove("BLOCKING_MAX_THREADS")
        .env_remove("SMOL_THREADS")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?} {output:?}");
    let text = fs::read_to_string(&answers).unwrap();
    Ran {
        output,
        line: serde_json::from_str(&text).unwrap(),
    }
}

fn description() -> Description {
    let output = Command::new(env!("CARGO_BIN_EXE_search"))
        .arg("describe")
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn simd(parser: &str) -> Simd {
    (parser::parser(parser).unwrap().simd)()
}

#[test]
fn a_parser_below_the_processor_is_described_as_limited() {
    for parser in &description().axes["parser"].values {
        assert_eq!(parser.limited, simd(&parser.name).limitation());
    }
}

#[test]
fn every_engine_and_parser_writes_the_same_list_and_reports_the_actual_mode() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let description = description();
    assert!(description.allocator.version.is_some());
    let metrics: Vec<_> = description
        .metrics
        .iter()
        .map(|metric| &metric.name)
        .collect();
    let first = run(&corpus, &["--engine", "sequential"], &[]);
    assert_eq!(first.line.answer.count, SMALL as u64 + 100);
    let list = String::from_utf8(first.output.stdout.clone()).unwrap();
    assert_eq!(list.lines().count(), 51);
    for engine in &description.axes["engine"].values {
        for parser in &description.axes["parser"].values {
            let ran = run(
                &corpus,
                &["--engine", &engine.name, "--parser", &parser.name],
                &[],
            );
            assert_eq!(ran.line.answer, first.line.answer, "{}", engine.name);
            assert_eq!(ran.output.stdout, first.output.stdout, "{}", engine.name);
            assert_eq!(ran.line.effective["engine"], engine.name);
            assert_eq!(ran.line.effective["parser"], parser.name);
            assert_eq!(ran.line.effective["simd"], simd(&parser.name).used);
            assert_eq!(ran.line.effective["allocator"], description.allocator.name);
            assert_eq!(ran.line.metrics.keys().collect::<Vec<_>>(), metrics);
            assert_eq!(ran.metric("files"), SMALL + 1);
            assert_eq!(ran.metric("lines"), SMALL + 901);
            assert_eq!(ran.metric("bad_lines"), 1);
            let bad = &ran.line.notes[0];
            assert!(bad.starts_with("1 bad lines: large.jsonl:901: "), "{bad}");
        }
    }
}

#[test]
fn threads_are_those_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    for engine in ENGINES {
        let has = |knob| engine.knobs.contains(&knob);
        let mut settings = Vec::new();
        if has(Knob::Threads) {
            settings.push((vec!["--threads", "3"], vec![]));
        }
        if has(Knob::TokioWorkers) {
            settings.push((vec!["--tokio-workers", "3"], vec![]));
        }
        if has(Knob::SmolThreads) {
            settings.push((vec![], vec![("SMOL_THREADS", "3")]));
        }
        assert_eq!(settings.is_empty(), engine.name == "sequential");
        for (arguments, variables) in settings {
            let ran = run(
                &corpus,
                &[&["--engine", engine.name], &arguments[..]].concat(),
                &variables,
            );
            assert_eq!(ran.metric("threads_executor"), 3, "{}", engine.name);
        }
        let mut blocking = Vec::new();
        if has(Knob::TokioBlocking) {
            blocking.push((vec!["--tokio-blocking", "1"], vec![]));
        }
        if has(Knob::BlockingMaxThreads) {
            blocking.push((vec![], vec![("BLOCKING_MAX_THREADS", "1")]));
        }
        for (arguments, variables) in blocking {
            let ran = run(
                &corpus,
                &[
                    &["--engine", engine.name, "--concurrency", "200"],
                    &arguments[..],
                ]
                .concat(),
                &variables,
            );
            assert_eq!(ran.metric("threads_blocking"), 1, "{}", engine.name);
        }
    }
}

#[test]
fn every_knob_shows_in_the_receipt() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let large = usize::try_from(fs::metadata(corpus.join("large.jsonl")).unwrap().len()).unwrap();
    for engine in ENGINES {
        let run = |arguments: &[&str]| {
            run(
                &corpus,
                &[&["--engine", engine.name], arguments].concat(),
                &[],
            )
        };
        let has = |knob| engine.knobs.contains(&knob);
        if has(Knob::Channel) {
            for channel in ["bounded", "unbounded"] {
                assert_eq!(
                    run(&["--channel", channel]).line.effective["channel"],
                    channel
                );
            }
        }
        if has(Knob::Concurrency) {
            let processors = std::thread::available_parallelism().unwrap().get();
            let half = run(&["--concurrency", "half-cpu"]);
            assert!((1..=(processors / 2).max(1)).contains(&half.metric("in_flight_peak")));
        }
        if has(Knob::WholeFile) {
            let ran = run(&["--whole-file", "1KiB"]);
            assert_eq!(ran.metric("files_whole"), SMALL);
            assert_eq!(
                run(&["--whole-file", "1MiB"]).metric("files_whole"),
                SMALL + 1
            );
        } else {
            assert_eq!(run(&[]).metric("files_whole"), 0);
        }
        let pieces = run(&["--chunk", "4KiB"]).metric("pieces");
        let chunks = if has(Knob::Chunk) {
            large.div_ceil(4096)
        } else {
            1
        };
        assert_eq!(pieces, SMALL + chunks);

        let small = run(&["--buffer", "1KiB", "--whole-file", "1B"]);
        assert_eq!(small.metric("buffer_peak"), 1024, "{}", engine.name);
        assert!(
            small.metric("reads") > large / 1024 + SMALL,
            "{}",
            engine.name
        );
        let mapped = run(&["--reading", "mmap"]);
        assert_eq!(mapped.line.effective["reading"], "mmap", "{}", engine.name);
        assert_eq!(
            (mapped.metric("reads"), mapped.metric("buffer_peak")),
            (0, 0)
        );

        let fresh = run(&["--line-buffer", "fresh"]);
        assert_eq!(fresh.line.effective["line-buffer"], "fresh");
        assert_eq!(fresh.metric("lines_copied"), SMALL + 901);
        let prefiltered = run(&["--prefilter", "on"]);
        assert_eq!(prefiltered.line.effective["prefilter"], "on");
        assert_eq!(prefiltered.metric("lines_parsed"), SMALL + 100);
        let texts = |fold| {
            let ran = run(&["--fold", fold]);
            assert_eq!(ran.line.effective["fold"], fold);
            ran.metric("texts_folded")
        };
        assert!(texts("unicode") > texts("ascii"));
    }
}

fn effects(ran: &Ran) -> Vec<&str> {
    let notes = ran.line.notes.iter().map(String::as_str);
    notes.filter(|note| note.contains("effect")).collect()
}

#[test]
fn options_without_effect_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let ran = run(
        &corpus,
        &[
            "--engine",
            "rayon",
            "--channel",
            "unbounded",
            "--tokio-workers",
            "3",
            "--reading",
            "mmap",
            "--buffer",
            "1MiB",
        ],
        &[("SMOL_THREADS", "nonsense")],
    );
    assert_eq!(
        effects(&ran),
        [
            "without effect on rayon: --channel, --tokio-workers, SMOL_THREADS",
            "without effect with --reading mmap: --buffer",
        ]
    );
    let ran = run(
        &corpus,
        &["--engine", "smol-global", "--concurrency", "cpu"],
        &[("SMOL_THREADS", "2")],
    );
    assert_eq!(effects(&ran), Vec::<&str>::new());
}

/// Arguments, variables, exit code, and what the error must name.
type Refusal<'a> = (Vec<String>, &'a [(&'a str, &'a str)], i32, &'a str);

#[test]
fn impossible_work_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path()).display().to_string();
    let query = |text: &str| vec!["--query".to_owned(), text.to_owned(), corpus.clone()];
    let with = |more: &[&str]| {
        [
            query("a"),
            more.iter().map(|&word| word.to_owned()).collect(),
        ]
        .concat()
    };
    let smol = with(&["--engine", "smol-global"]);
    let on = |input: &str| vec!["--query".to_owned(), "a".to_owned(), input.to_owned()];
    let refused: Vec<Refusal<'_>> = vec![
        (query(&"(".repeat(100_000)), &[], 2, "nested deeper than 64"),
        (
            query(&("not ".repeat(10_000) + "a")),
            &[],
            2,
            "nested deeper than 64",
        ),
        (
            query(&format!("/{}a{}/", "(".repeat(5000), ")".repeat(5000))),
            &[],
            2,
            "nested parentheses",
        ),
        (query("/((a{100}){100}){100}/"), &[], 2, "size limit"),
        (query("/a/g"), &[], 2, "column 4"),
        (
            with(&[
                "--after",
                "2025-06-02T00:00:00Z",
                "--before",
                "2025-06-01T00:00:00Z",
            ]),
            &[],
            2,
            "--before",
        ),
        (with(&["--before", "yesterday"]), &[], 2, "yesterday"),
        (with(&["--threads", "0"]), &[], 2, "--threads"),
        (with(&["--threads", "100000"]), &[], 2, "1024"),
        (with(&["--chunk", "1"]), &[], 2, "4KiB"),
        (with(&["--engine", "rayon2"]), &[], 2, "rayon2"),
        (
            smol.clone(),
            &[("BLOCKING_MAX_THREADS", "0")],
            2,
            "BLOCKING_MAX_THREADS",
        ),
        (
            smol.clone(),
            &[("BLOCKING_MAX_THREADS", "many")],
            2,
            "BLOCKING_MAX_THREADS",
        ),
        (smol, &[("SMOL_THREADS", "0")], 2, "SMOL_THREADS"),
        (on("/dev/zero"), &[], 1, "/dev/zero is not a regular file"),
        // Its size is reported as 0, but it is larger.
        (on("/proc/self/status"), &[], 1, "the inputs changed"),
        (on("/no/such/folder"), &[], 1, "/no/such/folder"),
        (on("/dev/fd"), &[], 1, "contains no *.jsonl file"),
    ];
    for (arguments, variables, code, named) in refused {
        let output = Command::new(env!("CARGO_BIN_EXE_search"))
            .arg("run")
            .args(&arguments)
            .envs(variables.iter().copied())
            .env("BENCHCTL_ANSWERS", folder.path().join("answers"))
            .output()
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let shown: String = message.chars().take(400).collect();
        assert_eq!(output.status.code(), Some(code), "{shown}");
        assert!(message.contains(named), "{named}: {shown}");
        assert!(
            !message.contains("panicked") && message.len() < 1000,
            "{shown}"
        );
        assert!(output.stdout.is_empty());
    }
    assert!(
        !folder.path().join("answers").exists(),
        "a failed run appends no line"
    );
}

/// tokio and smol panic if the system refuses a thread, and tokio then waits forever for the others.
#[test]
fn a_thread_that_cannot_be_started_is_one_line_and_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    for (engine, option) in [
        ("rayon", "--threads"),
        ("tokio-worker-pool", "--tokio-workers"),
        ("smol-global", ""),
    ] {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -v 300000; exec \"$0\" \"$@\""])
            .args([env!("CARGO_BIN_EXE_search"), "run", "--query", "task"])
            .args(["--engine", engine])
            .env("SMOL_THREADS", "1000")
            // After a few threads, the next stack does not fit, and what is left suffices for everything else.
            .env("RUST_MIN_STACK", (64 << 20).to_string())
            .env("MALLOC_ARENA_MAX", "1");
        if !option.is_empty() {
            command.args([option, "1000"]);
        }
        let output = command.arg(&corpus).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{engine}: {message}");
        assert!(message.starts_with("search: "), "{engine}: {message}");
        assert_eq!(message.lines().count(), 1, "{engine}: {message}");
    }
}

#[test]
fn a_line_that_outgrows_the_memory_is_one_line_and_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    fs::File::create(&path).unwrap().set_len(70 << 20).unwrap();
    for engine in ["sequential", "tokio-worker-pool"] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 100000; exec \"$0\" \"$@\""])
            .args([env!("CARGO_BIN_EXE_search"), "run", "--query", "task"])
            .args(["--tokio-workers", "1", "--engine", engine])
            .arg(&path)
            .output()
            .unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{engine}: {message}");
        assert!(message.contains("long.jsonl: a line of more than"));
        assert_eq!(message.lines().count(), 1, "{engine}: {message}");
    }
}

/// A file that is truncated while it is mapped causes an error message, never a silent death.
#[test]
fn a_file_that_is_cut_while_it_is_mapped_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    fs::create_dir(&sessions).unwrap();
    // A hole takes no room, and long enough to scan that it is met in the middle.
    let path = sessions.join("long.jsonl");
    let file = fs::File::create(&path).unwrap();
    file.set_len(8 << 30).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_search"))
        .args(["run", "--query", "task", "--reading", "mmap"])
        .arg(&sessions)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let maps = format!("/proc/{}/maps", child.id());
    while !fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("long.jsonl")) {
        assert_eq!(child.try_wait().unwrap(), None, "it mapped nothing");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    file.set_len(5000).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(
        message,
        "search: a file became shorter while it was mapped\n"
    );
}

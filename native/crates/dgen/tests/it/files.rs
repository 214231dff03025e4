//! Several files from one run: their contents, their receipt, and the remaining files if one fails.

use std::collections::HashSet;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use dgen::data::{Data, Settings};
use dgen::write::strategy::{Driver, STRATEGIES, Strategy, strategy};
use dgen::write::{Durability, FileError, Options, Stats, write_file};
use sink::{MODES, Mode};
use worker::answer::Line;

use crate::needs;

const DGEN: &str = env!("CARGO_BIN_EXE_dgen");
const BLOCK: usize = 8192;

fn nonzero(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

fn file_path(path: &Path, index: usize) -> PathBuf {
    sink::path_of(path, nonzero(2), index)
}

fn options(strategy: &'static Strategy, backend: &'static Mode, files: usize) -> Options {
    Options {
        strategy,
        backend,
        files: nonzero(files),
        threads: nonzero(2),
        buffer_bytes: nonzero(BLOCK),
        buffers: nonzero(6),
        depth: nonzero(3),
        durability: Durability::Fdatasync(5),
        ..Options::new((40 * BLOCK + 4321) as u64, Settings::default())
    }
}

fn run(path: &Path, options: &Options) -> Result<Stats, FileError> {
    write_file(path, options, &mut |_| ControlFlow::Continue(()))
}

/// Strategies that write several files, with every backend that they go with here.
fn pairs() -> impl Iterator<Item = (&'static Strategy, &'static Mode)> {
    STRATEGIES
        .iter()
        .filter(|strategy| {
            strategy.writes
                && strategy.driver == Driver::Own
                && !["single-buffer", "pregenerated-uring"].contains(&strategy.name)
        })
        .flat_map(|strategy| MODES.iter().map(move |mode| (*strategy, *mode)))
        .filter(|(strategy, mode)| (strategy.refuses)(mode).is_none())
        .filter(|(_, mode)| needs::can_have("io_uring", (mode.probe)()))
}

#[test]
fn every_strategy_that_streams_writes_them_and_answers_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let data = Data::portable(&Settings::default()).unwrap();
    for files in [1, 2, 5] {
        let mut digests = HashSet::new();
        for (strategy, backend) in pairs() {
            let options = options(strategy, backend, files);
            let what = format!("{options:?}");
            let stats = run(&path, &options).unwrap();
            assert_eq!(stats.effective["strategy"], strategy.name, "{what}");
            assert_eq!(stats.effective["backend"], backend.name, "{what}");
            assert_eq!(stats.effective["durability"], "fdatasync:5", "{what}");
            assert_eq!((stats.files, stats.bytes), (files, options.size), "{what}");
            // One that starts late may find nothing left to do.
            assert!((1..=2).contains(&stats.evidence.writers), "{what}");
            for index in 0..files {
                let size = sink::size_of(options.size, options.files, index);
                let mut right = vec![0; usize::try_from(size).unwrap()];
                for (number, block) in right.chunks_mut(6 * BLOCK).enumerate() {
                    let at = if strategy.recycles {
                        0
                    } else {
                        index as u64 * data.stride() + (number * 6 * BLOCK) as u64
                    };
                    data.fill(at, block);
                }
                let name = sink::path_of(&path, options.files, index);
                assert!(fs::read(&name).unwrap() == right, "{index} {what}");
                fs::remove_file(name).unwrap();
            }
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{what}");
            if !strategy.recycles {
                digests.insert(stats.digest);
            }
        }
        assert_eq!(digests.len(), 1, "{files}");
    }
}

#[test]
fn a_strategy_that_keeps_a_file_in_memory_writes_only_one() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["single-buffer", "pregenerated-uring"] {
        let strategy = strategy(name).unwrap();
        let refused = run(
            &folder.path().join("file"),
            &options(strategy, strategy.default_backend(), 2),
        );
        // Without a ring, the second fails with that error.
        assert!(refused.is_err(), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Of 512 bytes at a time, none is in two files; inside of a file there are as many as were
/// requested.
#[test]
fn files_share_nothing_whatever_is_copied_inside_them() {
    let cases = [
        (None, None),
        (Some("3@512"), None),
        (Some("2.5@1536,set:4"), None),
        (Some("2,adjacent"), Some("2")),
        (None, Some("1.5@1536")),
    ];
    for (dedup, compress) in cases {
        let settings = Settings {
            seed: 7,
            dedup: dedup.map(|text| text.parse().unwrap()),
            compress: compress.map(|text| text.parse().unwrap()),
        };
        let data = Data::new(&settings).unwrap();
        let mut earlier = HashSet::new();
        for index in [0, 1, 2, 65_535] {
            let mut file = vec![0; 1 << 20];
            data.fill(data.stride() * index, &mut file);
            // The repeated part of a granule alternates two bytes, of which there are few kinds.
            let own: HashSet<_> = file
                .chunks(512)
                .filter(|piece| piece[..2] != piece[2..4])
                .map(<[u8]>::to_vec)
                .collect();
            assert!(own.len() > 100);
            assert!(earlier.is_disjoint(&own), "{settings:?} {index}");
            earlier.extend(own);
        }
    }
}

fn dgen(arguments: &[&str], path: &Path) -> Output {
    Command::new(DGEN)
        .args(arguments)
        .arg(path)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_commands_write_and_validate_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data set");
    let answers = folder.path().join("answers");
    let contents = ["--seed", "5", "--dedup", "2", "--compress", "2"];
    let sizes = ["--files", "3", "--size", "1000001"];
    let write = ["run", "write", "--backend", "pwrite", "--buffer", "64KiB"];
    let output = Command::new(DGEN)
        .args(write)
        .args(contents)
        .args(sizes)
        .arg(&path)
        .env("BENCHCTL_ANSWERS", &answers)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let line: Line = serde_json::from_str(fs::read_to_string(&answers).unwrap().trim()).unwrap();
    assert_eq!(line.answer.count, 1_000_001);
    assert!((line.metrics["files"] - 3.0).abs() < f64::EPSILON);
    let validate = |sizes: &[&str]| {
        let output = dgen(&[&["validate"], &contents[..], sizes].concat(), &path);
        let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), line, stderr(&output))
    };
    let (code, line, _) = validate(&sizes);
    assert_eq!(code, Some(0), "{line}");
    assert_eq!(
        (&line["files"], &line["bytes"]),
        (&3.into(), &1_000_001.into())
    );
    assert!(line["first_bad_file"].is_null());
    // The same bytes under other numbers, or in another file, are wrong ones.
    assert_eq!(validate(&["--files", "3", "--size", "1000000"]).0, Some(1));
    assert_eq!(validate(&["--files", "2"]).0, Some(0));
    assert_eq!(validate(&["--files", "4"]).0, Some(1));
    fs::rename(file_path(&path, 0), file_path(&path, 9)).unwrap();
    fs::rename(file_path(&path, 1), file_path(&path, 0)).unwrap();
    fs::rename(file_path(&path, 9), file_path(&path, 1)).unwrap();
    assert_eq!(validate(&["--files", "3"]).0, Some(1));
    fs::rename(file_path(&path, 0), file_path(&path, 9)).unwrap();
    fs::rename(file_path(&path, 1), file_path(&path, 0)).unwrap();
    fs::rename(file_path(&path, 9), file_path(&path, 1)).unwrap();

    let mut bytes = fs::read(file_path(&path, 2)).unwrap();
    bytes[54_321] ^= 1;
    fs::write(file_path(&path, 2), bytes).unwrap();
    let (code, line, error) = validate(&sizes);
    assert_eq!(code, Some(1));
    assert_eq!(
        (&line["bad_bytes"], &line["first_bad_offset"]),
        (&1.into(), &54_321.into())
    );
    assert!(
        line["first_bad_file"]
            .as_str()
            .unwrap()
            .ends_with("data set.2")
    );
    assert!(
        error.contains("data set.2 differs from its data in 1 bytes"),
        "{error}"
    );
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_no_other_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::create_dir(file_path(&path, 1)).unwrap();
    let output = dgen(
        &[
            "run",
            "write",
            "--backend",
            "pwrite",
            "--files",
            "3",
            "--size",
            "1MiB",
        ],
        &path,
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("file.1: only a regular file"),
        "{}",
        stderr(&output)
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    for arguments in [
        &["--strategy", "python-loop", "--size", "9"][..],
        &["--backend", "pwrite", "--size", "1PiB"],
        &["--backend", "pwrite", "--size", "1048576GiB"],
    ] {
        let all = [&["run", "write", "--files", "3"], arguments].concat();
        assert_eq!(dgen(&all, &path).status.code(), Some(2), "{arguments:?}");
    }
}

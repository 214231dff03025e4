//! The evidence of reading must distinguish the modes, whatever their names are.

#![cfg(not(feature = "test-swap-io"))]

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::*;

fn options() -> Options {
    Options {
        block_bytes: 4096,
        ..Options::default()
    }
}

fn file(folder: &Path, size: usize) -> PathBuf {
    let path = folder.join(format!("file-{size}"));
    let contents: Vec<u8> = (0..=250).cycle().take(size).collect();
    fs::write(&path, contents).unwrap();
    path
}

/// Modes that can run here. Only rings and direct I/O may be missing.
fn available() -> impl Iterator<Item = &'static Mode> {
    MODES
        .iter()
        .copied()
        .filter(|mode| needs::can_read(mode.name, (mode.probe)()))
}

fn read_all(mode: &'static Mode, input: &Input) -> (Vec<u8>, Observation) {
    let mut contents = Vec::new();
    let observation = open(mode, input)
        .unwrap()
        .for_each_block(&options(), &mut |block| {
            assert!(!block.is_empty());
            contents.extend_from_slice(block);
            ControlFlow::Continue(())
        })
        .unwrap();
    (contents, observation)
}

#[test]
fn names_are_kebab_case_and_unique() {
    for (index, mode) in MODES.iter().enumerate() {
        assert!(
            mode.name.chars().all(|letter| letter.is_ascii_lowercase()
                || letter.is_ascii_digit()
                || letter == '-')
        );
        assert!(MODES[..index].iter().all(|other| other.name != mode.name));
        assert!(!mode.about.is_empty());
    }
}

#[test]
fn every_mode_delivers_the_file_and_leaves_its_own_evidence() {
    let folder = tempfile::tempdir().unwrap();
    for size in [0, 1, 4095, 4096, 4097, 100_000] {
        let path = file(folder.path(), size);
        let expected = fs::read(&path).unwrap();
        for mode in available() {
            let (contents, observation) = read_all(mode, &Input::File(path.clone()));
            assert!(contents == expected, "{} {size}", mode.name);
            assert_eq!(observation.mode, mode.name, "{size} {observation:?}");
            assert_eq!(observation.evidence.bytes, size as u64);
            assert!(observation.notes.is_empty());
        }
    }
}

/// A mode under another's name is detected, once the file is larger than a block.
#[test]
fn a_swapped_mode_is_reported_as_the_actual_mode() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 100_000));
    for named in MODES {
        for doer in available().filter(|doer| doer.name != named.name) {
            let swapped: &'static Mode = Box::leak(Box::new(Mode {
                name: named.name,
                about: named.about,
                whole: doer.whole,
                streams: doer.streams,
                probe: doer.probe,
                matches: named.matches,
                read: doer.read,
            }));
            let (_, observation) = read_all(swapped, &input);
            assert_eq!(
                observation.mode, doer.name,
                "{} called {}",
                doer.name, named.name
            );
        }
    }
}

/// Reads by means that leave no trace: what it delivers is not in a mapping of the file, and no read was counted.
#[expect(clippy::unnecessary_wraps, reason = "the shape of a mode")]
fn read_without_trace(
    _file: &File,
    _options: &Options,
    _evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let _ = on_block(b"from nowhere");
    Ok(())
}

#[test]
fn reading_without_evidence_is_unknown_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 12));
    for named in MODES {
        let read_without_trace: &'static Mode = Box::leak(Box::new(Mode {
            name: named.name,
            about: named.about,
            whole: true,
            streams: false,
            probe: || None,
            matches: named.matches,
            read: read_without_trace,
        }));
        assert_eq!(
            read_all(read_without_trace, &input).1.mode,
            "unknown",
            "{}",
            named.name
        );
    }
}

#[test]
fn a_fact_of_one_mode_is_no_evidence_of_another() {
    let evidence = Evidence {
        facts: [("completions", 1)].into(),
        ..Evidence::default()
    };
    for mode in MODES {
        assert!(!(mode.matches)(&evidence), "{}", mode.name);
    }
}

#[test]
fn a_pipe_is_read_in_blocks_and_the_fallback_is_stated() {
    for mode in MODES {
        let (pipe, mut writer) = std::io::pipe().unwrap();
        let sender = std::thread::spawn(move || writer.write_all(&vec![7; 20_000]).unwrap());
        let path = PathBuf::from(format!(
            "/proc/self/fd/{}",
            std::os::fd::AsRawFd::as_raw_fd(&pipe)
        ));
        let reader = open(mode, &Input::File(path)).unwrap();
        drop(pipe);
        let mut bytes = 0;
        let observation = reader
            .for_each_block(&options(), &mut |block| {
                bytes += block.len();
                ControlFlow::Continue(())
            })
            .unwrap();
        sender.join().unwrap();
        assert_eq!(bytes, 20_000);
        if !mode.streams {
            assert_eq!(observation.mode, "read");
            assert!(observation.notes[0].contains(mode.name));
        }
    }
}

#[test]
fn a_file_with_contents_but_no_size_is_no_empty_file() {
    let input = Input::File(PathBuf::from("/proc/self/status"));
    for mode in available() {
        let mut bytes = 0;
        let result = open(mode, &input)
            .unwrap()
            .for_each_block(&options(), &mut |block| {
                bytes += block.len();
                ControlFlow::Continue(())
            });
        assert!(result.is_err() || bytes > 0, "{}", mode.name);
    }
}

/// Cut off inside the last page, a mapping shows zeros and raises nothing; grown, it lacks the end.
#[test]
fn a_mapped_file_that_changes_its_size_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    for size in [4100, 4196] {
        let path = file(folder.path(), 4150);
        let result = open(mode("mmap").unwrap(), &Input::File(path.clone()))
            .unwrap()
            .for_each_block(&options(), &mut |_| {
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .and_then(|file| file.set_len(size))
                    .unwrap();
                ControlFlow::Continue(())
            });
        assert!(
            result.is_err_and(|error| error.to_string().contains("changed its size")),
            "{size}"
        );
    }
}

#[test]
fn a_name_that_is_not_utf8_hides_no_mapping() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff\n"));
    fs::write(&path, "some words").unwrap();
    for mode in available() {
        let (_, observation) = read_all(mode, &Input::File(path.clone()));
        assert_eq!(observation.mode, mode.name);
    }
}

#[test]
fn a_folder_is_called_one_by_every_mode() {
    let folder = tempfile::tempdir().unwrap();
    for mode in MODES {
        let error = open(mode, &Input::File(folder.path().to_owned())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{}", mode.name);
    }
}

#[test]
fn a_block_that_memory_cannot_hold_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 10));
    for mode in available().filter(|mode| !mode.whole) {
        let options = Options {
            block_bytes: usize::MAX / 4,
            ..options()
        };
        let result = open(mode, &input)
            .unwrap()
            .for_each_block(&options, &mut |_| ControlFlow::Continue(()));
        assert_eq!(
            result.unwrap_err().kind(),
            io::ErrorKind::OutOfMemory,
            "{}",
            mode.name
        );
    }
}

#[test]
fn breaking_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 100_000));
    for mode in available() {
        let mut calls = 0;
        let result = open(mode, &input)
            .unwrap()
            .for_each_block(&options(), &mut |_| {
                calls += 1;
                ControlFlow::Break(())
            });
        assert!(result.is_ok());
        assert_eq!(calls, 1, "{}", mode.name);
    }
}

#[test]
fn the_advice_on_a_mapping_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), 1 << 20);
    for advice in ADVICE.iter().filter(|advice| (advice.probe)().is_none()) {
        let options = Options {
            advice,
            ..options()
        };
        let observation = open(mode("mmap").unwrap(), &Input::File(path.clone()))
            .unwrap()
            .for_each_block(&options, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(observation.evidence.advice, Some(advice.name));
        assert_eq!(observation.mode, "mmap");
    }
}

/// A copy in the page cache would be found by a mode that only sets the flag; the tail must come all the same.
#[test]
fn a_file_of_any_length_is_read_whole_by_every_mode_and_block_size() {
    let folder = tempfile::tempdir().unwrap();
    for size in [511, 512, 513, 4096, 8191, 12_289] {
        let path = file(folder.path(), size);
        let expected = fs::read(&path).unwrap();
        for mode in available() {
            for block_bytes in [1, 7, 511, 512, 513, 5000, 1 << 20] {
                let options = Options {
                    block_bytes,
                    ..options()
                };
                let mut contents = Vec::new();
                let observation = open(mode, &Input::File(path.clone()))
                    .unwrap()
                    .for_each_block(&options, &mut |block| {
                        assert!(mode.whole || block.len() <= block_bytes);
                        contents.extend_from_slice(block);
                        ControlFlow::Continue(())
                    })
                    .unwrap();
                assert!(contents == expected, "{} {size} {block_bytes}", mode.name);
                assert_eq!(observation.mode, mode.name);
            }
        }
    }
}

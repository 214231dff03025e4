//! What reading leaves behind must tell the modes apart, whatever they are called.

#![cfg(not(feature = "test-swap-io"))]

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::*;

const OPTIONS: Options = Options { block_bytes: 4096 };

fn file(folder: &Path, size: usize) -> PathBuf {
    let path = folder.join(format!("file-{size}"));
    let contents: Vec<u8> = (0..=250).cycle().take(size).collect();
    fs::write(&path, contents).unwrap();
    path
}

fn read_all(mode: &'static Mode, input: &Input) -> (Vec<u8>, Observed) {
    let mut contents = Vec::new();
    let observed = open(mode, input)
        .unwrap()
        .visit_blocks(&OPTIONS, &mut |block| {
            assert!(!block.is_empty());
            contents.extend_from_slice(block);
            ControlFlow::Continue(())
        })
        .unwrap();
    (contents, observed)
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
        for mode in MODES.iter().filter(|mode| (mode.probe)().is_none()) {
            let (contents, observed) = read_all(mode, &Input::File(path.clone()));
            assert!(contents == expected, "{} {size}", mode.name);
            assert_eq!(observed.mode, mode.name, "{size} {observed:?}");
            assert_eq!(observed.evidence.bytes, size as u64);
            assert_eq!(observed.note, None);
        }
    }
}

/// A mode under another's name is found out, once the file is larger than a block.
#[test]
fn a_swapped_mode_is_named_by_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 100_000));
    for named in MODES {
        for doer in MODES.iter().filter(|doer| doer.name != named.name) {
            let swapped: &'static Mode = Box::leak(Box::new(Mode {
                name: named.name,
                about: named.about,
                whole: doer.whole,
                streams: doer.streams,
                probe: doer.probe,
                matches: named.matches,
                source: doer.source,
            }));
            let (_, observed) = read_all(swapped, &input);
            assert_eq!(
                observed.mode, doer.name,
                "{} called {}",
                doer.name, named.name
            );
        }
    }
}

/// Reads by means that leave no trace: what it delivers is not in a mapping of the file, and no read was counted.
struct Untraced;

impl Source for Untraced {
    fn visit_blocks(
        &self,
        _file: &File,
        _options: &Options,
        _evidence: &mut Evidence,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let _ = visit(b"from nowhere");
        Ok(())
    }
}

#[test]
fn what_left_no_evidence_is_unknown_under_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 12));
    for named in MODES {
        let untraced: &'static Mode = Box::leak(Box::new(Mode {
            name: named.name,
            about: named.about,
            whole: true,
            streams: false,
            probe: || None,
            matches: named.matches,
            source: &Untraced,
        }));
        assert_eq!(
            read_all(untraced, &input).1.mode,
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
        let (reader, mut writer) = std::io::pipe().unwrap();
        let sender = std::thread::spawn(move || writer.write_all(&vec![7; 20_000]).unwrap());
        let path = PathBuf::from(format!(
            "/proc/self/fd/{}",
            std::os::fd::AsRawFd::as_raw_fd(&reader)
        ));
        let opened = open(mode, &Input::File(path)).unwrap();
        drop(reader);
        let mut bytes = 0;
        let observed = opened
            .visit_blocks(&OPTIONS, &mut |block| {
                bytes += block.len();
                ControlFlow::Continue(())
            })
            .unwrap();
        sender.join().unwrap();
        assert_eq!(bytes, 20_000);
        if !mode.streams {
            assert_eq!(observed.mode, "read");
            assert!(observed.note.unwrap().contains(mode.name));
        }
    }
}

#[test]
fn a_file_with_contents_but_no_size_is_no_empty_file() {
    let input = Input::File(PathBuf::from("/proc/self/status"));
    for mode in MODES {
        let mut bytes = 0;
        let result = open(mode, &input)
            .unwrap()
            .visit_blocks(&OPTIONS, &mut |block| {
                bytes += block.len();
                ControlFlow::Continue(())
            });
        assert!(result.is_err() || bytes > 0, "{}", mode.name);
    }
}

#[test]
fn breaking_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let input = Input::File(file(folder.path(), 100_000));
    for mode in MODES {
        let mut calls = 0;
        let result = open(mode, &input)
            .unwrap()
            .visit_blocks(&OPTIONS, &mut |_| {
                calls += 1;
                ControlFlow::Break(())
            });
        assert!(result.is_ok());
        assert_eq!(calls, 1, "{}", mode.name);
    }
}

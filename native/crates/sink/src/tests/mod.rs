//! Every mode writes the same bytes, and its evidence distinguishes it from the other modes.

use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::*;

mod fault_injection;
mod syncs;

pub(crate) fn nonzero(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

pub(crate) fn job(size: u64) -> Job {
    Job {
        size,
        files: nonzero(1),
        stride: 0,
        block_bytes: nonzero(8192),
        buffers: nonzero(4),
        depth: nonzero(3),
        pages: Pages::Huge,
        writers: nonzero(1),
        split: Split::Next,
        contents: Contents::PerBlock,
        submit: Submit::Each,
        direct: Direct::Off,
        durability: Durability::None,
        dontcache: false,
        reserve: false,
        processors: Vec::new(),
    }
}

/// All blocks differ, and no byte is zero, as in a hole.
pub(crate) fn contents(offset: u64, room: &mut [u8]) {
    for (at, byte) in (offset..).zip(room) {
        let mixed = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        *byte = 1 + u8::try_from(mixed % 255).unwrap();
    }
}

pub(crate) fn write_file(path: &Path, mode: &'static Mode, job: &Job) -> Result<Done, Fault> {
    write(path, mode, job, &contents, &mut |_| {
        ControlFlow::Continue(())
    })
}

pub(crate) fn expected_bytes(size: u64, modulus: u64) -> Vec<u8> {
    let mut whole = vec![0; usize::try_from(modulus.min(size)).unwrap()];
    contents(0, &mut whole);
    whole
        .iter()
        .copied()
        .cycle()
        .take(usize::try_from(size).unwrap())
        .collect()
}

/// Only rings may be missing.
fn can_run(mode: &Mode) -> bool {
    needs::can_have("io_uring", (mode.probe)())
}

pub(crate) fn available_modes() -> impl Iterator<Item = &'static Mode> {
    MODES.iter().copied().filter(|mode| can_run(mode))
}

#[test]
fn names_are_kebab_case_and_unique() {
    for (index, mode) in MODES.iter().enumerate() {
        assert!(
            mode.name
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '-')
        );
        assert!(MODES[..index].iter().all(|other| other.name != mode.name));
        assert!(!mode.about.is_empty());
    }
}

#[test]
fn every_mode_writes_the_file_and_leaves_its_own_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for size in [0, 1, 4095, 8192, 8193, 100_000, 20 * 8192] {
        for mode in available_modes() {
            for (writers, split) in [(1, Split::Next), (3, Split::Next), (3, Split::Parts)] {
                for contents in [Contents::PerBlock, Contents::Before] {
                    for submit in [Submit::Each, Submit::WhenFull] {
                        for direct in [Direct::Off, Direct::Try] {
                            let job = Job {
                                writers: nonzero(writers),
                                split,
                                contents,
                                submit,
                                direct,
                                ..job(size)
                            };
                            let done = write_file(&path, mode, &job).unwrap();
                            let modulus = match contents {
                                Contents::PerBlock => u64::MAX,
                                Contents::Before => 4 * 8192,
                            };
                            let what = format!("{} {job:?}", mode.name);
                            assert!(
                                fs::read(&path).unwrap() == expected_bytes(size, modulus),
                                "{what}"
                            );
                            assert_eq!(done.size, size, "{what}");
                            assert!(done.extents[0].are_whole(size), "{what}");
                            assert_eq!(judge(mode, &done.evidence), mode.name, "{what}");
                            assert_eq!(done.evidence.blocks, size.div_ceil(8192), "{what}");
                            assert_eq!(done.evidence.filled_bytes, size.min(modulus), "{what}");
                            assert_eq!(done.evidence.latency.0.len(), done.evidence.blocks);
                            assert!(done.evidence.most_in_flight <= 3, "{what}");
                            if split == Split::Parts {
                                assert_eq!(done.evidence.jumps, 0, "{what}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_mapping_is_recognised_below_a_folder_whose_name_is_not_utf_8() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join(OsStr::from_bytes(b"\xff"));
    fs::create_dir(&below).unwrap();
    let done = write_file(&below.join("file"), &mmap::MODE, &job(8192)).unwrap();
    assert_eq!(done.evidence.mapped_bytes, 8192);
}

#[test]
fn threads_that_fill_buffers_beforehand_are_bound_too() {
    let processors_of_thread = || {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap().trim().to_owned()
    };
    let list = processors_of_thread();
    let first = list.split(['-', ',']).next().unwrap();
    let job = Job {
        contents: Contents::Before,
        processors: vec![first.parse().unwrap()],
        ..job(4 * 8192)
    };
    let fill = |offset: u64, room: &mut [u8]| {
        assert_eq!(processors_of_thread(), first);
        contents(offset, room);
    };
    discard(&job, &fill, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(processors_of_thread(), list);
}

/// A mode under another's name is detected.
#[test]
fn a_swapped_mode_is_reported_as_the_actual_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for named in available_modes() {
        for doer in available_modes().filter(|doer| doer.name != named.name) {
            let swapped: &'static Mode = Box::leak(Box::new(Mode {
                name: named.name,
                about: named.about,
                direct: doer.direct,
                maps: doer.maps,
                queues: doer.queues,
                probe: doer.probe,
                matches: named.matches,
                write: doer.write,
            }));
            let done = write_file(&path, swapped, &job(100_000)).unwrap();
            assert_eq!(judge(swapped, &done.evidence), doer.name);
        }
    }
}

#[test]
fn the_queue_is_as_deep_as_asked() {
    if !can_run(&uring::MODE) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let full = Job {
        submit: Submit::WhenFull,
        ..job(40 * 8192)
    };
    let done = write_file(&path, &uring::MODE, &full).unwrap();
    assert_eq!(done.evidence.first_batch, Some((3, 3)));
    assert_eq!(done.evidence.most_in_flight, 3);
    let done = write_file(&path, &uring::MODE, &job(40 * 8192)).unwrap();
    assert_eq!(done.evidence.first_batch, Some((1, 1)));
}

#[test]
fn stopping_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for mode in available_modes() {
        fs::write(&path, "the previous file").unwrap();
        let slow = |offset: u64, room: &mut [u8]| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            contents(offset, room);
        };
        let stopped = write(&path, mode, &job(1 << 30), &slow, &mut |_| {
            ControlFlow::Break(())
        });
        assert!(matches!(stopped, Err(Fault::Stopped)), "{}", mode.name);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            0,
            "{}",
            mode.name
        );
    }
}

#[test]
fn only_a_regular_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path(), Path::new("/dev/null")] {
        let refused = write_file(path, &pwrite::MODE, &job(1)).unwrap_err();
        assert!(matches!(refused, Fault::Contradiction(_)), "{refused}");
    }
    let target = folder.path().join("target");
    fs::write(&target, "old").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    write_file(&link, &pwrite::MODE, &job(9)).unwrap();
    assert_eq!(fs::read(&target).unwrap().len(), 9);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_link_that_leads_to_no_file_yet_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink("second", at("first")).unwrap();
    std::os::unix::fs::symlink(at("target"), at("second")).unwrap();
    write_file(&at("first"), &pwrite::MODE, &job(9)).unwrap();
    assert_eq!(fs::read(at("target")).unwrap(), expected_bytes(9, u64::MAX));
    assert!(fs::symlink_metadata(at("first")).unwrap().is_symlink());
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    let refused = write_file(&at("loop"), &pwrite::MODE, &job(9)).unwrap_err();
    assert!(refused.to_string().contains("levels of symbolic links"));
}

/// Both are detected before the work begins, not when the file gets its name.
#[test]
fn an_impossible_name_is_refused_before_contents_are_produced() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("missing/", folder.path().join("link")).unwrap();
    let untouched = |_: u64, _: &mut [u8]| panic!("contents were produced");
    for name in ["missing/", "missing/.", "missing/file", "link"] {
        let path = folder.path().join(name);
        let refused = write(&path, &pwrite::MODE, &job(9), &untouched, &mut |_| {
            ControlFlow::Continue(())
        });
        assert!(refused.is_err(), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_previous_file_remains_if_the_requested_mode_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "stays").unwrap();
    let impossible = [
        Job {
            direct: Direct::Require,
            block_bytes: nonzero(1000),
            ..job(5000)
        },
        Job {
            writers: nonzero(5000),
            ..job(5000)
        },
        job(u64::MAX),
    ];
    for job in impossible {
        write_file(&path, &pwrite::MODE, &job).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"stays", "{job:?}");
    }
}

#[test]
fn contradictory_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let require = Job {
        direct: Direct::Require,
        ..job(1)
    };
    assert!(write_file(&path, &mmap::MODE, &require).is_err());
    let odd = Job {
        block_bytes: nonzero(1000),
        ..job(5000)
    };
    assert!(write_file(&path, &mmap::MODE, &odd).is_err());
    for mode in [&pwrite::MODE, &uring::MODE] {
        if can_run(mode) {
            write_file(&path, mode, &odd).unwrap();
            assert_eq!(fs::read(&path).unwrap(), expected_bytes(5000, u64::MAX));
        }
    }
}

#[test]
fn discarding_writes_nothing() {
    let done = discard(&job(100_000), &contents, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((done.size, done.evidence.written_bytes), (100_000, 0));
    assert_eq!(done.evidence.filled_bytes, 100_000);
}

/// File i contains the data from i strides on, whichever writer writes it. No file has its name
/// before all are complete.
#[test]
fn several_files_are_written_by_any_number_of_writers() {
    const STRIDE: u64 = 1 << 30;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let watched = |offset: u64, room: &mut [u8]| {
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        contents(offset, room);
    };
    for mode in available_modes() {
        for (files, writers) in [(1, 3), (2, 1), (3, 2), (3, 3), (3, 8), (7, 2)] {
            for split in [Split::Next, Split::Parts] {
                for size in [0, 4097, 40 * 8192 + 4321] {
                    let job = Job {
                        files: nonzero(files),
                        stride: STRIDE,
                        writers: nonzero(writers),
                        split,
                        durability: Durability::EndFsync,
                        direct: Direct::Try,
                        ..job(size)
                    };
                    let what = format!("{} {job:?}", mode.name);
                    let done = write(&path, mode, &job, &watched, &mut |_| {
                        ControlFlow::Continue(())
                    })
                    .unwrap();
                    let mut blocks = 0;
                    for index in 0..files {
                        let own = size_of(size, job.files, index);
                        let mut right = vec![0; usize::try_from(own).unwrap()];
                        contents(index as u64 * STRIDE, &mut right);
                        let name = path_of(&path, job.files, index);
                        assert!(fs::read(&name).unwrap() == right, "{index} {what}");
                        assert!(done.extents[index].are_whole(own), "{index} {what}");
                        blocks += own.div_ceil(8192);
                        fs::remove_file(name).unwrap();
                    }
                    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{what}");
                    assert_eq!((done.size, done.evidence.blocks), (size, blocks), "{what}");
                    assert_eq!(done.evidence.syncs_after, files as u64, "{what}");
                    assert!(done.evidence.writers <= writers, "{what}");
                    assert!(done.evidence.buffers <= writers.max(4), "{what}");
                    assert_eq!(judge(mode, &done.evidence), mode.name, "{what}");
                }
            }
        }
    }
}

#[test]
fn all_files_get_names_or_none_does_and_a_fault_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let three = Job {
        files: nonzero(3),
        ..job(100_000)
    };
    let at = |index| path_of(&path, three.files, index);
    // Found before the others are touched.
    fs::write(at(0), "stays").unwrap();
    fs::create_dir(at(2)).unwrap();
    let refused = write_file(&path, &pwrite::MODE, &three).unwrap_err();
    assert!(
        refused.to_string().contains("file.2: only a regular file"),
        "{refused}"
    );
    assert_eq!(fs::read(at(0)).unwrap(), b"stays");
    fs::remove_dir(at(2)).unwrap();
    // A file that takes the last name in the meantime is not replaced; the first two names are
    // removed.
    let taken = |offset: u64, room: &mut [u8]| {
        fs::write(at(2), "another's").unwrap();
        contents(offset, room);
    };
    let refused = write(&path, &pwrite::MODE, &three, &taken, &mut |_| {
        ControlFlow::Continue(())
    });
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("file.2: cannot give the name to"),
        "{refused}"
    );
    assert!(!at(0).exists() && !at(1).exists());
    assert_eq!(fs::read(at(2)).unwrap(), b"another's");
}

//! Every strategy by every backend writes the right bytes, and reports the actual mode.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

use dgen::data::{Data, Settings};
use dgen::validate::read_and_validate;
use dgen::write::strategy::{Driver, STRATEGIES, Strategy, strategy};
use dgen::write::{
    DURABILITIES, Direct, Durability, Fault, FileContents, FileError, Options, Stats,
    name_of_durability, write_file,
};
use sink::{MODES, Mode};

use crate::needs;

const BLOCK: u64 = 8192;

fn nonzero(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

fn go_on(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn options(strategy: &'static Strategy, backend: &'static Mode, size: u64) -> Options {
    Options {
        strategy,
        backend,
        buffer_bytes: nonzero(usize::try_from(BLOCK).unwrap()),
        buffers: nonzero(4),
        depth: nonzero(3),
        ..Options::new(size, settings())
    }
}

fn settings() -> Settings {
    Settings {
        seed: 9,
        ..Settings::default()
    }
}

/// Strategies and backends that go together here. Those in Python are run by the binary: `receipt.rs` runs them where
/// there is a Python, and a Python test compares their answers with these.
fn pairs() -> impl Iterator<Item = (&'static Strategy, &'static Mode)> {
    STRATEGIES
        .iter()
        .filter(|strategy| strategy.writes && strategy.driver == Driver::Own)
        .flat_map(|strategy| MODES.iter().map(move |mode| (*strategy, *mode)))
        .filter(|(strategy, mode)| (strategy.refuses)(mode).is_none())
        .filter(|(_, mode)| needs::can_have("io_uring", (mode.probe)()))
}

/// The bytes by the plainest means: the data, begun again after each pool if the strategy recycles one.
fn expected(strategy: &Strategy, size: u64) -> Vec<u8> {
    let period = if strategy.recycles {
        4 * BLOCK
    } else {
        u64::MAX
    };
    let data = Data::portable(&settings()).unwrap();
    let mut once = vec![0; usize::try_from(period.min(size)).unwrap()];
    data.fill(0, &mut once);
    let size = usize::try_from(size).unwrap();
    once.iter().copied().cycle().take(size).collect()
}

fn check(path: &Path, options: &Options) -> Stats {
    let what = format!("{options:?}");
    let stats =
        write_file(path, options, &mut go_on).unwrap_or_else(|error| panic!("{error} {what}"));
    assert!(
        fs::read(path).unwrap() == expected(options.strategy, options.size),
        "{what}"
    );
    let period = options.strategy.recycles.then_some(4 * BLOCK);
    let contents = FileContents::with_period(&settings(), period).unwrap();
    let size = Some(options.size);
    let validation = read_and_validate(path, &contents, size, nonzero(2), &mut go_on).unwrap();
    assert!(
        validation.is_right() && validation.bytes == options.size,
        "{what}"
    );
    assert_eq!(stats.bytes, options.size, "{what}");
    assert_eq!(
        stats.effective["strategy"], options.strategy.name,
        "{what} {stats:?}"
    );
    assert_eq!(
        stats.effective["backend"], options.backend.name,
        "{what} {stats:?}"
    );
    assert_eq!(
        stats.effective["durability"],
        name_of_durability(options.durability),
        "{what} {stats:?}"
    );
    // Where the file system does not honour O_DIRECT, `try` says so.
    let direct = stats.effective["direct"].as_str();
    match options.direct {
        Direct::Off => assert_eq!(direct, "off", "{what}"),
        _ if direct == "off" => assert!(!stats.evidence.notes.is_empty(), "{what}"),
        _ => assert_eq!(direct, "try", "{what}"),
    }
    stats
}

#[test]
fn every_pair_writes_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (strategy, backend) in pairs() {
        for size in [0, 1, BLOCK, 10 * BLOCK, 11 * BLOCK + 4321] {
            for direct in [Direct::Off, Direct::Try] {
                for threads in [1, 3] {
                    let options = Options {
                        direct,
                        threads: nonzero(threads),
                        ..options(strategy, backend, size)
                    };
                    check(&path, &options);
                }
            }
        }
    }
}

#[test]
fn every_pair_is_as_durable_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (strategy, backend) in pairs() {
        let listed = DURABILITIES.iter().map(|(durability, ..)| *durability);
        for durability in listed.chain([Durability::Fdatasync(3)]) {
            let options = Options {
                durability,
                ..options(strategy, backend, 10 * BLOCK)
            };
            check(&path, &options);
        }
    }
}

#[test]
fn strategies_that_write_the_same_answer_alike_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let digest = |strategy, backend, threads| {
        let options = Options {
            threads: nonzero(threads),
            ..options(strategy, backend, 10 * BLOCK)
        };
        write_file(&path, &options, &mut go_on).unwrap().digest
    };
    let plain = digest(
        strategy("threads").unwrap(),
        sink::mode("pwrite").unwrap(),
        2,
    );
    for (strategy, backend) in pairs() {
        let same = digest(strategy, backend, 2) == plain;
        assert_eq!(
            same, !strategy.recycles,
            "{} {}",
            strategy.name, backend.name
        );
    }
    let nothing = digest(
        strategy("generate-only").unwrap(),
        sink::mode("pwrite").unwrap(),
        1,
    );
    assert_ne!(nothing, plain);
}

#[test]
fn generating_alone_touches_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "stays").unwrap();
    let options = Options {
        threads: nonzero(2),
        ..options(strategy("generate-only").unwrap(), MODES[0], 10 * BLOCK)
    };
    let stats = write_file(&path, &options, &mut go_on).unwrap();
    assert_eq!(stats.effective["strategy"], "generate-only");
    assert_eq!(stats.evidence.filled_bytes, 10 * BLOCK);
    assert_eq!(fs::read(&path).unwrap(), b"stays");
}

#[test]
fn incompatible_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for strategy in STRATEGIES {
        for backend in MODES
            .iter()
            .filter(|mode| (strategy.refuses)(mode).is_some())
        {
            let refused = write_file(&path, &options(strategy, backend, 1), &mut go_on);
            assert!(refused.is_err_and(|error| error.is_usage()));
        }
        if strategy.driver != Driver::Own {
            let own = strategy.default_backend();
            let refused = write_file(&path, &options(strategy, own, 1), &mut go_on).unwrap_err();
            assert!(refused.is_usage());
            assert!(refused.to_string().contains("another program"), "{refused}");
        }
    }
    assert!(!path.exists());
}

#[test]
fn an_interruption_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (strategy, backend) in pairs() {
        // More than could be written before the first call of the progress function.
        let options = Options {
            durability: Durability::Dsync,
            ..options(strategy, backend, 1 << 30)
        };
        let error = write_file(&path, &options, &mut |_| ControlFlow::Break(())).unwrap_err();
        assert!(
            matches!(
                &error,
                FileError::Fault {
                    fault: Fault::Stopped,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn validating_finds_a_flipped_byte_and_a_wrong_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let size = 5 << 20;
    check(
        &path,
        &options(strategy("streaming").unwrap(), MODES[0], size),
    );
    let contents = FileContents::with_period(&settings(), None).unwrap();
    let validate =
        |size| read_and_validate(&path, &contents, size, nonzero(3), &mut go_on).unwrap();
    assert!(validate(None).is_right());
    assert!(!validate(Some(size + 1)).is_right());
    assert!(!validate(Some(size - 1)).is_right());
    for at in [0, 1 << 20, (1 << 20) - 1, 3_333_333, size - 1] {
        let mut bytes = fs::read(&path).unwrap();
        let at_index = usize::try_from(at).unwrap();
        bytes[at_index] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let validation = validate(Some(size));
        assert_eq!(
            (validation.differences.count, validation.differences.first),
            (1, Some(at))
        );
        assert_eq!(
            validation.differences.actual[0] ^ validation.differences.expected[0],
            0x10
        );
        bytes[at_index] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
    }
}

/// Changed at the first call of the progress function, which comes before the end of a file that is large enough.
#[test]
fn a_file_that_changes_while_it_is_validated_is_neither_right_nor_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let contents = FileContents::with_period(&settings(), None).unwrap();
    let open = || fs::OpenOptions::new().write(true).open(&path).unwrap();
    let write = || std::os::unix::fs::FileExt::write_all_at(&open(), b"x", 3).unwrap();
    let cut = || open().set_len(3).unwrap();
    let cases: [(&str, &dyn Fn()); 2] = [("it was written to", &write), ("ends at offset", &cut)];
    for (message, change) in cases {
        let mut size = 64 << 20;
        let outcome = loop {
            // A hole: nothing in it is right, and no disk is filled.
            let file = fs::File::create(&path).unwrap();
            file.set_len(size).unwrap();
            let mut changed = false;
            let mut progress = |_| {
                if !changed {
                    change();
                    changed = true;
                }
                ControlFlow::Continue(())
            };
            let outcome = read_and_validate(&path, &contents, None, nonzero(1), &mut progress);
            if changed {
                break outcome;
            }
            size *= 2;
        };
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(message), "{message}: {error}");
    }
}

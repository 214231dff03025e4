//! Every way of reading × runtime × tokenizer × case × hasher × block size on the same corpora, against a slow and
//! obvious count; what cannot run here is printed (`cargo test -p tally conformance -- --nocapture --include-ignored`).

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use source::{Input, Mode};
use tally::case::{CASES, Case};
use tally::job::{Count, Job};
use tally::{hasher, order, runtime, tokenizer};
use unicode_segmentation::UnicodeSegmentation;
use worker::exit::Failure;

use crate::needs;

/// The sample takes every 13th combination. No axis has a multiple of 13 values, so the sample has each value of each axis.
const SAMPLE: usize = 13;

/// Block sizes around the traps: every byte a block edge, odd small ones, and larger than the corpus.
const BLOCKS: &[usize] = &[1, 3, 64, 65_536];

fn corpora() -> Vec<(String, Vec<u8>)> {
    let mut corpora = Vec::new();
    for kind in dgen::KINDS {
        let mut block = vec![0; dgen::BLOCK_BYTES];
        let contents = dgen::Text::new(kind, 42, 3_000).fill(0, &mut block);
        corpora.push((kind.name.to_owned(), contents.to_vec()));
    }
    let traps = [
        ("empty", ""),
        ("one-byte", "a"),
        ("only-newlines", "\n\n\r\n\n"),
        (
            "apostrophes",
            "Don't 'tis rock'n'roll dogs' '' ' 'quoted' it''s",
        ),
        (
            "numbers",
            "3.14 1,000,000 1;2 3'000 .5 5. a.b 1.a a.1 1..2 1,a e.g. U.S.A.",
        ),
        ("underscores", "foo_bar _ __ _a a_ _1_ __init__ _'_ a_'b"),
        ("colons", "a:b 1:2 a::b :a a: http://x.y:80"),
        ("crlf", "one\r\ntwo\r\n\r\nthree"),
        (
            "combining",
            "e\u{301}a \u{301}b \u{301} a\u{301}\u{301} \n\u{301}c ( \u{301}) ถูกต้อง \u{0e34}",
        ),
        ("zwj", "👨‍👩‍👧‍👦 a\u{200d}b 👩‍💻x 1️⃣2 a\u{200d} b"),
        ("regional", "🇩🇪🇫🇷🇩 a🇩🇪b 🇩🇪🇫🇷"),
        (
            "scripts",
            "日本語テスト です。東京都 ไทยแลนด์ 한국어 문장 שלום ד\"ר ץ' Straße ǅ ﬁ İstanbul ΟΔΟΣ",
        ),
        ("mixed-joins", "é.a a.é é'x 1.é é,1 ١,٢ a·b l·l é_x _é __é"),
        (
            "spaces",
            "a\u{a0}b a\u{3000}b a\u{2003} \u{2003}\u{301}b a \u{0e34}b  \u{0e34}",
        ),
        ("nul", "a\0b \0 \0\u{301}"),
        (
            "long-word",
            "supercalifragilisticexpialidocious sixteen_letters_ seventeen_letters aaaaaaaaaaaaaaaab",
        ),
    ];
    corpora.extend(
        traps
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())),
    );
    corpora.push(("one-word".to_owned(), vec![b'x'; 2_000]));
    corpora.push(("one-han-line".to_owned(), "漢字".repeat(300).into_bytes()));
    corpora
}

/// The words by the plainest means: the whole text at once, one `String` per word.
fn plain(text: &str, tokenizer: &str, case: Case) -> HashMap<String, u64> {
    let words: Vec<&str> = match tokenizer {
        "unicode" => text.unicode_words().collect(),
        "ascii" => text
            .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '\'')
            .filter(|word| !word.is_empty())
            .collect(),
        other => panic!("write down what {other} counts"),
    };
    let mut counts = HashMap::new();
    for word in words {
        let word = match case {
            Case::Original => word.to_owned(),
            Case::Lower => word.to_lowercase(),
            Case::Upper => word.to_uppercase(),
        };
        *counts.entry(word).or_insert(0) += 1;
    }
    counts
}

fn list_words(counts: &HashMap<String, u64>) -> String {
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by(|left, right| {
        right
            .1
            .cmp(left.1)
            .then(left.0.as_bytes().cmp(right.0.as_bytes()))
    });
    sorted
        .iter()
        .fold(String::new(), |mut text, (word, count)| {
            writeln!(text, "{count} {word:?}").unwrap();
            text
        })
}

fn list_count(count: &Count) -> String {
    order::by_count(&count.table, count.pool.as_ref())
        .iter()
        .fold(String::new(), |mut text, entry| {
            writeln!(
                text,
                "{} {:?}",
                entry.count(),
                std::str::from_utf8(entry.word()).unwrap()
            )
            .unwrap();
            text
        })
}

/// Modes that can run here. Only rings and direct I/O may be missing.
pub fn modes() -> Vec<&'static Mode> {
    source::MODES
        .iter()
        .copied()
        .filter(|mode| needs::can_read(mode.name, (mode.probe)()))
        .collect()
}

/// A job with the first value of each axis, but for the mode and the runtime's threads.
fn job(mode: &'static Mode, path: &Path) -> Job {
    Job {
        mode,
        tokenizer: tokenizer::TOKENIZERS[0],
        case: Case::Original,
        hasher: hasher::HASHERS[0],
        advice: source::ADVICE[0],
        block_bytes: 65_536,
        threads: 2,
        inputs: vec![Input::File(path.to_owned())],
    }
}

/// Calls `check` with a job for every mode, runtime, tokenizer and block size.
fn every_job(path: &Path, mut check: impl FnMut(&str, &runtime::Runtime, &Job)) {
    for mode in modes() {
        for runtime in runtime::RUNTIMES {
            for tokenizer in tokenizer::TOKENIZERS {
                let blocks = if mode.whole { &[65_536][..] } else { BLOCKS };
                for &block_bytes in blocks {
                    let job = Job {
                        tokenizer,
                        block_bytes,
                        ..job(mode, path)
                    };
                    let name = format!(
                        "{} {} {} {block_bytes}",
                        mode.name, runtime.name, tokenizer.name
                    );
                    check(&name, runtime, &job);
                }
            }
        }
    }
}

#[test]
fn a_sample_of_combinations_gives_the_reference_answer_and_reports_the_actual_mode() {
    check_combinations(SAMPLE);
}

#[test]
#[ignore = "takes long; `nox -s release` runs it"]
fn every_combination_gives_the_reference_answer_and_reports_the_actual_mode() {
    check_combinations(1);
}

/// Checks every `step`th combination of each corpus.
fn check_combinations(step: usize) {
    let folder = tempfile::tempdir().unwrap();
    let corpora = Mutex::new(corpora());
    let (start, combinations) = (Instant::now(), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((corpus, contents)) = corpora.lock().unwrap().pop() else {
                        return;
                    };
                    let path = folder.path().join(&corpus);
                    fs::write(&path, &contents).unwrap();
                    let checked = check_corpus(&corpus, &contents, &path, step);
                    combinations.fetch_add(checked, Ordering::Relaxed);
                }
            });
        }
    });
    eprintln!(
        "{combinations:?} combinations gave the plain answer in {:.0?}",
        start.elapsed()
    );
}

/// Checks every `step`th combination of one corpus, and returns their number.
fn check_corpus(corpus: &str, contents: &[u8], path: &Path, step: usize) -> usize {
    // Each corpus begins with another combination.
    let (mut number, mut combinations) = (contents.len(), 0);
    let text = std::str::from_utf8(contents).unwrap();
    for (case, case_name, _) in CASES {
        let expected: HashMap<_, _> = tokenizer::TOKENIZERS
            .iter()
            .map(|tokenizer| (tokenizer.name, plain(text, tokenizer.name, *case)))
            .collect();
        every_job(path, |name, runtime, job| {
            for hasher in hasher::HASHERS {
                number += 1;
                if !number.is_multiple_of(step) {
                    continue;
                }
                let name = format!("{corpus} {name} {case_name} {}", hasher.name);
                let job = Job {
                    case: *case,
                    hasher,
                    ..job.clone()
                };
                let result = (runtime.run)(&job);
                check(&name, runtime, &job, result, contents, &expected);
                combinations += 1;
            }
        });
    }
    combinations
}

fn check(
    name: &str,
    runtime: &runtime::Runtime,
    job: &Job,
    result: Result<Count, Failure>,
    contents: &[u8],
    expected: &HashMap<&str, HashMap<String, u64>>,
) {
    if let Some(offset) = contents.iter().position(|byte| !byte.is_ascii())
        && job.tokenizer.name == "ascii"
    {
        let message = result
            .err()
            .unwrap_or_else(|| panic!("{name} did not fail"))
            .to_string();
        let end = format!("outside ASCII at byte offset {offset}");
        assert!(message.ends_with(&end), "{name}: {message}");
        return;
    }
    let count = result.unwrap_or_else(|error| panic!("{name}: {error}"));
    let expected = &expected[job.tokenizer.name];
    assert_eq!(list_count(&count), list_words(expected), "{name}");
    assert_eq!(count.table.total(), expected.values().sum::<u64>());
    assert_eq!(count.table.distinct(), expected.len());
    assert_eq!(count.bytes, contents.len() as u64);
    assert!(count.notes.is_empty(), "{name} {:?}", count.notes);
    let only = |values: &BTreeSet<&'static str>, value| {
        assert_eq!(values.iter().collect::<Vec<_>>(), [&value], "{name}");
    };
    only(&count.modes, job.mode.name);
    if !contents.is_empty() {
        only(&count.tokenizers, job.tokenizer.name);
        only(&count.hashers, job.hasher.name);
        only(&count.runtimes, runtime.name);
        assert!((1..=2).contains(&count.threads));
    }
}

#[test]
fn invalid_utf8_is_named_by_its_offset_in_a_sample_of_combinations() {
    check_invalid_utf8(SAMPLE);
}

#[test]
#[ignore = "takes long; `nox -s release` runs it"]
fn invalid_utf8_is_named_by_its_offset_wherever_a_block_ends() {
    check_invalid_utf8(1);
}

/// Checks every `step`th combination of each invalid text.
fn check_invalid_utf8(step: usize) {
    let mut number = 0;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("invalid");
    let broken: [&[u8]; 6] = [
        b"\xff",
        b"\xc3",
        b"\xe6\x97",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x92",
        b"\x80",
    ];
    for bytes in broken {
        for before in ["", "plain words ", "日本 ", "語", "é"] {
            for after in ["", " and more words", "語", "\n"] {
                let mut contents = before.repeat(3).into_bytes();
                let offset = contents.len();
                contents.extend_from_slice(bytes);
                contents.extend_from_slice(after.as_bytes());
                // Another one after it must not be the one that is named.
                contents.extend_from_slice(b" tail \xff");
                fs::write(&path, &contents).unwrap();
                every_job(&path, |name, runtime, job| {
                    number += 1;
                    if job.tokenizer.name == "unicode" && number % step == 0 {
                        let message = (runtime.run)(job)
                            .err()
                            .unwrap_or_else(|| panic!("{name}"))
                            .to_string();
                        let end = format!("invalid UTF-8 at byte offset {offset}");
                        assert!(message.ends_with(&end), "{contents:?} {name}: {message}");
                    }
                });
            }
        }
    }
}

#[test]
fn inputs_are_read_in_turn_and_no_word_crosses_them() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["one", "two"].map(|name| folder.path().join(name));
    fs::write(&paths[0], "alpha be").unwrap();
    fs::write(&paths[1], "ta alpha").unwrap();
    every_job(&paths[0], |name, runtime, job| {
        let mut job = job.clone();
        job.inputs = paths.iter().cloned().map(Input::File).collect();
        let count = (runtime.run)(&job).unwrap();
        assert_eq!(
            (count.table.total(), count.table.distinct()),
            (4, 3),
            "{name}"
        );
        assert_eq!(count.bytes, 16);
    });
}

#[test]
fn an_input_that_cannot_be_read_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("absent"), folder.path().to_owned()] {
        every_job(&path, |name, runtime, job| {
            let message = (runtime.run)(job)
                .err()
                .unwrap_or_else(|| panic!("{name}"))
                .to_string();
            assert!(
                message.contains(&path.display().to_string()),
                "{name}: {message}"
            );
        });
    }
}

/// Words outside ASCII between single spaces, and bytes that are no words, with no line feed anywhere: what a naive
/// cut keeps whole grows with the file.
#[test]
fn the_carry_does_not_grow_with_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    for (text, words) in [
        ("слово и дело ", 3),
        ("ถูก ต้อง ", 5),
        ("(é) – ", 1),
        ("\0", 0),
        ("--", 0),
        ("e\u{301}\r", 1),
    ] {
        let times = 200_000 / text.len();
        fs::write(&path, text.repeat(times)).unwrap();
        let job = Job {
            block_bytes: 4096,
            ..job(source::mode("read").unwrap(), &path)
        };
        let count = (runtime::runtime("sequential").unwrap().run)(&job).unwrap();
        assert_eq!(count.table.total(), (words * times) as u64, "{text:?}");
        assert!(count.carry_peak <= 4096, "{text:?} {}", count.carry_peak);
    }
}

/// Searching the carry again with every block would take hours here.
#[test]
fn a_text_without_a_safe_cut_is_counted_in_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one-word");
    fs::write(&path, vec![b'x'; 16 << 20]).unwrap();
    for runtime in runtime::RUNTIMES {
        let job = Job {
            block_bytes: 4096,
            ..job(source::mode("read").unwrap(), &path)
        };
        let count = (runtime.run)(&job).unwrap();
        assert_eq!((count.table.total(), count.carry_peak), (1, 16 << 20));
    }
}

/// A pool of the library's own choice would use more threads than were requested.
#[test]
fn no_runtime_starts_another_pool() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    let words: Vec<String> = (0..50_000).map(|number| format!("w{number} ")).collect();
    fs::write(&path, words.concat()).unwrap();
    every_job(&path, |name, runtime, job| {
        if job.tokenizer.name == "ascii" && job.block_bytes > 1000 {
            let count = (runtime.run)(job).unwrap();
            assert_eq!(
                order::by_count(&count.table, count.pool.as_ref()).len(),
                50_000,
                "{name}"
            );
            assert_eq!(count.pool.is_some(), runtime.name == "rayon");
            assert!(
                count
                    .pool
                    .is_none_or(|pool| pool.current_num_threads() == job.threads)
            );
        }
    });
    // The global pool is built by its first use, and can be built by hand only before.
    assert!(
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build_global()
            .is_ok()
    );
}

/// Texts larger than any buffer: a line of 64 MB without a break, and CR LF and characters cut anywhere.
#[test]
#[ignore = "takes long; `nox -s release` runs it"]
fn large_texts_give_one_answer_in_every_mode_and_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long-line");
    for (kind, size) in [
        ("long-line", 64_000_000),
        ("crlf", 4_000_000),
        ("cjk", 4_000_000),
    ] {
        let kind = dgen::KINDS.iter().find(|known| known.name == kind).unwrap();
        let text = dgen::Text::new(kind, 42, size);
        dgen::write_file::<std::io::Error>(&text, &path, &mut |_| Ok(())).unwrap();
        let mut answers = BTreeSet::new();
        // The longest through one mode of each kind; it is the carry and the split that it tries.
        let long = |mode: &&Mode| size < 5_000_000 || ["read", "mmap"].contains(&mode.name);
        for mode in modes().into_iter().filter(long) {
            for runtime in runtime::RUNTIMES {
                // An odd size, so that blocks end inside characters.
                let job = Job {
                    block_bytes: 65_537,
                    ..job(mode, &path)
                };
                let count = (runtime.run)(&job).unwrap();
                assert_eq!(count.bytes, size, "{} {}", mode.name, runtime.name);
                assert!(count.carry_peak < 65_537, "{}", kind.name);
                answers.insert(order::digest(&order::by_count(&count.table, None)));
            }
        }
        assert_eq!(answers.len(), 1, "{}", kind.name);
    }
}

/// Sorting that is not total would order ties as they lie in the table, which differs between runtimes and hashers.
#[test]
fn ties_are_listed_in_one_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ties");
    let words: Vec<_> = (0..5_000)
        .rev()
        .map(|number| format!("tie{number:05}"))
        .collect();
    fs::write(&path, words.join(" ")).unwrap();
    let mut expected = words.clone();
    expected.sort();
    for runtime in runtime::RUNTIMES {
        for hasher in hasher::HASHERS {
            let job = Job {
                hasher,
                block_bytes: 4096,
                ..job(source::MODES[0], &path)
            };
            let count = (runtime.run)(&job).unwrap();
            let words: Vec<_> = order::by_count(&count.table, count.pool.as_ref())
                .iter()
                .map(|entry| String::from_utf8(entry.word().to_vec()).unwrap())
                .collect();
            assert!(words == expected, "{} {}", runtime.name, hasher.name);
        }
    }
}

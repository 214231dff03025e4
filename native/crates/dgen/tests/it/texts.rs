//! Properties of every kind of text in the registry.

use std::collections::HashSet;

use dgen::{BLOCK_BYTES, KINDS, Kind, Text, write_file};
use sha2::{Digest, Sha256};

fn contents(kind: &'static Kind, seed: u64, size: u64) -> Vec<u8> {
    let text = Text::new(kind, seed, size);
    let mut block = vec![0; BLOCK_BYTES];
    let blocks = (0..size.div_ceil(BLOCK_BYTES as u64))
        .map(|index| text.fill(index, &mut block).to_vec())
        .collect::<Vec<_>>();
    blocks.concat()
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The bytes are fixed forever: a record of last year must be able to make its dataset again.
#[test]
fn vectors() {
    let expected = include_str!("../vectors.txt");
    let mut actual = String::new();
    for kind in KINDS {
        for (seed, size) in [(0, 1000), (42, 1 << 20), (u64::MAX, 200_001)] {
            let line = format!(
                "{} {seed} {size} {}\n",
                kind.name,
                hex(&contents(kind, seed, size))
            );
            actual.push_str(&line);
        }
    }
    assert_eq!(actual, expected);
}

#[test]
fn exactly_as_long_as_asked_and_valid_utf8() {
    let block = BLOCK_BYTES as u64;
    for kind in KINDS {
        for size in (0..300).chain([block - 1, block, block + 1, 3 * block + 17]) {
            let contents = contents(kind, 7, size);
            assert_eq!(contents.len() as u64, size, "{}", kind.name);
            assert!(
                std::str::from_utf8(&contents).is_ok(),
                "{} {size}",
                kind.name
            );
        }
    }
}

#[test]
fn a_long_text_starts_with_the_whole_blocks_of_a_short_one() {
    for kind in KINDS {
        let long = contents(kind, 42, 1 << 20);
        let short = contents(kind, 42, 300_000);
        let whole = 300_000 / BLOCK_BYTES * BLOCK_BYTES;
        assert!(long[..whole] == short[..whole], "{}", kind.name);
    }
}

#[test]
fn blocks_may_be_filled_in_any_order() {
    for kind in KINDS {
        let text = Text::new(kind, 3, 200_000);
        let mut block = vec![0; BLOCK_BYTES];
        let mut parts: Vec<_> = (0..5)
            .rev()
            .map(|index| text.fill(index, &mut block).to_vec())
            .collect();
        parts.reverse();
        assert!(
            parts.concat() == contents(kind, 3, 200_000),
            "{}",
            kind.name
        );
    }
}

#[test]
fn seeds_and_kinds_share_nothing() {
    let mut actual = HashSet::new();
    for kind in KINDS {
        for seed in [0, 1, 2, 1 << 32] {
            let contents = contents(kind, seed, 3 * BLOCK_BYTES as u64);
            for block in contents.chunks(BLOCK_BYTES) {
                assert!(actual.insert(hex(block)), "{} {seed}", kind.name);
            }
        }
    }
}

#[test]
fn each_kind_is_what_it_is_called() {
    let text = |name| String::from_utf8(contents(dgen::kind(name).unwrap(), 42, 300_000)).unwrap();
    assert!(text("prose").is_ascii());
    assert!(text("prose").lines().all(|line| line.len() < 100));
    assert!(!text("no-spaces").contains(char::is_whitespace));
    let crlf = text("crlf");
    assert_eq!(crlf.matches("\r\n").count(), crlf.matches('\n').count());
    assert_eq!(crlf.matches("\r\n").count(), crlf.matches('\r').count());
    assert!(crlf.contains("\r\n"));
    assert!(!text("long-line").contains(['\r', '\n']));
    let cjk = text("cjk");
    for range in [
        '\u{4e00}'..='\u{9fff}',
        '\u{3041}'..='\u{3096}',
        '\u{30a1}'..='\u{30fa}',
        '\u{0e01}'..='\u{0e4b}',
    ] {
        assert!(
            cjk.chars().filter(|letter| range.contains(letter)).count() > 1000,
            "{range:?}"
        );
    }
}

#[test]
fn a_file_contains_the_stream_and_progress_reaches_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let text = Text::new(KINDS[0], 42, 20 << 20);
    let mut calls = Vec::new();
    let written = write_file::<std::io::Error>(&text, &path, &mut |bytes| {
        calls.push(bytes);
        Ok(())
    })
    .unwrap();
    let file = std::fs::read(&path).unwrap();
    assert_eq!(written.bytes, 20 << 20);
    assert_eq!(written.sha256, hex(&file));
    assert!(file == contents(KINDS[0], 42, 20 << 20));
    assert_eq!(calls.len(), 3);
    assert_eq!(calls.last(), Some(&(20 << 20)));
}

#[test]
fn an_error_of_progress_ends_the_writing() {
    let folder = tempfile::tempdir().unwrap();
    let text = Text::new(KINDS[0], 42, 40 << 20);
    let mut calls = 0;
    let result = write_file(&text, &folder.path().join("text"), &mut |_| {
        calls += 1;
        Err(std::io::Error::other("enough"))
    });
    assert_eq!(result.unwrap_err().to_string(), "enough");
    assert_eq!(calls, 1);
}

#[test]
fn an_error_removes_the_file_to_which_a_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::os::unix::fs::symlink("target", &link).unwrap();
    std::fs::write(&target, "old").unwrap();
    let text = Text::new(KINDS[0], 42, 1000);
    let failed = write_file(&text, &link, &mut |_| Err(std::io::Error::other("enough")));
    failed.unwrap_err();
    assert!(link.is_symlink() && !target.exists());
}

//! The fast tokenizers against the plain segmenter, on arbitrary texts cut into arbitrary blocks.

use std::collections::BTreeMap;

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use crate::case::Case;
use crate::cut::{self, Stitcher};
use crate::hasher::{HASHERS, Table};
use crate::tokenizer::{BadByte, tokenizer};

/// Characters of every class that UAX #29 distinguishes, and of every kind that the cuts treat
/// specially.
fn tricky() -> impl Strategy<Value = char> {
    let letters: Vec<char> = "aZ09_'.:,;\" -/(\n\r\t\0éß١٢·\u{301}\u{308}\u{ad}\u{200b}\u{200d}\u{feff}\u{a0}\u{3000}\u{2003}\u{85}\u{2028}\
        \u{2019}\u{2024}\u{202f}\u{ff0e}漢字語一龯㐀\u{9fff}\u{4000}\u{a000}\u{fe0f}\u{e0100}\u{302a}\u{3099}ひらカタｶﾅー々〇ไทย\u{e34}\u{e48}ກ\u{eb4}\
        ក\u{17b6}မ\u{102d}한글\u{1112}\u{1161}\u{11ab}אבש\u{5bc}ع\u{640}🇩🇪🇫👨👩💻🏽❤☝1\u{20e3}𝒳𠮷\u{10ffff}ſıİΣς"
        .chars()
        .collect();
    prop::sample::select(letters)
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(tricky(), 0..200).prop_map(String::from_iter),
        prop::collection::vec(
            prop_oneof![8 => prop::char::range(' ', '~'), 1 => tricky()],
            0..400
        )
        .prop_map(String::from_iter),
        prop::collection::vec(any::<char>(), 0..100).prop_map(String::from_iter),
        "\\PC{0,150}",
    ]
}

fn contents(table: &Table) -> BTreeMap<String, u64> {
    table
        .entries()
        .map(|entry| {
            (
                String::from_utf8(entry.word().to_vec()).unwrap(),
                entry.count(),
            )
        })
        .collect()
}

fn plain(text: &str, change: impl Fn(&str) -> String) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for word in text.unicode_words() {
        *counts.entry(change(word)).or_insert(0) += 1;
    }
    counts
}

/// Counts `text` in blocks of `block` bytes, and each piece again in pieces of `piece` bytes, by any hasher.
fn in_blocks(
    text: &[u8],
    name: &str,
    case: Case,
    block: usize,
    piece: usize,
) -> Result<Table, BadByte> {
    let hasher = HASHERS[(block + piece) % HASHERS.len()];
    let tokenizer = tokenizer(name).unwrap();
    let mut table = (hasher.table)();
    let mut bad: Option<BadByte> = None;
    let mut end = 0;
    let mut count = |text: &[u8], offset: u64| {
        assert_eq!(offset, end, "pieces follow each other");
        end += text.len() as u64;
        for (start, text) in cut::pieces(text, piece) {
            if let Err(found) = (tokenizer.count)(text, case, &mut table) {
                let offset = offset + start as u64 + found.offset;
                bad = bad.or(Some(BadByte { offset, ..found }));
            }
        }
    };
    let mut stitcher = Stitcher::default();
    for block in text.chunks(block) {
        stitcher.feed(block, &mut count);
    }
    stitcher.finish(&mut count);
    assert_eq!(end, text.len() as u64);
    bad.map_or(Ok(table), Err)
}

proptest! {
    #[test]
    fn unicode_gives_the_words_of_the_segmenter(text in texts(), block in 1..500_usize, piece in 1..500_usize) {
        let table = in_blocks(text.as_bytes(), "unicode", Case::Original, block, piece).unwrap();
        prop_assert_eq!(contents(&table), plain(&text, str::to_owned));
    }

    #[test]
    fn folding_blocks_is_folding_words(text in texts(), block in 1..150_usize) {
        let lower = in_blocks(text.as_bytes(), "unicode", Case::Lower, block, 64).unwrap();
        prop_assert_eq!(contents(&lower), plain(&text, str::to_lowercase));
        let upper = in_blocks(text.as_bytes(), "unicode", Case::Upper, block, 64).unwrap();
        prop_assert_eq!(contents(&upper), plain(&text, str::to_uppercase));
    }

    #[test]
    fn ascii_gives_the_runs(text in "[ -~\n\r\t]{0,400}", block in 1..500_usize, piece in 1..500_usize) {
        let table = in_blocks(text.as_bytes(), "ascii", Case::Original, block, piece).unwrap();
        let mut expected = BTreeMap::new();
        for word in text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '\'') {
            if !word.is_empty() {
                *expected.entry(word.to_owned()).or_insert(0) += 1;
            }
        }
        prop_assert_eq!(contents(&table), expected);
    }

    #[test]
    fn the_first_bad_byte_is_found(
        before in texts(), bytes in prop::collection::vec(0x80_u8.., 1..5), after in texts(),
        block in 1..500_usize, piece in 1..100_usize,
    ) {
        let text = [before.as_bytes(), &bytes, after.as_bytes()].concat();
        let expected = std::str::from_utf8(&text).err().map(|error| error.valid_up_to() as u64);
        let found = in_blocks(&text, "unicode", Case::Original, block, piece).err().map(|bad| bad.offset);
        prop_assert_eq!(found, expected);
        let high = text.iter().position(|byte| !byte.is_ascii()).map(|at| at as u64);
        let found = in_blocks(&text, "ascii", Case::Original, block, piece).err().map(|bad| bad.offset);
        prop_assert_eq!(found, high);
    }
}

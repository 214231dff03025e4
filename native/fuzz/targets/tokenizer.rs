//! Chunked answer == whole answer == plain answer, for every tokenizer, case and hasher.
//!
//! The first bytes of the input choose how the rest is cut and counted.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use tally::case::{CASES, Case};
use tally::cut::{self, Stitcher};
use tally::hasher::{HASHERS, Hasher, Table};
use tally::tokenizer::{BadByte, TOKENIZERS, Tokenizer};
use unicode_segmentation::UnicodeSegmentation;

type Answer = Result<BTreeMap<Vec<u8>, u64>, u64>;

fuzz_target!(|input: &[u8]| {
    let [which, case, hasher, block, piece, text @ ..] = input else {
        return;
    };
    let pick = |index: &u8, of: usize| usize::from(*index) % of;
    let tokenizer = TOKENIZERS[pick(which, TOKENIZERS.len())];
    let (case, _, _) = CASES[pick(case, CASES.len())];
    let hasher = HASHERS[pick(hasher, HASHERS.len())];
    let whole = in_one(text, tokenizer, case, hasher);
    let chunked = in_blocks(text, tokenizer, case, hasher, block, piece);
    assert_eq!(chunked, whole, "cut");
    assert_eq!(whole, plain(text, tokenizer.name, case), "plain");
});

fn contents(table: &Table) -> BTreeMap<Vec<u8>, u64> {
    table
        .entries()
        .map(|entry| (entry.word().to_vec(), entry.count()))
        .collect()
}

fn in_one(text: &[u8], tokenizer: &Tokenizer, case: Case, hasher: &Hasher) -> Answer {
    let mut table = (hasher.table)();
    (tokenizer.count)(text, case, &mut table).map_err(|bad| bad.offset)?;
    Ok(contents(&table))
}

/// Blocks whose sizes change from one to the next, so that a block may be smaller or larger than
/// the bytes kept from the previous one.
fn in_blocks(
    text: &[u8],
    tokenizer: &Tokenizer,
    case: Case,
    hasher: &Hasher,
    block: &u8,
    piece: &u8,
) -> Answer {
    let mut tables = [(hasher.table)(), (hasher.table)()];
    let mut bad: Option<u64> = None;
    let (mut end, mut pieces) = (0, 0);
    let mut count = |text: &[u8], offset: u64| {
        assert_eq!(offset, end, "pieces follow each other");
        end += text.len() as u64;
        for (start, text) in cut::pieces(text, usize::from(*piece) + 1) {
            let offset = offset + start as u64;
            // Two tables in turn: as if two threads had counted.
            pieces += 1;
            if let Err(BadByte { offset: at, .. }) =
                (tokenizer.count)(text, case, &mut tables[pieces % 2])
            {
                bad = bad.or(Some(offset + at));
            }
        }
    };
    let mut stitcher = Stitcher::default();
    let (mut rest, mut size) = (text, usize::from(*block));
    while !rest.is_empty() {
        let (block, behind) = rest.split_at(rest.len().min(size % 97 + 1));
        stitcher.feed(block, &mut count);
        rest = behind;
        size = size.wrapping_mul(31).wrapping_add(usize::from(*piece));
    }
    stitcher.finish(&mut count);
    assert_eq!(end, text.len() as u64, "nothing is left out");
    let [mut left, right] = tables;
    left.merge(&right);
    bad.map_or_else(|| Ok(contents(&left)), Err)
}

fn plain(text: &[u8], tokenizer: &str, case: Case) -> Answer {
    let words: Vec<&str> = match tokenizer {
        "unicode" => std::str::from_utf8(text)
            .map_err(|error| error.valid_up_to() as u64)?
            .unicode_words()
            .collect(),
        "ascii" => {
            if let Some(at) = text.iter().position(|byte| !byte.is_ascii()) {
                return Err(at as u64);
            }
            std::str::from_utf8(text)
                .expect("ASCII is UTF-8")
                .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '\'')
                .filter(|word| !word.is_empty())
                .collect()
        }
        other => panic!("write down what {other} counts"),
    };
    let mut counts = BTreeMap::new();
    for word in words {
        let word = match case {
            Case::Original => word.to_owned(),
            Case::Lower => word.to_lowercase(),
            Case::Upper => word.to_uppercase(),
        };
        *counts.entry(word.into_bytes()).or_insert(0) += 1;
    }
    Ok(counts)
}

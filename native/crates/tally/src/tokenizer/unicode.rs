//! `unicode`: the segments of UAX #29 that contain a letter or digit.
//!
//! No dictionary: each Han ideograph and each Hiragana letter is a word, a run of Katakana is one, and a Thai letter with
//! its marks is one. `Don't`, `3.14` and `foo_bar` are one word each.
//!
//! Stretches of ASCII are cut by bit masks, which is exact for ASCII (see [`word_bits`]). The
//! stretch from the safe cut before a character outside ASCII to the safe cut after it goes to the
//! `unicode-segmentation` crate, except for characters that are separate segments (see [`single_segment`]).

use unicode_segmentation::UnicodeSegmentation;

use super::ascii::add;
use super::classify::{CHUNK, Classes, classify};
use super::single_segment;
use super::{BadByte, Runs, Tokenize};
use crate::case::Case;
use crate::cut;
use crate::table::{Hash, Words};

pub(super) struct Unicode;

impl Tokenize for Unicode {
    const NAME: &'static str = "unicode";
    const ABOUT: &'static str = "UAX #29 word segments that hold a letter or digit; no dictionary, so CJK and Thai count by character";

    fn count<H: Hash>(text: &[u8], case: Case, table: &mut Words<H>) -> Result<(), BadByte> {
        let mut buffer = Vec::new();
        let text = case.fold_ascii(text, &mut buffer);
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            let Some(high) = first_high(rest) else {
                count_ascii(rest, table);
                break;
            };
            let from = cut::last(&rest[..=high]).unwrap_or(0);
            let to = first_ascii_cut(rest, high + 1);
            count_ascii(&rest[..from], table);
            count_segments(&rest[from..to], case, table).map_err(|bad| BadByte {
                offset: bad.offset + (start + from) as u64,
                ..bad
            })?;
            start += to;
        }
        Ok(())
    }
}

/// Index of the first byte outside ASCII.
fn first_high(text: &[u8]) -> Option<usize> {
    let mut chunks = text.chunks_exact(CHUNK);
    let skipped = chunks
        .by_ref()
        .take_while(|chunk| chunk.iter().fold(0, |all, byte| all | byte) < 0x80)
        .count();
    let from = skipped * CHUNK;
    text[from..]
        .iter()
        .position(|byte| !byte.is_ascii())
        .map(|at| from + at)
}

/// The first safe cut for a reason that is ASCII at or after `from`, or the end.
fn first_ascii_cut(text: &[u8], from: usize) -> usize {
    (from..text.len())
        .find(|&at| cut::before_ascii(text[at - 1], text[at]))
        .unwrap_or(text.len())
}

/// Counts the words of a text with characters outside ASCII.
fn count_segments<H: Hash>(text: &[u8], case: Case, table: &mut Words<H>) -> Result<(), BadByte> {
    let text = std::str::from_utf8(text).map_err(|error| BadByte {
        offset: error.valid_up_to() as u64,
        what: "invalid UTF-8",
    })?;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let end = if let Some((end, is_word)) = single_segment::segment(rest, letter) {
            // None of these has a case.
            if is_word {
                let start = text.len() - rest.len();
                add(text.as_bytes(), start, start + end, table);
            }
            end
        } else {
            let behind = letter.len_utf8();
            let end = rest[behind..]
                .find(single_segment::starts_segment)
                .map_or(rest.len(), |at| behind + at);
            for word in rest[..end].unicode_words() {
                case.map(word, |mapped| table.add(mapped.as_bytes()));
            }
            end
        };
        rest = &rest[end..];
    }
    Ok(())
}

/// Counts the words of a text that is all ASCII.
fn count_ascii<H: Hash>(text: &[u8], table: &mut Words<H>) {
    let mut runs = Runs::default();
    let mut before = PreviousByte::default();
    let mut base = 0;
    while base < text.len() {
        let mut last = [b' '; CHUNK];
        let rest = &text[base..];
        let chunk = rest.first_chunk().unwrap_or_else(|| {
            last[..rest.len()].copy_from_slice(rest);
            &last
        });
        let after = rest.get(CHUNK).copied().unwrap_or(b' ');
        let classes = classify(chunk);
        let bits = word_bits(&classes, before, after);
        before = PreviousByte {
            letter: classes.letters >> 63,
            digit: classes.digits >> 63,
        };
        runs.feed(bits, base, |start, end| {
            add_segment(text, start, end, table);
        });
        base += CHUNK;
    }
    if runs.inside {
        add_segment(text, runs.start, text.len(), table);
    }
}

/// Class of the byte before a chunk: 1 for a letter or a digit, else 0.
#[derive(Clone, Copy, Debug, Default)]
struct PreviousByte {
    letter: u64,
    digit: u64,
}

/// One bit for each byte that belongs to a segment of letters, digits and `_`.
///
/// `WB5`, `WB8` to `WB10`, `WB13a` and `WB13b` join letters, digits and `_` in any order. `WB6` and `WB7` join a letter, one of
/// `'` `.` `:`, and a letter; `WB11` and `WB12` join a digit, one of `'` `.` `,` `;`, and a digit.
#[inline]
fn word_bits(classes: &Classes, before: PreviousByte, after: u8) -> u64 {
    let Classes {
        letters,
        digits,
        underscores,
        joins_both,
        joins_letters,
        joins_digits,
    } = *classes;
    let between_letters = (letters << 1 | before.letter)
        & (letters >> 1 | u64::from(after.is_ascii_alphabetic()) << 63);
    let between_digits =
        (digits << 1 | before.digit) & (digits >> 1 | u64::from(after.is_ascii_digit()) << 63);
    letters
        | digits
        | underscores
        | (joins_both | joins_letters) & between_letters
        | (joins_both | joins_digits) & between_digits
}

/// Counts a segment, unless it is all `_`.
#[inline]
fn add_segment<H: Hash>(text: &[u8], start: usize, end: usize, table: &mut Words<H>) {
    if text[start] == b'_' && text[start..end].iter().all(|&byte| byte == b'_') {
        return;
    }
    add(text, start, end, table);
}

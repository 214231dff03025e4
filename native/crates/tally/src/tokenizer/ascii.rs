//! `ascii`: runs of `[A-Za-z0-9']`; any byte outside ASCII is an error.

use super::classify::{CHUNK, word_and_high};
use super::{BadByte, Runs, Tokenize};
use crate::case::Case;
use crate::table::{Hash, Key, SHORT, Words};

pub(super) struct Ascii;

impl Tokenize for Ascii {
    const NAME: &'static str = "ascii";
    const ABOUT: &'static str = "runs of [A-Za-z0-9']; a byte outside ASCII is an error";

    fn count<H: Hash>(text: &[u8], case: Case, table: &mut Words<H>) -> Result<(), BadByte> {
        let mut buffer = Vec::new();
        let text = case.fold_ascii(text, &mut buffer);
        let mut runs = Runs::default();
        let mut chunks = text.chunks_exact(CHUNK);
        let mut base = 0;
        for chunk in chunks.by_ref() {
            let chunk: &[u8; CHUNK] = chunk.try_into().unwrap_or(&[0; CHUNK]);
            take(chunk, base, &mut runs, text, table)?;
            base += CHUNK;
        }
        let mut last = [b' '; CHUNK];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        take(&last, base, &mut runs, text, table)?;
        if runs.inside {
            add(text, runs.start, text.len(), table);
        }
        Ok(())
    }
}

#[inline]
fn take<H: Hash>(
    chunk: &[u8; CHUNK],
    base: usize,
    runs: &mut Runs,
    text: &[u8],
    table: &mut Words<H>,
) -> Result<(), BadByte> {
    let (word, high) = word_and_high(chunk);
    if high != 0 {
        let offset = (base + high.trailing_zeros() as usize) as u64;
        return Err(BadByte {
            offset,
            what: "a byte outside ASCII",
        });
    }
    runs.feed(word, base, |start, end| add(text, start, end, table));
    Ok(())
}

/// Counts `text[start..end]`.
#[inline]
pub(super) fn add<H: Hash>(text: &[u8], start: usize, end: usize, table: &mut Words<H>) {
    let length = end - start;
    match text
        .get(start..start + SHORT)
        .and_then(|window| window.try_into().ok())
    {
        Some(window) if length <= SHORT => table.add_short(Key::short(window, length), 1),
        _ => table.add(&text[start..end]),
    }
}

//! Positions where a text may be cut without changing its words.
//!
//! A cut between two bytes is safe if, whatever the text before and after, no word crosses it and
//! the words on each side are the same as if the other side were not there, for every tokenizer.
//! Five kinds are known to be:
//!
//! - before an ASCII byte that takes part in no joining rule (`-`, `(`, NUL, …): no rule joins it to the text before
//!   it, and no rule of the text after it looks further back;
//! - before a space, unless another kind of space may precede it (`WB3d` joins those, and a Thai vowel sign after
//!   them makes a word of them all);
//! - after a line feed (UAX #29, `WB3a`: always a break, and nothing looks across it);
//! - between an ASCII byte that takes part in no joining rule (space, `-`, `(`, …) and an ASCII letter, digit or `_`
//!   (`WB999`; the right side cannot extend the left one, as a combining mark would);
//! - before a Han ideograph of U+4000..U+9FFF (class Other: no rule joins it to the text before it, and no
//!   rule of the text after it looks further back).

use crate::memory;

/// Bytes of ASCII that no rule of UAX #29 joins with a letter, digit or `_` on their right.
const fn separates(byte: u8) -> bool {
    byte < 0x80
        && !(byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'\'' | b'.' | b':' | b',' | b';'))
}

/// Returns whether an ASCII byte ends the text before it; `"` may be inside a Hebrew word (`WB7b`).
const fn ends(byte: u8) -> bool {
    separates(byte) && !matches!(byte, b'"' | b' ')
}

/// The last bytes of U+1680, U+2000..U+2006, U+2008..U+200A, U+205F and U+3000, and the space of ASCII: the class
/// `WSegSpace`. Letters may end in them too.
const fn may_be_space(byte: u8) -> bool {
    matches!(byte, b' ' | 0x80..=0x86 | 0x88..=0x8A | 0x9F)
}

const fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

const SEPARATES: u8 = 1;
const STARTS: u8 = 2;
const ALONE: u8 = 4;
const ENDS: u8 = 8;
const MAY_BE_SPACE: u8 = 16;
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0_u8;
    loop {
        class[byte as usize] = separates(byte) as u8 * SEPARATES
            + starts_word(byte) as u8 * STARTS
            + leads_han(byte) as u8 * ALONE
            + ends(byte) as u8 * ENDS
            + may_be_space(byte) as u8 * MAY_BE_SPACE;
        if byte == u8::MAX {
            break class;
        }
        byte += 1;
    }
};

/// U+4000..U+9FFF are exactly the three-byte forms that start with these.
const fn leads_han(byte: u8) -> bool {
    matches!(byte, 0xE4..=0xE9)
}

/// Returns whether the text may be cut between `left` and `right`.
pub(crate) fn between(left: u8, right: u8) -> bool {
    CLASS[right as usize] & ALONE != 0 || before_ascii(left, right)
}

/// Returns whether the text may be cut between `left` and `right`, by a rule on ASCII.
pub(crate) fn before_ascii(left: u8, right: u8) -> bool {
    CLASS[right as usize] & ENDS != 0
        || left == b'\n'
        || (right == b' ' && CLASS[left as usize] & MAY_BE_SPACE == 0)
        || (CLASS[left as usize] & SEPARATES != 0 && CLASS[right as usize] & STARTS != 0)
}

/// Returns whether `text` may be cut before the byte at `at`, which is inside it.
fn is_safe(text: &[u8], at: usize) -> bool {
    between(text[at - 1], text[at])
}

/// The first safe cut at or after `from`, judged without looking before the start of `text`.
pub(crate) fn first(text: &[u8], from: usize) -> Option<usize> {
    (from.max(1)..text.len())
        .find(|&at| is_safe(text, at))
        .or_else(|| (from <= text.len() && text.last() == Some(&b'\n')).then_some(text.len()))
}

/// The last safe cut of `text`, its end included.
pub(crate) fn last(text: &[u8]) -> Option<usize> {
    if text.last() == Some(&b'\n') {
        return Some(text.len());
    }
    (1..text.len()).rev().find(|&at| is_safe(text, at))
}

/// Splits `text` into pieces of about `target` bytes, each with its offset. Only the places from
/// each target to its cut are examined, so a text without any safe cut is one piece, found in one
/// pass.
pub fn pieces(text: &[u8], target: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = if rest.len() <= target {
            rest.len()
        } else {
            first(rest, target).unwrap_or(rest.len())
        };
        let piece = (start, &rest[..end]);
        start += end;
        Some(piece)
    })
}

/// Joins blocks that may end anywhere into pieces that end at safe cuts.
///
/// The text after the last safe cut of a block is carried to the next; only new bytes are searched,
/// so the work is linear even if no cut ever comes and the carry grows to the whole text.
#[derive(Debug, Default)]
pub struct Stitcher {
    carry: Vec<u8>,
    /// Offset of the carry in the input.
    offset: u64,
    /// The most bytes that were ever carried.
    pub peak: usize,
}

impl Stitcher {
    /// Takes the next block and hands on every piece that is complete, with its offset.
    pub fn feed(&mut self, block: &[u8], on_piece: &mut dyn FnMut(&[u8], u64)) {
        let mut rest = block;
        if let Some(&left) = self.carry.last() {
            let at = match block.first() {
                Some(&right) if between(left, right) => Some(0),
                _ => first(block, 1),
            };
            let Some(at) = at else {
                memory::append(&mut self.carry, block);
                self.peak = self.peak.max(self.carry.len());
                return;
            };
            memory::append(&mut self.carry, &block[..at]);
            self.peak = self.peak.max(self.carry.len());
            on_piece(&self.carry, self.offset);
            self.offset += self.carry.len() as u64;
            self.carry.clear();
            rest = &block[at..];
        }
        let end = last(rest).unwrap_or(0);
        if end > 0 {
            on_piece(&rest[..end], self.offset);
            self.offset += end as u64;
        }
        memory::append(&mut self.carry, &rest[end..]);
        self.peak = self.peak.max(self.carry.len());
    }

    /// Hands on what is left at the end of the input.
    pub fn finish(&mut self, on_piece: &mut dyn FnMut(&[u8], u64)) {
        if !self.carry.is_empty() {
            on_piece(&self.carry, self.offset);
            self.carry.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    /// Every character before every byte of ASCII, with a mark after it that makes a word of what
    /// it joins: where `is_safe` allows a cut, the segmenter cuts too.
    #[test]
    fn a_safe_cut_before_ascii_is_one_for_every_character_before_it() {
        let rights: Vec<u8> = (0..0x80).filter(|&right| between(b'a', right)).collect();
        assert!(rights.len() > 50 && rights.contains(&b' '));
        let mut buffer = [0; 4];
        for left in '\0'..=char::MAX {
            let length = left.encode_utf8(&mut buffer).len();
            let last = buffer[length - 1];
            // One character of each kind suffices, but for the space, which joins others.
            for right in [b' ', rights[left as usize % rights.len()]] {
                if right == b'\n' || !between(last, right) {
                    continue;
                }
                let text = format!("{left}{}\u{e34}", char::from(right));
                assert!(
                    text.split_word_bound_indices()
                        .any(|(at, _)| at == left.len_utf8()),
                    "{text:?}"
                );
            }
        }
    }
}

//! Kinds of text: one line in [`KINDS`] each.

use std::sync::LazyLock;

use crate::random::Random;
use crate::vocabulary::{Alias, VOCABULARY};

/// A kind of text.
pub struct Kind {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Distinguishes the random streams of the kinds. Never reused.
    stream: u64,
    /// Appends a short run of text.
    phrase: fn(&mut Random, &mut Vec<u8>, &mut State),
    /// Fills the end of a block that the next phrase does not fit.
    pad: u8,
    /// What a block ends with, if it is long enough.
    end: &'static [u8],
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Kind").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a phrase must know of those before it in its block.
#[derive(Debug, Default)]
struct State {
    /// Words since the last full stop.
    in_sentence: u32,
    /// Bytes since the last line break.
    in_line: usize,
}

/// Every kind, in the order in which help lists them.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "prose",
        about: "English-like words by Zipf's law, sentences, lines; ASCII",
        stream: 1,
        phrase: |random, out, state| prose(random, out, state, b"\n"),
        pad: b' ',
        end: b"\n",
    },
    Kind {
        name: "cjk",
        about: "Han, Kana and Thai, mostly without spaces",
        stream: 2,
        phrase: cjk,
        pad: b' ',
        end: b"\n",
    },
    Kind {
        name: "no-spaces",
        about: "words joined by punctuation, not one space or line break; ASCII",
        stream: 3,
        phrase: no_spaces,
        pad: b'-',
        end: b"",
    },
    Kind {
        name: "crlf",
        about: "prose with CR LF line ends",
        stream: 4,
        phrase: |random, out, state| prose(random, out, state, b"\r\n"),
        pad: b' ',
        end: b"\r\n",
    },
    Kind {
        name: "long-line",
        about: "prose in one line",
        stream: 5,
        phrase: |random, out, state| prose(random, out, state, b" "),
        pad: b' ',
        end: b" ",
    },
];

/// The kind named `name`.
#[must_use]
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl Kind {
    /// Fills `block` exactly.
    pub(crate) fn fill(&self, seed: u64, index: u64, block: &mut [u8]) {
        let mut random = Random::new(seed, self.stream, index);
        let mut state = State::default();
        let mut phrase = Vec::with_capacity(256);
        let end = if block.len() >= self.end.len() { self.end } else { b"" };
        let room = block.len() - end.len();
        let mut filled = 0;
        loop {
            phrase.clear();
            (self.phrase)(&mut random, &mut phrase, &mut state);
            let Some(space) = block[..room].get_mut(filled..filled + phrase.len()) else {
                break;
            };
            space.copy_from_slice(&phrase);
            filled += phrase.len();
        }
        block[filled..room].fill(self.pad);
        block[room..].copy_from_slice(end);
    }
}

/// One word with what follows it.
fn prose(random: &mut Random, out: &mut Vec<u8>, state: &mut State, line_end: &[u8]) {
    let dice = random.next();
    let start = out.len();
    // Each decision looks at bits of its own.
    if dice & 0x3f == 0 {
        number(random, out);
    } else {
        out.extend_from_slice(VOCABULARY.draw(random).as_bytes());
    }
    if state.in_sentence == 0 {
        out[start].make_ascii_uppercase();
    }
    state.in_sentence += 1;
    let stops = state.in_sentence > 3 && (dice >> 8) & 0xf == 0;
    if stops {
        out.push(match (dice >> 16) & 0xf {
            0 => b'?',
            1 => b'!',
            _ => b'.',
        });
        state.in_sentence = 0;
    } else if (dice >> 24) & 0xf == 0 {
        out.push(b',');
    }
    state.in_line += out.len() - start + 1;
    if state.in_line >= 72 {
        state.in_line = 0;
        out.extend_from_slice(line_end);
    } else {
        out.push(b' ');
    }
}

/// A whole number or one with two decimals, 2 000 different ones in all.
fn number(random: &mut Random, out: &mut Vec<u8>) {
    let value = random.below(2_000);
    if value < 1_000 {
        out.extend_from_slice(value.to_string().as_bytes());
    } else {
        let value = value - 1_000;
        out.extend_from_slice(format!("{}.{:02}", value / 100, value % 100).as_bytes());
    }
}

fn no_spaces(random: &mut Random, out: &mut Vec<u8>, _state: &mut State) {
    out.extend_from_slice(VOCABULARY.draw(random).as_bytes());
    out.push(*b"-/,+|;=&".get(random.below(8) as usize).unwrap_or(&b'-'));
}

/// Ranks of Han characters; about 3 000 are in common use.
static HAN: LazyLock<Alias> = LazyLock::new(|| Alias::zipf(3_000));

fn push(out: &mut Vec<u8>, code: u32) {
    let letter = char::from_u32(code).unwrap_or('一');
    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

/// A phrase in one of four scripts, with what follows it.
fn cjk(random: &mut Random, out: &mut Vec<u8>, state: &mut State) {
    let start = out.len();
    match random.below(8) {
        0..4 => {
            for _ in 0..4 + random.below(12) {
                // A stride that is coprime to the size of the block spreads the ranks over it.
                let rank = u32::try_from(HAN.draw(random)).unwrap_or(0);
                push(out, 0x4e00 + rank * 7 % 20_000);
            }
        }
        4 => (0..3 + random.below(6)).for_each(|_| push(out, 0x3042 + random.below(80))),
        5 => (0..3 + random.below(4)).for_each(|_| push(out, 0x30a2 + random.below(80))),
        _ => {
            for _ in 0..2 + random.below(6) {
                thai(random, out);
            }
        }
    }
    state.in_line += out.len() - start;
    match random.below(8) {
        0 => push(out, u32::from('。')),
        1 | 2 => push(out, u32::from('，')),
        3 => out.push(b' '),
        _ => {}
    }
    if state.in_line >= 150 {
        state.in_line = 0;
        out.push(b'\n');
    }
}

/// A consonant, and perhaps a vowel sign and a tone mark, which both combine with it.
fn thai(random: &mut Random, out: &mut Vec<u8>) {
    push(out, 0x0e01 + random.below(46));
    if random.below(2) == 0 {
        push(out, 0x0e34 + random.below(6));
        if random.below(2) == 0 {
            push(out, 0x0e48 + random.below(4));
        }
    }
}

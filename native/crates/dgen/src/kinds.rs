//! Kinds of text: one line in [`KINDS`] each.

use std::sync::LazyLock;

use crate::random::Random;
use crate::vocabulary::{Alias, VOCABULARY};

/// A kind of text.
#[derive(Debug)]
pub struct Kind {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Distinguishes the random streams of the kinds. Never reused.
    stream: u64,
    /// Appends phrases, in lines with that end, to the start of a block until the next one does not fit, and returns the
    /// bytes filled.
    phrases: fn(Random, &mut [u8], &[u8]) -> usize,
    /// Fills the end of a block that the next phrase does not fit.
    pad: u8,
    /// The end of a line, and of a block that is long enough.
    end: &'static [u8],
}

/// State of a block that later phrases depend on.
#[derive(Debug, Default)]
struct State {
    /// Words since the last full stop.
    in_sentence: u32,
    /// Bytes since the last line break.
    in_line: usize,
}

/// Every kind, in the order in which help lists them.
pub static KINDS: &[&Kind] = &[
    &Kind {
        name: "prose",
        about: "English-like words by Zipf's law, sentences, lines; ASCII",
        stream: 1,
        phrases: prose,
        pad: b' ',
        end: b"\n",
    },
    &Kind {
        name: "cjk",
        about: "Han, Kana and Thai, mostly without spaces",
        stream: 2,
        phrases: |random, room, _| repeat(random, room, cjk),
        pad: b' ',
        end: b"\n",
    },
    &Kind {
        name: "no-spaces",
        about: "words joined by punctuation, not one space or line break; ASCII",
        stream: 3,
        phrases: |random, room, _| repeat(random, room, no_spaces),
        pad: b'-',
        end: b"",
    },
    &Kind {
        name: "crlf",
        about: "prose with CR LF line ends",
        stream: 4,
        phrases: prose,
        pad: b' ',
        end: b"\r\n",
    },
    &Kind {
        name: "long-line",
        about: "prose in one line",
        stream: 5,
        phrases: prose,
        pad: b' ',
        end: b" ",
    },
];

/// The kind named `name`.
#[must_use]
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().copied().find(|kind| kind.name == name)
}

impl Kind {
    /// Fills `block` exactly.
    pub(crate) fn fill(&self, seed: u64, index: u64, block: &mut [u8]) {
        let end = if block.len() >= self.end.len() {
            self.end
        } else {
            b""
        };
        let room = block.len() - end.len();
        let random = Random::new(seed, self.stream, index);
        let filled = (self.phrases)(random, &mut block[..room], self.end);
        block[filled..room].fill(self.pad);
        block[room..].copy_from_slice(end);
    }
}

/// The most bytes of one phrase.
const PHRASE: usize = 256;

/// A place that takes at least one phrase.
struct Out<'block> {
    bytes: &'block mut [u8],
    length: usize,
}

impl Out<'_> {
    fn extend(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn push_code(&mut self, code: u32) {
        let letter = char::from_u32(code).unwrap_or('一');
        self.extend(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Appends phrases to `room` until the next one does not fit, and returns the bytes filled.
fn repeat(
    mut random: Random,
    room: &mut [u8],
    phrase: impl Fn(&mut Random, &mut Out<'_>, &mut State),
) -> usize {
    let mut state = State::default();
    let mut filled = 0;
    while room.len() - filled >= PHRASE {
        let mut out = Out {
            bytes: &mut room[filled..],
            length: 0,
        };
        phrase(&mut random, &mut out, &mut state);
        filled += out.length;
    }
    loop {
        let mut bytes = [0; PHRASE];
        let mut out = Out {
            bytes: &mut bytes,
            length: 0,
        };
        phrase(&mut random, &mut out, &mut state);
        let length = out.length;
        let Some(space) = room.get_mut(filled..filled + length) else {
            return filled;
        };
        space.copy_from_slice(&bytes[..length]);
        filled += length;
    }
}

fn prose(random: Random, room: &mut [u8], line_end: &[u8]) -> usize {
    repeat(random, room, |random, out, state| {
        word(random, out, state, line_end);
    })
}

/// One word of prose with what follows it.
fn word(random: &mut Random, out: &mut Out<'_>, state: &mut State, line_end: &[u8]) {
    let dice = random.next();
    let start = out.length;
    // Each decision looks at its own bits.
    if one_in(64, dice) {
        number(random, out);
    } else {
        VOCABULARY.draw(random).append(out.bytes, &mut out.length);
    }
    if state.in_sentence == 0 {
        out.bytes[start].make_ascii_uppercase();
    }
    state.in_sentence += 1;
    let stops = state.in_sentence > 3 && one_in(16, dice >> 8);
    if stops {
        out.push(match (dice >> 16) & 0xf {
            0 => b'?',
            1 => b'!',
            _ => b'.',
        });
        state.in_sentence = 0;
    } else if one_in(16, dice >> 24) {
        out.push(b',');
    }
    state.in_line += out.length - start + 1;
    if state.in_line >= 72 {
        state.in_line = 0;
        out.extend(line_end);
    } else {
        out.push(b' ');
    }
}

/// Returns true once in `odds` (a power of two) values of `dice`, from its low bits.
fn one_in(odds: u64, dice: u64) -> bool {
    dice.is_multiple_of(odds)
}

/// A whole number or one with two decimals, 2 000 different ones in all.
fn number(random: &mut Random, out: &mut Out<'_>) {
    let value = random.below(2_000);
    if value < 1_000 {
        out.extend(value.to_string().as_bytes());
    } else {
        let value = value - 1_000;
        out.extend(format!("{}.{:02}", value / 100, value % 100).as_bytes());
    }
}

fn no_spaces(random: &mut Random, out: &mut Out<'_>, _state: &mut State) {
    VOCABULARY.draw(random).append(out.bytes, &mut out.length);
    out.push(*b"-/,+|;=&".get(random.below(8) as usize).unwrap_or(&b'-'));
}

/// Ranks of Han characters; about 3 000 are in common use.
static HAN: LazyLock<Alias> = LazyLock::new(|| Alias::zipf(3_000));

/// A phrase in one of four scripts, with what follows it.
fn cjk(random: &mut Random, out: &mut Out<'_>, state: &mut State) {
    let start = out.length;
    match random.below(8) {
        0..4 => {
            for _ in 0..4 + random.below(12) {
                // A stride that is coprime to the size of the block spreads the ranks over it.
                let rank = u32::try_from(HAN.draw(random)).unwrap_or(0);
                out.push_code(0x4e00 + rank * 7 % 20_000);
            }
        }
        4 => (0..3 + random.below(6)).for_each(|_| out.push_code(0x3042 + random.below(80))),
        5 => katakana(random, out),
        _ => {
            for _ in 0..2 + random.below(6) {
                thai(random, out);
            }
        }
    }
    state.in_line += out.length - start;
    match random.below(8) {
        0 => out.push_code(u32::from('。')),
        1 | 2 => out.push_code(u32::from('，')),
        3 => out.push(b' '),
        _ => {}
    }
    if state.in_line >= 150 {
        state.in_line = 0;
        out.push(b'\n');
    }
}

/// Ranks of Katakana words, which are drawn from a vocabulary because a run of Katakana is one word.
static KATAKANA: LazyLock<Alias> = LazyLock::new(|| Alias::zipf(3_000));

fn katakana(random: &mut Random, out: &mut Out<'_>) {
    let word = KATAKANA.draw(random) as u64;
    let mut letters = Random::new(0, u64::from_le_bytes(*b"katakana"), word);
    for _ in 0..3 + letters.below(4) {
        out.push_code(0x30a2 + letters.below(80));
    }
}

/// A consonant, and perhaps a vowel sign and a tone mark, which both combine with it.
fn thai(random: &mut Random, out: &mut Out<'_>) {
    out.push_code(0x0e01 + random.below(46));
    if random.below(2) == 0 {
        out.push_code(0x0e34 + random.below(6));
        if random.below(2) == 0 {
            out.push_code(0x0e48 + random.below(4));
        }
    }
}

//! Axis `tokenizer`: what a word is. One file per value, one line in [`TOKENIZERS`].

mod ascii;
mod classify;
mod single_segment;
mod unicode;

use std::marker::PhantomData;

use ascii::Ascii;
use unicode::Unicode;

use crate::case::Case;
use crate::hasher::{Table, TableWork};
use crate::table::{Hash, Words};

/// Bytes that are not text in the tokenizer's sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadByte {
    /// Offset of the first byte that cannot be read: in a piece, or in an input.
    pub offset: u64,
    /// Description.
    pub what: &'static str,
}

/// Tokenizer that counted a piece, as reported by its own code. The receipt contains this name, not
/// that of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Name of the tokenizer.
    pub tokenizer: &'static str,
    /// Name of the hasher that the counting was compiled for.
    pub hasher: &'static str,
}

/// A value of the axis `tokenizer`.
#[derive(Debug)]
pub struct Tokenizer {
    /// Kebab-case name.
    pub name: &'static str,
    /// Definition of a word, in one line.
    pub about: &'static str,
    /// Counts the words of a piece that starts and ends at safe cuts.
    pub count: fn(&[u8], Case, &mut Table) -> Result<Signature, BadByte>,
}

/// The code of a tokenizer, compiled once for each hasher.
trait Tokenize {
    const NAME: &'static str;
    const ABOUT: &'static str;

    /// As [`Tokenizer::count`].
    fn count<H: Hash>(text: &[u8], case: Case, words: &mut Words<H>) -> Result<(), BadByte>;
}

/// A call of [`Tokenizer::count`].
struct CountCall<'text, T> {
    text: &'text [u8],
    case: Case,
    tokenizer: PhantomData<T>,
}

impl<T: Tokenize> TableWork for CountCall<'_, T> {
    type Done = Result<Signature, BadByte>;

    fn apply<H: Hash>(self, words: &mut Words<H>) -> Self::Done {
        T::count(self.text, self.case, words)?;
        Ok(Signature {
            tokenizer: T::NAME,
            hasher: H::NAME,
        })
    }
}

const fn value<T: Tokenize>() -> Tokenizer {
    Tokenizer {
        name: T::NAME,
        about: T::ABOUT,
        count: |text, case, table| {
            table.run(CountCall {
                text,
                case,
                tokenizer: PhantomData::<T>,
            })
        },
    }
}

/// Every tokenizer, in the order in which help and `describe` list them.
pub static TOKENIZERS: &[&Tokenizer] = &[&value::<Unicode>(), &value::<Ascii>()];

/// The tokenizer named `name`.
#[must_use]
pub fn tokenizer(name: &str) -> Option<&'static Tokenizer> {
    TOKENIZERS.iter().copied().find(|known| known.name == name)
}

/// Hands on the runs of ones of a bit stream that comes in chunks of 64.
#[derive(Debug, Default)]
struct Runs {
    inside: bool,
    start: usize,
}

impl Runs {
    /// Takes the bits of the chunk at `base`; a run that reaches the chunk's end stays open.
    #[inline]
    fn feed(&mut self, bits: u64, base: usize, mut on_piece: impl FnMut(usize, usize)) {
        let mut edges = bits ^ (bits << 1 | u64::from(self.inside));
        while edges != 0 {
            let at = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            if self.inside {
                on_piece(self.start, at);
            } else {
                self.start = at;
            }
            self.inside = !self.inside;
        }
    }
}

//! Axis `case`: what happens to a word before it is counted.

use worker::command_line::Named;

/// A value of the axis `case`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Words are counted as written.
    Original,
    /// Words are counted in lower case.
    Lower,
    /// Words are counted in upper case.
    Upper,
}

/// Every value with its name and description.
pub static CASES: &[Named<Case>] = &[
    (Case::Original, "original", "words as written"),
    (
        Case::Lower,
        "lower",
        "words in lower case, full Unicode mapping",
    ),
    (
        Case::Upper,
        "upper",
        "words in upper case, full Unicode mapping",
    ),
];

impl Case {
    /// Maps the ASCII letters of `text`. Idempotent under [`Case::map`], so folding a block first changes no word.
    #[must_use]
    pub fn fold_ascii<'text>(self, text: &'text [u8], buffer: &'text mut Vec<u8>) -> &'text [u8] {
        if self == Self::Original {
            return text;
        }
        buffer.clear();
        buffer.extend_from_slice(text);
        match self {
            Self::Original => {}
            Self::Lower => buffer.make_ascii_lowercase(),
            Self::Upper => buffer.make_ascii_uppercase(),
        }
        buffer
    }

    /// Maps a word outside ASCII.
    pub fn map(self, word: &str, use_mapped: impl FnOnce(&str)) {
        match self {
            Self::Original => use_mapped(word),
            Self::Lower => use_mapped(&word.to_lowercase()),
            Self::Upper => use_mapped(&word.to_uppercase()),
        }
    }
}

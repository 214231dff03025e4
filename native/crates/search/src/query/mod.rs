//! Queries such as `error and (timeout or "timed out") not /retry \d+/i`.

mod matcher;
mod parse;

use std::fmt;

pub use matcher::Matcher;
pub use parse::{MAX_DEPTH, ParseError};

/// A query. What it finds is defined message by message: a leaf is true of a message if one piece of its text has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// Text, found in any case; never empty.
    Literal(String),
    /// A regular expression.
    Regex(Pattern),
    /// Every one; at least two.
    All(Vec<Query>),
    /// At least one; at least two.
    Any(Vec<Query>),
    /// The contrary.
    Not(Box<Query>),
}

/// A regular expression as it is written between slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Between the slashes; a slash in it is written `\/`.
    pub text: String,
    /// Letters of `imsx`, in that order.
    pub flags: String,
}

impl Pattern {
    fn compile(&self) -> Result<regex::Regex, regex::Error> {
        let has = |flag| self.flags.contains(flag);
        regex::RegexBuilder::new(&self.text)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'))
            .build()
    }
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// The text is not a query. The error contains the column.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::parse(text)
    }

    fn write(&self, inside: Inside, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (items, word, own) = match self {
            Self::Literal(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                return write!(out, "\"{escaped}\"");
            }
            Self::Regex(pattern) => return write!(out, "/{}/{}", pattern.text, pattern.flags),
            Self::Not(query) => {
                out.write_str("not ")?;
                return query.write(Inside::Not, out);
            }
            Self::All(items) => (items, " and ", Inside::All),
            Self::Any(items) => (items, " or ", Inside::Any),
        };
        let bracketed = inside > own;
        if bracketed {
            out.write_str("(")?;
        }
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.write_str(word)?;
            }
            item.write(own, out)?;
        }
        if bracketed {
            out.write_str(")")?;
        }
        Ok(())
    }
}

/// Context of a part of a query, in order of precedence; a later one binds tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Inside {
    Any,
    All,
    Not,
}

/// The query in full: every literal quoted, every `and` written.
impl fmt::Display for Query {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Inside::Any, out)
    }
}

//! Formats of the word list. One file per format, one line in [`FORMATS`].

mod csv;
mod json;
mod text;

use std::io::{self, Write};

use crate::table::Entry;

/// Axis `output`: name and description.
pub static OUTPUTS: &[(&str, &str)] = &[
    ("stdout", "the word list on stdout"),
    ("none", "no word list"),
];

/// A value of the axis `format`.
#[derive(Debug)]
pub struct Format {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description of the format.
    pub about: &'static str,
    /// Writes the list.
    pub write: fn(&[Entry<'_>], &mut dyn Write) -> io::Result<()>,
}

/// Every format, in the order in which help and `describe` list them.
pub static FORMATS: &[&Format] = &[&text::FORMAT, &json::FORMAT, &csv::FORMAT];

/// The format named `name`.
#[must_use]
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

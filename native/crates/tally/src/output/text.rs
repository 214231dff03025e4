//! `text`: one line per word, its count, a tab, the word.

use std::io::{self, Write};

use super::Format;
use crate::table::Entry;

pub(super) static FORMAT: Format = Format {
    name: "text",
    about: "count, tab, word; one line each",
    write,
};

fn write(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<()> {
    for entry in entries {
        write!(out, "{}\t", entry.count())?;
        out.write_all(entry.word())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

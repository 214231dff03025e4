//! `json`: one array of objects.

use std::io::{self, Write};

use super::Format;
use crate::table::Entry;

pub(super) static FORMAT: Format = Format {
    name: "json",
    about: "an array of {\"word\", \"count\"} objects",
    write,
};

fn write(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, entry) in entries.iter().enumerate() {
        out.write_all(if index == 0 {
            b"\n{\"word\":"
        } else {
            b",\n{\"word\":"
        })?;
        serde_json::to_writer(&mut *out, &String::from_utf8_lossy(entry.word()))?;
        write!(out, ",\"count\":{}}}", entry.count())?;
    }
    out.write_all(b"\n]\n")
}

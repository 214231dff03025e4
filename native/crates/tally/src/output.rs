//! The word list: where it goes, and its formats.

use std::io::{self, Write};

use worker::command_line::Named;

use crate::table::Entry;

/// Axis `output`: whether the list is written.
pub static OUTPUTS: &[Named<bool>] = &[
    (true, "stdout", "the word list on stdout"),
    (false, "none", "no word list"),
];

/// Writes the list.
pub type Format = fn(&[Entry<'_>], &mut dyn Write) -> io::Result<()>;

/// Axis `format`, in the order in which help and `describe` list its values.
pub static FORMATS: &[Named<Format>] = &[
    (text, "text", "count, tab, word; one line each"),
    (json, "json", "an array of {\"word\", \"count\"} objects"),
    (csv, "csv", "RFC 4180 with the header word,count"),
];

fn text(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<()> {
    for entry in entries {
        write!(out, "{}\t", entry.count())?;
        out.write_all(entry.word())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn json(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (index, entry) in entries.iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { &b",\n"[..] })?;
        out.write_all(b"{\"word\":")?;
        serde_json::to_writer(&mut *out, &String::from_utf8_lossy(entry.word()))?;
        write!(out, ",\"count\":{}}}", entry.count())?;
    }
    out.write_all(b"\n]\n")
}

fn csv(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"word,count\r\n")?;
    for entry in entries {
        let word = entry.word();
        let is_special = |byte: &u8| matches!(byte, b'"' | b',' | b'\r' | b'\n');
        if word.iter().any(is_special) {
            out.write_all(b"\"")?;
            for part in word.split_inclusive(|&byte| byte == b'"') {
                out.write_all(part)?;
                if part.ends_with(b"\"") {
                    out.write_all(b"\"")?;
                }
            }
            out.write_all(b"\"")?;
        } else {
            out.write_all(word)?;
        }
        write!(out, ",{}\r\n", entry.count())?;
    }
    Ok(())
}

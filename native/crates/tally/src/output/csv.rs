//! `csv`: RFC 4180, with a header.

use std::io::{self, Write};

use super::Format;
use crate::table::Entry;

pub(super) static FORMAT: Format = Format {
    name: "csv",
    about: "RFC 4180 with the header word,count",
    write,
};

fn write(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"word,count\r\n")?;
    for entry in entries {
        let word = entry.word();
        if word
            .iter()
            .any(|byte| matches!(byte, b'"' | b',' | b'\r' | b'\n'))
        {
            let quoted: Vec<u8> = word
                .iter()
                .flat_map(|&byte| {
                    if byte == b'"' {
                        vec![b'"', b'"']
                    } else {
                        vec![byte]
                    }
                })
                .collect();
            out.write_all(b"\"")?;
            out.write_all(&quoted)?;
            out.write_all(b"\"")?;
        } else {
            out.write_all(word)?;
        }
        write!(out, ",{}\r\n", entry.count())?;
    }
    Ok(())
}

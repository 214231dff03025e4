//! `read`: one buffer, filled again and again.

use std::fs::File;
use std::io;

use crate::{BlockCallback, CountingReader, Evidence, Mode, Options, memory_for};

pub(crate) static MODE: Mode = Mode {
    name: "read",
    about: "read(2) into one reused buffer of the block size",
    whole: false,
    streams: true,
    probe: || None,
    matches,
    read,
};

pub(crate) fn read(
    file: &File,
    options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let mut buffer = memory_for(options.block_bytes)?;
    let mut reader = CountingReader::new(file, evidence);
    loop {
        let count = reader.fill(&mut buffer)?;
        if count == 0 || on_block(&buffer[..count]).is_break() || count < buffer.len() {
            return Ok(());
        }
    }
}

fn matches(evidence: &Evidence) -> bool {
    evidence.facts.is_empty()
        && evidence.mapped_bytes == 0
        && evidence.read_bytes >= evidence.bytes
        && evidence.largest_request_bytes <= evidence.block_bytes
        && evidence.blocks_are_bounded()
}

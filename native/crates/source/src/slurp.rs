//! `slurp`: the whole file in one buffer of its size.

use std::fs::File;
use std::io;

use crate::{
    BlockCallback, CountingReader, Evidence, Mode, Options, memory_for, size_of, wrong_size,
};

pub(crate) static MODE: Mode = Mode {
    name: "slurp",
    about: "the whole file read into one buffer of its size",
    whole: true,
    streams: false,
    probe: || None,
    matches,
    read,
};

fn read(
    file: &File,
    _options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let size = size_of(file)?;
    let mut buffer = memory_for(size)?;
    let mut reader = CountingReader::new(file, evidence);
    let count = reader.fill(&mut buffer)?;
    if count < size || reader.fill(&mut [0])? > 0 {
        return Err(wrong_size(size as u64));
    }
    if count > 0 {
        let _ = on_block(&buffer[..count]);
    }
    Ok(())
}

fn matches(evidence: &Evidence) -> bool {
    evidence.facts.is_empty()
        && evidence.mapped_bytes == 0
        && evidence.read_bytes == evidence.bytes
        && evidence.blocks <= 1
        && evidence.largest_request_bytes == evidence.bytes.max(1)
}

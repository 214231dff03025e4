//! `pwrite`: positioned writes, one at a time.

use std::fs::File;
use std::io;
use std::time::Instant;

use crate::positioned::positioned;
use crate::{Block, Evidence, Fault, Mode, Piece, Step, Submit, Writer};

pub(crate) static MODE: Mode = Mode {
    name: "pwrite",
    about: "pwritev2(2), one write at a time",
    direct: true,
    maps: false,
    queues: false,
    probe: || None,
    matches,
    write: |writer| write(writer, positioned),
};

/// A positioned write with its own flags; tests inject faults here.
pub(crate) type Call = fn(&File, &[u8], u64, libc::c_int) -> io::Result<usize>;

pub(crate) fn write(writer: &mut Writer<'_>, call: Call) -> Result<(), Fault> {
    let batch = match writer.job.submit {
        Submit::Each => 1,
        Submit::WhenFull => writer.job.depth.get().min(writer.slots()),
    };
    let mut filled = Vec::with_capacity(batch);
    loop {
        filled.clear();
        while filled.len() < batch
            && let Some(block) = writer.next()
        {
            writer.prepare(block, filled.len());
            filled.push(block);
        }
        if filled.is_empty() {
            return Ok(());
        }
        writer.note_submission(filled.len(), 1, Instant::now());
        for (slot, &block) in filled.iter().enumerate() {
            write_block(writer, block, slot, call)?;
            if writer.sync_is_due() {
                writer.sync()?;
            }
        }
    }
}

fn write_block(
    writer: &mut Writer<'_>,
    block: Block,
    slot: usize,
    call: Call,
) -> Result<(), Fault> {
    let since = Instant::now();
    let (file, alignment) = (writer.file(), writer.target().alignment);
    let flags = if writer.job.dontcache {
        libc::RWF_DONTCACHE
    } else {
        0
    };
    let mut piece = Piece::new(block.offset, writer.padded_length(block));
    loop {
        let (offset, requested) = (piece.offset, piece.operation());
        let rest = &writer.bytes(block, slot)[piece.start..piece.start + requested];
        let outcome = call(file, rest, offset, flags);
        writer.evidence.operations += 1;
        if let Ok(written) = outcome {
            writer.evidence.call_bytes += written as u64;
            writer.evidence.short += u64::from(written < requested);
            writer.evidence.dontcache += u64::from(flags != 0);
        }
        match piece.advance(outcome, alignment)? {
            Step::Repeat => writer.evidence.repeated += 1,
            Step::Rest { written } => writer.note_written(offset, written),
            Step::Done { written } => {
                writer.note_written(offset, written);
                writer.evidence.times.write += since.elapsed();
                writer.note_finished(since);
                return Ok(());
            }
        }
    }
}

fn matches(evidence: &Evidence) -> bool {
    evidence.ring_bytes == 0
        && evidence.mapped_bytes == 0
        && evidence.call_bytes >= evidence.written_bytes
}

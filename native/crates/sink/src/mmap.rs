//! `mmap`: contents are produced in windows of the file mapped into memory.

use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use memmap2::{MmapMut, MmapOptions};
use worker::recognition::bytes_mapped_from;

use crate::{Block, Durability, Evidence, Fault, Mode, Writer, target};

pub(crate) static MODE: Mode = Mode {
    name: "mmap",
    about: "stores into one mapped window of the file after the other, space reserved by fallocate(2)",
    direct: false,
    maps: true,
    queues: false,
    probe: || None,
    matches,
    write,
};

fn write(writer: &mut Writer<'_>) -> Result<(), Fault> {
    let inode = writer
        .file()
        .metadata()
        .map_err(Fault::during("look at"))?
        .ino();
    let synced = writer.job.durability == Durability::Dsync;
    let mut is_mapped = None;
    while let Some(block) = writer.next() {
        let since = Instant::now();
        // A store into a hole of a full disk would end the process by SIGBUS; this is an error instead.
        target::reserve(writer.file(), block.offset, block.length as u64)?;
        let mut window = map(writer, block)?;
        let is_mapped = *is_mapped
            .get_or_insert_with(|| bytes_mapped_from(&window, inode) == window.len() as u64);
        writer.evidence.times.write += since.elapsed();
        writer.note_submission(1, 1, Instant::now());
        writer.fill_into(block, &mut window);
        let stored = Instant::now();
        if synced {
            window
                .flush()
                .map_err(Fault::at("sync the mapping", block.offset))?;
            writer.evidence.dsync = true;
            writer.evidence.times.sync += stored.elapsed();
        }
        let unmapping = Instant::now();
        drop(window);
        writer.evidence.times.write += unmapping.elapsed();
        writer.evidence.operations += 1;
        if is_mapped {
            writer.evidence.mapped_bytes += block.length as u64;
        }
        writer.note_written(block.offset, block.length);
        writer.note_finished(since);
        if writer.sync_is_due() {
            writer.sync()?;
        }
    }
    Ok(())
}

fn map(writer: &Writer<'_>, block: Block) -> Result<MmapMut, Fault> {
    // SAFETY: the file has no name yet, so no other process can truncate or write it; writers have
    // disjoint blocks.
    unsafe {
        MmapOptions::new()
            .offset(block.offset)
            .len(block.length)
            .map_mut(writer.file())
    }
    .map_err(Fault::at("map", block.offset))
}

fn matches(evidence: &Evidence) -> bool {
    evidence.ring_bytes == 0
        && evidence.call_bytes == 0
        && evidence.mapped_bytes >= evidence.written_bytes
}

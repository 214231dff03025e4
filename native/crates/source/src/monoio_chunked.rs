//! `monoio-chunked`: positional reads of the block size on `monoio`, and an explicit close.

use std::fs::File;
use std::io;

use crate::{Evidence, Mode, Options, Source, Visit, monoio_runtime};

pub(crate) static MODE: Mode = Mode {
    name: "monoio-chunked",
    about: "positional reads of the block size, one after the other, on monoio's io_uring driver",
    whole: false,
    streams: false,
    probe: monoio_runtime::probe,
    matches,
    source: &Chunked,
};

/// The most that one request asks for: `monoio` passes the length on as a `u32`.
const MOST_PER_REQUEST: usize = 1 << 30;

struct Chunked;

impl Source for Chunked {
    fn visit_blocks(
        &self,
        file: &File,
        options: &Options,
        evidence: &mut Evidence,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        // Tried first: running out of memory must be an error with a path, not an abort.
        Vec::<u8>::new().try_reserve_exact(options.block_bytes)?;
        let duplicate = file.try_clone()?;
        monoio_runtime::block_on(evidence, async |_| {
            let file = monoio::fs::File::from_std(duplicate)?;
            let reading = blocks(&file, options.block_bytes, visit).await;
            file.close().await?;
            reading
        })
    }
}

async fn blocks(file: &monoio::fs::File, size: usize, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut buffer = vec![0; size];
    let (mut filled, mut offset) = (0, 0);
    loop {
        let end = size.min(filled + MOST_PER_REQUEST);
        let (result, part) = file
            .read_at(
                monoio::buf::IoBufMut::slice_mut(buffer, filled..end),
                offset,
            )
            .await;
        buffer = part.into_inner();
        let count = match result {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        filled += count;
        offset += count as u64;
        if filled == size || (count == 0 && filled > 0) {
            if visit(&buffer[..filled]).is_break() {
                return Ok(());
            }
            filled = 0;
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Each block is a completion at least, and the read that returns nothing or the close is one more.
fn matches(evidence: &Evidence) -> bool {
    monoio_runtime::read_by_ring(evidence, evidence.blocks + 1)
        && evidence.largest_block_bytes <= evidence.block_bytes
}

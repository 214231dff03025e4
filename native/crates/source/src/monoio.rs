//! The modes on `monoio`, an asynchronous runtime, with the proof that its `io_uring` driver read: `monoio-slurp` is
//! `monoio::fs::read` of the whole file, `monoio-chunked` reads at positions and closes explicitly.
//!
//! `monoio` is built without its other driver: there is nothing that it could fall back to.

use std::fs::File;
use std::future::Future;
use std::io;
use std::os::fd::AsRawFd;

use monoio::{IoUringDriver, Runtime, RuntimeBuilder};

use crate::ring::MONOIO_COMPLETIONS;
use crate::{
    BlockCallback, Evidence, Mode, Options, check_memory, memory_for, ring, size_of, wrong_size,
};

pub(crate) static SLURP: Mode = Mode {
    name: "monoio-slurp",
    about: "monoio::fs::read: the whole file in one buffer, on monoio's io_uring driver",
    whole: true,
    streams: false,
    probe,
    matches: |evidence| {
        // Every open, read and close is a separate completion: at least 5 for a file with contents, and 4 for an empty one.
        evidence.blocks <= 1 && read_by_ring(evidence, if evidence.bytes > 0 { 5 } else { 4 })
    },
    read: slurp,
};

pub(crate) static CHUNKED: Mode = Mode {
    name: "monoio-chunked",
    about: "positional reads of the block size, one after the other, on monoio's io_uring driver",
    whole: false,
    streams: false,
    probe,
    matches: |evidence| {
        // Each block is a completion at least, and the read that returns nothing or the close is one more.
        read_by_ring(evidence, evidence.blocks + 1) && evidence.blocks_are_bounded()
    },
    read: read_chunks,
};

/// The largest file of `monoio::fs::read`: it passes the length of the rest on as a `u32`, and where 4 GiB remain, that
/// asks for nothing.
const MAX_SLURP_BYTES: usize = u32::MAX as usize;

fn slurp(
    file: &File,
    _options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let size = size_of(file)?;
    if size > MAX_SLURP_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("monoio-slurp reads at most {MAX_SLURP_BYTES} bytes, and there are {size}"),
        ));
    }
    // `fs::read` would end the process if there is not so much memory.
    check_memory(size)?;
    // The call takes a path; this one leads to the open file, even if its name is gone or is another file's now.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let contents = block_on(evidence, async |evidence| {
        let contents = count_read_calls(evidence, monoio::fs::read(&path)).await?;
        // `fs::read` takes the size of the file at its word, and files of /proc say that they are empty.
        let again = monoio::fs::File::open(&path).await?;
        let (behind, _) = again.read_at(vec![0; 1], contents.len() as u64).await;
        let behind = behind?;
        again.close().await?;
        if contents.len() < size || behind > 0 {
            return Err(wrong_size(size as u64));
        }
        Ok(contents)
    })?;
    if !contents.is_empty() {
        let _ = on_block(&contents);
    }
    Ok(())
}

/// The most that one request asks for: `monoio` passes the length on as a `u32`.
const MAX_REQUEST_BYTES: usize = 1 << 30;

fn read_chunks(
    file: &File,
    options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let buffer = memory_for(options.block_bytes)?;
    let duplicate = file.try_clone()?;
    block_on(evidence, async |_| {
        let file = monoio::fs::File::from_std(duplicate)?;
        let reading = blocks(&file, buffer, on_block).await;
        file.close().await?;
        reading
    })
}

async fn blocks(
    file: &monoio::fs::File,
    mut buffer: Vec<u8>,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let size = buffer.len();
    let (mut filled, mut offset) = (0, 0);
    loop {
        let end = size.min(filled + MAX_REQUEST_BYTES);
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
            if on_block(&buffer[..filled]).is_break() {
                return Ok(());
            }
            filled = 0;
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// Bytes that came from `read` calls of the thread instead of the ring, by the kernel's account of the thread.
const READ_CALL_BYTES: &str = "monoio_read_call_bytes";

/// Submission entries: the least that `monoio` takes.
const ENTRIES: u32 = 256;

fn build() -> io::Result<Runtime<IoUringDriver>> {
    RuntimeBuilder::<IoUringDriver>::new()
        .with_entries(ENTRIES)
        .build()
}

fn probe() -> Option<String> {
    match ring::create(build) {
        Ok((runtime, _)) => {
            ring::close(runtime);
            None
        }
        Err(error) => Some(worker::io_uring::unavailable(&error)),
    }
}

/// Runs `work` on its own runtime, and notes how many completions its ring got.
///
/// # Errors
/// `io_uring` cannot be set up, or `work` failed.
fn block_on<T>(
    evidence: &mut Evidence,
    work: impl AsyncFnOnce(&mut Evidence) -> io::Result<T>,
) -> io::Result<T> {
    let (mut runtime, descriptor) = ring::create(build)
        .map_err(|error| io::Error::new(error.kind(), worker::io_uring::unavailable(&error)))?;
    let result = runtime.block_on(work(evidence));
    if let Some(count) = descriptor.and_then(ring::completions) {
        evidence.facts.insert(MONOIO_COMPLETIONS, count);
    }
    ring::close(runtime);
    result
}

/// Awaits `reading`, and notes the bytes that came from `read` calls meanwhile: none, if the ring read.
async fn count_read_calls<T>(evidence: &mut Evidence, reading: impl Future<Output = T>) -> T {
    let before = ring::bytes_of_read_calls();
    let result = reading.await;
    if let (Some((before, own)), Some((after, _))) = (before, ring::bytes_of_read_calls()) {
        let bytes = after.saturating_sub(before + own);
        *evidence.facts.entry(READ_CALL_BYTES).or_default() += bytes;
    }
    result
}

/// Returns whether `evidence` contains only facts of `monoio`, at least `least` completions, and no
/// bytes read by another call.
fn read_by_ring(evidence: &Evidence, least: u64) -> bool {
    evidence.has_only(&[MONOIO_COMPLETIONS, READ_CALL_BYTES])
        && evidence.facts.contains_key(MONOIO_COMPLETIONS)
        && evidence.fact(MONOIO_COMPLETIONS) >= least
        && evidence.fact(READ_CALL_BYTES) == 0
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::ops::ControlFlow;

    use super::*;

    #[test]
    fn a_file_that_is_too_large_for_one_request_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 32).unwrap();
        let mut evidence = Evidence::default();
        let mut on_block = |_: &[u8]| ControlFlow::Continue(());
        let refused = slurp(&file, &Options::default(), &mut evidence, &mut on_block);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    /// An asynchronous function around an ordinary read, which the evidence must not accept.
    #[test]
    fn an_ordinary_read_inside_the_runtime_is_detected() {
        if !crate::needs::can_have("io_uring", probe()) {
            return;
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 5000]).unwrap();
        let mut evidence = Evidence::default();
        block_on(&mut evidence, async |evidence| {
            let reading = async {
                let mut contents = Vec::new();
                std::fs::File::open(file.path())?.read_to_end(&mut contents)?;
                io::Result::Ok(contents)
            };
            count_read_calls(evidence, reading).await
        })
        .unwrap();
        assert_eq!(
            evidence.facts.get(READ_CALL_BYTES).copied().unwrap_or(5000),
            5000
        );
        assert_eq!(
            evidence.facts.get(MONOIO_COMPLETIONS).copied().unwrap_or(0),
            0
        );
        assert!(!read_by_ring(&evidence, 1));
    }
}

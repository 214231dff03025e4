//! `direct`: `O_DIRECT`, past the page cache, into an aligned buffer.
//!
//! What does not report its alignment is refused ([`worker::direct`]).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode as Permissions, OFlags};
use rustix::io::Errno;
use worker::direct;

use crate::{BlockCallback, Evidence, Mode, Options, memory_for, wrong_size};

pub(crate) static MODE: Mode = Mode {
    name: "direct",
    about: "O_DIRECT reads of the block size, past the page cache, into one aligned buffer",
    whole: false,
    streams: false,
    probe,
    matches,
    read,
};

/// Buffers are aligned to a page at least, whatever smaller alignment the device takes.
const PAGE: usize = 4096;

const FLAG: &str = "direct_flag";
const BYTES: &str = "direct_bytes";
const READS: &str = "direct_reads";
const ALIGNMENT: &str = "direct_alignment_bytes";
const FACTS: [&str; 4] = [FLAG, BYTES, READS, ALIGNMENT];

/// The input is not known here. The working folder is asked, where inputs are likely; only if no file can be made in it,
/// the temporary folder is.
fn probe() -> Option<String> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let reason = |folder: &Path, error: &io::Error| format!("{}: {error}", folder.display());
    match probe_folder(&here) {
        FolderProbe::Answer(answer) => answer.err().map(|error| reason(&here, &error)),
        FolderProbe::NoFile(error) => {
            let elsewhere = std::env::temp_dir();
            let (FolderProbe::NoFile(other) | FolderProbe::Answer(Err(other))) =
                probe_folder(&elsewhere)
            else {
                return None;
            };
            Some(format!(
                "tried with a file in the working and the temporary folder ({}; {})",
                reason(&here, &error),
                reason(&elsewhere, &other)
            ))
        }
    }
}

/// Support of a folder for `O_DIRECT`.
enum FolderProbe {
    Answer(io::Result<usize>),
    /// No file could be made to ask with.
    NoFile(io::Error),
}

/// Asks with a file that has no name and goes away with its descriptor.
fn probe_folder(folder: &Path) -> FolderProbe {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(folder, flags, Permissions::RUSR | Permissions::WUSR) {
        Ok(file) => FolderProbe::Answer(enable_direct(&File::from(file))),
        Err(errno) => FolderProbe::NoFile(io::Error::other(format!("cannot make a file: {errno}"))),
    }
}

fn matches(evidence: &Evidence) -> bool {
    evidence.has_only(&FACTS)
        && evidence.fact(FLAG) == 1
        && evidence.fact(READS) > 0
        && evidence.fact(BYTES) >= evidence.bytes
        && evidence.blocks_are_bounded()
}

fn read(
    file: &File,
    options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let alignment = enable_direct(file)?;
    let request = options
        .block_bytes
        .checked_next_multiple_of(alignment)
        .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let memory_alignment = alignment.max(PAGE);
    let room = request.saturating_add(memory_alignment);
    let mut memory = memory_for(room)?;
    let start = memory.as_ptr().align_offset(memory_alignment);
    let buffer = &mut memory[start..start + request];

    let (reads, offset) = read_to_end(buffer, alignment, options.block_bytes, on_block, {
        |buffer, offset| rustix::io::pread(file, buffer, offset)
    })?;
    let size = file.metadata()?.len();
    if offset % alignment as u64 != 0 && offset != size {
        return Err(wrong_size(size));
    }
    let flags = rustix::fs::fcntl_getfl(file)?;
    evidence
        .facts
        .insert(FLAG, u64::from(flags.contains(OFlags::DIRECT)));
    evidence.facts.insert(BYTES, offset);
    evidence.facts.insert(READS, reads);
    evidence.facts.insert(ALIGNMENT, alignment as u64);
    Ok(())
}

/// Reads by `pread` to the end, and returns how many reads gave bytes or the end, and the bytes.
fn read_to_end(
    buffer: &mut [u8],
    alignment: usize,
    block_bytes: usize,
    on_block: &mut BlockCallback<'_>,
    mut pread: impl FnMut(&mut [u8], u64) -> rustix::io::Result<usize>,
) -> io::Result<(u64, u64)> {
    let (mut reads, mut offset) = (0, 0);
    loop {
        let count = match pread(buffer, offset) {
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => continue,
            Err(errno) => return Err(errno.into()),
        };
        reads += 1;
        offset += count as u64;
        for block in buffer[..count].chunks(block_bytes) {
            if on_block(block).is_break() {
                return Ok((reads, offset));
            }
        }
        // A count that is no multiple of the alignment is the tail: what follows cannot be asked for.
        if count == 0 || count % alignment != 0 {
            return Ok((reads, offset));
        }
    }
}

/// Sets `O_DIRECT` on the descriptor of a file, and returns the alignment of offsets and lengths.
///
/// # Errors
/// Its file system does not do it or does not say so.
fn enable_direct(file: &File) -> io::Result<usize> {
    let unsupported = |why| io::Error::new(io::ErrorKind::Unsupported, why);
    let (memory, offset) = direct::alignment(file).map_err(unsupported)?;
    let flags = rustix::fs::fcntl_getfl(file)?;
    rustix::fs::fcntl_setfl(file, flags | OFlags::DIRECT)
        .map_err(|errno| unsupported(direct::refusal(file, &errno.to_string())))?;
    Ok(memory.max(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Procfs is everywhere, and does not do it.
    #[test]
    fn a_file_system_without_an_alignment_is_refused_by_name() {
        let error = enable_direct(&File::open("/proc/self/status").unwrap()).unwrap_err();
        assert!(
            error.to_string().starts_with("no O_DIRECT on proc: "),
            "{error}"
        );
    }

    /// Tmpfs takes the flag: only what statx says gives it away.
    #[test]
    fn tmpfs_is_refused() {
        let shared = Path::new("/dev/shm");
        let is_tmpfs =
            File::open(shared).is_ok_and(|folder| direct::file_system(&folder) == "tmpfs");
        if let (true, FolderProbe::Answer(Err(error))) = (is_tmpfs, probe_folder(shared)) {
            assert!(
                error.to_string().starts_with("no O_DIRECT on tmpfs: ")
                    || error.to_string().starts_with("cannot make a file: "),
                "{error}"
            );
        } else {
            assert!(!is_tmpfs, "tmpfs was believed");
        }
    }

    /// Simulated results of the kernel: interruptions, `EAGAIN` and short reads.
    #[test]
    fn short_and_interrupted_reads_lose_nothing() {
        let contents: Vec<u8> = (0..=250).cycle().take(4096 + 512 + 7).collect();
        let mut script = [
            Err(Errno::INTR),
            Ok(512),
            Err(Errno::AGAIN),
            Err(Errno::INTR),
            Ok(1024),
            Ok(4096),
        ]
        .into_iter();
        let mut read = Vec::new();
        let mut on_block = |block: &[u8]| {
            assert!((1..=700).contains(&block.len()));
            read.extend_from_slice(block);
            std::ops::ControlFlow::Continue(())
        };
        let (reads, bytes) =
            read_to_end(&mut [0; 4096], 512, 700, &mut on_block, |buffer, offset| {
                assert_eq!(offset % 512, 0, "only aligned places may be asked for");
                let at = usize::try_from(offset).unwrap();
                let count = script.next().unwrap()?.min(contents.len() - at);
                buffer[..count].copy_from_slice(&contents[at..at + count]);
                Ok(count)
            })
            .unwrap();
        assert!(read == contents);
        assert_eq!((reads, bytes), (3, contents.len() as u64));
        assert_eq!(script.next(), None);
    }

    #[test]
    fn an_error_ends_the_reading() {
        let mut on_block = |_: &[u8]| std::ops::ControlFlow::Continue(());
        let failed = read_to_end(&mut [0; 512], 512, 512, &mut on_block, |_, _| {
            Err(Errno::IO)
        });
        assert_eq!(failed.unwrap_err().raw_os_error(), Some(libc::EIO));
    }
}

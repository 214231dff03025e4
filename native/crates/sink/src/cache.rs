//! Number of bytes of a file in the page cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The same on every architecture that Linux supports but alpha; libc does not name it everywhere.
const SYS_CACHESTAT: libc::c_long = 451;
const PAGE: u64 = 4096;
/// Bytes examined by one `mincore`.
const WINDOW: u64 = 1 << 30;

#[repr(C)]
#[derive(Default)]
struct Range {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Counts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Bytes of `file` that are in the page cache, in whole pages: by cachestat(2), before Linux 6.5 by mincore(2).
///
/// # Errors
/// The kernel does not report the number.
pub fn cached_bytes(file: &File) -> io::Result<u64> {
    let range = Range::default();
    let mut counts = Counts::default();
    // SAFETY: both structs have the layout of the kernel and live across the call. A length of 0 means to the end.
    let failed = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut counts,
            0,
        )
    };
    if failed == 0 {
        return Ok(counts.cached * PAGE);
    }
    by_mincore(file)
}

fn by_mincore(file: &File) -> io::Result<u64> {
    let size = file.metadata()?.len();
    let mut pages = 0;
    let mut offset = 0;
    while offset < size {
        let length = usize::try_from(WINDOW.min(size - offset)).unwrap_or(usize::MAX);
        let mut resident = vec![0_u8; length.div_ceil(4096)];
        // SAFETY: the map is only asked about, never read.
        let map = unsafe {
            memmap2::MmapOptions::new()
                .offset(offset)
                .len(length)
                .map(file)
        }?;
        // SAFETY: the map begins on a page, and the vector has a byte for each of its pages.
        let failed = unsafe {
            libc::mincore(
                map.as_ptr().cast_mut().cast(),
                length,
                resident.as_mut_ptr(),
            )
        };
        if failed != 0 {
            return Err(io::Error::last_os_error());
        }
        pages += resident.iter().map(|page| u64::from(page & 1)).sum::<u64>();
        offset += WINDOW;
    }
    Ok(pages * PAGE)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn both_ways_see_a_fresh_file_and_agree() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(folder.path().join("file"))
            .unwrap();
        assert_eq!(cached_bytes(&file).unwrap(), 0);
        file.write_all(&[7; 10_000]).unwrap();
        assert_eq!(cached_bytes(&file).unwrap(), 12_288);
        assert_eq!(by_mincore(&file).unwrap(), 12_288);
    }
}

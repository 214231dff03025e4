//! Support of a file system for writes past the page cache.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use worker::direct::{file_system, refusal};

use crate::positioned::positioned;

/// File systems that are known to bypass the page cache for `O_DIRECT` when they report its
/// alignment. Not btrfs: since Linux 6.15 it writes checksummed files through the cache.
const DIRECT_FILE_SYSTEMS: &[&str] = &["ext4", "xfs", "f2fs"];

/// Alignment of memory and of offsets for `O_DIRECT` on `file`, or why it is not effective.
///
/// # Errors
/// The file system is not known to honour `O_DIRECT`, or does not report the alignment.
pub fn alignment(file: &File) -> Result<(usize, usize), String> {
    if !DIRECT_FILE_SYSTEMS.contains(&file_system(file).as_str()) {
        return Err(refusal(file, "it is not known to honour the flag"));
    }
    worker::direct::alignment(file)
}

/// Returns the reason why a file in `folder` cannot bypass the page cache, or `None`. Also `None`
/// if no file can be created in the folder.
#[must_use]
pub fn why_not_direct(folder: &Path) -> Option<String> {
    let open = |flags| {
        OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_TMPFILE | flags)
            .open(folder)
    };
    let plain = open(0).ok()?;
    alignment(&plain).err().or_else(|| {
        open(libc::O_DIRECT)
            .err()
            .map(|error| format!("open with O_DIRECT failed: {error}"))
    })
}

/// Returns the reason why a write in `folder` cannot use `RWF_DONTCACHE`, or `None`. Also `None` if
/// no file can be created in the folder.
#[must_use]
pub fn why_not_dontcache(folder: &Path) -> Option<String> {
    let file = OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .open(folder)
        .ok()?;
    positioned(&file, &[0; 4096], 0, libc::RWF_DONTCACHE)
        .err()
        .map(|error| format!("pwritev2 with RWF_DONTCACHE failed: {error}"))
}

//! Support of a file system for writes past the page cache.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::positioned::positioned;

/// File systems that are known to bypass the page cache for `O_DIRECT` when they report its
/// alignment, by the magic number of statfs(2). Not btrfs: since Linux 6.15 it writes checksummed
/// files through the cache.
const DIRECT_FILE_SYSTEMS: &[(i64, &str)] =
    &[(0xEF53, "ext"), (0x5846_5342, "xfs"), (0xF2F5_2010, "f2fs")];

/// Alignment of memory and of offsets for `O_DIRECT` on `file`, or why it is not effective.
///
/// # Errors
/// The file system is not known to honour `O_DIRECT`, or does not report the alignment.
pub fn alignment(file: &File) -> Result<(usize, usize), String> {
    // SAFETY: both are plain C structs of integers, for which all zeros is a valid value.
    let (mut system, mut status): (libc::statfs, libc::statx) = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one struct and lives across the call.
    if unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut system) } != 0 {
        return Err(format!("statfs failed: {}", io::Error::last_os_error()));
    }
    // The type of the field differs between architectures; the magic numbers fit 32 bits.
    let magic = system.f_type & 0xffff_ffff;
    if !DIRECT_FILE_SYSTEMS
        .iter()
        .any(|&(honest, _)| honest == magic)
    {
        return Err(format!(
            "a file system of type {magic:#x} is not known to honour O_DIRECT"
        ));
    }
    // SAFETY: the path is a literal that ends with zero, the struct lives across the call.
    let failed = unsafe {
        libc::statx(
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            libc::STATX_DIOALIGN,
            &raw mut status,
        )
    };
    if failed != 0 {
        return Err(format!("statx failed: {}", io::Error::last_os_error()));
    }
    let (memory, offset) = (status.stx_dio_mem_align, status.stx_dio_offset_align);
    if status.stx_mask & libc::STATX_DIOALIGN == 0 || memory == 0 || offset == 0 {
        return Err("the file system does not report the alignment for O_DIRECT".to_owned());
    }
    Ok((memory as usize, offset as usize))
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

//! `O_DIRECT`: the alignment that a file needs, and the file systems by their names.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Alignment of memory and of offsets for `O_DIRECT` on a file.
///
/// A file system may accept the flag and ignore it (tmpfs), or use the cache for some files all the same. Only what
/// reports its alignment (`STATX_DIOALIGN`, Linux 6.1) is believed.
///
/// # Errors
/// The file system does not report the alignment, or reports 0.
pub fn alignment(file: &File) -> Result<(usize, usize), String> {
    // SAFETY: it is a plain C struct of integers, for which all zeros is a valid value.
    let mut status: libc::statx = unsafe { std::mem::zeroed() };
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
        let why = format!("statx failed: {}", io::Error::last_os_error());
        return Err(refusal(file, &why));
    }
    reported(&status).map_err(|why| refusal(file, why))
}

fn reported(status: &libc::statx) -> Result<(usize, usize), &'static str> {
    let (memory, offset) = (status.stx_dio_mem_align, status.stx_dio_offset_align);
    if status.stx_mask & libc::STATX_DIOALIGN == 0 {
        return Err(
            "it does not report an alignment (STATX_DIOALIGN), so it may accept the flag and ignore it",
        );
    }
    if memory == 0 || offset == 0 {
        return Err("it reports that this file cannot bypass the page cache");
    }
    Ok((memory as usize, offset as usize))
}

/// The message that a file cannot be used with `O_DIRECT`, with the name of its file system.
#[must_use]
pub fn refusal(file: &File, why: &str) -> String {
    format!("no O_DIRECT on {}: {why}", file_system(file))
}

/// The file system of a file by its number in `linux/magic.h`.
#[must_use]
pub fn file_system(file: &File) -> String {
    // SAFETY: it is a plain C struct of integers, for which all zeros is a valid value.
    let mut known: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one struct and lives across the call.
    if unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut known) } != 0 {
        let error = io::Error::last_os_error();
        return format!("an unknown file system (statfs failed: {error})");
    }
    // The type of the field differs between architectures; the magic numbers fit 32 bits.
    let name = match known.f_type & 0xffff_ffff {
        0xEF53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683E => "btrfs",
        0xF2F5_2010 => "f2fs",
        0x0102_1994 => "tmpfs",
        0x8584_58F6 => "ramfs",
        0x794C_7630 => "overlayfs",
        0x9FA0 => "proc",
        0x6969 => "nfs",
        0x6573_5546 => "fuse",
        other => return format!("the file system of type {other:#x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alignment_of_zero_is_refused() {
        // SAFETY: it is a plain C struct of integers, for which all zeros is a valid value.
        let mut known: libc::statx = unsafe { std::mem::zeroed() };
        (known.stx_dio_mem_align, known.stx_dio_offset_align) = (4, 512);
        assert!(reported(&known).is_err());
        known.stx_mask = libc::STATX_DIOALIGN;
        assert_eq!(reported(&known), Ok((4, 512)));
        known.stx_dio_offset_align = 0;
        assert!(reported(&known).is_err());
    }
}

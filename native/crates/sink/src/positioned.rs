//! The system call of `pwrite`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// One `pwritev2`, with `flags` of one write.
pub(crate) fn positioned(
    file: &File,
    bytes: &[u8],
    offset: u64,
    flags: libc::c_int,
) -> io::Result<usize> {
    let part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let offset =
        libc::off_t::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: one part, which the kernel only reads and which is borrowed across the call.
    let written = unsafe { libc::pwritev2(file.as_raw_fd(), &raw const part, 1, offset, flags) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

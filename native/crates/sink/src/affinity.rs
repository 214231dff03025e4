//! On which processors a writer runs.

use std::io;

/// Binds the calling thread to `processor`.
pub(crate) fn bind(processor: usize) -> io::Result<()> {
    let most = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    if processor >= most {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: `cpu_set_t` is a plain array of integers, for which all zeros is a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number is below the size of the set.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the pointer is valid for the size given and lives across the call.
    let failed = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Processor and memory node on which the calling thread runs right now.
pub(crate) fn place() -> Option<(u32, u32)> {
    let (mut processor, mut node) = (0_u32, 0_u32);
    // SAFETY: two pointers to integers that live across the call; the third argument is unused.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_getcpu,
            &raw mut processor,
            &raw mut node,
            std::ptr::null_mut::<libc::c_void>(),
        )
    };
    (failed == 0).then_some((processor, node))
}

//! The reason why `io_uring` is unavailable.

use std::io;

/// Returns the reason why `io_uring` is unavailable: the error of its set-up, with the meaning of the errno.
#[must_use]
pub fn unavailable(error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(libc::ENOSYS) => "; the kernel has none, or a seccomp filter hides it",
        Some(libc::EPERM) => "; a seccomp filter or kernel.io_uring_disabled forbids it",
        Some(libc::ENOMEM) => "; the limit of locked memory (ulimit -l) may be too small",
        _ => "",
    };
    format!("io_uring cannot be set up: {error}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errno_is_explained() {
        for errno in [1, 12, 38] {
            let message = unavailable(&io::Error::from_raw_os_error(errno));
            assert!(
                message.contains(&format!("(os error {errno}); ")),
                "{message}"
            );
        }
    }
}

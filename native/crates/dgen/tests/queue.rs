//! If the kernel stops taking entries from a queue, the run fails: no thread waits forever, and no
//! file looks complete.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` stops at once"
)]

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[path = "../../worker/tests/needs/mod.rs"]
mod needs;

const DGEN: &str = env!("CARGO_BIN_EXE_dgen");

/// Answers every `io_uring_enter` of the child with `errno`.
fn refuse_entering(command: &mut Command, errno: libc::c_int) {
    let number = u32::try_from(libc::SYS_io_uring_enter).unwrap();
    let errno = u32::try_from(errno).unwrap();
    // Load the number of the call; answer the error to that one, allow every other.
    let filter = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, number),
        (0x06, 0, 0, libc::SECCOMP_RET_ERRNO | errno),
        (0x06, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
    .map(|(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k });
    // SAFETY: between fork and exec only system calls are made, on memory that the closure owns.
    unsafe {
        command.pre_exec(move || {
            let mut filter = filter;
            let program = libc::sock_fprog {
                len: 4,
                filter: filter.as_mut_ptr(),
            };
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
                || libc::prctl(libc::PR_SET_SECCOMP, 2, &raw const program) != 0
            {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
}

#[test]
fn retries_end_with_the_error_of_a_kernel_that_keeps_refusing() {
    if !needs::can_have("io_uring", sink::why_no_ring()) {
        return;
    }
    let mut started = Vec::new();
    for errno in [libc::EAGAIN, libc::EBUSY, libc::EINTR, libc::ENXIO] {
        for strategy in ["streaming", "late-submit", "pregenerated-uring"] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            let mut command = Command::new(DGEN);
            command.args(["run", "write", "--size", "1MiB", "--strategy", strategy]);
            command.args(["--backend", "uring", "--buffer", "64KiB"]);
            command.arg(file).stderr(Stdio::piped());
            refuse_entering(&mut command, errno);
            // All at once: each is patient for a while.
            started.push((errno, strategy, folder, command.spawn().unwrap()));
        }
    }
    for (errno, strategy, folder, child) in started {
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{strategy}: {message}");
        assert_eq!(message.lines().count(), 1, "{strategy}: {message}");
        assert!(message.contains("io_uring"), "{strategy}: {message}");
        let words = format!("os error {errno}");
        assert!(message.contains(&words), "{strategy}: {message}");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "{strategy}");
    }
}

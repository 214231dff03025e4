//! What the program says and does where the kernel refuses `io_uring`, as containers do.
#![cfg(not(feature = "test-swap-io"))]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` stops at once"
)]

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use worker::answer::Line;
use worker::describe::Description;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

/// Runs the program with a filter that answers system call `call` with `errno`, if its second argument is
/// `second` or that is `None`.
fn tally(
    arguments: &[&str],
    answers: &Path,
    call: libc::c_long,
    second: Option<u32>,
    errno: i32,
) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
    command.args(arguments).env("BENCHCTL_ANSWERS", answers);
    let refusal = libc::SECCOMP_RET_ERRNO | errno.cast_unsigned();
    let filter = [
        // Number of the call, then the low half of its second argument (struct seccomp_data).
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            u32::try_from(call).unwrap(),
            0,
            3,
        ),
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 24, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            second.unwrap_or(0),
            0,
            u8::from(second.is_some()),
        ),
        step(libc::BPF_RET | libc::BPF_K, refusal, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, ALLOW, 0, 0),
    ];
    let refuse = move || {
        let program = libc::sock_fprog {
            len: 6,
            filter: filter.as_ptr().cast_mut(),
        };
        // SAFETY: both calls take numbers and a pointer to a program that lives across the call.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ) == 0
        };
        if done {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec it makes two system calls and allocates nothing.
    unsafe { command.pre_exec(refuse) };
    command.output().unwrap()
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: u16::try_from(code).unwrap(),
        jt,
        jf,
        k,
    }
}

const RING_MODES: [&str; 3] = ["uring", "monoio-slurp", "monoio-chunked"];

#[test]
fn a_kernel_without_io_uring_is_said_and_nothing_else_runs_instead() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, "one two").unwrap();
    for (errno, words) in [
        (libc::ENOSYS, "Function not implemented (os error 38)"),
        (libc::EPERM, "Operation not permitted (os error 1)"),
    ] {
        let refused =
            |arguments: &[&str]| tally(arguments, &answers, libc::SYS_io_uring_setup, None, errno);
        let described = refused(&["describe"]);
        let description: Description = serde_json::from_slice(&described.stdout).unwrap();
        for mode in &description.axes["io"].values {
            let why = mode.unavailable.as_deref().unwrap_or_default();
            let is_ring = RING_MODES.contains(&mode.name.as_str());
            assert_eq!(is_ring, why.contains(words), "{}: {why}", mode.name);
        }
        for name in RING_MODES {
            let output = refused(&["run", "--io", name, input.to_str().unwrap()]);
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{name}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(message.contains(words), "{name}: {message}");
            assert!(output.stdout.is_empty() && !answers.exists(), "{name}");
        }
    }
}

/// The limit of locked memory is often 8 MiB, or 64 KiB: the mode does without registered buffers, and says so.
#[test]
fn buffers_that_cannot_be_registered_are_done_without_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, "one two ".repeat(100_000)).unwrap();
    let arguments = [
        "run",
        "--io",
        "uring",
        "--output",
        "none",
        input.to_str().unwrap(),
    ];
    // IORING_REGISTER_BUFFERS is 0.
    let output = tally(
        &arguments,
        &answers,
        libc::SYS_io_uring_register,
        Some(0),
        libc::ENOMEM,
    );
    if !output.status.success() {
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("io_uring cannot be set up"), "{message}");
        return;
    }
    let line: Line = serde_json::from_str(&fs::read_to_string(&answers).unwrap()).unwrap();
    assert_eq!(line.effective["io"], "uring");
    assert_eq!(
        line.notes,
        ["io_uring without registered buffers: Cannot allocate memory (os error 12)"]
    );
    assert_eq!(line.answer.count, 200_000);
}

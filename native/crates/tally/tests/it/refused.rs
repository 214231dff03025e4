//! Behaviour if the kernel refuses `io_uring`, as in containers, or memory.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use worker::answer::Line;
use worker::describe::Description;

use crate::conformance::modes;
use crate::needs;

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
    let filter = [
        // Number of the call, then the low half of its second argument (struct seccomp_data).
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        equals(call, 0, 3),
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 24, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            second.unwrap_or(0),
            0,
            u8::from(second.is_some()),
        ),
        step(libc::BPF_RET | libc::BPF_K, refusal(errno), 0, 0),
        step(libc::BPF_RET | libc::BPF_K, ALLOW, 0, 0),
    ];
    run_filtered(arguments, answers, filter.to_vec())
}

/// Runs the program where `read` and `pread64` may not ask for 64 KiB or more.
fn without_large_reads(arguments: &[&str], answers: &Path) -> Output {
    let filter = vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        equals(libc::SYS_read, 1, 0),
        equals(libc::SYS_pread64, 0, 3),
        // The low half of the third argument.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 32, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 64 << 10, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, refusal(libc::EPERM), 0, 0),
        step(libc::BPF_RET | libc::BPF_K, ALLOW, 0, 0),
    ];
    run_filtered(arguments, answers, filter)
}

fn run_filtered(arguments: &[&str], answers: &Path, filter: Vec<libc::sock_filter>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
    command.args(arguments).env("BENCHCTL_ANSWERS", answers);
    let refuse = move || {
        let program = libc::sock_fprog {
            len: u16::try_from(filter.len()).unwrap_or(0),
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

fn refusal(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()
}

/// Jumps by whether the number of the call is `call`.
fn equals(call: libc::c_long, jt: u8, jf: u8) -> libc::sock_filter {
    let call = u32::try_from(call).unwrap();
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call, jt, jf)
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
fn a_kernel_without_io_uring_is_reported_and_no_other_mode_replaces_it() {
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
        assert!(!needs::can_have("io_uring", Some(message)));
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

/// A carry and a table that outgrow the memory are failures of the run, not defects.
#[test]
fn running_out_of_memory_is_one_line_and_exit_code_1() {
    let folder = tempfile::tempdir().unwrap();
    let (long, many) = (folder.path().join("long"), folder.path().join("many"));
    fs::write(&long, vec![b'x'; 40 << 20]).unwrap();
    let words: Vec<_> = (0..800_000).map(|number| format!("w{number}")).collect();
    fs::write(&many, words.join(" ")).unwrap();
    for input in [&long, &many] {
        for runtime in ["sequential", "rayon", "pipeline"] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_tally"));
            command
                .args(["run", "--output", "none", "--runtime", runtime, "--threads"])
                .arg("2")
                .arg(input);
            let limit = libc::rlimit {
                rlim_cur: 64 << 20,
                rlim_max: 64 << 20,
            };
            let lower = move || {
                // SAFETY: a system call with a pointer to plain data that lives across it.
                match unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) } {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            };
            // SAFETY: between fork and exec it makes one system call and allocates nothing.
            unsafe { command.pre_exec(lower) };
            let output = command.output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{runtime}: {message}");
            assert!(
                message.starts_with("tally: out of memory: ") && message.lines().count() == 1,
                "{runtime}: {message}"
            );
        }
    }
}

/// The receipt agrees with the system calls: where reads are forbidden, a ring still works, and no
/// mode that is reported as reading does. Bytes past the page cache are those that storage
/// delivered, as the kernel counts them.
#[test]
fn who_reads_by_a_ring_needs_no_read_calls() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (input, answers) = (folder.path().join("input"), folder.path().join("answers"));
    fs::write(&input, "one two ".repeat(1 << 20)).unwrap();
    for mode in modes() {
        let _ = fs::remove_file(&answers);
        let arguments = [
            "run",
            "--io",
            mode.name,
            "--block",
            "1MiB",
            "--output",
            "none",
            input.to_str().unwrap(),
        ];
        let output = without_large_reads(&arguments, &answers);
        let message = String::from_utf8(output.stderr).unwrap();
        let reads = ["read", "slurp", "direct"].contains(&mode.name);
        assert_eq!(output.status.success(), !reads, "{}: {message}", mode.name);
        if reads {
            assert!(
                message.ends_with(": Operation not permitted (os error 1)\n"),
                "{}: {message}",
                mode.name
            );
        } else {
            let line: Line = serde_json::from_str(&fs::read_to_string(&answers).unwrap()).unwrap();
            assert_eq!(line.effective["io"], mode.name);
            assert_eq!(line.answer.count, 2 << 20);
            let by_ring = ["uring", "monoio-slurp", "monoio-chunked"].contains(&mode.name);
            assert_eq!(
                line.metrics["ring_completions"] > 0.0,
                by_ring,
                "{}",
                mode.name
            );
        }
        if mode.name == "direct" {
            // The file was just written and is in the page cache: an ordinary read takes nothing
            // from storage.
            let status = Command::new(env!("CARGO_BIN_EXE_tally"))
                .args(arguments)
                .env("BENCHCTL_ANSWERS", &answers)
                .status()
                .unwrap();
            assert!(status.success());
            let line: Line = serde_json::from_str(&fs::read_to_string(&answers).unwrap()).unwrap();
            assert!(line.counters["read_bytes"].is_none_or(|bytes| bytes >= 8 << 20));
        }
    }
}

/// A file that is truncated while it is mapped causes an error message, never a silent death.
#[test]
fn a_file_that_is_cut_while_it_is_mapped_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    // A hole takes no room, and long enough to count that it is met in the middle.
    let path = folder.path().join("long.txt");
    let file = fs::File::create(&path).unwrap();
    file.set_len(8 << 30).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tally"))
        .args(["run", "--io", "mmap", "--output", "none"])
        .arg(&path)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let maps = format!("/proc/{}/maps", child.id());
    while !fs::read_to_string(&maps).is_ok_and(|maps| maps.contains("long.txt")) {
        assert_eq!(child.try_wait().unwrap(), None, "it mapped nothing");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    file.set_len(5000).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!(
            "tally: cannot read {}: it became shorter while it was mapped\n",
            path.display()
        )
    );
}

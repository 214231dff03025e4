//! What goes wrong around a writer: it says so in one line, and leaves nothing that looks complete.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` stops at once"
)]

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use dgen::write::strategy::Driver;
use worker::answer::Line;

const DGEN: &str = env!("CARGO_BIN_EXE_dgen");

fn write(arguments: &[&str], file: &Path) -> Command {
    let mut command = Command::new(DGEN);
    command
        .args(["run", "write", "--size", "4MiB", "--buffer", "64KiB"])
        .args(arguments)
        .arg(file);
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// One line on stderr, that exit code, and nothing in the folder of the file.
fn fails(mut command: Command, code: i32, words: &[&str], folder: &Path) {
    let output = command.output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    let left = fs::read_dir(folder).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{said}");
}

/// Denies the system call with that number to the child, with `EPERM`.
fn forbid(command: &mut Command, number: libc::c_long) -> &mut Command {
    let number = u32::try_from(number).unwrap();
    // Load the number of the call; if it is the one, answer EPERM, else allow.
    let filter = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, number),
        (0x06, 0, 0, libc::SECCOMP_RET_ERRNO | 1),
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
        })
    }
}

/// Whether a ring can be had here at all: without one there is nothing to forbid.
fn no_ring() -> bool {
    let absent = sink::why_no_ring();
    if let Some(reason) = &absent {
        eprintln!("not tried: {reason}");
    }
    absent.is_some()
}

#[test]
fn a_missing_folder() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    for backend in ["pwrite", "uring", "mmap"] {
        if backend == "uring" && no_ring() {
            continue;
        }
        let command = write(&["--backend", backend], &missing.join("file"));
        fails(command, 1, &["missing/file", "No such file"], folder.path());
    }
}

#[test]
fn what_is_no_regular_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fails(
        write(&["--backend", "pwrite"], folder.path()),
        2,
        &["regular file"],
        folder.path(),
    );
}

#[test]
fn options_that_contradict_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let cases: [&[&str]; 5] = [
        &["--backend", "mmap", "--direct", "require"],
        &["--backend", "mmap", "--dontcache", "on"],
        &["--backend", "mmap", "--buffer", "1000"],
        &["--strategy", "pregenerated-uring", "--backend", "pwrite"],
        &["--depth", "auto"],
    ];
    for arguments in cases {
        // A later --buffer overrides nothing: clap refuses it, so this one stands alone.
        let mut command = Command::new(DGEN);
        command
            .args(["run", "write", "--size", "4MiB"])
            .args(arguments)
            .arg(&file);
        fails(command, 2, &[], folder.path());
    }
}

/// Runs a script that mounts into namespaces of its own. `None`, with the reason on stderr, if nothing can be mounted.
fn mounted(script: &str, folder: &Path) -> Option<String> {
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh", DGEN])
        .arg(folder)
        .output();
    match output {
        Ok(output) if output.status.success() => {
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => {
            eprintln!("not tried, nothing can be mounted: {}", stderr(&output));
            None
        }
        Err(error) => {
            eprintln!("not tried, unshare does not start: {error}");
            None
        }
    }
}

/// A disk of 2 MiB takes no file of 4 MiB, in any mode, and is left empty.
fn full(mount: &str) {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        "--strategy streaming --backend pwrite",
        "--strategy streaming --backend uring",
        "--strategy streaming --backend uring --direct try",
        "--strategy streaming --backend mmap",
        "--strategy single-buffer",
        "--strategy threads --threads 3",
        "--strategy write-only --reserve",
    ] {
        if arguments.contains("uring") && no_ring() {
            continue;
        }
        let script = format!(
            "{mount} || exit 9; \"$1\" run write {arguments} --size 4MiB --buffer 64KiB \"$2/file\" 2>&1; \
             echo code $?; rmdir \"$2/lost+found\" 2>/dev/null; ls -A \"$2\""
        );
        let Some(said) = mounted(&script, folder.path()) else {
            return;
        };
        let lines: Vec<_> = said.lines().collect();
        // One line that names path, offset and reason; the code; and no file.
        assert_eq!(lines.len(), 2, "{arguments}: {said}");
        assert!(lines[0].contains("/file: cannot "), "{arguments}: {said}");
        assert!(lines[0].contains("at offset "), "{arguments}: {said}");
        assert!(lines[0].contains("No space left"), "{arguments}: {said}");
        assert_eq!(lines[1], "code 1", "{arguments}: {said}");
    }
}

#[test]
fn a_full_tmpfs() {
    full("mount -t tmpfs -o size=2m none \"$2\"");
}

#[test]
fn a_full_ext4() {
    full(
        "image=$(mktemp) && truncate -s 2M $image && mkfs.ext4 -q -F -O ^has_journal $image && \
         mount -o loop $image \"$2\" && rm $image",
    );
}

#[test]
fn a_read_only_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs none \"$2\" && echo old > \"$2/file\" && mount -o remount,ro \"$2\" || exit 9; \
        for file in file other; do \"$1\" run write --backend pwrite --size 1 \"$2/$file\" 2>&1; echo code $?; done; cat \"$2/file\"";
    let Some(said) = mounted(script, folder.path()) else {
        return;
    };
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        (lines[1], lines[3], lines[4]),
        ("code 1", "code 1", "old"),
        "{said}"
    );
    assert!(
        lines[0].contains("Read-only") && lines[2].contains("Read-only"),
        "{said}"
    );
}

/// tmpfs accepts `O_DIRECT` and writes into the page cache.
#[test]
fn a_tmpfs_is_not_written_directly_whatever_it_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs none \"$2\" || exit 9; \
        \"$1\" run write --backend pwrite --direct require --size 1MiB \"$2/file\" 2>&1; echo code $?; \
        BENCHCTL_ANSWERS=\"$2/answers\" \"$1\" run write --backend pwrite --direct try --size 1MiB \"$2/file\"; cat \"$2/answers\"";
    let Some(said) = mounted(script, folder.path()) else {
        return;
    };
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].contains("not known to honour O_DIRECT"), "{said}");
    assert_eq!(lines[1], "code 1");
    let line: Line = serde_json::from_str(lines[2]).unwrap();
    assert_eq!(line.effective["direct"], "off");
    assert!(line.notes[0].contains("0x1021994"), "{:?}", line.notes);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_not_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    for backend in ["pwrite", "mmap"] {
        let mut command = write(&["--backend", backend], &folder.path().join("file"));
        // SAFETY: between fork and exec only a system call is made.
        unsafe {
            command.pre_exec(|| {
                let limit = libc::rlimit {
                    rlim_cur: 1 << 20,
                    rlim_max: 1 << 20,
                };
                if libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        fails(command, 1, &["File too large"], folder.path());
    }
}

#[test]
fn without_io_uring_it_is_unavailable_and_nothing_else_runs_instead() {
    if no_ring() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = write(&["--backend", "uring"], &folder.path().join("file"));
    forbid(&mut command, libc::SYS_io_uring_setup);
    fails(
        command,
        1,
        &["io_uring_setup failed", "os error 1"],
        folder.path(),
    );
    let mut describe = Command::new(DGEN);
    describe.arg("describe");
    let output = forbid(&mut describe, libc::SYS_io_uring_setup)
        .output()
        .unwrap();
    let described: worker::describe::Description = serde_json::from_slice(&output.stdout).unwrap();
    for (axis, value) in [("backend", "uring"), ("strategy", "pregenerated-uring")] {
        let found = described.axes[axis]
            .values
            .iter()
            .find(|known| known.name == value);
        let reason = found.unwrap().unavailable.as_deref().unwrap();
        assert!(reason.contains("os error 1"), "{reason}");
    }
    // What others drive does not depend on the ring.
    let others = described.axes["strategy"].values.iter().filter(|value| {
        let known = dgen::write::strategy::strategy(&value.name).unwrap();
        known.driver == Driver::Own && value.unavailable.is_some()
    });
    assert_eq!(others.count(), 1);
}

fn line_of(mut command: Command, answers: &Path) -> Line {
    let output = command.env("BENCHCTL_ANSWERS", answers).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = fs::read_to_string(answers).unwrap();
    serde_json::from_str(text.lines().next_back().unwrap()).unwrap()
}

#[test]
fn what_the_kernel_refuses_to_register_is_left_out_and_noted() {
    if no_ring() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = write(&["--backend", "uring"], &folder.path().join("file"));
    forbid(&mut command, libc::SYS_io_uring_register);
    let line = line_of(command, &folder.path().join("answers"));
    assert_eq!(line.effective["backend"], "uring");
    for what in ["registered file", "registered buffers"] {
        let noted = |note: &String| note.contains(what) && note.contains("os error 1)");
        assert!(line.notes.iter().any(noted), "{:?}", line.notes);
    }
}

#[test]
fn too_little_locked_memory_leaves_the_buffers_unregistered() {
    if no_ring() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = write(&["--backend", "uring"], &folder.path().join("file"));
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(|| {
            // The limit holds for those without the capability, which exec takes from root with the bounding set.
            libc::prctl(libc::PR_CAPBSET_DROP, 14, 0, 0, 0);
            // Room for the ring itself, which counts too, but not for four buffers of 64 KiB.
            let limit = libc::rlimit {
                rlim_cur: 128 << 10,
                rlim_max: 128 << 10,
            };
            if libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let line = line_of(command, &folder.path().join("answers"));
    assert_eq!(line.effective["backend"], "uring");
    let noted = |note: &String| note.contains("without registered buffers: Cannot allocate memory");
    assert!(line.notes.iter().any(noted), "{:?}", line.notes);
}

#[test]
fn killed_in_the_middle_it_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "what stood there").unwrap();
    let mut child = Command::new(DGEN)
        .args([
            "run",
            "write",
            "--backend",
            "pwrite",
            "--durability",
            "dsync",
        ])
        .args(["--buffer", "64KiB", "--size", "64GiB"])
        .arg(&file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // It writes 1 MiB before it is killed; 64 GiB it cannot.
    let written = || {
        let io = fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
        let line = io.lines().find_map(|line| line.strip_prefix("wchar: "));
        line.and_then(|bytes| bytes.parse::<u64>().ok())
            .unwrap_or(0)
    };
    while written() < 1 << 20 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    // A file system without unnamed files keeps one whose name says that it is partial.
    let names = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    for name in names {
        assert!(name.to_string_lossy().ends_with(".partial"), "{name:?}");
    }
}

#[test]
fn memory_is_the_pool_whatever_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers");
    for backend in ["pwrite", "uring", "mmap"] {
        if backend == "uring" && no_ring() {
            continue;
        }
        let mut command = Command::new(DGEN);
        command
            .args(["run", "write", "--backend", backend, "--size", "96MiB"])
            .args(["--buffer", "1MiB", "--buffers", "4", "--threads", "2"])
            .arg(folder.path().join("file"));
        let line = line_of(command, &answers);
        assert!(
            line.peak_rss_bytes < (4 + 16) << 20,
            "{backend} {}",
            line.peak_rss_bytes
        );
    }
}

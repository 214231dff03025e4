//! Failures around a writer: it reports each in one line, and leaves no file that looks complete.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use dgen::write::strategy::Driver;
use worker::answer::Line;

use crate::needs;

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
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    for word in words {
        assert!(message.contains(word), "{word}: {message}");
    }
    let left = fs::read_dir(folder).map_or(0, Iterator::count);
    assert_eq!(left, 0, "{message}");
}

/// Denies the system call with that number to the child, with `EPERM`.
fn forbid(command: &mut Command, number: libc::c_long) -> &mut Command {
    refuse(command, number, libc::EPERM, None)
}

/// Answers a system call of the child with `errno`; only those calls that have all bits of `flags` in their third argument,
/// if there is one.
fn refuse(
    command: &mut Command,
    number: libc::c_long,
    errno: libc::c_int,
    flags: Option<libc::c_int>,
) -> &mut Command {
    let number = u32::try_from(number).unwrap();
    let errno = u32::try_from(errno).unwrap();
    let bits = u32::try_from(flags.unwrap_or(0)).unwrap();
    // Load the number of the call; another one is allowed. Load the low half of its third argument; if the bits are in
    // it, answer the error, else allow.
    let filter = [
        (0x20, 0, 0, 0),
        (0x15, 0, 4, number),
        (0x20, 0, 0, 32),
        (0x54, 0, 0, bits),
        (0x15, 0, 1, bits),
        (0x06, 0, 0, libc::SECCOMP_RET_ERRNO | errno),
        (0x06, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
    .map(|(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k });
    // SAFETY: between fork and exec only system calls are made, on memory that the closure owns.
    unsafe {
        command.pre_exec(move || {
            let mut filter = filter;
            let program = libc::sock_fprog {
                len: 7,
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

/// The bit of `O_TMPFILE` that is its own.
const TMPFILE_FLAG: libc::c_int = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// Returns whether a ring is available; without one there is nothing to forbid.
fn no_ring() -> bool {
    !needs::can_have("io_uring", sink::why_no_ring())
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
fn only_a_regular_file_is_replaced() {
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
        // clap refuses a second --buffer, so this case has only one.
        let mut command = Command::new(DGEN);
        command
            .args(["run", "write", "--size", "4MiB"])
            .args(arguments)
            .arg(&file);
        fails(command, 2, &[], folder.path());
    }
}

/// Runs a script that mounts into its own namespaces. `None` if nothing can be mounted on a machine
/// that is known for it.
fn run_in_namespace(script: &str, folder: &Path) -> Option<String> {
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh", DGEN])
        .arg(folder)
        .output();
    let message = match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(format!("the script failed: {}", stderr(&output).trim())),
        Err(error) => Err(format!("unshare does not start: {error}")),
    };
    needs::can_have("mounts", message.as_ref().err().cloned()).then(|| message.unwrap())
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
        let Some(message) = run_in_namespace(&script, folder.path()) else {
            return;
        };
        let lines: Vec<_> = message.lines().collect();
        // One line that names path, offset and reason; the code; and no file.
        assert_eq!(lines.len(), 2, "{arguments}: {message}");
        assert!(
            lines[0].contains("/file: cannot "),
            "{arguments}: {message}"
        );
        assert!(lines[0].contains("at offset "), "{arguments}: {message}");
        assert!(lines[0].contains("No space left"), "{arguments}: {message}");
        assert_eq!(lines[1], "code 1", "{arguments}: {message}");
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
    let Some(message) = run_in_namespace(script, folder.path()) else {
        return;
    };
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(
        (lines[1], lines[3], lines[4]),
        ("code 1", "code 1", "old"),
        "{message}"
    );
    assert!(
        lines[0].contains("Read-only") && lines[2].contains("Read-only"),
        "{message}"
    );
}

/// tmpfs accepts `O_DIRECT` and writes into the page cache.
#[test]
fn tmpfs_is_never_reported_as_direct() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs none \"$2\" || exit 9; \
        \"$1\" run write --backend pwrite --direct require --size 1MiB \"$2/file\" 2>&1; echo code $?; \
        BENCHCTL_ANSWERS=\"$2/answers\" \"$1\" run write --backend pwrite --direct try --size 1MiB \"$2/file\"; cat \"$2/answers\"";
    let Some(message) = run_in_namespace(script, folder.path()) else {
        return;
    };
    let lines: Vec<_> = message.lines().collect();
    assert!(lines[0].contains("no O_DIRECT on tmpfs"), "{message}");
    assert_eq!(lines[1], "code 1");
    let line: Line = serde_json::from_str(lines[2]).unwrap();
    assert_eq!(line.effective["direct"], "off");
    assert!(line.notes[0].contains("tmpfs"), "{:?}", line.notes);
}

/// ramfs creates the file before it refuses the flag, and tmpfs refuses the pages only when they are written.
#[test]
fn an_option_that_the_file_system_refuses_leaves_the_folder_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    for (system, option) in [("ramfs", "--direct require"), ("tmpfs", "--dontcache on")] {
        let script = format!(
            "mount -t {system} none \"$2\" && echo old > \"$2/file\" || exit 9; \
             \"$1\" run write --backend pwrite {option} --size 9 \"$2/file\" 2>&1; echo code $?; ls -A \"$2\"; cat \"$2/file\""
        );
        let Some(message) = run_in_namespace(&script, folder.path()) else {
            return;
        };
        let lines: Vec<_> = message.lines().collect();
        assert_eq!(lines[1..], ["code 1", "file", "old"], "{message}");
    }
}

#[test]
fn threads_that_cannot_be_started_to_validate_are_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "contents").unwrap();
    let mut command = Command::new(DGEN);
    command.args(["validate", "--readers", "2"]).arg(&file);
    for call in [libc::SYS_clone, libc::SYS_clone3] {
        refuse(&mut command, call, libc::EAGAIN, None);
    }
    let output = command.output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("cannot start a thread"), "{message}");
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
fn without_io_uring_uring_is_unavailable_and_no_other_mode_replaces_it() {
    if no_ring() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = write(&["--backend", "uring"], &folder.path().join("file"));
    forbid(&mut command, libc::SYS_io_uring_setup);
    fails(
        command,
        1,
        &["io_uring cannot be set up", "os error 1"],
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
    let program = folder.path().join("fio");
    fs::copy("/bin/true", &program).unwrap();
    let arguments = ["--strategy", "fio", "--backend", "uring"];
    let mut command = write(&arguments, &folder.path().join("file"));
    command.env("PATH", folder.path());
    let output = forbid(&mut command, libc::SYS_io_uring_setup)
        .output()
        .unwrap();
    let message = stderr(&output);
    assert!(message.contains("fio with uring cannot run"), "{message}");
    assert_eq!(output.status.code(), Some(1), "{message}");
    let mut describe = Command::new(DGEN);
    describe.arg("describe").env("PATH", folder.path());
    let output = forbid(&mut describe, libc::SYS_io_uring_setup)
        .output()
        .unwrap();
    let with_fio: worker::describe::Description = serde_json::from_slice(&output.stdout).unwrap();
    let strategies = &with_fio.axes["strategy"].values;
    let fio = strategies.iter().find(|value| value.name == "fio").unwrap();
    assert_eq!(fio.unavailable, None);
    // Strategies with another driver do not depend on the ring.
    let others = described.axes["strategy"].values.iter().filter(|value| {
        let known = dgen::write::strategy::strategy(&value.name).unwrap();
        known.driver == Driver::Own && value.unavailable.is_some()
    });
    assert_eq!(others.count(), 1);
}

#[test]
fn a_probe_reports_the_available_backend() {
    let folder = tempfile::tempdir().unwrap();
    let probe = |backend: &str| {
        let mut command = Command::new(DGEN);
        command.args(["probe", "--json", "--seconds", "1", "--backend", backend]);
        command.args(["--durability", "fdatasync:3"]);
        command.arg(folder.path());
        command
    };
    let refused = forbid(&mut probe("uring"), libc::SYS_io_uring_setup)
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    let table = |command: &mut Command| -> serde_json::Value {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let without = table(forbid(&mut probe("available"), libc::SYS_io_uring_setup));
    assert_eq!(without["effective"]["backend"], "pwrite");
    assert_eq!(without["effective"]["durability"], "fdatasync:3");
    let expected = if no_ring() { "pwrite" } else { "uring" };
    let with = table(&mut probe("available"));
    assert_eq!(with["effective"]["backend"], expected);
}

fn line_of(mut command: Command, answers: &Path) -> Line {
    let output = command.env("BENCHCTL_ANSWERS", answers).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = fs::read_to_string(answers).unwrap();
    serde_json::from_str(text.lines().next_back().unwrap()).unwrap()
}

#[test]
fn a_refused_registration_is_omitted_and_noted() {
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
            // The limit applies to processes without the capability; dropping it from the bounding
            // set takes it from root at exec.
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
fn a_killed_writer_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "the previous file").unwrap();
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
    // A file system without unnamed files keeps one whose name marks it as partial.
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
            line.counters["peak_rss_bytes"] < Some((4 + 16) << 20),
            "{backend} {}",
            line.counters["peak_rss_bytes"].unwrap()
        );
    }
}

/// As on vfat or an old NFS: the calls that open an unnamed file are answered as there.
#[test]
fn without_unnamed_files_a_file_has_a_partial_name_until_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let answers = tempfile::NamedTempFile::new().unwrap();
    let file = folder.path().join("file");
    for errno in [libc::EOPNOTSUPP, libc::EISDIR] {
        for backend in ["pwrite", "uring", "mmap"] {
            if backend == "uring" && no_ring() {
                continue;
            }
            fs::write(&file, "the previous file").unwrap();
            let mut command = write(&["--backend", backend, "--direct", "try"], &file);
            refuse(&mut command, libc::SYS_openat, errno, Some(TMPFILE_FLAG));
            let line = line_of(command, answers.path());
            let noted = |note: &String| note.contains("partial name");
            assert!(line.notes.iter().any(noted), "{:?}", line.notes);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            let validated = Command::new(DGEN)
                .args(["validate", "--size", "4MiB"])
                .arg(&file)
                .output()
                .unwrap();
            assert!(validated.status.success(), "{}", stderr(&validated));
        }
    }
}

#[test]
fn a_partial_file_goes_with_its_error_and_shows_itself_when_its_writer_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut command = write(&["--durability", "end-fsync", "--backend", "pwrite"], &file);
    refuse(
        &mut command,
        libc::SYS_openat,
        libc::EOPNOTSUPP,
        Some(TMPFILE_FLAG),
    );
    refuse(&mut command, libc::SYS_fsync, libc::EIO, None);
    fails(
        command,
        1,
        &["/file: cannot sync", "os error 5"],
        folder.path(),
    );

    let mut command = write(&["--durability", "dsync", "--backend", "pwrite"], &file);
    command.args(["--reserve"]);
    refuse(
        &mut command,
        libc::SYS_openat,
        libc::EOPNOTSUPP,
        Some(TMPFILE_FLAG),
    );
    refuse(&mut command, libc::SYS_pwritev2, libc::EAGAIN, None);
    // It repeats its first write, without end for a while.
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let names = || {
        let entries = fs::read_dir(folder.path()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect::<Vec<_>>()
    };
    while names().is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Either it was killed in the middle, or it gave up and cleaned up; a file with the name would be a lie.
    for name in names() {
        assert_eq!(name, format!("file.{}.partial", child.id()));
    }
}

#[test]
fn a_partial_name_is_found_for_a_long_name_and_next_to_the_files_of_a_killed_writer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("n".repeat(255));
    let mut command = write(&["--backend", "pwrite"], &file);
    refuse(
        &mut command,
        libc::SYS_openat,
        libc::EOPNOTSUPP,
        Some(TMPFILE_FLAG),
    );
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::metadata(&file).unwrap().len(), 4 << 20);

    // The shell has the number that the writer will have, which replaces it.
    let script = "echo left > \"$2/file.$$.partial\" && exec \"$1\" run write --backend pwrite --size 9 \"$2/file\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", DGEN]).arg(folder.path());
    refuse(
        &mut command,
        libc::SYS_openat,
        libc::EOPNOTSUPP,
        Some(TMPFILE_FLAG),
    );
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::metadata(folder.path().join("file")).unwrap().len(), 9);
}

#[test]
fn a_sync_that_fails_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    // With O_DSYNC only the folder is synced by a call, when the file has its name already.
    let cases = [
        ("end-fsync", libc::SYS_fsync, "cannot sync: "),
        ("fdatasync:3", libc::SYS_fdatasync, "cannot sync: "),
        ("dsync", libc::SYS_fsync, "cannot sync the folder of: "),
    ];
    for (durability, call, message) in cases {
        for backend in ["pwrite", "uring", "mmap"] {
            if backend == "uring" && no_ring() {
                continue;
            }
            fs::write(&file, "the previous file").unwrap();
            let mut command = write(&["--backend", backend, "--durability", durability], &file);
            refuse(&mut command, call, libc::EIO, None);
            fails(
                command,
                1,
                &["/file: ", message, "os error 5"],
                folder.path(),
            );
        }
    }
    let mut command = write(&["--backend", "mmap", "--durability", "dsync"], &file);
    refuse(&mut command, libc::SYS_msync, libc::EIO, None);
    let message = ["cannot sync the mapping at offset 0", "os error 5"];
    fails(command, 1, &message, folder.path());
}

#[test]
fn a_close_or_a_name_that_is_refused_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let mut command = write(&["--backend", "pwrite"], &file);
    refuse(&mut command, libc::SYS_linkat, libc::EDQUOT, None);
    let message = ["/file: cannot give the name to: ", "os error 122"];
    fails(command, 1, &message, folder.path());
    let mut command = write(&["--backend", "pwrite"], &file);
    refuse(
        &mut command,
        libc::SYS_openat,
        libc::EOPNOTSUPP,
        Some(TMPFILE_FLAG),
    );
    refuse(&mut command, libc::SYS_rename, libc::EDQUOT, None);
    fails(command, 1, &["/file: cannot rename: "], folder.path());
}

/// To open a pipe is to wait for its other end.
#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let cases: [(&[&str], i32); 3] = [
        (&["run", "write", "--backend", "pwrite", "--size", "9"], 2),
        (&["validate"], 1),
        (
            &["run", "write", "--strategy", "generate-only", "--size", "9"],
            0,
        ),
    ];
    for (arguments, code) in cases {
        let output = Command::new("timeout")
            .arg("20")
            .arg(DGEN)
            .args(arguments)
            .arg(&pipe)
            .output()
            .unwrap();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {message}");
        assert!(code == 0 || message.contains("regular file"), "{message}");
    }
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for many in ["4097", "18446744073709551615"] {
        for strategy in ["streaming", "generate-only"] {
            let arguments = [
                "--backend",
                "pwrite",
                "--strategy",
                strategy,
                "--threads",
                many,
            ];
            fails(
                write(&arguments, &file),
                2,
                &["more than 4096"],
                folder.path(),
            );
        }
    }
}

#[test]
fn a_full_disk_leaves_no_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=2m none \"$2\" || exit 9; \
        for what in text sessions; do \"$1\" $what --size 4MiB --output \"$2/$what\" 2>&1; echo code $?; done; ls -A \"$2\"";
    let Some(message) = run_in_namespace(script, folder.path()) else {
        return;
    };
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines.len(), 4, "{message}");
    assert!(lines[0].contains("No space left"), "{message}");
    assert!(lines[2].contains("No space left"), "{message}");
    assert_eq!((lines[1], lines[3]), ("code 1", "code 1"));
}

#[test]
fn a_closed_pipe_for_the_digest_is_a_failure_not_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    for what in ["text", "sessions"] {
        let output = Command::new(DGEN)
            .args([what, "--size", "1000", "--output"])
            .arg(folder.path().join(what))
            .stdout(fs::File::create("/dev/full").unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{what}");
        assert!(stderr(&output).contains("cannot write to stdout"), "{what}");
    }
}

/// If the kernel stops taking entries from a queue, the run fails: no thread waits forever, and no file looks complete.
#[test]
fn retries_end_with_the_error_of_a_kernel_that_keeps_refusing() {
    if no_ring() {
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
            refuse(&mut command, libc::SYS_io_uring_enter, errno, None);
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

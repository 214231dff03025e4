//! Files that become shorter while they are mapped: using what was cut off raises SIGBUS, and the
//! default would be to terminate the process without a message.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The line of the handler, which may neither allocate nor lock. Never freed: a handler may use it at any time.
static MESSAGE: AtomicPtr<String> = AtomicPtr::new(ptr::null_mut());

/// The action before ours: Rust's own, which knows stack overflows.
static PREVIOUS_ACTION: OnceLock<libc::sigaction> = OnceLock::new();

/// From here on, touching a page that a mapped file no longer has ends the process with exit code 1 and `message` in one
/// line on stderr. For programs: a signal belongs to the whole process. A later call replaces the message.
pub fn exit_on_truncation(message: &str) {
    let line = message.replace(['\n', '\r'], " ") + "\n";
    MESSAGE.store(Box::into_raw(Box::new(line)), Ordering::Release);
    // SAFETY: the structures are plain data, and the handler keeps to operations that are safe in a signal handler; a
    // signal that comes before the action before is stored ends the process.
    PREVIOUS_ACTION.get_or_init(|| unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before);
        before
    });
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    // SAFETY: the kernel hands a valid `info`; a message is never freed; `write`, `_exit`, `sigaction`, `signal` and
    // `raise` may be called in a handler.
    unsafe {
        let code = (*info).si_code;
        if code == libc::BUS_ADRERR
            && let Some(line) = MESSAGE.load(Ordering::Acquire).as_ref()
        {
            let _ = libc::write(2, line.as_ptr().cast(), line.len());
            libc::_exit(1);
        }
        match PREVIOUS_ACTION.get() {
            // The instruction is tried again, and faults again under the action before.
            Some(before) if code > 0 => {
                libc::sigaction(signal, before, ptr::null_mut());
            }
            // A signal that another process sent does not repeat by itself.
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};

    use super::*;

    const CHILD: &str = "WORKER_TEST_SIGBUS";

    /// Runs the test `name` again in its own process, and returns how it ends.
    fn run_test_in_child(name: &str, what: &str) -> (ExitStatus, String) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([&format!("mapped::tests::{name}"), "--exact", "--nocapture"])
            .env(CHILD, what)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status, stderr)
    }

    #[test]
    fn access_to_a_truncated_mapping_ends_the_process_with_one_line() {
        if let Some(path) = std::env::var_os(CHILD) {
            exit_on_truncation("reader: cannot read\nthe file");
            let file = File::options().read(true).write(true).open(&path).unwrap();
            // SAFETY: nothing else uses the mapping, and it is read as bytes.
            let byte = unsafe {
                let map = libc::mmap(
                    ptr::null_mut(),
                    100_000,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    file.as_raw_fd(),
                    0,
                );
                assert_ne!(map, libc::MAP_FAILED);
                file.set_len(5000).unwrap();
                ptr::read_volatile(map.cast::<u8>().add(50_000))
            };
            panic!("read what is not there: {byte}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 100_000]).unwrap();
        let (status, stderr) = run_test_in_child(
            "access_to_a_truncated_mapping_ends_the_process_with_one_line",
            path.to_str().unwrap(),
        );
        assert_eq!(status.code(), Some(1), "{stderr}");
        let line = "reader: cannot read the file\n";
        assert!(stderr.ends_with(line), "{stderr}");
    }

    #[test]
    fn a_signal_from_another_process_still_kills() {
        if std::env::var_os(CHILD).is_some() {
            exit_on_truncation("reader: cannot read\nthe file");
            // SAFETY: it ends this process.
            unsafe { libc::raise(libc::SIGBUS) };
            panic!("alive");
        }
        let (status, stderr) =
            run_test_in_child("a_signal_from_another_process_still_kills", "sent");
        assert_eq!(status.signal(), Some(libc::SIGBUS), "{stderr}");
    }
}

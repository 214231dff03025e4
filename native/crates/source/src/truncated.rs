//! A mapping whose file becomes shorter: using what was cut off raises SIGBUS, and by default the
//! process dies without a message.

use std::ffi::c_void;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// State of the handler, which may neither allocate nor lock.
struct Mapping {
    first: usize,
    behind: usize,
    message: String,
}

/// The mapping that is guarded, or null.
static GUARDED: AtomicPtr<Mapping> = AtomicPtr::new(ptr::null_mut());

/// The action before ours: Rust's own, which knows stack overflows.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// While it lives, a SIGBUS inside the mapping ends the process with exit code 1 and a line that names the file. One
/// mapping at a time can be guarded; a second one at the same time is not.
pub(crate) struct Guard(*mut Mapping);

impl Guard {
    pub(crate) fn over(map: &[u8], file: &File) -> Option<Self> {
        let program = std::env::args_os().next().unwrap_or_default();
        let program = Path::new(&program).file_name().unwrap_or_default();
        let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
        let line = format!(
            "{}: cannot read {}: the file became shorter while it was mapped",
            program.display(),
            path.display()
        );
        let first = map.as_ptr() as usize;
        let mapping = Box::into_raw(Box::new(Mapping {
            first,
            // The last page is mapped whole.
            behind: (first + map.len()).next_multiple_of(4096),
            message: line.replace(['\n', '\r'], " ") + "\n",
        }));
        let guard = Self(mapping);
        let taken = GUARDED.compare_exchange(
            ptr::null_mut(),
            mapping,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        install();
        taken.is_ok().then_some(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ =
            GUARDED.compare_exchange(self.0, ptr::null_mut(), Ordering::AcqRel, Ordering::Acquire);
        // SAFETY: it came from a box, and whoever would use it in a signal handler ends the process there.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Sets up the handler, once.
fn install() {
    // SAFETY: the structures are plain data, and the handler keeps to operations that are safe in a
    // signal handler.
    BEFORE.get_or_init(|| unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut before: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before);
        before
    });
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut c_void) {
    let mapping = GUARDED.load(Ordering::Acquire);
    // SAFETY: the kernel hands a valid `info`; the mapping lives as long as it is in `GUARDED`, and
    // the thread that would free it waits for the one that is here. `write` and `_exit` may be
    // called in a handler.
    unsafe {
        let address = (*info).si_addr() as usize;
        if let Some(mapping) = mapping.as_ref()
            && (mapping.first..mapping.behind).contains(&address)
        {
            let _ = libc::write(2, mapping.message.as_ptr().cast(), mapping.message.len());
            libc::_exit(1);
        }
        // Not ours: the instruction is tried again under the action before.
        if let Some(before) = BEFORE.get() {
            libc::sigaction(signal, before, ptr::null_mut());
        } else {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

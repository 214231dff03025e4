//! The kernel's account of the `io_uring` instances of this process, for modes that cannot count completions themselves.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Fact: completions that `uring` took from its ring.
pub(crate) const URING_COMPLETIONS: &str = "uring_completions";

/// Fact: completions in the ring of `monoio`'s runtime, by the kernel's account of that descriptor.
pub(crate) const MONOIO_COMPLETIONS: &str = "monoio_ring_completions";

/// Lock for creating and closing an instance, which distinguishes a new descriptor from those of
/// other threads.
static INSTANCES: Mutex<()> = Mutex::new(());

/// Builds a value that owns one `io_uring` instance, and returns it with the descriptor of that
/// instance.
///
/// # Errors
/// `build` failed.
pub(crate) fn create<T>(build: impl FnOnce() -> io::Result<T>) -> io::Result<(T, Option<u32>)> {
    let _changing = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
    let before = descriptors();
    let holder = build()?;
    let descriptor = descriptors().difference(&before).next().copied();
    Ok((holder, descriptor))
}

/// Closes what [`create`] made, or any other holder of an instance.
pub(crate) fn close<T>(holder: T) {
    let _changing = INSTANCES.lock().unwrap_or_else(PoisonError::into_inner);
    drop(holder);
}

fn descriptors() -> BTreeSet<u32> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return BTreeSet::new();
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let target = fs::read_link(entry.path()).ok()?;
            let is_ring = target.as_os_str() == "anon_inode:[io_uring]";
            is_ring.then(|| entry.file_name().to_str()?.parse().ok())?
        })
        .collect()
}

/// Returns all completions that the kernel put into the instance of `descriptor` so far; `None` if
/// it does not report them.
pub(crate) fn completions(descriptor: u32) -> Option<u64> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
    info.lines()
        .find_map(|line| line.strip_prefix("CqTail:")?.trim().parse().ok())
}

/// Bytes that this thread got from `read` calls so far, and the size of the answer itself, which the kernel adds
/// afterwards. A read by `io_uring` is not counted there. `None` where the kernel keeps no such account.
pub(crate) fn bytes_of_read_calls() -> Option<(u64, u64)> {
    let account = fs::read_to_string("/proc/thread-self/io").ok()?;
    let bytes = account
        .lines()
        .find_map(|line| line.strip_prefix("rchar:")?.trim().parse().ok())?;
    Some((bytes, account.len() as u64))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_read_call_is_counted_to_the_byte() {
        let mut buffer = [0; 1234];
        let mut zeros = fs::File::open("/dev/zero").unwrap();
        let Some((before, own)) = bytes_of_read_calls() else {
            return;
        };
        zeros.read_exact(&mut buffer).unwrap();
        let (after, _) = bytes_of_read_calls().unwrap();
        assert_eq!(after - before - own, 1234);
    }
}

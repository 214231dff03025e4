//! The kernel counters of the answer line: one line of [`COUNTERS`] each.

use std::collections::BTreeMap;
use std::fs;

/// Process that did the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// This process.
    Own,
    /// A program that it started and waited for.
    Child,
}

/// One number of the answer line.
#[derive(Clone, Copy)]
pub struct Counter {
    /// Its key in the answer line; `bench_framework/model/metrics.py` lists the same keys.
    pub key: &'static str,
    /// Reads the value; `None` where the kernel does not report it.
    read: fn(&Snapshot) -> Option<u64>,
}

/// Every counter of the answer line.
pub const COUNTERS: &[Counter] = &[
    Counter::new("peak_rss_bytes", |of| Some(of.peak_rss())),
    Counter::new("minor_faults", |of| Some(to_u64(of.usage.ru_minflt))),
    Counter::new("major_faults", |of| Some(to_u64(of.usage.ru_majflt))),
    Counter::new("ctx_vol", |of| Some(to_u64(of.usage.ru_nvcsw))),
    Counter::new("ctx_invol", |of| Some(to_u64(of.usage.ru_nivcsw))),
    Counter::new("read_bytes", |of| field(&of.io, "read_bytes")),
    Counter::new("write_bytes", |of| field(&of.io, "write_bytes")),
];

impl Counter {
    const fn new(key: &'static str, read: fn(&Snapshot) -> Option<u64>) -> Self {
        Self { key, read }
    }
}

/// Counters of the kernel at one moment.
struct Snapshot {
    usage: libc::rusage,
    /// Text of `/proc/self/io`: of this process, and of the children that it waited for.
    io: String,
    /// Text of `/proc/self/status`; empty if a child did the work, for which the kernel keeps the peak alone.
    status: String,
}

impl Snapshot {
    /// Reads memory last.
    fn take(process: Process) -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let (who, status) = match process {
            Process::Own => (libc::RUSAGE_SELF, "/proc/self/status"),
            Process::Child => (libc::RUSAGE_CHILDREN, ""),
        };
        Self {
            io: read("/proc/self/io"),
            usage: usage(who),
            status: read(status),
        }
    }

    /// `VmHWM`, not `ru_maxrss`, which a child inherits from its parent's peak at exec. The peak of a child includes what
    /// it was forked from, so this process must be the smaller of the two.
    fn peak_rss(&self) -> u64 {
        if self.status.is_empty() {
            return to_u64(self.usage.ru_maxrss) * 1024;
        }
        field(&self.status, "VmHWM").unwrap_or(0) * 1024
    }
}

/// Reads every counter of who did the work.
#[must_use]
pub fn counters(process: Process) -> BTreeMap<String, Option<u64>> {
    let taken = Snapshot::take(process);
    COUNTERS
        .iter()
        .map(|counter| (counter.key.to_owned(), (counter.read)(&taken)))
        .collect()
}

/// All zeros if the kernel refuses, which it does for unknown numbers alone.
fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: `rusage` is a plain C struct of integers, for which all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one `rusage` and lives across the call.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

fn to_u64(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// The first number after `key:` at the start of a line.
fn field(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let value = line.strip_prefix(key)?.strip_prefix(':')?;
        value.split_ascii_whitespace().next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_only_under_its_whole_name() {
        let text = "cancelled_write_bytes: 7\nwrite_bytes: 12 kB\n";
        assert_eq!(field(text, "write_bytes"), Some(12));
        assert_eq!(field(text, "read_bytes"), None);
    }

    fn value(key: &str, process: Process) -> u64 {
        counters(process)[key].unwrap()
    }

    #[test]
    fn a_large_buffer_shows_in_the_peak() {
        let before = value("peak_rss_bytes", Process::Own);
        let buffer = vec![1_u8; 64 << 20];
        std::hint::black_box(&buffer);
        assert!(value("peak_rss_bytes", Process::Own) >= before.max(64 << 20));
    }

    #[test]
    fn a_child_is_counted_separately_from_this_process() {
        let before = value("minor_faults", Process::Child);
        let child = std::process::Command::new("true").status().unwrap();
        assert!(child.success());
        assert!(value("minor_faults", Process::Child) > before);
        assert!(value("peak_rss_bytes", Process::Child) > 0);
    }

    #[test]
    fn touching_pages_counts_faults() {
        // Straight from the kernel: an allocator may hand out pages that another test has touched before.
        let mut pages = memmap2::MmapMut::map_anon(32 << 20).unwrap();
        let before = value("minor_faults", Process::Own);
        pages.fill(1);
        std::hint::black_box(&pages);
        assert!(value("minor_faults", Process::Own) > before);
    }
}

//! What the kernel says that this process used.

use std::fs;

/// Memory of this process, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Peak resident set: `VmHWM`. Not `ru_maxrss`, which a child inherits from its parent's peak at exec.
    pub peak_rss: u64,
    /// `RssAnon`, where the kernel tells it.
    pub anon: Option<u64>,
    /// `RssFile`, where the kernel tells it.
    pub file: Option<u64>,
}

/// Reads `/proc/self/status`. Without it every number is absent, and the peak is 0.
#[must_use]
pub fn memory() -> Memory {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = |key| field(&status, key).map(|value| value * 1024);
    Memory {
        peak_rss: kib("VmHWM").unwrap_or(0),
        anon: kib("RssAnon"),
        file: kib("RssFile"),
    }
}

/// Who did the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// This process.
    Own,
    /// A program that it started and waited for.
    Child,
}

/// Memory of who did the work. Of a child the kernel keeps the peak alone, which includes what it was forked from:
/// so this process must be the smaller of the two.
#[must_use]
pub fn memory_of(whose: Whose) -> Memory {
    match whose {
        Whose::Own => memory(),
        Whose::Child => Memory {
            peak_rss: whole(usage(libc::RUSAGE_CHILDREN).ru_maxrss) * 1024,
            anon: None,
            file: None,
        },
    }
}

/// Page faults and context switches of this process, all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Page faults served without reading storage.
    pub minor_faults: u64,
    /// Page faults that read storage.
    pub major_faults: u64,
    /// Context switches because the process waited.
    pub ctx_vol: u64,
    /// Context switches because its time slice ended.
    pub ctx_invol: u64,
}

/// Calls `getrusage(RUSAGE_SELF)`.
#[must_use]
pub fn events() -> Events {
    events_of(Whose::Own)
}

/// Calls `getrusage`.
#[must_use]
pub fn events_of(whose: Whose) -> Events {
    let usage = usage(match whose {
        Whose::Own => libc::RUSAGE_SELF,
        Whose::Child => libc::RUSAGE_CHILDREN,
    });
    Events {
        minor_faults: whole(usage.ru_minflt),
        major_faults: whole(usage.ru_majflt),
        ctx_vol: whole(usage.ru_nvcsw),
        ctx_invol: whole(usage.ru_nivcsw),
    }
}

/// All zeros if the kernel refuses, which it does for unknown numbers alone.
fn usage(who: libc::c_int) -> libc::rusage {
    // SAFETY: `rusage` is a plain C struct of integers, for which all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one `rusage` and lives across the call.
    unsafe { libc::getrusage(who, &raw mut usage) };
    usage
}

fn whole(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// Bytes that came from and reached storage, from `/proc/self/io`; `None` where the kernel does not tell.
#[must_use]
pub fn storage() -> (Option<u64>, Option<u64>) {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    (field(&io, "read_bytes"), field(&io, "write_bytes"))
}

/// The first number behind `key:` at the start of a line.
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

    #[test]
    fn a_large_buffer_shows_in_the_peak() {
        let before = memory().peak_rss;
        let buffer = vec![1_u8; 64 << 20];
        std::hint::black_box(&buffer);
        assert!(memory().peak_rss >= before.max(64 << 20));
    }

    #[test]
    fn a_child_is_counted_apart_from_this_process() {
        let before = events_of(Whose::Child).minor_faults;
        let child = std::process::Command::new("true").status().unwrap();
        assert!(child.success());
        assert!(events_of(Whose::Child).minor_faults > before);
        let memory = memory_of(Whose::Child);
        assert!(memory.peak_rss > 0 && memory.anon.is_none());
    }

    #[test]
    fn touching_pages_counts_faults() {
        // Straight from the kernel: an allocator may hand out pages that another test has touched before.
        let mut pages = memmap2::MmapMut::map_anon(32 << 20).unwrap();
        let before = events().minor_faults;
        pages.fill(1);
        std::hint::black_box(&pages);
        assert!(events().minor_faults > before);
    }
}

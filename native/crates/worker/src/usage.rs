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
    // SAFETY: `rusage` is a plain C struct of integers, for which all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one `rusage` and lives across the call.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    if status != 0 {
        return Events::default();
    }
    let whole = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    Events {
        minor_faults: whole(usage.ru_minflt),
        major_faults: whole(usage.ru_majflt),
        ctx_vol: whole(usage.ru_nvcsw),
        ctx_invol: whole(usage.ru_nivcsw),
    }
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
    fn touching_pages_counts_faults() {
        let before = events().minor_faults;
        let buffer = vec![1_u8; 32 << 20];
        std::hint::black_box(&buffer);
        assert!(events().minor_faults > before);
    }
}

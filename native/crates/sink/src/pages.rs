//! Pages of buffers: the advice to the kernel, and the pages that the memory really has.

use std::fs;
use std::ops::Range;

/// Bytes of a huge page: what one entry of the second-lowest page table maps, with pages of 4 KiB.
pub(crate) const HUGE: usize = 2 << 20;

/// A value of the axis `pages`: the pages that are requested for the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Huge pages, where the kernel has them.
    Huge,
    /// Pages of 4 KiB.
    Small,
}

impl Pages {
    pub(crate) fn advice(self) -> i32 {
        match self {
            Self::Huge => libc::MADV_HUGEPAGE,
            Self::Small => libc::MADV_NOHUGEPAGE,
        }
    }
}

/// Bytes of buffers that are in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// All of them.
    pub bytes: u64,
    /// Bytes in huge pages.
    pub huge_bytes: u64,
}

impl Resident {
    /// The pages of at least nine tenths of the memory: huge or small; mixed if neither has so much. `None` if
    /// nothing is in memory.
    #[must_use]
    pub fn pages(self) -> Option<&'static str> {
        let tenths = self.huge_bytes.saturating_mul(10);
        match self.bytes {
            0 => None,
            bytes if tenths >= bytes.saturating_mul(9) => Some("huge"),
            bytes if tenths <= bytes => Some("small"),
            _ => Some("mixed"),
        }
    }
}

/// Memory of this process in ranges of addresses, as `/proc/self/smaps` lists it; `None` if it cannot be read. A
/// mapping that contains a range counts as a whole: the kernel merges neighbours only if both have the same advice.
#[must_use]
pub fn resident(ranges: &[Range<usize>]) -> Option<Resident> {
    let list = fs::read("/proc/self/smaps").ok()?;
    let mut sum = Resident::default();
    let mut counts = false;
    for line in String::from_utf8_lossy(&list).lines() {
        if let Some(mapping) = range_of(line) {
            counts = ranges
                .iter()
                .any(|range| range.start < mapping.end && mapping.start < range.end);
        } else if counts {
            sum.bytes += bytes_of(line, "Rss:");
            sum.huge_bytes += bytes_of(line, "AnonHugePages:");
        }
    }
    Some(sum)
}

/// The addresses of a mapping, if the line is its first one.
fn range_of(line: &str) -> Option<Range<usize>> {
    let (from, to) = line.split_ascii_whitespace().next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(from)?..address(to)?)
}

/// Bytes that the line gives for `key`, or 0.
fn bytes_of(line: &str, key: &str) -> u64 {
    let number = line
        .strip_prefix(key)
        .and_then(|rest| rest.trim().strip_suffix("kB"));
    number.map_or(0, |text| text.trim().parse().unwrap_or(0) * 1024)
}

/// Returns the reason why buffers cannot have huge pages here, or `None`.
#[must_use]
pub fn why_no_huge_pages() -> Option<String> {
    let folder = "/sys/kernel/mm/transparent_hugepage";
    let read = |name| fs::read_to_string(format!("{folder}/{name}"));
    let (Ok(enabled), Ok(size)) = (read("enabled"), read("hpage_pmd_size")) else {
        return Some("the kernel has no transparent huge pages".to_owned());
    };
    if enabled.contains("[never]") {
        return Some(format!("{folder}/enabled is never"));
    }
    let size = size.trim();
    (size != HUGE.to_string()).then(|| format!("a huge page has {size} bytes here, not {HUGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_of_the_memory_name_the_pages() {
        let pages = |bytes, huge_bytes| Resident { bytes, huge_bytes }.pages();
        assert_eq!(pages(0, 0), None);
        assert_eq!(pages(100, 90), Some("huge"));
        assert_eq!(pages(100, 89), Some("mixed"));
        assert_eq!(pages(100, 11), Some("mixed"));
        assert_eq!(pages(100, 10), Some("small"));
    }

    #[test]
    fn lines_of_smaps_are_read() {
        let first = "7f0000000000-7f0000200000 rw-p 00000000 00:00 0 ";
        assert_eq!(range_of(first), Some(0x7f00_0000_0000..0x7f00_0020_0000));
        assert_eq!(range_of("VmFlags: rd wr mr mw me ac hg "), None);
        assert_eq!(
            bytes_of("AnonHugePages:      2048 kB", "AnonHugePages:"),
            2 << 20
        );
        assert_eq!(bytes_of("Rss:      2048 kB", "AnonHugePages:"), 0);
    }

    #[test]
    fn memory_of_this_process_is_found_by_its_address() {
        let memory = vec![1_u8; 1 << 20];
        let start = memory.as_ptr() as usize;
        let range = start..start + memory.len();
        let found = resident(std::slice::from_ref(&range)).expect("smaps can be read");
        assert!(found.bytes >= 1 << 20, "{found:?}");
        assert_eq!(resident(&[]), Some(Resident::default()));
    }
}

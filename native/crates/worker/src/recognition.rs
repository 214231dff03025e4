//! Recognition of the actual mode, by the traces that it left.

use std::collections::BTreeSet;
use std::fs;

/// Returns the name of the value that left the traces: `requested` if it `matches`, else the first of `all` that does,
/// else `unknown`.
pub fn actual<'all, T: ?Sized>(
    requested: &'all T,
    all: &[&'all T],
    matches: impl Fn(&T) -> bool,
    name: impl Fn(&T) -> &'static str,
) -> &'static str {
    std::iter::once(requested)
        .chain(all.iter().copied())
        .find(|&value| matches(value))
        .map_or("unknown", name)
}

/// Returns several actual values of an axis as the answer line states them.
#[must_use]
pub fn join<T: AsRef<str>>(values: &BTreeSet<T>) -> String {
    let values: Vec<_> = values.iter().map(AsRef::as_ref).collect();
    values.join("+")
}

/// Returns how many bytes of `block` are in a mapping of the file with `inode`, as `/proc/self/maps` lists it.
#[must_use]
pub fn bytes_mapped_from(block: &[u8], inode: u64) -> u64 {
    let first = block.as_ptr() as u64;
    let last = first + block.len() as u64;
    // Names of files need not be UTF-8.
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    String::from_utf8_lossy(&maps)
        .lines()
        .filter_map(|line| {
            // address perms offset device inode path
            let mut fields = line.split_ascii_whitespace();
            let (from, to) = fields.next()?.split_once('-')?;
            let from = u64::from_str_radix(from, 16).ok()?;
            let to = u64::from_str_radix(to, 16).ok()?;
            let mapped_inode: u64 = fields.nth(3)?.parse().ok()?;
            (mapped_inode == inode && inode != 0)
                .then(|| to.min(last).saturating_sub(from.max(first)))
        })
        .sum()
}

//! Ways to compute the same blocks: one file and one line in [`PATHS`] each.

pub(super) mod portable;

use std::fmt;

use super::stream::{Block, Keys};

/// A way to fill whole blocks.
pub(super) struct Path {
    /// Kebab-case name.
    pub(super) name: &'static str,
    /// Whether this processor has what it needs.
    pub(super) probe: fn() -> bool,
    /// Fills the blocks from the given number on. To be called only where `probe` says yes.
    pub(super) fill: unsafe fn(&Keys, u64, &mut [Block]),
}

impl fmt::Debug for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// Every path, the fastest first. The last one runs everywhere.
pub(super) static PATHS: &[&Path] = &[&portable::PATH];

/// The fastest path that runs here.
pub(super) fn fastest() -> &'static Path {
    PATHS
        .iter()
        .find(|path| (path.probe)())
        .unwrap_or(&&portable::PATH)
}

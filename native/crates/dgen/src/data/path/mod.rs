//! Ways to compute the same blocks: one file and one line in [`PATHS`] each.

#[cfg(target_arch = "x86_64")]
mod aes_ni;
mod portable;
#[cfg(target_arch = "x86_64")]
mod vaes;

use std::fmt;

use super::block::{Block, Counter, Keys};

/// Kind of store instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stores {
    /// Into the caches: right for what fits them and is read soon, such as a pool of I/O buffers.
    Cached,
    /// Around the caches, where a path can: right for what would push itself out of them.
    Streaming,
}

impl Stores {
    /// Bytes from which on streaming is faster: half of the 32 MiB of third-level cache that it was measured with
    /// (cached 39 and 12 GB/s into 8 and 32 MiB, streaming 21 and 20).
    const STREAMING: usize = 16 << 20;

    /// Returns the best kind for a buffer of so many bytes.
    pub(super) fn for_size(bytes: usize) -> Self {
        if bytes < Self::STREAMING {
            Self::Cached
        } else {
            Self::Streaming
        }
    }
}

/// A way to fill whole blocks.
pub(super) struct Path {
    /// Kebab-case name.
    pub(super) name: &'static str,
    /// Whether this processor supports the path.
    pub(super) probe: fn() -> bool,
    /// Fills the blocks of a domain from the given number on. Must be called only if `probe`
    /// returns true.
    pub(super) fill: unsafe fn(&Keys, Counter, &mut [Block], Stores),
}

impl fmt::Debug for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

/// Every path, the fastest first. The last one runs everywhere.
pub(super) static PATHS: &[&Path] = &[
    #[cfg(target_arch = "x86_64")]
    &vaes::PATH,
    #[cfg(target_arch = "x86_64")]
    &aes_ni::PATH,
    &portable::PATH,
];

/// The fastest path that runs here.
pub(super) fn fastest() -> &'static Path {
    PATHS
        .iter()
        .find(|path| (path.probe)())
        .unwrap_or(&&portable::PATH)
}

/// The path that runs everywhere.
pub(super) fn portable() -> &'static Path {
    &portable::PATH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::block::Domain;

    fn block(text: &str) -> Block {
        u128::from_str_radix(text, 16).unwrap().to_be_bytes()
    }

    /// The example of FIPS 197, appendix B, from the start of its round 1 to the start of its round 5.
    #[test]
    fn rounds_are_those_of_the_standard() {
        let start = block("193de3bea0f4e22b9ac68d2ae9f84808");
        let keys = [
            "a0fafe1788542cb123a339392a6c7605",
            "f2c295f27a96b9435935807a7359f67f",
            "3d80477d4716fe3e1e237e446d7a883b",
            "ef44a541a8525b7fb671253bdb0bad00",
        ]
        .map(block);
        let expected = block("e0927fe8c86363c0d9b1355085b8be01");
        let [first, second, third, fourth] = keys;
        for path in PATHS.iter().filter(|path| (path.probe)()) {
            let mut places = [Block::default(); 1];
            // Counter 0 is all zeros, so the key before the first round is the state.
            let keys = Keys([start, first, second, third, fourth]);
            let counter = Counter::new(Domain::Bytes, 0);
            // SAFETY: the probe found the required CPU features.
            unsafe { (path.fill)(&keys, counter, &mut places, Stores::Cached) };
            assert_eq!(places[0], expected, "{path:?}");
        }
    }
}

//! Result of a write.

use std::time::{Duration, Instant};

use crate::{Evidence, Extents};

/// Result of a write, with observations.
#[derive(Clone, Debug)]
pub struct Done {
    /// Size of the files after closing, read back by name; for a job without a file, the bytes
    /// produced.
    pub size: u64,
    /// Bytes of each file that completions reported; of a job without a file, the bytes produced.
    pub extents: Vec<Extents>,
    /// Evidence of the writers.
    pub evidence: Evidence,
    /// When the first contents were begun.
    pub started: Instant,
    /// Time to open the files, remove the previous ones and reserve space.
    pub opening: Duration,
    /// From the first contents to the last completion.
    pub elapsed: Duration,
    /// From the first contents until files and names were on the disk; `elapsed` if that was not requested.
    pub synced: Duration,
    /// Cutting off padding, naming and closing, without the syncs.
    pub closing: Duration,
}

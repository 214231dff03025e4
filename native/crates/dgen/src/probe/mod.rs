//! Which block size, depth and number of threads write fastest to a disk: a short trial of each.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// What a probe found best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Bytes of a block.
    pub block_bytes: NonZeroUsize,
    /// Blocks that one thread has under way.
    pub depth: NonZeroUsize,
    /// Threads.
    pub threads: NonZeroUsize,
}

/// The choice in a table that `dgen probe --json` printed.
///
/// # Errors
/// The text is no such table.
pub fn choice_of(text: &str) -> Result<Choice, serde_json::Error> {
    #[derive(Deserialize)]
    struct Chosen {
        choice: Choice,
    }
    serde_json::from_str::<Chosen>(text).map(|chosen| chosen.choice)
}

//! Ways to write an output. A mode is one file with its name, its behaviour and how it is recognised, and one line in
//! [`MODES`].
//!
//! A mode never sees a caller's buffer: the crate owns aligned buffers and asks for their contents by offset
//! ([`Fill`]), so any writer may produce any block, and a block goes to the kernel from where it was produced.
//!
//! A file gets its name last. It is written without a name (`O_TMPFILE`), or where the file system
//! has no such files under a name that marks it as partial; so a writer that fails, is interrupted
//! or killed leaves nothing that looks complete, and the previous file of that name is removed at
//! the start.
//!
//! The actual mode is derived from [`Evidence`], not from the requested mode.

mod affinity;
mod blocks;
pub mod cache;
mod checks;
mod direct;
mod done;
mod evidence;
mod extents;
mod fault;
mod files;
mod mmap;
#[cfg(test)]
#[path = "../../worker/tests/needs/mod.rs"]
mod needs;
mod pages;
mod piece;
mod pool;
mod positioned;
mod pwrite;
mod ring;
mod run;
mod target;
#[cfg(test)]
mod tests;
mod tmpfile;
mod uring;
mod writer;

use std::num::NonZeroUsize;

use worker::recognition;

pub use blocks::Block;
pub use direct::{alignment as direct_alignment, why_not_direct, why_not_dontcache};
pub use done::Done;
pub use evidence::{Evidence, Latency, Times};
pub use extents::Extents;
pub use fault::Fault;
pub use files::{MAX_FILES, path_of, size_of};
pub use pages::{Pages, Resident, resident, why_no_huge_pages};
pub(crate) use piece::{Piece, Step};
pub(crate) use pool::Pool;
pub use ring::why_unavailable as why_no_ring;
pub use run::{discard, run_threads, write};
pub use target::{Direct, Durability, remove_previous, resolve, sync_folder};
pub use tmpfile::{create_partial, folder};
pub use writer::{Shared, Writer};

/// Produces the contents: fills the buffer with the bytes at the offset. Called by any writer, in any order.
pub type Fill<'run> = dyn Fn(u64, &mut [u8]) + Sync + 'run;

/// Callback that receives the bytes completed so far, about twenty times a second; `Break` stops
/// the writing.
pub type Progress<'run> = dyn FnMut(u64) -> std::ops::ControlFlow<()> + 'run;

/// Writes every block from the writer, and records the calls in it. When it returns, also with a fault, no buffer is in
/// use by the kernel any more, or its memory is leaked.
pub type Write = fn(&mut Writer<'_>) -> Result<(), Fault>;

/// A value of the axis `backend`.
#[derive(Debug)]
pub struct Mode {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Whether the mode can write past the page cache.
    pub direct: bool,
    /// Whether contents are produced in mappings of the file: blocks begin on pages, and no buffers are needed.
    pub maps: bool,
    /// Whether the mode keeps several blocks in flight.
    pub queues: bool,
    /// Reason why the mode cannot run here, or `None`.
    pub probe: fn() -> Option<String>,
    /// Whether `Evidence` matches this mode.
    pub matches: fn(&Evidence) -> bool,
    /// The behaviour.
    pub write: Write,
}

/// Every mode, in the order in which help and `describe` list them.
pub static MODES: &[&Mode] = &[&pwrite::MODE, &uring::MODE, &mmap::MODE];

/// The mode named `name`.
#[must_use]
pub fn mode(name: &str) -> Option<&'static Mode> {
    MODES.iter().copied().find(|mode| mode.name == name)
}

/// The name of the mode that left `evidence`: `requested`, if it can be, else the first of the registry that can.
#[must_use]
pub fn judge(requested: &Mode, evidence: &Evidence) -> &'static str {
    recognition::actual(
        requested,
        MODES,
        |mode| (mode.matches)(evidence),
        |mode| mode.name,
    )
}

/// Distribution of the blocks of a file among writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// Every writer takes the next block of the file.
    Next,
    /// Every writer has a part of the file to itself.
    Parts,
}

/// When the contents of the buffers are produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A buffer is filled for each block just before it is written, again and again.
    PerBlock,
    /// Every buffer is filled once, before anything is written. Block i of a file is written from buffer i modulo their
    /// number.
    Before,
}

/// When filled blocks are handed to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submit {
    /// Each at once.
    Each,
    /// Only when as many as the depth allows are in flight or waiting.
    WhenFull,
}

/// Output to write and the settings of the write.
#[derive(Clone, Debug)]
pub struct Job {
    /// Bytes of all files together.
    pub size: u64,
    /// Files that these are split over ([`size_of`], [`path_of`]). They are shared out among as many writers as there are,
    /// and those among the files.
    pub files: NonZeroUsize,
    /// The contents of file i begin at i times this offset, unless they are produced before.
    pub stride: u64,
    /// Bytes of a block and of its buffer.
    pub block_bytes: NonZeroUsize,
    /// Buffers of all writers together; each has at least one.
    pub buffers: NonZeroUsize,
    /// The most blocks that one writer has in flight; at most 32 768.
    pub depth: NonZeroUsize,
    /// Pages of the buffers.
    pub pages: Pages,
    /// Threads that write.
    pub writers: NonZeroUsize,
    /// Distribution of the file among the writers.
    pub split: Split,
    /// When contents are produced.
    pub contents: Contents,
    /// When blocks are handed over.
    pub submit: Submit,
    /// Whether to bypass the page cache.
    pub direct: Direct,
    /// When written data must be on the disk.
    pub durability: Durability,
    /// Whether to drop pages from the cache once they are written (`RWF_DONTCACHE`). Refused where
    /// unsupported.
    pub dontcache: bool,
    /// Whether to reserve the blocks of the disk before the first write (`fallocate`).
    pub reserve: bool,
    /// Writer i runs on processor i modulo the length; anywhere if empty.
    pub processors: Vec<usize>,
}

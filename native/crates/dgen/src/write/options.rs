//! Options of a write.

use std::num::NonZeroUsize;

use sink::{Contents, Direct, Durability, Fault, Job, Mode, Pages, Split, Submit};
use worker::command_line::{Named, name_of, value_of};

use super::strategy::Strategy;
use crate::data::Settings;

/// Options of a write.
#[derive(Clone, Debug)]
pub struct Options {
    /// When contents are produced and who writes them.
    pub strategy: &'static Strategy,
    /// By which calls; not used by a strategy that writes nothing.
    pub backend: &'static Mode,
    /// Bytes of the file, or of all files together.
    pub size: u64,
    /// Files that these are split over; several have `.0`, `.1`, … after the name.
    pub files: NonZeroUsize,
    /// Bytes of a buffer and of a block of the file.
    pub buffer_bytes: NonZeroUsize,
    /// Buffers of all threads together.
    pub buffers: NonZeroUsize,
    /// The most blocks that one thread has in flight.
    pub depth: NonZeroUsize,
    /// Threads.
    pub threads: NonZeroUsize,
    /// Pages of the buffers.
    pub pages: Pages,
    /// Whether to bypass the page cache.
    pub direct: Direct,
    /// When written data must be on the disk.
    pub durability: Durability,
    /// Whether to drop pages from the cache once they are written (`RWF_DONTCACHE`).
    pub dontcache: bool,
    /// Whether to reserve the blocks of the disk before the first write.
    pub reserve: bool,
    /// Thread i runs on processor i modulo the length; anywhere if empty.
    pub processors: Vec<usize>,
    /// Bytes per second to which the generation is slowed down.
    pub rate: Option<f64>,
    /// Settings that determine the data.
    pub settings: Settings,
}

impl Options {
    /// Streaming of `size` bytes, with one thread and four buffers of 1 MiB, through the page cache.
    #[must_use]
    pub fn new(size: u64, settings: Settings) -> Self {
        let some = |count| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
        let strategy = &super::strategy::STREAMING;
        Self {
            strategy,
            backend: strategy.default_backend(),
            size,
            files: some(1),
            buffer_bytes: some(1 << 20),
            buffers: some(4),
            depth: some(4),
            threads: some(1),
            pages: Pages::Huge,
            direct: Direct::Off,
            durability: Durability::None,
            dontcache: false,
            reserve: false,
            processors: Vec::new(),
            rate: None,
            settings,
        }
    }

    /// Refuses a rate at which a block would take longer than a duration can be.
    pub(super) fn check_rate(&self) -> Result<(), Fault> {
        match self.rate {
            Some(rate) if !(rate >= 1.0 && rate.is_finite()) => Err(Fault::Contradiction(format!(
                "a rate of {rate} bytes per second is below 1 or not finite"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the job of the strategy. The data of file i starts at offset i × `stride`.
    pub(super) fn job(&self, stride: u64) -> Result<Job, Fault> {
        if let Some(reason) = (self.strategy.refuses)(self.backend) {
            return Err(Fault::Contradiction(format!(
                "{} with {}: {reason}",
                self.strategy.name, self.backend.name
            )));
        }
        self.check_rate()?;
        if self.rate.is_some() && self.strategy.recycles {
            return Err(Fault::Contradiction(format!(
                "{} does not generate while it writes, so it has no --rate",
                self.strategy.name
            )));
        }
        if self.files.get() > 1 && self.size > stride / 2 {
            return Err(Fault::Contradiction(format!(
                "several files have at most {} bytes together, and this is {}",
                stride / 2,
                self.size
            )));
        }
        let mut job = Job {
            size: self.size,
            files: self.files,
            stride,
            block_bytes: self.buffer_bytes,
            buffers: self.buffers,
            depth: self.depth,
            pages: self.pages,
            writers: self.threads,
            split: Split::Next,
            contents: Contents::PerBlock,
            submit: Submit::Each,
            direct: self.direct,
            durability: self.durability,
            dontcache: self.dontcache,
            reserve: self.reserve,
            processors: self.processors.clone(),
        };
        (self.strategy.shape)(&mut job)?;
        Ok(job)
    }

    /// Bytes after which the contents begin again, if they do.
    pub(super) fn period(&self) -> Option<u64> {
        let pool = (self.buffer_bytes.get() as u64).saturating_mul(self.buffers.get() as u64);
        self.strategy.recycles.then_some(pool)
    }
}

/// Values of the axis `direct`.
pub static DIRECTS: &[Named<Direct>] = &[
    (Direct::Off, "off", "written through the page cache"),
    (
        Direct::Try,
        "try",
        "O_DIRECT where the file system honours it, else through the page cache, with a note",
    ),
    (
        Direct::Require,
        "require",
        "O_DIRECT, and an error where the file system does not honour it",
    ),
];

/// Values of the axis `pages`.
pub static PAGES: &[Named<Pages>] = &[
    (
        Pages::Huge,
        "huge",
        "buffers in transparent huge pages of 2 MiB; each thread's buffers take whole pages",
    ),
    (Pages::Small, "small", "buffers in pages of 4 KiB"),
];

/// Default number of blocks between two calls of `fdatasync`.
const SYNC_EVERY: u64 = 64;

/// Values of the axis `durability`.
pub static DURABILITIES: &[Named<Durability>] = &[
    (
        Durability::None,
        "none",
        "on the disk when the kernel likes",
    ),
    (
        Durability::EndFsync,
        "end-fsync",
        "fsync after the last write, then the folder",
    ),
    (
        Durability::Fdatasync(SYNC_EVERY),
        "fdatasync",
        "fdatasync after every 64 blocks of a thread (fdatasync:N for N), fsync at the end",
    ),
    (
        Durability::Dsync,
        "dsync",
        "O_DSYNC: each write returns when its data are on the disk",
    ),
];

/// The name of a value of the axis `direct`.
#[must_use]
pub fn name_of_direct(direct: Direct) -> &'static str {
    name_of(DIRECTS, &direct).unwrap_or("unknown")
}

/// The name of a value of the axis `pages`.
#[must_use]
pub fn name_of_pages(pages: Pages) -> &'static str {
    name_of(PAGES, &pages).unwrap_or("unknown")
}

/// The value of the axis `durability` that is called `name`; `fdatasync:N` too.
#[must_use]
pub fn durability_named(name: &str) -> Option<Durability> {
    value_of(DURABILITIES, name).or_else(|| {
        let every = name.strip_prefix("fdatasync:")?.parse().ok()?;
        (every > 0).then_some(Durability::Fdatasync(every))
    })
}

/// The name of a value of the axis `durability`.
#[must_use]
pub fn name_of_durability(durability: Durability) -> String {
    match (name_of(DURABILITIES, &durability), durability) {
        (Some(name), _) => name.to_owned(),
        (None, Durability::Fdatasync(every)) => format!("fdatasync:{every}"),
        (None, _) => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_at_which_nothing_would_ever_be_due_is_refused() {
        let refused = |rate| {
            let rate = Some(rate);
            let options = Options::new(1, Settings::default());
            Options { rate, ..options }.check_rate().is_err()
        };
        for rate in [1e-30, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(rate), "{rate}");
        }
        assert!(!refused(1.0));
    }

    #[test]
    fn names_lead_to_values_and_back() {
        for (value, name, _) in DIRECTS {
            assert_eq!(value_of(DIRECTS, name), Some(*value));
            assert_eq!(name_of_direct(*value), *name);
        }
        for (value, name, _) in DURABILITIES {
            assert_eq!(durability_named(name), Some(*value));
            assert_eq!(name_of_durability(*value), *name);
        }
        assert_eq!(
            durability_named("fdatasync:7"),
            Some(Durability::Fdatasync(7))
        );
        assert_eq!(name_of_durability(Durability::Fdatasync(7)), "fdatasync:7");
        for wrong in ["", "fdatasync:", "fdatasync:0", "fdatasync:x", "fsync"] {
            assert_eq!(durability_named(wrong), None, "{wrong}");
        }
    }
}

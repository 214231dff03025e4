//! Seeded bytes of any length: a pure function of settings and offset.
//!
//! Any thread may fill any piece in any order, and the bytes are the same on every machine,
//! forever: test vectors check them. Checking a file needs no stored copy, a second file is another
//! range of offsets, and resuming is a matter of knowing where. Offsets are modulo 2^64: after the
//! last byte follows the byte at 0.
//!
//! A byte is computed in three steps, one module each: `dedup` maps an offset to a unit of the
//! source, `compress` decides which bytes of a granule are random and which repeat, and `stream`
//! generates the random bytes.

mod block;
mod compress;
mod dedup;
mod difference;
mod path;
mod settings;
mod stream;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::thread;

use compress::Granules;
use dedup::Units;
pub use difference::Differences;
use path::{Path, Stores};
pub use settings::{Compress, Dedup, Distance, Ratio, Settings, SettingsError};
use stream::Stream;

/// Bytes that justify another thread.
const THREAD_BYTES: usize = 1 << 20;

/// The most that [`Data::stride`] is: larger than any file, and four times the largest window.
const STRIDE: u64 = 1 << 48;

/// Bytes of a page of memory.
const PAGE: usize = 4096;

/// The bytes that settings name. Cheap to clone; shared among threads as it is.
#[derive(Clone, Debug)]
pub struct Data {
    seed: u64,
    stream: Stream,
    units: Option<Units>,
    granules: Option<Granules>,
}

impl Data {
    /// The data of `settings`, filled by the fastest path of this processor.
    ///
    /// # Errors
    /// The settings contradict each other or request something unavailable; the message says which
    /// and why.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        Self::with_path(settings, path::fastest())
    }

    /// The same data by the portable path, which is the reference for the others.
    ///
    /// # Errors
    /// As [`Data::new`].
    pub fn portable(settings: &Settings) -> Result<Self, SettingsError> {
        Self::with_path(settings, path::portable())
    }

    fn with_path(settings: &Settings, path: &'static Path) -> Result<Self, SettingsError> {
        settings.check()?;
        let stream = Stream::new(settings.seed, path);
        Ok(Self {
            seed: settings.seed,
            units: settings
                .dedup
                .and_then(|dedup| Units::new(dedup, stream.pick_key)),
            granules: settings.compress.map(Granules::new).transpose()?.flatten(),
            stream,
        })
    }

    /// Fills `buffer` with the bytes from `offset` on.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) {
        self.fill_by(offset, buffer, Stores::for_size(buffer.len()));
    }

    /// Like [`Data::fill`], by up to `threads` threads: this one and others that end with the call.
    pub fn fill_parallel(&self, offset: u64, buffer: &mut [u8], threads: NonZero<usize>) {
        let stores = Stores::for_size(buffer.len());
        // A thread starts in the time of filling about this much.
        let most = buffer.len().div_ceil(THREAD_BYTES).max(1);
        let part = buffer.len().div_ceil(threads.get().min(most));
        // Parts meet at whole pages if the buffer starts at one: no two threads write to one line of the cache.
        let part = part.next_multiple_of(PAGE).max(PAGE);
        thread::scope(|scope| {
            let mut parts = (0_u64..).zip(buffer.chunks_mut(part));
            let own = parts.next();
            for (number, piece) in parts {
                let start = offset.wrapping_add(number * part as u64);
                scope.spawn(move || self.fill_by(start, piece, stores));
            }
            if let Some((_, piece)) = own {
                self.fill_by(offset, piece, stores);
            }
        });
    }

    fn fill_by(&self, offset: u64, buffer: &mut [u8], stores: Stores) {
        // Bytes up to the end of the offsets, where counting starts again.
        let room =
            usize::try_from(u64::MAX - offset).map_or(usize::MAX, |last| last.saturating_add(1));
        let (buffer, wrapped) = buffer.split_at_mut(buffer.len().min(room));
        match &self.units {
            None => self.fill_source(offset, buffer, stores),
            // Pieces as short as a unit gain nothing from streaming stores.
            Some(units) => units.for_each_piece(offset, buffer, |source, piece| {
                self.fill_source(source, piece, Stores::Cached);
            }),
        }
        if !wrapped.is_empty() {
            self.fill_by(0, wrapped, stores);
        }
    }

    /// Fills `buffer` with bytes of the source, in which no unit is a copy of another.
    fn fill_source(&self, offset: u64, buffer: &mut [u8], stores: Stores) {
        match &self.granules {
            None => self.stream.fill(offset, buffer, stores),
            Some(granules) => granules.fill(&self.stream, offset, buffer),
        }
    }

    /// Text that is equal if and only if the bytes are: seed and settings in the form in which they act.
    #[must_use]
    pub fn identity(&self) -> String {
        let part = |part: Option<String>| part.map_or(String::new(), |part| format!(" {part}"));
        format!(
            "data:1 seed={}{}{}",
            self.seed,
            part(self.units.as_ref().map(ToString::to_string)),
            part(self.granules.as_ref().map(ToString::to_string))
        )
    }

    /// Distance between the offsets of files that share nothing: no unit is copied from one file
    /// into another, and each file begins with a new granule. There is room for 65 536 files of up
    /// to half of it.
    #[must_use]
    pub fn stride(&self) -> u64 {
        let whole = match (&self.units, &self.granules) {
            (Some(units), _) => units.window_bytes(),
            (None, Some(granules)) => granules.bytes(),
            (None, None) => 1,
        };
        STRIDE / whole * whole
    }

    /// The path that fills: `portable`, `aes-ni` or `vaes`.
    #[must_use]
    pub fn path(&self) -> &'static str {
        self.stream.path.name
    }
}

//! Results and observations of a search. Parts are merged; their order does not matter.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};
use std::thread::ThreadId;

use sha2::{Digest, Sha256};
use worker::hex;

use crate::job::Search;
use crate::record::Message;
use crate::threads::ThreadCounts;
use crate::timestamp::Timestamp;

/// Bad lines that are named; all are counted.
pub const BAD_LINES_NAMED: usize = 5;

/// Letters of a text that are kept for showing it.
const PREVIEW: usize = 80;

/// Position of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the file in the job.
    pub file: usize,
    /// Bytes before the line.
    pub offset: u64,
}

/// A message that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Position of the match.
    pub place: Place,
    /// SHA-256 over everything that was found of it.
    pub digest: [u8; 32],
    /// Displayed excerpt of the message.
    pub excerpt: String,
}

/// Older is less. Of two of one time, the one in the later file, or later in its file, is less: it is listed later.
impl Ord for Hit {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, Reverse(self.place)).cmp(&(other.time, Reverse(other.place)))
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The result of a search, or of a part of it.
#[derive(Debug, Default)]
pub struct SearchResults {
    /// Messages that match.
    pub total: u64,
    /// The digests of all of them, combined by exclusive or.
    all: [u8; 32],
    /// The newest ones; the oldest of them on top.
    newest: BinaryHeap<Reverse<Hit>>,
    /// Maximum number of kept messages.
    limit: usize,
    /// Invalid lines.
    pub bad: u64,
    /// The first invalid line and its error.
    pub named_bad_lines: BTreeMap<Place, String>,
    /// Observations of the search.
    pub observations: Observations,
}

/// Observations during a search.
#[derive(Debug, Default)]
pub struct Observations {
    /// Engines, as reported by the executed code and by the thread that ran it.
    pub engines: BTreeSet<String>,
    /// Parsers that parsed a line, as reported by their own code.
    pub parsers: BTreeSet<&'static str>,
    /// `read` or `mmap`, as reported by the executed code.
    pub readings: BTreeSet<&'static str>,
    /// Threads that searched.
    pub threads: HashSet<ThreadId>,
    /// Whether a prefilter examined a block.
    pub prefiltered: bool,
    /// Texts folded by the full table.
    pub pieces_folded: u64,
    /// Texts of ASCII that were folded nevertheless.
    pub ascii_folded: u64,
    /// Texts of ASCII searched as they are.
    pub pieces_plain: u64,
    /// Lines copied into their own buffer.
    pub lines_copied: u64,
    /// `bounded` or `unbounded`, as reported by the channel that transported results.
    pub channels: BTreeSet<&'static str>,
    /// Files searched.
    pub files: u64,
    /// Files read in one piece because they are small.
    pub files_whole: u64,
    /// Files and pieces of files that were taken as one piece of work.
    pub pieces: u64,
    /// Bytes searched.
    pub bytes: u64,
    /// Lines, blank ones included.
    pub lines: u64,
    /// Lines given to a parser.
    pub lines_parsed: u64,
    /// Lines that another parser than the chosen one judged.
    pub lines_judged: u64,
    /// Read calls or their asynchronous equals.
    pub reads: u64,
    /// The largest line buffer, in bytes.
    pub buffer_peak: usize,
    /// Files searched at one time, at most.
    pub in_flight_peak: usize,
    /// Threads of the process when the search ended and its pools still existed.
    pub threads_alive: usize,
    /// Those of them in the pool or executor that distributes the work.
    pub threads_executor: usize,
    /// Those of them in a pool for blocking calls.
    pub threads_blocking: usize,
}

impl SearchResults {
    /// Creates an empty result that keeps the newest `limit` messages.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Takes a message that matches.
    pub fn take(&mut self, message: &Message<'_>, place: Place, name: &str) {
        let digest = digest(message, place.offset, name);
        self.total += 1;
        combine(&mut self.all, &digest);
        let hit = Hit {
            time: message.time,
            place,
            digest,
            excerpt: String::new(),
        };
        let full = self.newest.len() >= self.limit;
        if full && self.newest.peek().is_none_or(|oldest| hit < oldest.0) {
            return;
        }
        let excerpt = excerpt(message);
        self.keep(Hit { excerpt, ..hit });
    }

    fn keep(&mut self, hit: Hit) {
        self.newest.push(Reverse(hit));
        if self.newest.len() > self.limit {
            self.newest.pop();
        }
    }

    /// Takes a bad line.
    pub fn reject(&mut self, place: Place, why: impl FnOnce() -> String) {
        self.bad += 1;
        let last = self
            .named_bad_lines
            .last_key_value()
            .map(|(place, _)| *place);
        if self.named_bad_lines.len() < BAD_LINES_NAMED || last.is_some_and(|last| place < last) {
            self.named_bad_lines.insert(place, why());
            while self.named_bad_lines.len() > BAD_LINES_NAMED {
                self.named_bad_lines.pop_last();
            }
        }
    }

    /// Adds another part.
    pub fn merge(&mut self, other: Self) {
        self.total += other.total;
        combine(&mut self.all, &other.all);
        other
            .newest
            .into_iter()
            .for_each(|Reverse(hit)| self.keep(hit));
        self.bad += other.bad;
        self.named_bad_lines.extend(other.named_bad_lines);
        while self.named_bad_lines.len() > BAD_LINES_NAMED {
            self.named_bad_lines.pop_last();
        }
        self.observations.merge(other.observations);
    }

    /// The newest messages, the newest first.
    #[must_use]
    pub fn newest(&self) -> Vec<&Hit> {
        let mut hits: Vec<_> = self.newest.iter().map(|Reverse(hit)| hit).collect();
        hits.sort_unstable_by(|left, right| right.cmp(left));
        hits
    }

    /// Text that is equal if and only if the result is: one half over all messages that match, whatever the order in
    /// which they were found, one over the newest and their order.
    #[must_use]
    pub fn digest(&self) -> String {
        let newest = self
            .newest()
            .iter()
            .fold(Sha256::new(), |hash, hit| hash.chain_update(hit.digest));
        format!("{}-{}", hex(&self.all[..16]), hex(&newest.finalize()[..16]))
    }
}

impl Observations {
    fn merge(&mut self, other: Self) {
        self.engines.extend(other.engines);
        self.parsers.extend(other.parsers);
        self.readings.extend(other.readings);
        self.threads.extend(other.threads);
        self.prefiltered |= other.prefiltered;
        self.pieces_folded += other.pieces_folded;
        self.ascii_folded += other.ascii_folded;
        self.pieces_plain += other.pieces_plain;
        self.lines_copied += other.lines_copied;
        self.channels.extend(other.channels);
        self.files += other.files;
        self.files_whole += other.files_whole;
        self.pieces += other.pieces;
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.lines_parsed += other.lines_parsed;
        self.lines_judged += other.lines_judged;
        self.reads += other.reads;
        self.buffer_peak = self.buffer_peak.max(other.buffer_peak);
        self.in_flight_peak = self.in_flight_peak.max(other.in_flight_peak);
        self.threads_alive = self.threads_alive.max(other.threads_alive);
        self.threads_executor = self.threads_executor.max(other.threads_executor);
        self.threads_blocking = self.threads_blocking.max(other.threads_blocking);
    }

    /// Records the state at the end of the search. Must be called while its pools still exist.
    pub(crate) fn at_end(&mut self, search: &Search) {
        let threads = ThreadCounts::count();
        self.threads_alive = threads.all;
        self.threads_executor = threads.executor;
        self.threads_blocking = threads.blocking;
        self.in_flight_peak = search.in_flight.peak();
    }
}

fn combine(all: &mut [u8; 32], digest: &[u8; 32]) {
    all.iter_mut()
        .zip(digest)
        .for_each(|(all, byte)| *all ^= byte);
}

/// Returns a digest of all fields. Each field is preceded by its length, so that different messages
/// give different bytes.
fn digest(message: &Message<'_>, offset: u64, name: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(name.as_bytes());
    field(&offset.to_le_bytes());
    field(message.role.name().as_bytes());
    match message.time {
        None => field(b""),
        Some(time) => {
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&time.seconds.to_le_bytes());
            bytes[8..].copy_from_slice(&time.nanoseconds.to_le_bytes());
            field(&bytes);
        }
    }
    for own in [&message.session, &message.uuid] {
        field(if own.is_some() { b"1" } else { b"0" });
        field(own.as_ref().map_or(b"", |text| text.0.as_bytes()));
    }
    for piece in &message.pieces {
        field(piece.0.as_bytes());
    }
    hash.finalize().into()
}

/// The beginning of the message in one line.
fn excerpt(message: &Message<'_>) -> String {
    let text = message.pieces.first().map_or("", |piece| &*piece.0);
    let letters = text
        .chars()
        .take(PREVIEW)
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    format!("{}\t{}", message.role.name(), letters.collect::<String>())
}

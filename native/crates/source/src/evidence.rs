//! Observable effects of reading, from which the actual mode is derived.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

use worker::recognition;

use crate::{MODES, Mode, Options, ring};

/// Traces of reading one input. Counts of calls come from [`CountingReader`]; the rest is seen from the delivered blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// `read` calls, the one that returned 0 included.
    pub read_calls: u64,
    /// Bytes that `read` calls returned.
    pub read_bytes: u64,
    /// The most bytes that one `read` call had room for.
    pub largest_request_bytes: u64,
    /// Bytes of delivered blocks that lie in a mapping of the input, by `/proc/self/maps`.
    pub mapped_bytes: u64,
    /// Delivered blocks.
    pub blocks: u64,
    /// Delivered bytes.
    pub bytes: u64,
    /// Size of the largest delivered block.
    pub largest_block_bytes: u64,
    /// The requested block size.
    pub block_bytes: u64,
    /// The `madvise` value of the mapping, from `/proc/self/smaps`; `None` without a mapping.
    pub advice: Option<&'static str>,
    /// Features that the mode did without, with the errno of the refusal.
    pub notes: Vec<String>,
    /// What only one mode leaves, such as completions counted by a ring or `O_DIRECT` read back from a descriptor. A
    /// mode that recognises itself by the fields above asks for this to be empty, so a new mode changes no other file.
    pub facts: BTreeMap<&'static str, u64>,
}

impl Evidence {
    /// Returns the operations that an `io_uring` completed: 0 in modes without a ring.
    #[must_use]
    pub fn ring_completions(&self) -> u64 {
        self.fact(ring::URING_COMPLETIONS) + self.fact(ring::MONOIO_COMPLETIONS)
    }

    /// Returns a fact, 0 if it was not left.
    pub(crate) fn fact(&self, name: &str) -> u64 {
        self.facts.get(name).copied().unwrap_or(0)
    }

    /// Returns whether all facts are among `known`, and the input was neither read by `read` calls nor mapped.
    pub(crate) fn has_only(&self, known: &[&str]) -> bool {
        self.facts.keys().all(|name| known.contains(name))
            && self.read_calls == 0
            && self.mapped_bytes == 0
    }

    /// Returns whether every delivered block is at most as large as requested.
    pub(crate) fn blocks_are_bounded(&self) -> bool {
        self.largest_block_bytes <= self.block_bytes
    }

    /// The name of the mode that left this evidence: `requested`, if it can be, else the first of the registry that can.
    pub(crate) fn judge(&self, requested: &Mode) -> &'static str {
        recognition::actual(
            requested,
            MODES,
            |mode| (mode.matches)(self),
            |mode| mode.name,
        )
    }
}

/// A file whose `read` calls are counted into evidence.
#[derive(Debug)]
pub(crate) struct CountingReader<'run> {
    file: &'run File,
    evidence: &'run mut Evidence,
}

impl<'run> CountingReader<'run> {
    /// Counts the reads of `file` into `evidence`.
    pub(crate) fn new(file: &'run File, evidence: &'run mut Evidence) -> Self {
        Self { file, evidence }
    }

    /// Reads until `buffer` is full or the input ends, and returns the bytes read.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let room = &mut buffer[filled..];
            self.evidence.largest_request_bytes =
                self.evidence.largest_request_bytes.max(room.len() as u64);
            let count = match self.file.read(room) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.evidence.read_calls += 1;
            self.evidence.read_bytes += count as u64;
            if count == 0 {
                break;
            }
            filled += count;
        }
        Ok(filled)
    }
}

/// Properties of the blocks, observed outside the mode.
#[derive(Default)]
pub(crate) struct BlockStatistics {
    inode: u64,
    mapped: u64,
    blocks: u64,
    bytes: u64,
    largest: u64,
}

impl BlockStatistics {
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        Ok(Self {
            inode: file.metadata()?.ino(),
            ..Self::default()
        })
    }

    pub(crate) fn note(&mut self, block: &[u8]) {
        // Later blocks of a run come from where the first came from; the table is read once to keep timing clean.
        if self.blocks == 0 {
            self.mapped = recognition::bytes_mapped_from(block, self.inode);
        }
        self.blocks += 1;
        self.bytes += block.len() as u64;
        self.largest = self.largest.max(block.len() as u64);
    }

    pub(crate) fn conclude(self, options: Options, evidence: &mut Evidence) {
        evidence.mapped_bytes = self.mapped;
        evidence.blocks = self.blocks;
        evidence.bytes = self.bytes;
        evidence.largest_block_bytes = self.largest;
        evidence.block_bytes = options.block_bytes as u64;
    }
}

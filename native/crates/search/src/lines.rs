//! Whole lines of blocks that end anywhere, and of parts of a mapped file.

use std::io;

use memchr::{memchr, memrchr};

/// A buffer that is filled at its end and emptied, whole lines at a time, at its beginning.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl LineBuffer {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            bytes: vec![0; size],
            filled: 0,
        }
    }

    /// Room for the next bytes. A line longer than the buffer makes it grow.
    ///
    /// # Errors
    /// So much memory is unavailable.
    pub(crate) fn room(&mut self) -> io::Result<&mut [u8]> {
        if self.filled == self.bytes.len() {
            let more = self.bytes.len();
            self.bytes.try_reserve_exact(more).map_err(|error| {
                io::Error::new(
                    io::ErrorKind::OutOfMemory,
                    format!("a line of more than {more} bytes: {error}"),
                )
            })?;
            self.bytes.resize(2 * more, 0);
        }
        Ok(&mut self.bytes[self.filled..])
    }

    /// Records `count` bytes put into the room; the whole lines that there are now, perhaps none.
    pub(crate) fn fill(&mut self, count: usize) -> &[u8] {
        let from = self.filled;
        self.filled += count;
        let whole = memrchr(b'\n', &self.bytes[from..self.filled]).map_or(0, |at| from + at + 1);
        &self.bytes[..whole]
    }

    /// Forgets the first `count` bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.bytes.copy_within(count..self.filled, 0);
        self.filled -= count;
    }

    /// Returns the rest at the end of the input: a line without its end, or nothing.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    pub(crate) fn clear(&mut self) {
        self.filled = 0;
    }

    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

/// The lines that begin in `from..to`.
pub(crate) fn lines_beginning_in(bytes: &[u8], from: u64, to: u64) -> std::ops::Range<usize> {
    let index = |at: u64| usize::try_from(at).map_or(bytes.len(), |at| at.min(bytes.len()));
    let (from, to) = (index(from), index(to));
    // Not after `to`: each piece of one huge line would look through all of its rest.
    let start = match from.checked_sub(1) {
        None => 0,
        Some(before) => memchr(b'\n', &bytes[before..to]).map_or(to, |end| before + end + 1),
    };
    if start >= to {
        return start..start;
    }
    start..start + last_line_end(&bytes[start..], to - start)
}

/// The end of the line that contains the byte before `before`.
pub(crate) fn last_line_end(lines: &[u8], before: usize) -> usize {
    match before.checked_sub(1) {
        None => 0,
        Some(last) if last >= lines.len() => lines.len(),
        Some(last) => memchr(b'\n', &lines[last..]).map_or(lines.len(), |end| last + end + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_wherever_blocks_end() {
        let text = b"one\n\ntwo\r\nthree is longer than the buffer\nlast";
        for size in 1..60 {
            for step in 1..10 {
                let mut buffer = LineBuffer::new(size);
                let (mut out, mut rest) = (Vec::new(), &text[..]);
                while !rest.is_empty() {
                    let room = buffer.room().unwrap();
                    let count = room.len().min(rest.len()).min(step);
                    room[..count].copy_from_slice(&rest[..count]);
                    rest = &rest[count..];
                    let whole = buffer.fill(count);
                    assert!(whole.is_empty() || whole.ends_with(b"\n"));
                    out.extend_from_slice(whole);
                    let whole = whole.len();
                    buffer.consume(whole);
                }
                assert_eq!(buffer.rest(), b"last");
                out.extend_from_slice(buffer.rest());
                assert_eq!(out, text);
            }
        }
    }

    #[test]
    fn every_line_belongs_to_one_chunk() {
        let text = b"one\n\nthree\nfour is a long line\n\n\nlast";
        for size in 1..text.len() as u64 + 2 {
            let mut joined = Vec::new();
            let mut from = 0;
            while from < text.len() as u64 {
                joined.extend_from_slice(&text[lines_beginning_in(text, from, from + size)]);
                from += size;
            }
            assert_eq!(joined, text, "{size}");
        }
    }
}

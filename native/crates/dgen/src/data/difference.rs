//! Differences between actual and expected bytes.

use super::Data;

/// Bytes made at a time for comparing: they stay in the first-level cache.
const PIECE: usize = 8 << 10;

/// The most bytes shown from a difference on.
const MAX_EXCERPT: usize = 16;

/// Differences so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Bytes compared.
    pub compared: u64,
    /// Bytes that differ from the expected ones.
    pub count: u64,
    /// Lowest offset of a difference; `None` without differences.
    pub first: Option<u64>,
    /// Expected bytes at that offset and in the 15 bytes after it, as far as they were compared
    /// together.
    pub expected: Vec<u8>,
    /// The actual bytes.
    pub actual: Vec<u8>,
}

impl Differences {
    /// Adds the results of another thread.
    pub fn merge(&mut self, other: Self) {
        self.compared += other.compared;
        self.count += other.count;
        if self.is_behind(other.first) {
            self.first = other.first;
            self.expected = other.expected;
            self.actual = other.actual;
        }
    }

    /// Whether the lowest offset so far is higher than `first`.
    fn is_behind(&self, first: Option<u64>) -> bool {
        first.is_some_and(|first| self.first.is_none_or(|known| known > first))
    }
}

impl Data {
    /// Compares all of `actual`, which starts at `offset` of the data, and adds the differences to
    /// `report`. Pieces may come in any order.
    pub fn differences(&self, offset: u64, actual: &[u8], report: &mut Differences) {
        let mut expected_bytes = [0; PIECE];
        report.compared += actual.len() as u64;
        for (from, piece) in pieces(offset, actual) {
            let expected = &mut expected_bytes[..piece.len()];
            self.fill(from, expected);
            let Some(at) = first_mismatch(expected, piece) else {
                continue;
            };
            let count = expected[at..]
                .iter()
                .zip(&piece[at..])
                .filter(|(one, other)| one != other)
                .count();
            report.count += count as u64;
            let first = from.wrapping_add(at as u64);
            if report.is_behind(Some(first)) {
                // After the end of the piece too, so that what is shown does not depend on how the
                // data were cut.
                let start = usize::try_from(first.wrapping_sub(offset)).unwrap_or(usize::MAX);
                let shown = &actual[start..actual.len().min(start + MAX_EXCERPT)];
                report.first = Some(first);
                report.actual = shown.to_vec();
                report.expected = vec![0; shown.len()];
                self.fill(first, &mut report.expected);
            }
        }
    }
}

/// The pieces of `bytes`, each with its offset.
fn pieces(offset: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    bytes
        .chunks(PIECE)
        .enumerate()
        .map(move |(number, piece)| (offset.wrapping_add((number * PIECE) as u64), piece))
}

fn first_mismatch(expected: &[u8], actual: &[u8]) -> Option<usize> {
    // Comparing whole slices is vectorised, finding the place is not.
    if expected == actual {
        return None;
    }
    expected
        .iter()
        .zip(actual)
        .position(|(one, other)| one != other)
}

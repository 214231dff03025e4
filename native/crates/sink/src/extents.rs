//! Ranges of a file that were written, as completions reported them.

use std::collections::BTreeMap;

/// Ranges of bytes, merged where they touch, so that a whole file is one range however its blocks arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Start to end, disjoint and not touching.
    ranges: BTreeMap<u64, u64>,
    twice: u64,
}

impl Extents {
    /// Adds `length` bytes from `offset`.
    pub fn add(&mut self, offset: u64, length: u64) {
        if length == 0 {
            return;
        }
        let added_end = offset.saturating_add(length);
        let (mut start, mut end) = (offset, added_end);
        // Neighbours that touch or overlap end up in the new range; blocks come nearly in order, so there are few.
        while let Some((&from, &to)) = self.ranges.range(..=end).next_back() {
            if to < start {
                break;
            }
            self.twice += to.min(added_end).saturating_sub(from.max(offset));
            self.ranges.remove(&from);
            start = start.min(from);
            end = end.max(to);
        }
        self.ranges.insert(start, end);
    }

    /// Returns the same ranges without the bytes after `size`, which are the padding of an
    /// unaligned end.
    #[must_use]
    pub fn within(&self, size: u64) -> Self {
        let ranges = self
            .ranges
            .range(..size)
            .map(|(&start, &end)| (start, end.min(size)))
            .collect();
        Self {
            ranges,
            twice: self.twice,
        }
    }

    /// Start and end of each range, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().map(|(&start, &end)| (start, end))
    }

    /// Bytes covered, each counted once.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.iter().map(|(start, end)| end - start).sum()
    }

    /// Bytes that were added when they were there already.
    #[must_use]
    pub fn twice(&self) -> u64 {
        self.twice
    }

    /// Returns whether the ranges are exactly the `size` bytes from 0, each written once.
    #[must_use]
    pub fn are_whole(&self, size: u64) -> bool {
        self.twice == 0 && self.bytes() == size && self.ranges.len() <= 1 && {
            size == 0 || self.ranges.get(&0) == Some(&size)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn eight_writers_at_offset_0_cover_one_block() {
        let mut extents = Extents::default();
        for _ in 0..8 {
            extents.add(0, 8 << 20);
        }
        assert_eq!(extents.bytes(), 8 << 20);
        assert_eq!(extents.twice(), 7 * (8 << 20));
        assert!(!extents.are_whole(64 << 20));
        assert!(!extents.are_whole(8 << 20));
    }

    #[test]
    fn padding_is_cut_off() {
        let mut extents = Extents::default();
        extents.add(4096, 4096);
        extents.add(0, 4096);
        assert!(extents.within(4097).are_whole(4097));
        assert!(!extents.within(8193).are_whole(8193));
        assert!(Extents::default().are_whole(0));
    }

    proptest! {
        #[test]
        fn they_are_the_bytes_that_a_bitmap_has(added in prop::collection::vec((0_u64..200, 0_u64..40), 0..40)) {
            let mut extents = Extents::default();
            let mut bitmap = [0_u64; 256];
            for &(offset, length) in &added {
                extents.add(offset, length);
                for at in offset..offset + length {
                    bitmap[usize::try_from(at).unwrap()] += 1;
                }
            }
            let mut listed = [false; 256];
            let mut last = None;
            for (start, end) in extents.iter() {
                prop_assert!(start < end && last.is_none_or(|last| last < start));
                last = Some(end);
                for at in start..end {
                    listed[usize::try_from(at).unwrap()] = true;
                }
            }
            for (&count, &listed) in bitmap.iter().zip(&listed) {
                prop_assert_eq!(count > 0, listed);
            }
            let twice: u64 = bitmap.iter().map(|count| count.saturating_sub(1)).sum();
            prop_assert_eq!(extents.twice(), twice);
        }
    }
}

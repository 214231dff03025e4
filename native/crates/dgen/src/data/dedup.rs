//! Mapping from units of the output to units of the source. Equal units are copies of one source
//! unit.
//!
//! Unit i is the place of the first appearance of source k(i) = ⌊i ÷ ratio⌋ if i is the first with
//! that k; every other unit is a copy. So the first n units hold exactly ⌊(n − 1) ÷ ratio⌋ + 1
//! different ones, whatever a copy is a copy of, as long as that came before. Copies look back no
//! further than the start of their window, so any row of whole windows contains its exact share too
//! (one more where a window starts between first appearances).

use std::fmt;

use super::settings::{Dedup, Distance};
use crate::random::Random;

/// Units of a window.
const WINDOW: u64 = 1 << 16;

/// Units and where their bytes come from.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// Bytes.
    unit: u64,
    thousandths: u64,
    distance: Distance,
    pick_key: u64,
}

impl Units {
    /// `None` if every unit is a different one.
    pub(super) fn new(dedup: Dedup, pick_key: u64) -> Option<Self> {
        let thousandths = u64::from(dedup.ratio.thousandths());
        // The most different units that a copy may choose among.
        let choices = WINDOW * 1000 / thousandths + 2;
        let distance = match dedup.distance {
            Distance::Set(size) if u64::from(size) >= choices => Distance::Uniform,
            distance => distance,
        };
        (thousandths > 1000).then_some(Self {
            unit: u64::from(dedup.unit),
            thousandths,
            distance,
            pick_key,
        })
    }

    /// Bytes behind whose multiples no unit is a copy of one before, but for the last one before.
    pub(super) fn window_bytes(&self) -> u64 {
        WINDOW * self.unit
    }

    /// Hands the parts of `buffer` that lie in one unit to `fill`, each with its offset in the source.
    pub(super) fn for_each_piece(
        &self,
        offset: u64,
        buffer: &mut [u8],
        mut fill: impl FnMut(u64, &mut [u8]),
    ) {
        let (mut index, mut within) = (offset / self.unit, offset % self.unit);
        let mut rest = buffer;
        while !rest.is_empty() {
            let room = usize::try_from(self.unit - within).unwrap_or(usize::MAX);
            let (piece, behind) = rest.split_at_mut(rest.len().min(room));
            fill(self.source(index) * self.unit + within, piece);
            rest = behind;
            index += 1;
            within = 0;
        }
    }

    /// Returns the unit of the source for unit `index`, which is never a later one.
    fn source(&self, index: u64) -> u64 {
        let latest = self.newest_source(index);
        let fresh = index == 0 || self.newest_source(index - 1) < latest;
        if fresh || self.distance == Distance::Adjacent {
            return latest;
        }
        let earliest = self.newest_source(index - index % WINDOW);
        let known_units = latest - earliest + 1;
        let choices = match self.distance {
            Distance::Set(size) => known_units.min(u64::from(size)),
            _ => known_units,
        };
        let choices = u32::try_from(choices).unwrap_or(u32::MAX);
        earliest + u64::from(Random::new(self.pick_key, STREAM, index).below(choices))
    }

    /// ⌊index ÷ ratio⌋, without a product that could overflow.
    fn newest_source(&self, index: u64) -> u64 {
        let (whole, rest) = (index / self.thousandths, index % self.thousandths);
        whole * 1000 + rest * 1000 / self.thousandths
    }
}

/// The random stream of the choice among earlier units.
const STREAM: u64 = u64::from_le_bytes(*b"dgen-dup");

impl fmt::Display for Units {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "dedup={}/1000@{},{}",
            self.thousandths, self.unit, self.distance
        )
    }
}

//! In which order the blocks of a file are read.

use super::Evidence;
use crate::random::Random;

/// A value of the axis `access`.
pub struct Access {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The order for a seed and a number of blocks.
    pub(super) order: fn(u64, u64) -> Order,
    /// Whether `Evidence` is what it leaves behind.
    matches: fn(&Evidence) -> bool,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Access")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Every order, in the order in which help and `describe` list them.
pub static ACCESSES: &[&Access] = &[
    &Access {
        name: "sequential",
        about: "from the first block to the last",
        order: |_, blocks| Order {
            blocks,
            rounds: None,
        },
        matches: |evidence| evidence.backward == 0,
    },
    &Access {
        name: "random",
        about: "every block once, in an order that the seed determines",
        order: |seed, blocks| Order {
            blocks,
            rounds: Some(Rounds::new(seed, blocks)),
        },
        matches: |evidence| evidence.backward > 0 || evidence.blocks <= FEW,
    },
];

/// So few blocks may come in order by chance.
const FEW: u64 = 16;

/// The order named `name`.
#[must_use]
pub fn access(name: &str) -> Option<&'static Access> {
    ACCESSES.iter().copied().find(|access| access.name == name)
}

pub(super) fn judge(asked: &Access, evidence: &Evidence) -> &'static str {
    if (asked.matches)(evidence) {
        return asked.name;
    }
    ACCESSES
        .iter()
        .find(|access| (access.matches)(evidence))
        .map_or("unknown", |access| access.name)
}

/// Each block once.
#[derive(Debug)]
pub(super) struct Order {
    blocks: u64,
    rounds: Option<Rounds>,
}

impl Order {
    /// The block that is read at `place`.
    pub(super) fn at(&self, place: u64) -> Option<u64> {
        (place < self.blocks).then(|| match &self.rounds {
            None => place,
            Some(rounds) => rounds.permute(place),
        })
    }
}

/// A permutation of any range without a table: a Feistel network over the next power of four, walked until it falls
/// inside (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
#[derive(Debug)]
struct Rounds {
    keys: [u64; 4],
    half: u32,
    blocks: u64,
}

/// The random stream of the order.
const STREAM: u64 = u64::from_le_bytes(*b"dgen-ord");

impl Rounds {
    fn new(seed: u64, blocks: u64) -> Self {
        let bits = 64 - blocks.saturating_sub(1).leading_zeros();
        Self {
            keys: std::array::from_fn(|round| Random::new(seed, STREAM, round as u64).next()),
            half: bits.div_ceil(2).max(1),
            blocks,
        }
    }

    fn permute(&self, place: u64) -> u64 {
        let mut at = place;
        loop {
            at = self.once(at);
            if at < self.blocks {
                return at;
            }
        }
    }

    fn once(&self, value: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (value >> self.half, value & mask);
        for key in self.keys {
            let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (left, right) = (right, left ^ ((mixed >> 32) & mask));
        }
        (left << self.half) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_read_once_in_every_order() {
        for access in ACCESSES {
            for blocks in [0, 1, 2, 3, 5, 64, 1000, 4097] {
                let order = (access.order)(7, blocks);
                let mut seen: Vec<_> = (0..blocks).filter_map(|place| order.at(place)).collect();
                assert_eq!(order.at(blocks), None);
                seen.sort_unstable();
                assert!(
                    seen.iter().copied().eq(0..blocks),
                    "{} {blocks}",
                    access.name
                );
            }
        }
    }

    #[test]
    fn seeds_give_different_orders() {
        let order = |seed| {
            let order = (access("random").unwrap().order)(seed, 1000);
            (0..1000)
                .filter_map(|place| order.at(place))
                .collect::<Vec<_>>()
        };
        assert_ne!(order(1), order(2));
        let ascending = order(1).windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((400..600).contains(&ascending), "{ascending}");
    }
}

//! Random numbers that depend on nothing but the seed.

/// The increment of `SplitMix64` (Steele, Lea and Flood, 2014): 2^64 divided by the golden ratio, made odd.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

/// The finaliser of `SplitMix64`: every bit of the input reaches every bit of the output.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Random {
    /// A separate stream for each triple; neighbouring seeds and blocks share nothing.
    pub(crate) fn new(seed: u64, stream: u64, block: u64) -> Self {
        let state =
            mix(mix(mix(seed.wrapping_add(INCREMENT)) ^ stream).wrapping_add(INCREMENT) ^ block);
        Self { state }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mix(self.state)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        scale(self.next(), bound)
    }
}

/// The low half of `bits` scaled to below `bound`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is meant, and the result is below `bound`"
)]
pub(crate) fn scale(bits: u64, bound: u32) -> u32 {
    ((u64::from(bits as u32) * u64::from(bound)) >> 32) as u32
}

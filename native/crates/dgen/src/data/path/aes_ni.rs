//! `aes-ni`: one block per instruction, eight in flight.

use std::arch::x86_64::{
    __m128i, _mm_add_epi64, _mm_aesenc_si128, _mm_loadu_si128, _mm_sfence, _mm_storeu_si128,
    _mm_stream_si128, _mm_xor_si128,
};

use super::{Path, Stores};
use crate::data::block::{Block, Counter, Keys};

pub(super) static PATH: Path = Path {
    name: "aes-ni",
    probe: || is_x86_feature_detected!("aes"),
    fill,
};

/// Blocks in flight: an AES instruction takes 3 to 8 cycles, and one or two start per cycle.
const LANES: usize = 8;

#[target_feature(enable = "aes")]
fn fill(keys: &Keys, first: Counter, blocks: &mut [Block], stores: Stores) {
    let is_aligned = blocks.as_ptr().align_offset(align_of::<__m128i>()) == 0;
    let (groups, rest) = blocks.as_chunks_mut::<LANES>();
    if stores == Stores::Streaming && is_aligned {
        fill_groups(keys, first, groups, |place, state| {
            // SAFETY: a block is 16 bytes, and aligned, for the first one is.
            unsafe { _mm_stream_si128(place.as_mut_ptr().cast(), state) }
        });
        // Streaming stores are ordered by nothing else: other threads may read the buffer after this.
        _mm_sfence();
    } else {
        fill_groups(keys, first, groups, |place, state| store(place, state));
    }
    if !rest.is_empty() {
        let mut group = [[Block::default(); LANES]];
        fill_groups(
            keys,
            first.plus(groups.len() * LANES),
            &mut group,
            |place, state| store(place, state),
        );
        rest.copy_from_slice(&group.as_flattened()[..rest.len()]);
    }
}

#[target_feature(enable = "aes")]
#[inline]
fn fill_groups(
    keys: &Keys,
    first: Counter,
    groups: &mut [[Block; LANES]],
    put: impl Fn(&mut Block, __m128i),
) {
    let [start, rounds @ ..] = keys.0.each_ref().map(|key| load(key));
    let one = load(&1_u128.to_le_bytes());
    let mut next = load(&first.to_block());
    for places in groups {
        let mut states = [start; LANES];
        for state in &mut states {
            *state = _mm_xor_si128(*state, next);
            next = _mm_add_epi64(next, one);
        }
        for key in rounds {
            for state in &mut states {
                *state = _mm_aesenc_si128(*state, key);
            }
        }
        for (place, state) in places.iter_mut().zip(states) {
            put(place, state);
        }
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn load(block: &Block) -> __m128i {
    // SAFETY: a block is 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn store(place: &mut Block, state: __m128i) {
    // SAFETY: a block is 16 bytes, and the store needs no alignment.
    unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), state) }
}

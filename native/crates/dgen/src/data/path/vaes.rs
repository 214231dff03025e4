//! `vaes`: two blocks per instruction, sixteen in flight.

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm_sfence, _mm256_add_epi64, _mm256_broadcastsi128_si256,
    _mm256_loadu_si256, _mm256_storeu_si256, _mm256_stream_si256, _mm256_xor_si256,
};

use super::{Path, Stores};
use crate::data::block::{Block, Counter, Keys};

pub(super) static PATH: Path = Path {
    name: "vaes",
    probe: || is_x86_feature_detected!("vaes") && is_x86_feature_detected!("avx2"),
    fill,
};

/// Pairs of blocks in flight: an AES instruction takes 3 to 8 cycles, and one or two start per cycle.
const LANES: usize = 8;

/// Blocks in flight.
type Group = [Block; 2 * LANES];

/// Two blocks: what one register holds.
type Pair = [Block; 2];

#[target_feature(enable = "avx2")]
fn fill(keys: &Keys, first: Counter, blocks: &mut [Block], stores: Stores) {
    let ahead = blocks.as_ptr().align_offset(align_of::<__m256i>());
    if stores == Stores::Streaming && ahead <= 1 && ahead <= blocks.len() {
        // One block may precede the first whole register.
        let (ahead, blocks) = blocks.split_at_mut(ahead);
        fill_cached(keys, first, ahead);
        let first = first.plus(ahead.len());
        let (groups, rest) = blocks.as_chunks_mut();
        fill_groups(keys, first, groups, |place, state| {
            // SAFETY: a pair is 32 bytes, and aligned, for the first one is.
            unsafe { _mm256_stream_si256(place.as_mut_ptr().cast(), state) }
        });
        // Streaming stores are ordered by nothing else: other threads may read the buffer after this.
        _mm_sfence();
        fill_cached(keys, first.plus(groups.as_flattened().len()), rest);
    } else {
        fill_cached(keys, first, blocks);
    }
}

#[target_feature(enable = "avx2")]
fn fill_cached(keys: &Keys, first: Counter, blocks: &mut [Block]) {
    let (groups, rest) = blocks.as_chunks_mut();
    fill_groups(keys, first, groups, |place, state| store(place, state));
    if !rest.is_empty() {
        let mut group = [Group::default()];
        fill_groups(
            keys,
            first.plus(groups.as_flattened().len()),
            &mut group,
            |place, state| store(place, state),
        );
        rest.copy_from_slice(&group.as_flattened()[..rest.len()]);
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn fill_groups(
    keys: &Keys,
    first: Counter,
    groups: &mut [Group],
    put: impl Fn(&mut Pair, __m256i),
) {
    let [start, rounds @ ..] = keys.0.each_ref().map(|key| twice(key));
    let two = twice(&2_u128.to_le_bytes());
    let mut next = load(&[first.to_block(), first.plus(1).to_block()]);
    for places in groups {
        let mut states = [start; LANES];
        for state in &mut states {
            *state = _mm256_xor_si256(*state, next);
            next = _mm256_add_epi64(next, two);
        }
        for key in rounds {
            for state in &mut states {
                *state = round(*state, key);
            }
        }
        let (pairs, _) = places.as_chunks_mut();
        for (place, state) in pairs.iter_mut().zip(states) {
            put(place, state);
        }
    }
}

/// One AES round on both halves. As assembly, because the intrinsic is younger than the oldest compiler we support.
#[target_feature(enable = "avx2")]
#[inline]
fn round(state: __m256i, key: __m256i) -> __m256i {
    let result;
    // SAFETY: the instruction changes nothing but its result, and the probe of this path has found it.
    unsafe {
        asm!(
            "vaesenc {result}, {state}, {key}",
            result = lateout(ymm_reg) result,
            state = in(ymm_reg) state,
            key = in(ymm_reg) key,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    result
}

#[target_feature(enable = "avx2")]
#[inline]
fn twice(block: &Block) -> __m256i {
    // SAFETY: a block is 16 bytes, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(pair: &Pair) -> __m256i {
    // SAFETY: a pair is 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(pair.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(pair: &mut Pair, state: __m256i) {
    // SAFETY: a pair is 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(pair.as_mut_ptr().cast(), state) }
}

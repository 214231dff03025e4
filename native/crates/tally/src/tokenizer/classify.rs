//! Classes of ASCII bytes, as one bit per byte of a 64-byte chunk.
//!
//! The vector form needs SSE2, which every `x86_64` has; the portable form gives the same bits from the table and
//! serves every other architecture. A test compares the two on all bytes.

/// Bytes per chunk: one bit of a `u64` each.
pub(crate) const CHUNK: usize = 64;

/// One bit per byte of a chunk, bit 0 for the first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    /// `A-Z a-z`
    pub(crate) letters: u64,
    /// `0-9`
    pub(crate) digits: u64,
    /// `_`
    pub(crate) underscores: u64,
    /// `.` and `'`: join letters with letters and digits with digits (`MidNumLet`, `Single_Quote`).
    pub(crate) joins_both: u64,
    /// `:` joins letters (`MidLetter`).
    pub(crate) joins_letters: u64,
    /// `,` and `;` join digits (`MidNum`).
    pub(crate) joins_digits: u64,
}

/// Classes for the `unicode` tokenizer.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
pub(crate) use portable::{classify, word_and_high};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(crate) use vector::{classify, word_and_high};

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod vector {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set_epi64x, _mm_set1_epi8,
    };

    use super::{CHUNK, Classes};

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load(chunk: &[u8; CHUNK], part: usize) -> __m128i {
        let word = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&chunk[at..at + 8]);
            i64::from_le_bytes(bytes)
        };
        _mm_set_epi64x(word(part * 16 + 8), word(part * 16))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn equals(bytes: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()))
    }

    /// All ones where `first <= byte < first + count`.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn in_range(bytes: __m128i, first: u8, count: u8) -> __m128i {
        let shifted = _mm_add_epi8(bytes, _mm_set1_epi8(first.wrapping_neg().cast_signed()));
        _mm_cmpeq_epi8(
            _mm_min_epu8(shifted, _mm_set1_epi8((count - 1).cast_signed())),
            shifted,
        )
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn letters(bytes: __m128i) -> __m128i {
        in_range(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), b'a', 26)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn mask(bytes: __m128i, part: usize) -> u64 {
        u64::from(_mm_movemask_epi8(bytes).cast_unsigned()) << (part * 16)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn classes_of(chunk: &[u8; CHUNK]) -> Classes {
        let mut classes = Classes::default();
        for part in 0..4 {
            let bytes = load(chunk, part);
            classes.letters |= mask(letters(bytes), part);
            classes.digits |= mask(in_range(bytes, b'0', 10), part);
            classes.underscores |= mask(equals(bytes, b'_'), part);
            classes.joins_both |= mask(
                _mm_or_si128(equals(bytes, b'.'), equals(bytes, b'\'')),
                part,
            );
            classes.joins_letters |= mask(equals(bytes, b':'), part);
            classes.joins_digits |=
                mask(_mm_or_si128(equals(bytes, b','), equals(bytes, b';')), part);
        }
        classes
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn word_and_high_of(chunk: &[u8; CHUNK]) -> (u64, u64) {
        let (mut word, mut high) = (0, 0);
        for part in 0..4 {
            let bytes = load(chunk, part);
            let digits = in_range(bytes, b'0', 10);
            word |= mask(
                _mm_or_si128(_mm_or_si128(letters(bytes), digits), equals(bytes, b'\'')),
                part,
            );
            high |= mask(bytes, part);
        }
        (word, high)
    }

    #[inline]
    pub(crate) fn classify(chunk: &[u8; CHUNK]) -> Classes {
        // SAFETY: the `cfg` of this module says that SSE2 is there.
        unsafe { classes_of(chunk) }
    }

    #[inline]
    pub(crate) fn word_and_high(chunk: &[u8; CHUNK]) -> (u64, u64) {
        // SAFETY: the `cfg` of this module says that SSE2 is there.
        unsafe { word_and_high_of(chunk) }
    }
}

#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
mod portable {
    use super::{CHUNK, Classes};

    /// Classes for the `unicode` tokenizer.
    pub(crate) fn classify(chunk: &[u8; CHUNK]) -> Classes {
        let mut classes = Classes::default();
        for (index, byte) in chunk.iter().enumerate() {
            let bit = 1 << index;
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' => classes.letters |= bit,
                b'0'..=b'9' => classes.digits |= bit,
                b'_' => classes.underscores |= bit,
                b'.' | b'\'' => classes.joins_both |= bit,
                b':' => classes.joins_letters |= bit,
                b',' | b';' => classes.joins_digits |= bit,
                _ => {}
            }
        }
        classes
    }

    /// Word bytes of the `ascii` tokenizer, and bytes outside ASCII.
    pub(crate) fn word_and_high(chunk: &[u8; CHUNK]) -> (u64, u64) {
        let (mut word, mut high) = (0, 0);
        for (index, byte) in chunk.iter().enumerate() {
            word |= u64::from(byte.is_ascii_alphanumeric() || *byte == b'\'') << index;
            high |= u64::from(!byte.is_ascii()) << index;
        }
        (word, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_agree_on_every_byte_in_every_place() {
        for shift in 0..=255_u8 {
            let chunk: [u8; CHUNK] =
                std::array::from_fn(|index| shift.wrapping_add(u8::try_from(index).unwrap()));
            assert_eq!(classify(&chunk), portable::classify(&chunk));
            assert_eq!(word_and_high(&chunk), portable::word_and_high(&chunk));
        }
    }
}

//! Words and how often they are drawn.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::random::{Random, scale};

/// Distinct words of the prose, before capitals and numbers.
const WORDS: usize = 40_000;

/// The most frequent words, so that the lengths of frequent words are those of English.
const FREQUENT: &str = "the of and to in a is that for it as was with be by on not he his but at are this have from \
    or had an they which one you were all her she there would their we him been has when who will no more if out so \
    up said what its about than into them can only other time new some could these two may first then do any like my \
    now over such our man me even most made after also well did many off before must through years where much your \
    way down should because long each just state those people too mr how little good world make very year still see \
    own work men day get here old life both between being under three never know same last another while us might \
    great go come since against right came take used himself few house use place during high without again home \
    around small however found don't it's can't that's i'm didn't user_id file_name e.g";

const ONSETS: [&str; 24] = [
    "", "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr",
    "pl", "ch", "sh", "gr", "con", "re",
];
const VOWELS: [&str; 10] = ["a", "e", "i", "o", "u", "ea", "ou", "io", "y", "ee"];
const CODAS: [&str; 16] = [
    "", "", "", "", "n", "r", "s", "t", "l", "d", "m", "ng", "st", "ck", "nt", "rd",
];

/// A word of at most 15 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    bytes: [u8; 15],
    length: u8,
}

impl Word {
    /// Appends the word. Bytes after it are overwritten, because a copy of fixed size is one
    /// instruction.
    #[inline]
    pub(crate) fn append(&self, out: &mut [u8], length: &mut usize) {
        out[*length..*length + 15].copy_from_slice(&self.bytes);
        *length += usize::from(self.length);
    }
}

/// Words with a way to draw them in proportion to 1 / (rank + 2.7), Mandelbrot's form of Zipf's law.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    words: Vec<Word>,
    draw: Alias,
}

pub(crate) static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::new);

impl Vocabulary {
    fn new() -> Self {
        let mut random = Random::new(0, u64::from_le_bytes(*b"vocabula"), 0);
        let mut known = HashSet::new();
        let mut words = Vec::with_capacity(WORDS);
        let mut take = |text: &str| {
            if text.len() <= 15 && known.insert(text.to_owned()) {
                let mut bytes = [0; 15];
                bytes[..text.len()].copy_from_slice(text.as_bytes());
                words.push(Word {
                    bytes,
                    length: u8::try_from(text.len()).unwrap_or(15),
                });
            }
            words.len()
        };
        let mut count = FREQUENT
            .split_ascii_whitespace()
            .map(&mut take)
            .last()
            .unwrap_or(0);
        while count < WORDS {
            // Rarer words are longer.
            let syllables = match count {
                0..600 => 1,
                600..5_000 => 1 + random.below(2),
                _ => 2 + random.below(2),
            };
            let mut text = String::new();
            for _ in 0..syllables {
                text.push_str(ONSETS[random.below(24) as usize]);
                text.push_str(VOWELS[random.below(10) as usize]);
            }
            text.push_str(CODAS[random.below(16) as usize]);
            count = take(&text);
        }
        Self {
            words,
            draw: Alias::zipf(WORDS),
        }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> &Word {
        &self.words[self.draw.draw(random)]
    }
}

/// Draws ranks in constant time: Walker's alias method with Vose's construction, in whole numbers.
#[derive(Debug)]
pub(crate) struct Alias {
    /// For each rank the part of 2^32 that keeps it, and the rank that has the rest.
    cells: Vec<(u32, u32)>,
}

impl Alias {
    /// Ranks below `count`, in proportion to 1 / (rank + 2.7).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "ranks fit 32 bits, and a share is cut to 2^32 - 1"
    )]
    pub(crate) fn zipf(count: usize) -> Self {
        let weights: Vec<u128> = (0..count as u128)
            .map(|rank| (1 << 50) / (10 * rank + 27))
            .collect();
        let total: u128 = weights.iter().sum();
        // Shares are scaled so that the mean is `total`, and compared with it without division.
        let mut shares: Vec<u128> = weights
            .iter()
            .map(|weight| weight * count as u128)
            .collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|&rank| shares[rank] < total);
        let mut cells: Vec<(u32, u32)> = (0..count as u32).map(|rank| (u32::MAX, rank)).collect();
        while let (Some(low), Some(&high)) = (small.pop(), large.last()) {
            cells[low] = (
                ((shares[low] << 32) / total).min(u128::from(u32::MAX)) as u32,
                high as u32,
            );
            shares[high] -= total - shares[low];
            if shares[high] < total {
                large.pop();
                small.push(high);
            }
        }
        Self { cells }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the high half is meant")]
    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let bits = random.next();
        let rank = scale(bits, self.cells.len() as u32);
        let (share, other) = self.cells[rank as usize];
        (if ((bits >> 32) as u32) < share {
            rank
        } else {
            other
        }) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_in_proportion() {
        let alias = Alias::zipf(1000);
        let mut random = Random::new(1, 2, 3);
        let mut counts = vec![0_u32; 1000];
        for _ in 0..1_000_000 {
            counts[alias.draw(&mut random)] += 1;
        }
        // (0 + 2.7) : (25 + 2.7) is about 1 : 10.
        let ratio = f64::from(counts[0]) / f64::from(counts[25]);
        assert!((9.5..11.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn words_are_distinct() {
        let distinct: HashSet<_> = VOCABULARY
            .words
            .iter()
            .map(|word| (word.bytes, word.length))
            .collect();
        assert_eq!(distinct.len(), WORDS);
    }
}

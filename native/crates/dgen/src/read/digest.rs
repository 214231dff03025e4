//! What was read, as one value that does not depend on the order in which it was read.

use sha2::{Digest, Sha256};
use sink::Extents;
use twox_hash::XxHash3_64;

use super::PAGE;
use crate::write::hex;

/// The sum of the hashes of the pages of `bytes`, which begin at `offset`. A page is hashed with its number as seed, so
/// equal pages in other places, or swapped ones, give another sum. XXH3 finds accidents, not attacks.
pub(super) fn of_pages(offset: u64, bytes: &[u8]) -> u64 {
    let first = offset / PAGE as u64;
    (first..)
        .zip(bytes.chunks(PAGE))
        .map(|(page, bytes)| XxHash3_64::oneshot_with_seed(page, bytes))
        .fold(0, u64::wrapping_add)
}

/// SHA-256 over the sum of all pages, which bytes were read, and the size of the file.
pub(super) fn conclude(pages: u64, extents: &Extents, size: u64) -> String {
    let ranges: Vec<_> = extents
        .iter()
        .map(|(start, end)| format!("{start}-{end}"))
        .collect();
    let text = format!(
        "pages {pages:016x}\n{}\ntwice {}\nsize {size}\n",
        ranges.join("\n"),
        extents.twice()
    );
    hex(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_depends_on_the_place_of_a_page_but_not_on_the_order_of_reading() {
        let bytes: Vec<u8> = (0..=250).cycle().take(3 * PAGE + 7).collect();
        let whole = of_pages(0, &bytes);
        let parts = of_pages(PAGE as u64, &bytes[PAGE..]).wrapping_add(of_pages(0, &bytes[..PAGE]));
        assert_eq!(whole, parts);
        let mut swapped = bytes.clone();
        swapped.rotate_left(PAGE);
        assert_ne!(whole, of_pages(0, &swapped));
    }
}

//! `portable`: AES rounds by tables, for every processor that no other path was tried on.

use super::{Path, Stores};
use crate::data::block::{Block, Counter, Keys};

pub(super) static PATH: Path = Path {
    name: "portable",
    probe: || true,
    fill,
};

fn fill(keys: &Keys, first: Counter, blocks: &mut [Block], _: Stores) {
    for (number, place) in blocks.iter_mut().enumerate() {
        *place = block(keys, &first.plus(number).to_block());
    }
}

fn block(keys: &Keys, counter: &Block) -> Block {
    let [start, rounds @ ..] = &keys.0;
    let mut columns = words(counter);
    for (column, key) in columns.iter_mut().zip(words(start)) {
        *column ^= key;
    }
    for key in rounds {
        columns = round(columns, words(key));
    }
    let mut block = [0; 16];
    for (place, column) in block.chunks_exact_mut(4).zip(columns) {
        place.copy_from_slice(&column.to_le_bytes());
    }
    block
}

/// The four columns of a state.
fn words(block: &Block) -> [u32; 4] {
    std::array::from_fn(|column| {
        let at = 4 * column;
        u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
    })
}

/// One AES round (FIPS 197, section 5.1): row r of a new column comes from the column r places to the right.
fn round([a, b, c, d]: [u32; 4], key: [u32; 4]) -> [u32; 4] {
    [
        column([a, b, c, d]) ^ key[0],
        column([b, c, d, a]) ^ key[1],
        column([c, d, a, b]) ^ key[2],
        column([d, a, b, c]) ^ key[3],
    ]
}

/// The new column whose rows come from these columns.
fn column([first, second, third, fourth]: [u32; 4]) -> u32 {
    let byte = |word: u32, row: usize| usize::from(word.to_le_bytes()[row]);
    TABLES[0][byte(first, 0)]
        ^ TABLES[1][byte(second, 1)]
        ^ TABLES[2][byte(third, 2)]
        ^ TABLES[3][byte(fourth, 3)]
}

/// `SubBytes` and `MixColumns` of a byte in each row.
static TABLES: [[u32; 256]; 4] = {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let once = SUBSTITUTES[byte];
        let twice = double(once);
        // Each row's column is the one above it, one byte down.
        let mut column = u32::from_le_bytes([twice, once, once, twice ^ once]);
        let mut row = 0;
        while row < 4 {
            tables[row][byte] = column;
            column = column.rotate_left(8);
            row += 1;
        }
        byte += 1;
    }
    tables
};

/// The substitution box (FIPS 197, section 5.1.1): the inverse in GF(2^8), then an affine map. Powers of the generator 3
/// and of its inverse run against each other, so each byte meets its inverse.
const SUBSTITUTES: [u8; 256] = {
    let mut table = [0; 256];
    table[0] = 0x63;
    let (mut value, mut inverse) = (1_u8, 1_u8);
    loop {
        value ^= double(value);
        // Division by 3.
        inverse ^= inverse << 1;
        inverse ^= inverse << 2;
        inverse ^= inverse << 4;
        if inverse & 0x80 != 0 {
            inverse ^= 0x09;
        }
        table[value as usize] = inverse
            ^ inverse.rotate_left(1)
            ^ inverse.rotate_left(2)
            ^ inverse.rotate_left(3)
            ^ inverse.rotate_left(4)
            ^ 0x63;
        if value == 1 {
            break table;
        }
    }
};

/// The product with 2 in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1.
const fn double(value: u8) -> u8 {
    (value << 1) ^ (if value & 0x80 == 0 { 0 } else { 0x1b })
}

//! The bytes themselves, measured from outside and compared with the settings.

use std::collections::HashSet;

use dgen::data::{Data, Ratio, Settings};
use redundancy::{Ratios, measure, ratios};

#[path = "../../examples/measure/redundancy.rs"]
mod redundancy;

fn data(seed: u64, dedup: Option<&str>, compress: Option<&str>) -> Data {
    Data::new(&Settings {
        seed,
        dedup: dedup.map(|dedup| dedup.parse().unwrap()),
        compress: compress.map(|compress| compress.parse().unwrap()),
    })
    .unwrap()
}

fn bytes(data: &Data, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    data.fill(offset, &mut bytes);
    bytes
}

fn zstd(bytes: &[u8], granule: usize) -> Ratios {
    let mut compressor = zstd::bulk::Compressor::new(3).unwrap();
    ratios(bytes, granule, |piece| {
        compressor.compress(piece).unwrap().len()
    })
}

fn assert_near(found: Ratios, asked: f64, below: f64, above: f64, what: &str) {
    let range = asked * (1.0 - below)..asked * (1.0 + above);
    for ratio in [found.all, found.least, found.most] {
        assert!(range.contains(&ratio), "{what}: {found:?}, asked {asked}");
    }
}

/// Every granule alone, none of one byte only, by two compressors that share little; in larger pieces too.
#[test]
fn every_granule_compresses_as_asked() {
    for (ratio, granules) in [
        ("1.1", &[4096, 131_072][..]),
        ("1.5", &[4096, 16_384]),
        ("2", &[512, 4096, 16_384, 131_072]),
        ("3.7", &[4096, 131_072]),
        ("10", &[4096, 16_384, 131_072]),
    ] {
        for &granule in granules {
            let asked = ratio.parse().unwrap();
            let data = data(42, None, Some(&format!("{ratio}@{granule}")));
            let bytes = bytes(&data, 1 << 33, 2 << 20);
            for size in [granule, 16_384, 131_072] {
                if size < granule {
                    continue;
                }
                let what = format!("{ratio}@{granule} in {size}");
                let measured = measure(&bytes, size);
                assert_near(measured.lz4, asked, 0.025, 0.025, &what);
                assert_near(zstd(&bytes, size), asked, 0.035, 0.065, &what);
                assert_eq!(measured.constant, 0, "{what}");
                assert_eq!(measured.different, measured.granules, "{what}");
            }
        }
    }
}

/// Each sector contains at least two byte values, which rules out zero-filled and one-byte halves.
#[test]
fn no_sector_is_empty() {
    let bytes = bytes(&data(42, None, Some("20")), 0, 4 << 20);
    assert_eq!(measure(&bytes, 512).constant, 0);
}

#[test]
fn without_settings_nothing_compresses_and_nothing_repeats() {
    let bytes = bytes(&data(42, None, None), 0, 8 << 20);
    for granule in [512, 4096, 1 << 20] {
        let measured = measure(&bytes, granule);
        assert!(measured.lz4.most < 1.0, "{measured:?}");
        assert_eq!(measured.different, measured.granules);
    }
}

fn thousandths(ratio: &str) -> u64 {
    u64::from(ratio.parse::<Ratio>().unwrap().thousandths())
}

#[test]
fn so_many_units_are_different() {
    for ratio in ["1.25", "2", "2.5", "3", "10"] {
        for distance in ["adjacent", "uniform", "set:1", "set:16"] {
            for compress in [None, Some("2@512")] {
                let data = data(3, Some(&format!("{ratio}@512,{distance}")), compress);
                // Prefixes of any length, and for two ratios a whole window of 65 536 units from anywhere.
                let windows = compress.is_none() && ["1.25", "3"].contains(&ratio);
                for (start, units) in [(0, 1), (0, 10), (0, 999), (0, 10_000), (7 << 16, 1 << 16)] {
                    if units == 1 << 16 && !windows {
                        continue;
                    }
                    let bytes = bytes(&data, start * 512, units * 512);
                    let different = bytes.chunks(512).collect::<HashSet<_>>().len() as u64;
                    let share = thousandths(ratio);
                    let expected = ((units as u64 - 1) * 1000) / share + 1;
                    // A window may start between two first appearances.
                    let slack = u64::from(start > 0);
                    assert!(
                        (expected..=expected + slack).contains(&different),
                        "{ratio} {distance} {start} {units}: {different} of {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn copies_have_the_requested_distance() {
    let units = |distance| {
        let data = data(9, Some(&format!("4@512,{distance}")), None);
        let bytes = bytes(&data, 0, 4000 * 512);
        let pieces: Vec<_> = bytes.chunks(512).map(<[u8]>::to_vec).collect();
        // For each copy, the distance back to the last equal unit; and how often the most common
        // unit occurs.
        let mut last = std::collections::HashMap::new();
        let mut times = std::collections::HashMap::new();
        let mut back = Vec::new();
        for (at, piece) in pieces.into_iter().enumerate() {
            *times.entry(piece.clone()).or_insert(0) += 1;
            if let Some(before) = last.insert(piece, at) {
                back.push(at - before);
            }
        }
        (back, times.into_values().filter(|&times| times > 1).count())
    };
    let (back, copied) = units("adjacent");
    assert!(back.iter().all(|&back| back == 1));
    assert_eq!(copied, 1000);
    let (back, copied) = units("set:8");
    assert_eq!((back.len(), copied), (3000, 8));
    let (back, copied) = units("uniform");
    assert_eq!(back.len(), 3000);
    assert!(copied > 500, "{copied}");
    assert!(back.iter().filter(|&&back| back > 300).count() > 800);
}

/// χ² of the byte values against equal shares, per byte of the block: 255 degrees of freedom, so 255 ± 22.6. The bound
/// of 400 is passed by chance once in 10^8.
#[test]
fn bytes_are_equally_frequent_at_every_place_of_a_block() {
    for seed in [0, 1, u64::MAX] {
        let bytes = bytes(&data(seed, None, None), 1 << 40, 4 << 20);
        for place in 0..16 {
            let mut counts = [0_i64; 256];
            for &byte in bytes.iter().skip(place).step_by(16) {
                counts[usize::from(byte)] += 1;
            }
            let share = (4 << 20) / 16 / 256;
            let squares: i64 = counts.iter().map(|count| (count - share).pow(2)).sum();
            assert!(
                squares / share < 400,
                "seed {seed}, byte {place}: {}",
                squares / share
            );
        }
    }
}

/// Half of the bits differ between neighbouring seeds, between neighbouring blocks, and between
/// blocks whose counters differ in one bit. Over 8 Mi bits the standard deviation of the share is
/// 0.00017; 6 of them are allowed. Each of the 128 bits of a block differs in half the cases too:
/// over 65 536 blocks the standard deviation is 0.002, 6 are allowed.
#[test]
fn neighbours_share_nothing() {
    let size = 1 << 20;
    let here = bytes(&data(42, None, None), 0, size);
    let mut neighbours = vec![
        ("seed", bytes(&data(43, None, None), 0, size)),
        (
            "seed's top bit",
            bytes(&data((1 << 63) + 42, None, None), 0, size),
        ),
        ("next block", bytes(&data(42, None, None), 16, size)),
    ];
    for bit in (4..63).step_by(7).filter(|bit| 1_usize << bit >= size) {
        neighbours.push(("far block", bytes(&data(42, None, None), 1 << bit, size)));
    }
    for (what, there) in &neighbours {
        let mut per_bit = [0_u32; 128];
        for (one, other) in here.chunks(16).zip(there.chunks(16)) {
            let block = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().unwrap());
            let differing = block(one) ^ block(other);
            for (bit, count) in per_bit.iter_mut().enumerate() {
                *count += u32::from(differing >> bit & 1 == 1);
            }
        }
        let share =
            |count: u32, of: usize| f64::from(count) / f64::from(u32::try_from(of).unwrap());
        let all = share(per_bit.iter().sum(), size * 8);
        assert!((all - 0.5).abs() < 0.001_04, "{what}: {all}");
        for (bit, &count) in per_bit.iter().enumerate() {
            let share = share(count, size / 16);
            assert!((share - 0.5).abs() < 0.0118, "{what}, bit {bit}: {share}");
        }
    }
}

/// Sums of 256 blocks that differ in one byte of the counter vanish after three AES rounds, not after four.
#[test]
fn there_are_four_rounds() {
    let bytes = bytes(&data(42, None, None), 0, 4096 * 16);
    for group in bytes.chunks(4096) {
        let sum = group.chunks(16).fold(0, |sum, block| {
            sum ^ u128::from_le_bytes(block.try_into().unwrap())
        });
        assert_ne!(sum, 0);
    }
}

#[test]
fn errors_on_settings_list_valid_values() {
    let error = |dedup: Option<&str>, compress: Option<&str>| {
        let parsed = dedup
            .map(str::parse)
            .transpose()
            .and_then(|dedup| Ok((dedup, compress.map(str::parse).transpose()?)));
        parsed
            .and_then(|(dedup, compress)| {
                Data::new(&Settings {
                    seed: 0,
                    dedup,
                    compress,
                })
            })
            .unwrap_err()
            .to_string()
    };
    for (text, expected) in [
        ("0.5", "0.5 is no ratio"),
        ("-2", "-2 is no ratio"),
        ("nan", "nan is no ratio"),
        ("2.0001", "with up to three decimals"),
        ("1e3", "1e3 is no ratio"),
        ("99999999999", "is no ratio"),
        ("2@", " is no size"),
        ("2@0", "a granule of 0 bytes cannot be had"),
        ("2@1000", "a multiple of 512"),
        ("2@2GiB", "at most 1073741824"),
        ("200", "a granule of 4096 bytes compresses by "),
        ("1.001@512", "cannot compress by as little as 1.001"),
    ] {
        let message = error(None, Some(text));
        assert!(message.contains(expected), "{text}: {message}");
    }
    assert!(error(Some("2,set:0"), None).contains("write set:1"));
    assert!(error(Some("2,nearby"), None).contains("write adjacent, uniform or set:N"));
    assert!(error(Some("2@4KiB"), Some("2@8KiB")).contains("not made of whole granules"));
}

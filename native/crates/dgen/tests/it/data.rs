//! The bytes of the data are fixed forever: a file of last year must still be what its settings
//! say.

use std::fmt::Write;

use dgen::data::{Data, Settings};
use sha2::{Digest, Sha256};

/// Bytes of each vector.
const LENGTH: usize = 6001;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Seed, dedup, compress, offset, the first 16 bytes and the SHA-256 of 6 001. `tests/unit/dgen`
/// checks the same file against a simple generator in Python. The last offsets wrap around at 2^64.
#[test]
fn vectors() {
    let expected = include_str!("../data_vectors.txt");
    let mut actual = String::new();
    for (seed, dedup, compress) in [
        (0, "1", "1"),
        (1, "1", "1"),
        (42, "1", "1"),
        (u64::MAX, "1", "1"),
        (42, "1", "2"),
        (42, "1", "3.25@512"),
        (42, "2@512,adjacent", "1"),
        (42, "2.5@512,uniform", "1"),
        (42, "3@1024,set:5", "1"),
        (42, "1.5@2048,uniform", "2@1024"),
    ] {
        let settings = Settings {
            seed,
            dedup: Some(dedup.parse().unwrap()),
            compress: Some(compress.parse().unwrap()),
        };
        for offset in [0, 4_000_003, (1 << 32) - 7, (1 << 60) + 33, u64::MAX - 2999] {
            for data in [Data::new(&settings), Data::portable(&settings)] {
                let mut bytes = vec![0; LENGTH];
                data.unwrap().fill(offset, &mut bytes);
                let digest = Sha256::digest(&bytes);
                let line = format!(
                    "{seed} {dedup} {compress} {offset} {} {}\n",
                    hex(&bytes[..16]),
                    hex(&digest)
                );
                if !actual.ends_with(&line) {
                    actual.push_str(&line);
                }
            }
        }
    }
    assert_eq!(actual, expected);
}

/// The text form that reports name; it must not change either.
#[test]
fn identities() {
    let identity = |dedup: Option<&str>, compress: Option<&str>| {
        Data::new(&Settings {
            seed: 7,
            dedup: dedup.map(|dedup| dedup.parse().unwrap()),
            compress: compress.map(|compress| compress.parse().unwrap()),
        })
        .unwrap()
        .identity()
    };
    assert_eq!(identity(None, None), "data:1 seed=7");
    assert_eq!(identity(Some("1"), Some("1.000")), "data:1 seed=7");
    assert_eq!(
        identity(Some("2.5@64KiB,set:9"), Some("2")),
        "data:1 seed=7 dedup=2500/1000@65536,set:9 compress=2020/4096"
    );
}

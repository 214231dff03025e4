//! What the data promise, whatever the settings.

use dgen::data::{Data, Settings};

#[test]
fn any_chunking_gives_the_same_bytes() {
    for (dedup, compress) in [
        ("1", "1"),
        ("2", "1"),
        ("1", "2.5"),
        ("3@8KiB,set:4", "1.5@4KiB"),
    ] {
        let settings = Settings {
            seed: 42,
            dedup: Some(dedup.parse().unwrap()),
            compress: Some(compress.parse().unwrap()),
        };
        let data = Data::new(&settings).unwrap();
        let mut whole = vec![0; 100_000];
        data.fill(1_000_003, &mut whole);
        for length in [1, 7, 16, 31, 4096, 5000] {
            let mut pieces = vec![0; whole.len()];
            for (number, piece) in pieces.chunks_mut(length).enumerate() {
                data.fill(1_000_003 + (number * length) as u64, piece);
            }
            assert!(whole == pieces, "{dedup} {compress} {length}");
        }
        assert_eq!(data.first_difference(1_000_003, &whole), None);
    }
}

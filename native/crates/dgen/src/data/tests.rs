//! Every path, every cut, every number of threads: the same bytes.

use std::num::NonZero;

use proptest::prelude::*;

use super::path::{PATHS, Stores};
use super::{Data, Dedup, Differences, Settings};

fn paths(settings: &Settings) -> Vec<Data> {
    PATHS
        .iter()
        .filter(|path| (path.probe)())
        .map(|path| Data::with_path(settings, path).unwrap())
        .collect()
}

fn bytes(data: &Data, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0xa5; length];
    data.fill(offset, &mut bytes);
    bytes
}

fn settings() -> impl Strategy<Value = Settings> {
    let sizes = prop::sample::select(vec![512_u32, 4096, 8192, 65_536]);
    let distances = prop::sample::select(vec!["adjacent", "uniform", "set:1", "set:7"]);
    let dedup = (1000..5000_u32, sizes.clone(), distances);
    let compress = (1000..6000_u32, sizes);
    (
        any::<u64>(),
        prop::option::of(dedup),
        prop::option::of(compress),
    )
        .prop_filter_map(
            "settings contradict each other",
            |(seed, dedup, compress)| {
                let text =
                    |thousandths: u32| format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
                let settings = Settings {
                    seed,
                    dedup: dedup.map(|(ratio, unit, distance)| {
                        format!("{}@{unit},{distance}", text(ratio))
                            .parse()
                            .unwrap()
                    }),
                    compress: compress.map(|(ratio, granule)| {
                        format!("{}@{granule}", text(ratio)).parse().unwrap()
                    }),
                };
                Data::new(&settings).is_ok().then_some(settings)
            },
        )
}

/// Offsets near every edge: of blocks, units, 2^32, 2^64.
fn offsets() -> impl Strategy<Value = u64> {
    let near = prop::sample::select(vec![0_u64, 4096, 65_536, 1 << 28, 1 << 32, 1 << 63]);
    (near, -40_000_i64..40_000).prop_map(|(edge, away)| edge.wrapping_add_signed(away))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_by_any_path_gives_the_same_bytes(
        settings in settings(),
        offset in offsets(),
        length in 0..100_000_usize,
        cuts in prop::collection::vec(1..9000_usize, 1..8),
    ) {
        let paths = paths(&settings);
        let whole = bytes(&Data::portable(&settings).unwrap(), offset, length);
        for data in &paths {
            prop_assert!(bytes(data, offset, length) == whole, "{}", data.path());
            let mut pieces = vec![0; length];
            let mut at = 0;
            for cut in cuts.iter().cycle() {
                let end = length.min(at + cut);
                data.fill(offset.wrapping_add(at as u64), &mut pieces[at..end]);
                at = end;
                if at == length {
                    break;
                }
            }
            prop_assert!(pieces == whole, "{}", data.path());
        }
    }

    #[test]
    fn a_changed_byte_is_found_where_it_is(
        settings in settings(),
        offset in offsets(),
        length in 1..60_000_usize,
        place in any::<prop::sample::Index>(),
        second in any::<prop::sample::Index>(),
        change in 1..=u8::MAX,
    ) {
        // After the last byte the lowest offset is not the first in the buffer.
        prop_assume!(offset.checked_add(length as u64).is_some());
        let data = Data::new(&settings).unwrap();
        let mut actual = bytes(&data, offset, length);
        let mut equal = Differences::default();
        data.differences(offset, &actual, &mut equal);
        prop_assert_eq!((equal.count, equal.first), (0, None));
        let (place, second) = (place.index(length), second.index(length));
        let (first, last) = (place.min(second), place.max(second));
        let expected = actual.clone();
        actual[first] ^= change;
        if last != first {
            actual[last] ^= change;
        }
        let mut report = Differences::default();
        data.differences(offset, &actual, &mut report);
        prop_assert_eq!(report.count, 1 + u64::from(first != last));
        prop_assert_eq!(report.compared, length as u64);
        prop_assert_eq!(report.first, Some(offset.wrapping_add(first as u64)));
        let shown = first..length.min(first + 16);
        prop_assert_eq!(&report.expected, &expected[shown.clone()]);
        prop_assert_eq!(&report.actual, &actual[shown]);
    }
}

#[test]
fn identities_are_equal_only_where_the_bytes_are() {
    let mut seen = Vec::new();
    for seed in [0, 1] {
        for dedup in [
            "1",
            "1@64KiB",
            "2",
            "2.5",
            "2@8KiB",
            "2,adjacent",
            "2,set:3",
            "2,set:4",
            "2,set:40000",
        ] {
            for compress in ["1", "1@8KiB", "2", "2@2KiB", "20", "20.001"] {
                let data = Data::new(&Settings {
                    seed,
                    dedup: Some(dedup.parse().unwrap()),
                    compress: Some(compress.parse().unwrap()),
                })
                .unwrap();
                seen.push((data.identity(), bytes(&data, 0, 1 << 17)));
            }
        }
    }
    let different = |part: fn(&(String, Vec<u8>)) -> &[u8]| {
        seen.iter()
            .map(part)
            .collect::<std::collections::HashSet<_>>()
            .len()
    };
    // Both without: once. Of 9 and 6, 7 and 4 act differently.
    let expected = 2 * 7 * 4;
    assert_eq!(different(|(identity, _)| identity.as_bytes()), expected);
    assert_eq!(different(|(_, bytes)| bytes), expected);
    let pairs: std::collections::HashSet<_> = seen.iter().collect();
    assert_eq!(pairs.len(), expected);
}

/// 40 MB in all, so that stores really stream, into buffers of every alignment that matters.
#[test]
fn threads_and_streaming_stores_give_the_same_bytes() {
    let length = (18 << 20) + 77;
    for compress in [None, Some("2".parse().unwrap())] {
        let settings = Settings {
            seed: 5,
            compress,
            ..Settings::default()
        };
        let offset = (1 << 32) - 1000;
        let mut expected = vec![0; length];
        for (number, piece) in (0_u64..).zip(expected.chunks_mut(1 << 20)) {
            Data::new(&settings)
                .unwrap()
                .fill(offset + (number << 20), piece);
        }
        for data in paths(&settings)
            .iter()
            .filter(|data| data.path() != "portable")
        {
            let mut room = vec![0; length + 64];
            for shift in [0, 1, 16, 32, 40] {
                let buffer = &mut room[shift..shift + length];
                buffer.fill(0);
                data.fill_by(offset, buffer, Stores::Streaming);
                assert!(buffer == expected, "{} {shift}", data.path());
            }
            for threads in [1, 2, 3, 8, 100] {
                let buffer = &mut room[..length];
                buffer.fill(0);
                data.fill_parallel(offset, buffer, NonZero::new(threads).unwrap());
                assert!(buffer == expected, "{} {threads} threads", data.path());
            }
        }
    }
}

#[test]
fn little_may_be_filled_by_many_threads() {
    let data = Data::new(&Settings::default()).unwrap();
    for length in [0, 1, 4095, 4096, 4097, 3 << 20] {
        let mut buffer = vec![0; length];
        data.fill_parallel(9, &mut buffer, NonZero::new(64).unwrap());
        assert!(buffer == bytes(&data, 9, length), "{length}");
    }
}

/// Offsets count modulo 2^64, in units of any size too.
#[test]
fn behind_the_last_byte_follows_the_first() {
    for unit in [512, 1536, 4096] {
        let settings = Settings {
            dedup: Some(Dedup {
                unit,
                ..("2".parse().unwrap())
            }),
            ..Settings::default()
        };
        for settings in [settings, Settings::default()] {
            let data = Data::new(&settings).unwrap();
            let across = bytes(&data, u64::MAX - 99, 300);
            assert_eq!(across[100..], bytes(&data, 0, 200));
            assert_eq!(across[..100], bytes(&data, u64::MAX - 99, 100));
        }
    }
}

#[test]
fn findings_of_threads_add_up_in_any_order() {
    let data = Data::new(&Settings::default()).unwrap();
    let mut actual = bytes(&data, 0, 40_000);
    for at in [3, 19_999, 20_000, 39_999] {
        actual[at] ^= 1;
    }
    let mut whole = Differences::default();
    data.differences(0, &actual, &mut whole);
    assert_eq!((whole.count, whole.first), (4, Some(3)));
    let parts = [20_000, 0].map(|from| {
        let mut part = Differences::default();
        data.differences(from as u64, &actual[from..from + 20_000], &mut part);
        part
    });
    let mut merged = Differences::default();
    for part in parts {
        merged.merge(part);
    }
    assert_eq!(merged, whole);
}

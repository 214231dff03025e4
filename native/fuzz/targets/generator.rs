//! Filled whole == in pieces == by threads == by the portable path; and the validator finds a flipped byte exactly.
//!
//! The input chooses settings, offset, length, pieces, and the byte.

#![no_main]

use std::num::NonZero;

use dgen::data::{Compress, Data, Dedup, Differences, Distance, Ratio, Settings};
use libfuzzer_sys::fuzz_target;

/// Enough for several units and granules of the sizes below.
const LONGEST: usize = 40_000;

fuzz_target!(|input: ([u64; 2], [u32; 6], [u8; 4], Vec<u16>)| {
    let ([seed, offset], [dedup, unit, set, compress, granule, length], [flip, ..], cuts) = input;
    let size = |number: u32| (number % 20) * 512;
    let ratio = |number: u32| Ratio::from_thousandths(number % 300_000).ok();
    let settings = Settings {
        seed,
        dedup: ratio(dedup).map(|ratio| Dedup {
            ratio,
            unit: size(unit),
            distance: match set % 4 {
                0 => Distance::Adjacent,
                1 => Distance::Uniform,
                _ => Distance::Set(set >> 2),
            },
        }),
        compress: ratio(compress).map(|ratio| Compress {
            ratio,
            granule: size(granule),
        }),
    };
    let (Ok(data), Ok(portable)) = (Data::new(&settings), Data::portable(&settings)) else {
        assert!(Data::new(&settings).is_err() && Data::portable(&settings).is_err());
        return;
    };
    let length = length as usize % LONGEST + 1;
    let fill = |data: &Data| {
        let mut bytes = vec![0; length];
        data.fill(offset, &mut bytes);
        bytes
    };
    let whole = fill(&data);
    assert_eq!(whole, fill(&portable), "{}", data.path());

    let mut pieces = vec![0; length];
    let mut at = 0;
    for cut in cuts.iter().map(|&cut| usize::from(cut)).chain([length]) {
        let end = length.min(at + cut);
        data.fill(offset.wrapping_add(at as u64), &mut pieces[at..end]);
        at = end;
    }
    assert_eq!(whole, pieces);
    data.fill_parallel(
        offset,
        &mut pieces,
        NonZero::new(3).unwrap_or(NonZero::<usize>::MIN),
    );
    assert_eq!(whole, pieces);

    let mut report = Differences::default();
    data.differences(offset, &whole, &mut report);
    assert_eq!((report.count, report.first), (0, None));
    let bad = dedup as usize % length;
    pieces[bad] ^= flip.max(1);
    let first = offset.wrapping_add(bad as u64);
    let mut report = Differences::default();
    data.differences(offset, &pieces, &mut report);
    assert_eq!((report.count, report.first), (1, Some(first)));
    assert_eq!(report.compared, length as u64);
});

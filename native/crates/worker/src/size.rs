//! Sizes on a command line, written as scenarios write them.

use std::ops::RangeInclusive;

const UNITS: [(&str, u64); 11] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
    ("", 1),
];
/// With more digits after the point, a number of bytes is whole in no unit, except for zeros.
const MAX_DIGITS: usize = 18;

/// Bytes of `4096`, `64KiB`, `200MB` or `1.5GiB`.
///
/// # Errors
/// It is no such text, is not a whole number of bytes, or is 2⁶⁴ bytes and more.
pub fn parse(text: &str) -> Result<u64, String> {
    UNITS
        .iter()
        .find_map(|(unit, factor)| scale(text.strip_suffix(unit)?.trim_end(), *factor))
        .ok_or_else(|| {
            "write whole bytes, or a number with KiB, MiB, GiB, kB, MB or GB that is a whole number of bytes".to_owned()
        })
}

/// As [`parse`], for a size in memory within `range`, which the error describes as `bounds`.
///
/// # Errors
/// It is no size, or is outside the range.
pub fn parse_within(
    text: &str,
    range: RangeInclusive<usize>,
    bounds: &str,
) -> Result<usize, String> {
    usize::try_from(parse(text)?)
        .ok()
        .filter(|size| range.contains(size))
        .ok_or_else(|| bounds.to_owned())
}

fn scale(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > MAX_DIGITS {
        return None;
    }
    let ten = 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = u128::from(fraction.parse::<u64>().ok()?) * u128::from(factor);
    if part % u128::from(ten) != 0 {
        return None;
    }
    let part = u64::try_from(part / u128::from(ten)).ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(factor)?
        .checked_add(part)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::parse;

    #[derive(Deserialize)]
    struct Sizes {
        bytes: BTreeMap<String, u64>,
        refused: Vec<String>,
    }

    /// benchctl's parser of the sizes in scenarios reads the same examples.
    #[test]
    fn sizes_are_read_as_scenarios_write_them() {
        let text = std::fs::read_to_string("../../../tests/fixtures/sizes.json").unwrap();
        let sizes: Sizes = serde_json::from_str(&text).unwrap();
        for (text, bytes) in sizes.bytes {
            assert_eq!(parse(&text), Ok(bytes), "{text}");
        }
        for text in sizes.refused {
            assert!(parse(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_without_unit_is_bytes_below_two_to_the_64() {
        for (text, bytes) in [("0", 0), ("7", 7), ("18446744073709551615", u64::MAX)] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["1.5", "1e3", "18446744073709551616", "17000000TiB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

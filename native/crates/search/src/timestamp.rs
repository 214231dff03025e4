//! Points in time as sessions write them: `2025-06-01T12:34:56.789Z`.
//!
//! Parsed here, not by a library: with the crate `time` instead, the CPU time of `search run --query zyzzyva --output none
//! --engine sequential` on 64 MiB of `dgen sessions` was 1.023 [1.018, 1.031] times as much with the default profile, 1.014
//! [1.001, 1.029] with `sessions-small` and 1.005 [0.998, 1.014] with `sessions-short-lines` (80 to 110 interleaved pairs). `jiff`
//! took twice the time per timestamp, and takes texts that are refused here.

/// A point in time. Times are compared as such: `10:00:00+02:00` is before `09:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds after them.
    pub nanoseconds: u32,
}

impl Timestamp {
    /// Reads `YYYY-MM-DDTHH:MM:SS`, a fraction of one to nine digits or none, and `Z` or `+HH:MM` or `-HH:MM`.
    /// `None` for anything else, also for days and hours that do not exist.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let fixed: &[u8; 19] = bytes.first_chunk()?;
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if separators.iter().any(|&(at, byte)| fixed[at] != byte) {
            return None;
        }
        let (year, month, day) = (
            number(&fixed[..4])?,
            number(&fixed[5..7])?,
            number(&fixed[8..10])?,
        );
        let (hour, minute, second) = (
            number(&fixed[11..13])?,
            number(&fixed[14..16])?,
            number(&fixed[17..])?,
        );
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let (nanoseconds, zone) = fraction(&bytes[19..])?;
        let seconds = days(year, month, day)? * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Self {
            seconds: seconds - offset(zone)?,
            nanoseconds,
        })
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit()
            .then(|| value * 10 + i64::from(byte - b'0'))
    })
}

/// Returns the nanoseconds and the rest of the text.
fn fraction(rest: &[u8]) -> Option<(u32, &[u8])> {
    let Some(digits) = rest.strip_prefix(b".") else {
        return Some((0, rest));
    };
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if !(1..=9).contains(&count) {
        return None;
    }
    let value = u32::try_from(number(&digits[..count])?).ok()?;
    let scale = 10_u32.pow(9 - u32::try_from(count).ok()?);
    Some((value * scale, &digits[count..]))
}

/// Seconds that a zone is ahead of UTC.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, rest) = match zone {
        b"Z" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let &[h, t, b':', m, n] = rest else {
        return None;
    };
    let (hours, minutes) = (number(&[h, t])?, number(&[m, n])?);
    (hours <= 23 && minutes <= 59).then(|| sign * (hours * 3600 + minutes * 60))
}

/// Days since 1970-01-01 in the Gregorian calendar, by Howard Hinnant's `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> (i64, u32) {
        let time = Timestamp::parse(text).unwrap();
        (time.seconds, time.nanoseconds)
    }

    #[test]
    fn known_points() {
        assert_eq!(at("1970-01-01T00:00:00Z"), (0, 0));
        assert_eq!(at("2000-02-29T23:59:59.5Z"), (951_868_799, 500_000_000));
        assert_eq!(at("2025-06-01T12:34:56.789Z"), (1_748_781_296, 789_000_000));
        assert_eq!(at("2025-06-01T12:34:56+02:00"), (1_748_774_096, 0));
        assert_eq!(at("0001-01-01T00:00:00.000000001Z"), (-62_135_596_800, 1));
        assert_eq!(at("9999-12-31T23:59:59Z"), (253_402_300_799, 0));
    }

    #[test]
    fn an_invalid_time_is_refused() {
        for text in [
            "",
            "2025-06-01",
            "2025-06-01T12:34:56",
            "2025-06-01 12:34:56Z",
            "2025-02-29T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-00-01T00:00:00Z",
            "2025-06-31T00:00:00Z",
            "2025-06-01T24:00:00Z",
            "2025-06-01T12:60:00Z",
            "2025-06-01T12:34:60Z",
            "2025-06-01T12:34:56.Z",
            "2025-06-01T12:34:56.1234567890Z",
            "2025-06-01T12:34:56z",
            "2025-06-01T12:34:56+0200",
            "2025-06-01T12:34:56+24:00",
            "2025-06-01T12:34:56ZZ",
            "+025-06-01T12:34:56Z",
            "２０25-06-01T12:34:56Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}

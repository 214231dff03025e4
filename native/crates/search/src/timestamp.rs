//! Points in time as sessions write them: `2025-06-01T12:34:56.789Z`.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

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
        let has_leap_second = bytes.get(17..19) == Some(b"60");
        let longest = if text.ends_with('Z') {
            LONGEST_UTC
        } else {
            LONGEST
        };
        // RFC 3339 permits these, and sessions have none of them.
        if bytes.get(10) != Some(&b'T')
            || text.ends_with('z')
            || has_leap_second
            || bytes.len() > longest.len()
        {
            return None;
        }
        let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        Some(Self {
            seconds: time.unix_timestamp(),
            nanoseconds: time.nanosecond(),
        })
    }
}

const LONGEST_UTC: &str = "YYYY-MM-DDTHH:MM:SS.nnnnnnnnnZ";
const LONGEST: &str = "YYYY-MM-DDTHH:MM:SS.nnnnnnnnn+HH:MM";

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

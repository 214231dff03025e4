//! The commands, one file each.

pub(crate) mod describe;
pub(crate) mod fio;
pub(crate) mod knobs;
pub(crate) mod probe;
pub(crate) mod sessions;
pub(crate) mod text;
pub(crate) mod validate;
pub(crate) mod write;

use std::fmt::Display;
use std::io::{self, Write};
use std::num::NonZeroUsize;

use clap::builder::{PossibleValue, PossibleValuesParser};
use worker::exit::Failure;

/// Values of an axis for the command line.
pub(crate) fn names(
    values: impl Iterator<Item = (&'static str, &'static str)>,
) -> PossibleValuesParser {
    PossibleValuesParser::new(values.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Of a file, a block or a buffer.
pub(crate) use worker::size::parse as parse_size;

/// A value that the registry has: the command line takes no other.
pub(crate) fn known<T>(value: Option<T>, axis: &str, name: &str) -> Result<T, Failure> {
    value.ok_or_else(|| Failure::Usage(format!("--{axis} has no value {name}")))
}

/// A line on stdout. A reader that is gone, or a full disk, is a failure like any other.
pub(crate) fn say(line: &impl Display) -> Result<(), Failure> {
    writeln!(io::stdout(), "{line}")
        .map_err(|error| Failure::Work(format!("cannot write to stdout: {error}")))
}

/// One thread per processor.
pub(crate) fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("7"), Ok(7));
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("20GiB"), Ok(20 << 30));
        for wrong in ["", "-1", "1.0005KiB", "KiB", "64kb", "99999999999GiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}

//! Settings of the data, and their text form.

use std::fmt;
use std::str::FromStr;

/// Settings that determine the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Different seeds give data that share nothing.
    pub seed: u64,
    /// Deduplication ratio; `None` for no copies.
    pub dedup: Option<Dedup>,
    /// Compression ratio of granules; `None` for incompressible data.
    pub compress: Option<Compress>,
}

/// All units divided by the different ones among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dedup {
    /// Units ÷ different units.
    pub ratio: Ratio,
    /// Bytes of a unit: a multiple of 512.
    pub unit: u32,
    /// Choice of the unit that a copy repeats.
    pub distance: Distance,
}

/// Choice of the unit that a copy repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The one before it.
    Adjacent,
    /// Any different unit that came before it in its window of 65 536 units, all equally likely.
    Uniform,
    /// One of the first so many different units of its window.
    Set(u32),
}

/// Bytes of a granule divided by its bytes when compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compress {
    /// Bytes ÷ compressed bytes.
    pub ratio: Ratio,
    /// Bytes of a granule: a multiple of 512. Each one alone compresses by `ratio`.
    pub granule: u32,
}

/// Default number of bytes of a unit or granule.
const DEFAULT_BYTES: u32 = 4096;

/// Divisor of the sizes of units and granules: a sector.
const SECTOR: u32 = 512;

/// The largest unit or granule.
const MAX_UNIT: u32 = 1 << 30;

/// A ratio of at least 1, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(u32);

impl Ratio {
    /// The largest ratio.
    pub const MAX: Self = Self(10_000_000);

    /// The ratio of so many thousandths, from 1 000 to 10 000 000.
    ///
    /// # Errors
    /// It is outside.
    pub fn from_thousandths(thousandths: u32) -> Result<Self, SettingsError> {
        if (1000..=Self::MAX.0).contains(&thousandths) {
            Ok(Self(thousandths))
        } else {
            Err(SettingsError(format!(
                "a ratio is from 1 to {}, with up to three decimals",
                Self::MAX
            )))
        }
    }

    /// The ratio in thousandths.
    #[must_use]
    pub fn thousandths(self) -> u32 {
        self.0
    }
}

impl TryFrom<f64> for Ratio {
    type Error = SettingsError;

    /// # Errors
    /// It is no number, is outside 1 … 10 000, or has more than three decimals.
    fn try_from(value: f64) -> Result<Self, SettingsError> {
        // The shortest text that stands for the number: 2.3 is meant as 2.3, not as the double next to it.
        format!("{value}").parse()
    }
}

impl FromStr for Ratio {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let wrong = || {
            SettingsError(format!(
                "{text} is no ratio: write a number from 1 to {} with up to three decimals, such as 2 or 1.5",
                Self::MAX
            ))
        };
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || decimals.len() > 3 {
            return Err(wrong());
        }
        format!("{whole}{decimals:0<3}")
            .parse()
            .ok()
            .and_then(|thousandths| Self::from_thousandths(thousandths).ok())
            .ok_or_else(wrong)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        formatter.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Settings that contradict each other or request something unavailable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError(pub(super) String);

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Checks the rules that do not depend on the implementation.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        if let Some(dedup) = &self.dedup {
            check_size("unit", dedup.unit)?;
            if dedup.distance == Distance::Set(0) {
                return Err(SettingsError(
                    "the set of units that are copied has at least one: write set:1".to_owned(),
                ));
            }
        }
        if let Some(compress) = &self.compress {
            check_size("granule", compress.granule)?;
        }
        if let (Some(dedup), Some(compress)) = (&self.dedup, &self.compress)
            && dedup.ratio.0.min(compress.ratio.0) > 1000
            && !dedup.unit.is_multiple_of(compress.granule)
        {
            return Err(SettingsError(format!(
                "a unit of {} bytes is not made of whole granules of {}: a granule must lie in one unit to compress alone",
                dedup.unit, compress.granule
            )));
        }
        Ok(())
    }
}

fn check_size(what: &str, bytes: u32) -> Result<(), SettingsError> {
    if bytes == 0 || bytes > MAX_UNIT || !bytes.is_multiple_of(SECTOR) {
        return Err(SettingsError(format!(
            "a {what} of {bytes} bytes cannot be had: it is a multiple of {SECTOR}, at most {MAX_UNIT}"
        )));
    }
    Ok(())
}

/// `RATIO[@SIZE]`.
fn ratio_at_size(text: &str) -> Result<(Ratio, u32), SettingsError> {
    let Some((ratio, size)) = text.split_once('@') else {
        return Ok((text.parse()?, DEFAULT_BYTES));
    };
    let bytes = worker::size::parse(size)
        .map_err(|reason| SettingsError(format!("{size} is no size: {reason}")))?;
    let bytes = u32::try_from(bytes)
        .map_err(|_| SettingsError(format!("{size} is no size: below 4 GiB")))?;
    Ok((ratio.parse()?, bytes))
}

impl FromStr for Compress {
    type Err = SettingsError;

    /// `RATIO[@GRANULE]`, such as `2` or `1.5@128KiB`.
    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let (ratio, granule) = ratio_at_size(text)?;
        Ok(Self { ratio, granule })
    }
}

impl fmt::Display for Compress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.ratio, self.granule)
    }
}

impl FromStr for Dedup {
    type Err = SettingsError;

    /// `RATIO[@UNIT][,DISTANCE]`, such as `2`, `1.5@64KiB` or `3,set:16`.
    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let (ratio, distance) = text.split_once(',').unwrap_or((text, "uniform"));
        let (ratio, unit) = ratio_at_size(ratio)?;
        Ok(Self {
            ratio,
            unit,
            distance: distance.parse()?,
        })
    }
}

impl fmt::Display for Dedup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{},{}", self.ratio, self.unit, self.distance)
    }
}

impl FromStr for Distance {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let set = || text.strip_prefix("set:")?.parse().ok().map(Self::Set);
        match text {
            "adjacent" => Ok(Self::Adjacent),
            "uniform" => Ok(Self::Uniform),
            _ => set().ok_or_else(|| {
                SettingsError(format!(
                    "{text} is no distance: write adjacent, uniform or set:N with a whole number"
                ))
            }),
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adjacent => formatter.write_str("adjacent"),
            Self::Uniform => formatter.write_str("uniform"),
            Self::Set(size) => write!(formatter, "set:{size}"),
        }
    }
}

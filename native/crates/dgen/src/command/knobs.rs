//! Options common to writing and validating: the data, and the sizes that a tuning file may set.

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use dgen::data::{Compress, Dedup, Settings};
use dgen::probe::Table;
use dgen::write::strategy::{STRATEGIES, Strategy};
use worker::command_line::one_of;
use worker::exit::Failure;
use worker::size::parse as parse_size;

/// Options that determine the bytes of a file.
#[derive(Debug, Args)]
pub(crate) struct Contents {
    /// When contents are produced and who writes them
    #[arg(long, default_value = "streaming", value_parser = one_of(STRATEGIES, |strategy| (strategy.name, strategy.about)))]
    pub(crate) strategy: &'static Strategy,
    /// Seed
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Units ÷ different units, such as 2, 1.5@64KiB or 3,set:16
    #[arg(long, value_name = "RATIO[@UNIT][,DISTANCE]", value_parser = Dedup::from_str)]
    dedup: Option<Dedup>,
    /// Bytes ÷ compressed bytes of each granule, such as 2 or 1.5@128KiB
    #[arg(long, value_name = "RATIO[@GRANULE]", value_parser = Compress::from_str)]
    compress: Option<Compress>,
    /// Size of a buffer: bytes, or with KiB, MiB, GiB; `auto` takes it from --tuning
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = Knob::size)]
    buffer: Knob,
    /// Buffers of all threads together [default: the depth times the threads, at least 2]
    #[arg(long, value_name = "N")]
    buffers: Option<NonZeroUsize>,
    /// The most blocks that one thread has under way; `auto` takes it from --tuning
    #[arg(long, value_name = "N", default_value = "4", value_parser = Knob::count)]
    depth: Knob,
    /// Threads; `auto` takes it from --tuning
    #[arg(long, value_name = "N", default_value = "1", value_parser = Knob::count)]
    threads: Knob,
    /// Table that `dgen probe --json` printed, for what is `auto`
    #[arg(long, value_name = "FILE")]
    tuning: Option<PathBuf>,
}

/// A number, or whatever a probe found best.
#[derive(Clone, Copy, Debug)]
enum Knob {
    Auto,
    Is(NonZeroUsize),
}

impl Knob {
    fn size(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        usize::try_from(parse_size(text)?)
            .ok()
            .and_then(NonZeroUsize::new)
            .map(Self::Is)
            .ok_or_else(|| "write at least 1 byte, and no more than fits in memory".to_owned())
    }

    fn count(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        text.parse()
            .map(Self::Is)
            .map_err(|_| "write auto or a whole number, at least 1".to_owned())
    }

    fn resolve(self, chosen: Option<NonZeroUsize>) -> Result<NonZeroUsize, Failure> {
        match (self, chosen) {
            (Self::Is(value), _) | (Self::Auto, Some(value)) => Ok(value),
            (Self::Auto, None) => Err(Failure::Usage(
                "auto needs --tuning FILE: a probe inside a timed run would be timed with it"
                    .to_owned(),
            )),
        }
    }
}

/// Rate of a generator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rate {
    /// Bytes per second.
    BytesPerS(f64),
    /// A multiple of the rate at which the probe wrote with its choice.
    TimesProbed(f64),
}

impl FromStr for Rate {
    type Err = String;

    #[expect(
        clippy::cast_precision_loss,
        reason = "no disk has 2^53 bytes a second"
    )]
    fn from_str(text: &str) -> Result<Self, String> {
        let rate = match text.strip_suffix('x') {
            Some(times) => times.parse().map(Self::TimesProbed).ok(),
            None => parse_size(text)
                .map(|bytes| Self::BytesPerS(bytes as f64))
                .ok(),
        };
        rate.filter(|rate| {
            let (Self::BytesPerS(number) | Self::TimesProbed(number)) = rate;
            number.is_finite() && *number > 0.0
        })
        .ok_or_else(|| {
            "write bytes per second, such as 3GiB, or a multiple of the probed rate, such as 1.5x"
                .to_owned()
        })
    }
}

/// The numbers behind the knobs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) buffer_bytes: NonZeroUsize,
    pub(crate) buffers: NonZeroUsize,
    pub(crate) depth: NonZeroUsize,
    pub(crate) threads: NonZeroUsize,
}

impl Contents {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            seed: self.seed,
            dedup: self.dedup,
            compress: self.compress,
        }
    }

    /// Bytes per second of a rate.
    pub(crate) fn bytes_per_s(&self, rate: Rate) -> Result<f64, Failure> {
        let times = match rate {
            Rate::BytesPerS(bytes) => return Ok(bytes),
            Rate::TimesProbed(times) => times,
        };
        let probed = self.table()?.and_then(|table| table.bytes_per_s());
        probed.map(|rate| times * rate).ok_or_else(|| {
            Failure::Usage(format!(
                "--rate {times}x needs the rate of the disk: --tuning FILE, with a choice that the probe tried"
            ))
        })
    }

    fn table(&self) -> Result<Option<Table>, Failure> {
        self.tuning.as_ref().map(read).transpose()
    }

    pub(crate) fn sizes(&self) -> Result<Sizes, Failure> {
        let chosen = self.table()?.map(|table| table.choice);
        let depth = self.depth.resolve(chosen.map(|choice| choice.depth))?;
        let threads = self.threads.resolve(chosen.map(|choice| choice.threads))?;
        Ok(Sizes {
            buffer_bytes: self
                .buffer
                .resolve(chosen.map(|choice| choice.block_bytes))?,
            buffers: self.buffers.unwrap_or_else(|| {
                depth
                    .saturating_mul(threads)
                    .max(NonZeroUsize::MIN.saturating_add(1))
            }),
            depth,
            threads,
        })
    }
}

fn read(path: &PathBuf) -> Result<Table, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::Work(format!("cannot read {}: {error}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::Work(format!(
            "{} is no table of dgen probe --json: {error}",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn rates() {
        assert_eq!("2GiB".parse(), Ok(Rate::BytesPerS(2_147_483_648.0)));
        assert_eq!("1.5x".parse(), Ok(Rate::TimesProbed(1.5)));
        for wrong in ["", "0", "x", "0x", "-1x", "infx", "nanx", "fast"] {
            assert!(wrong.parse::<Rate>().is_err(), "{wrong}");
        }
    }
}

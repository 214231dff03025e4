//! `dgen validate`: a file against the data that it was written with.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use dgen::read::{Validation, read_and_validate};
use dgen::write::{Expected, hex};
use worker::exit::Failure;

use super::knobs::Contents;
use super::{parse_size, processors, say};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    contents: Contents,
    /// Threads that compare [default: one per processor]
    #[arg(long, value_name = "N")]
    readers: Option<NonZeroUsize>,
    /// Bytes that the file must have [default: any]
    #[arg(long, value_parser = parse_size)]
    size: Option<u64>,
    /// The file to validate
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let strategy = options.contents.strategy()?;
    if !strategy.writes {
        return nothing_written(&options.file);
    }
    let period = if strategy.recycles {
        let sizes = options.contents.sizes()?;
        let pool = (sizes.buffer_bytes.get() as u64).saturating_mul(sizes.buffers.get() as u64);
        Some(pool)
    } else {
        None
    };
    let expected = Expected::repeated(&options.contents.settings(), period)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let readers = options.readers.unwrap_or_else(processors);
    let found = read_and_validate(&options.file, &expected, options.size, readers, &mut |_| {
        ControlFlow::Continue(())
    })
    .map_err(|error| Failure::Work(error.to_string()))?;
    say(&line(&found, &expected))?;
    if found.is_right() {
        return Ok(());
    }
    let path = options.file.display();
    Err(Failure::Work(match found.differences.first {
        Some(first) => format!(
            "{path} differs from its data in {} bytes, first at offset {first}",
            found.differences.count
        ),
        None => format!(
            "{path} has {} bytes instead of {}",
            found.size_actual, found.size_expected
        ),
    }))
}

/// For a strategy that only fills buffers: right if there is no file.
fn nothing_written(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            say(&serde_json::json!({"bytes": 0, "file": null}))
        }
        Err(error) => Err(Failure::Work(format!("{}: {error}", path.display()))),
        Ok(_) => Err(Failure::Work(format!(
            "{} is there, and the strategy writes no file",
            path.display()
        ))),
    }
}

fn line(found: &Validation, expected: &Expected) -> serde_json::Value {
    let differences = &found.differences;
    serde_json::json!({
        "bytes": found.bytes,
        "size_expected": found.size_expected,
        "size_actual": found.size_actual,
        "bad_bytes": differences.count,
        "first_bad_offset": differences.first,
        "expected": hex(&differences.expected),
        "actual": hex(&differences.actual),
        "contents": expected.identity(found.size_expected),
    })
}

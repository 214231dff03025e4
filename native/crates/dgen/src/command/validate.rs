//! `dgen validate`: a file against the data that it was written with.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use dgen::data::Differences;
use dgen::validate::{Validation, read_and_validate};
use dgen::write::Expected;
use dgen::write::strategy::Driver;
use worker::exit::{Failure, say};
use worker::hex;
use worker::size::parse as parse_size;

use super::knobs::Contents;
use super::{fio, processors};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    contents: Contents,
    /// Threads that compare [default: one per processor]
    #[arg(long, value_name = "N")]
    readers: Option<NonZeroUsize>,
    /// Files, called FILE.0, FILE.1, … if there are several
    #[arg(long, value_name = "N", default_value = "1")]
    files: NonZeroUsize,
    /// Bytes that the file, or all files together, must have [default: any]
    #[arg(long, value_parser = parse_size)]
    size: Option<u64>,
    /// The file to validate
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let strategy = options.contents.strategy;
    if !strategy.writes {
        return nothing_written(options);
    }
    if strategy.driver != Driver::Own && options.files.get() > 1 {
        return Err(Failure::Usage(format!("{} writes one file", strategy.name)));
    }
    if strategy.driver == Driver::Fio {
        return fio::validate(&options.file, options.size);
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
    let mut whole = Found::default();
    for index in 0..options.files.get() {
        whole.add(compare(options, &expected, index)?);
    }
    say(&line(&whole, options, &expected))?;
    whole.wrong.map_or(Ok(()), |why| Err(Failure::Work(why)))
}

/// Combined result of all files.
#[derive(Default)]
struct Found {
    bytes: u64,
    size_expected: u64,
    size_actual: u64,
    bad_bytes: u64,
    /// The first file with a byte that is not what it must be.
    first: Option<(PathBuf, Differences)>,
    /// Error of the first invalid file.
    wrong: Option<String>,
}

impl Found {
    fn add(&mut self, (path, found): (PathBuf, Validation)) {
        self.bytes += found.bytes;
        self.size_expected += found.size_expected;
        self.size_actual += found.size_actual;
        self.bad_bytes += found.differences.count;
        if !found.is_right() && self.wrong.is_none() {
            self.wrong = Some(wrong(&path, &found));
        }
        if found.differences.first.is_some() && self.first.is_none() {
            self.first = Some((path, found.differences));
        }
    }
}

fn compare(
    options: &Options,
    expected: &Expected,
    index: usize,
) -> Result<(PathBuf, Validation), Failure> {
    let path = sink::path_of(&options.file, options.files, index);
    let size = options
        .size
        .map(|size| sink::size_of(size, options.files, index));
    let readers = options.readers.unwrap_or_else(processors);
    read_and_validate(&path, &expected.of_file(index), size, readers, &mut |_| {
        ControlFlow::Continue(())
    })
    .map(|found| (path, found))
    .map_err(|error| Failure::Work(error.to_string()))
}

fn wrong(path: &Path, found: &Validation) -> String {
    let path = path.display();
    match found.differences.first {
        Some(first) => format!(
            "{path} differs from its data in {} bytes, first at offset {first}",
            found.differences.count
        ),
        None => format!(
            "{path} has {} bytes instead of {}",
            found.size_actual, found.size_expected
        ),
    }
}

/// For a strategy that only fills buffers: right if there is no file.
fn nothing_written(options: &Options) -> Result<(), Failure> {
    for index in 0..options.files.get() {
        let path = sink::path_of(&options.file, options.files, index);
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::Work(format!("{}: {error}", path.display()))),
            Ok(_) => {
                return Err(Failure::Work(format!(
                    "{} is there, and the strategy writes no file",
                    path.display()
                )));
            }
        }
    }
    say(&serde_json::json!({"bytes": 0, "file": null}))
}

fn line(found: &Found, options: &Options, expected: &Expected) -> serde_json::Value {
    let none = Differences::default();
    let (file, differences) = match &found.first {
        Some((path, differences)) => (Some(path.to_string_lossy()), differences),
        None => (None, &none),
    };
    let size = options.size.unwrap_or(found.size_actual);
    serde_json::json!({
        "files": options.files,
        "bytes": found.bytes,
        "size_expected": found.size_expected,
        "size_actual": found.size_actual,
        "bad_bytes": found.bad_bytes,
        "first_bad_file": file,
        "first_bad_offset": differences.first,
        "expected": hex(&differences.expected),
        "actual": hex(&differences.actual),
        "contents": expected.identity(sink::size_of(size, options.files, 0)),
    })
}

//! `dgen validate`: a file against the data that it was written with.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use dgen::data::Differences;
use dgen::validate::{Validation, read_and_validate};
use dgen::write::FileContents;
use dgen::write::strategy::Driver;
use worker::exit::{Failure, print_line};
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
        return check_no_file(options);
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
    let expected = FileContents::with_period(&options.contents.settings(), period)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let mut whole = Summary::default();
    for index in 0..options.files.get() {
        whole.add(compare(options, &expected, index)?);
    }
    print_line(&line(&whole, options, &expected))?;
    whole.failure.map_or(Ok(()), |why| Err(Failure::Work(why)))
}

/// Combined result of all files.
#[derive(Default)]
struct Summary {
    bytes: u64,
    size_expected: u64,
    size_actual: u64,
    bad_bytes: u64,
    /// The first file with a byte that is not what it must be.
    first: Option<(PathBuf, Differences)>,
    /// Error of the first invalid file.
    failure: Option<String>,
}

impl Summary {
    fn add(&mut self, (path, validation): (PathBuf, Validation)) {
        self.bytes += validation.bytes;
        self.size_expected += validation.size_expected;
        self.size_actual += validation.size_actual;
        self.bad_bytes += validation.differences.count;
        if !validation.is_right() && self.failure.is_none() {
            self.failure = Some(describe_difference(&path, &validation));
        }
        if validation.differences.first.is_some() && self.first.is_none() {
            self.first = Some((path, validation.differences));
        }
    }
}

fn compare(
    options: &Options,
    expected: &FileContents,
    index: usize,
) -> Result<(PathBuf, Validation), Failure> {
    let path = sink::path_of(&options.file, options.files, index);
    let size = options
        .size
        .map(|size| sink::size_of(size, options.files, index));
    let readers = options.readers.unwrap_or_else(processors);
    read_and_validate(&path, &expected.for_file(index), size, readers, &mut |_| {
        ControlFlow::Continue(())
    })
    .map(|validation| (path, validation))
    .map_err(|error| Failure::Work(error.to_string()))
}

fn describe_difference(path: &Path, validation: &Validation) -> String {
    let path = path.display();
    match validation.differences.first {
        Some(first) => format!(
            "{path} differs from its data in {} bytes, first at offset {first}",
            validation.differences.count
        ),
        None => format!(
            "{path} has {} bytes instead of {}",
            validation.size_actual, validation.size_expected
        ),
    }
}

/// For a strategy that only fills buffers: right if there is no file.
fn check_no_file(options: &Options) -> Result<(), Failure> {
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
    print_line(&serde_json::json!({"bytes": 0, "file": null}))
}

fn line(summary: &Summary, options: &Options, expected: &FileContents) -> serde_json::Value {
    let none = Differences::default();
    let (file, differences) = match &summary.first {
        Some((path, differences)) => (Some(path.to_string_lossy()), differences),
        None => (None, &none),
    };
    let size = options.size.unwrap_or(summary.size_actual);
    serde_json::json!({
        "files": options.files,
        "bytes": summary.bytes,
        "size_expected": summary.size_expected,
        "size_actual": summary.size_actual,
        "bad_bytes": summary.bad_bytes,
        "first_bad_file": file,
        "first_bad_offset": differences.first,
        "expected": hex(&differences.expected),
        "actual": hex(&differences.actual),
        "contents": expected.identity(sink::size_of(size, options.files, 0)),
    })
}

//! `dgen text`: a corpus.

use std::path::PathBuf;

use clap::Args;
use dgen::{KINDS, Kind, Text, write_file};
use worker::command_line::one_of;
use worker::exit::{Failure, print_line};
use worker::size::parse as parse_size;

use super::write_error;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Kind of text
    #[arg(long, default_value = "prose", value_parser = one_of(KINDS, |kind| (kind.name, kind.about)))]
    kind: &'static Kind,
    /// Bytes, exactly; or with KiB, MiB, GiB
    #[arg(long, value_parser = parse_size)]
    size: u64,
    /// Seed
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// The file to write; one that exists is replaced
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let text = Text::new(options.kind, options.seed, options.size);
    let written = write_file(&text, &options.output, &mut |_| Ok(()));
    print_line(&written.map_err(write_error(&options.output))?.sha256)
}

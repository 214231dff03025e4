//! `dgen text`: a corpus.

use std::io;
use std::path::PathBuf;

use clap::Args;
use dgen::{KINDS, Text, write_file};
use worker::exit::Failure;

use super::{known, names, parse_size, say};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Kind of text
    #[arg(long, default_value = "prose", value_parser = names(KINDS.iter().map(|kind| (kind.name, kind.about))))]
    kind: String,
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
    let kind = known(dgen::kind(&options.kind), "kind", &options.kind)?;
    let text = Text::new(kind, options.seed, options.size);
    let written =
        write_file::<io::Error>(&text, &options.output, &mut |_| Ok(())).map_err(|error| {
            Failure::Work(format!(
                "cannot write {}: {error}",
                options.output.display()
            ))
        })?;
    say(&written.sha256)
}

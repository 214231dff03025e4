//! `dgen`: writes corpora from the command line.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand};
use dgen::{KINDS, Text, write_file};

/// Writes seeded data: a pure function of its arguments.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a text corpus and print its SHA-256
    Text(TextArguments),
}

#[derive(Debug, Args)]
struct TextArguments {
    /// Kind of text
    #[arg(long, default_value = "prose", value_parser = kinds())]
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

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(
        KINDS
            .iter()
            .map(|kind| PossibleValue::new(kind.name).help(kind.about)),
    )
}

/// `4096`, `64KiB`, `10MiB`, `1GiB`.
fn parse_size(text: &str) -> Result<u64, String> {
    let units = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("B", 1),
        ("", 1),
    ];
    units
        .iter()
        .find_map(|(unit, factor)| {
            text.strip_suffix(unit)?
                .parse::<u64>()
                .ok()?
                .checked_mul(*factor)
        })
        .ok_or_else(|| "write whole bytes, or a whole number with KiB, MiB or GiB".to_owned())
}

fn main() -> ExitCode {
    let Command::Text(arguments) = Arguments::parse().command;
    let Some(kind) = dgen::kind(&arguments.kind) else {
        eprintln!("dgen: no kind of text is called {}", arguments.kind);
        return ExitCode::from(2);
    };
    let text = Text::new(kind, arguments.seed, arguments.size);
    match write_file::<io::Error>(&text, &arguments.output, &mut |_| Ok(())) {
        Ok(written) => {
            println!("{}", written.sha256);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("dgen: cannot write {}: {error}", arguments.output.display());
            ExitCode::from(1)
        }
    }
}

//! `dgen probe`: which block size, depth and number of threads write fastest to a disk.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use dgen::data::Settings;
use dgen::probe::{Table, probe};
use dgen::write::{self, DIRECTS, Direct, Durability};
use worker::command_line::named;
use worker::exit::{Failure, print_line};

use super::failure;
use super::write::durability;

/// Asks for whatever can be had: the table then says which it was.
const AVAILABLE: (&str, &str) = (
    "available",
    "uring where it can be had, else pwrite; the table says which",
);

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// By which calls
    #[arg(long, default_value = "uring", value_parser = backends())]
    backend: String,
    /// Whether the page cache is passed by
    #[arg(long, default_value = "try", value_parser = named(DIRECTS))]
    direct: Direct,
    /// When written data must be on the disk: none, end-fsync, fdatasync, fdatasync:N, dsync
    #[arg(long, default_value = "end-fsync", value_parser = durability)]
    durability: Durability,
    /// Seconds to spend, from 1 to 600
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Print the table as one JSON object, for --tuning
    #[arg(long)]
    json: bool,
    /// A folder on the disk, or a file in it
    #[arg(value_name = "PLACE", default_value = ".")]
    place: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = if options.place.is_dir() {
        options.place.as_path()
    } else {
        sink::folder(&options.place)
    };
    let backend = match options.backend.as_str() {
        name if name != AVAILABLE.0 => name,
        _ if sink::why_no_ring().is_none() => "uring",
        _ => "pwrite",
    };
    let trial = write::Options {
        backend: sink::mode(backend)
            .ok_or_else(|| Failure::Usage(format!("--backend has no value {backend}")))?,
        direct: options.direct,
        durability: options.durability,
        ..write::Options::new(0, Settings::default())
    };
    let limit = Duration::from_secs(options.seconds);
    let table = probe(folder, &trial, limit, &mut |_| ControlFlow::Continue(()))
        .map_err(failure("probe"))?;
    let text = if options.json {
        serde_json::to_string(&table)
            .map_err(|error| Failure::Work(format!("cannot print the table: {error}")))?
    } else {
        format_table(&table)
    };
    print_line(&text)
}

/// The backends, and whatever can be had.
fn backends() -> PossibleValuesParser {
    let modes = sink::MODES.iter().map(|mode| (mode.name, mode.about));
    let values = modes.chain([AVAILABLE]);
    PossibleValuesParser::new(values.map(|(name, about)| PossibleValue::new(name).help(about)))
}

fn format_table(table: &Table) -> String {
    let ran: Vec<_> = table
        .effective
        .iter()
        .map(|(axis, value)| format!("{axis} {value}"))
        .collect();
    let mut lines = vec![
        format!("{}: {}", table.folder, ran.join(", ")),
        format!(
            "{:>10} {:>6} {:>8} {:>7} {:>10}",
            "block KiB", "depth", "threads", "trials", "MB/s"
        ),
    ];
    lines.extend(table.rows.iter().map(|row| {
        let rate = row.bytes_per_s.map_or_else(
            || "not tried".to_owned(),
            |rate| format!("{:.0}", rate / 1e6),
        );
        format!(
            "{:>10} {:>6} {:>8} {:>7} {:>10}",
            row.tried.block_bytes.get() >> 10,
            row.tried.depth,
            row.tried.threads,
            row.seconds.len(),
            rate
        )
    }));
    let choice = table.choice;
    lines.push(format!(
        "choice: --buffer {}KiB --depth {} --threads {}",
        choice.block_bytes.get() >> 10,
        choice.depth,
        choice.threads
    ));
    lines.push(format!("basis: {}", table.basis));
    lines.join("\n")
}

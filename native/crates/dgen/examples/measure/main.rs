//! Looks at bytes, seeded or of any file: how many granules are different, and how far each compresses alone.
//!
//! `cargo run --release -p dgen --example measure -- --dedup 2 --compress 2`, or with `FILE`, `-` or `--table`.
//!
//! This is an example, not a command of the worker, so that the measured binary does not link zstd.

mod redundancy;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Parser;
use dgen::data::{Compress, Data, Dedup, Settings};
use redundancy::{Ratios, measure, ratios};

/// Count what bytes are: different granules, and how far each compresses alone
#[derive(Debug, Parser)]
struct Arguments {
    /// Bytes to look at, in MiB: the first ones of a file, or so many are made
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    size: u16,
    /// Seed
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Units ÷ different units, such as 2, 1.5@64KiB or 3,set:16
    #[arg(long, value_name = "RATIO[@UNIT][,DISTANCE]", value_parser = Dedup::from_str)]
    dedup: Option<Dedup>,
    /// Bytes ÷ compressed bytes of each granule, such as 2 or 1.5@128KiB
    #[arg(long, value_name = "RATIO[@GRANULE]", value_parser = Compress::from_str)]
    compress: Option<Compress>,
    /// Make the table of docs/reference/dgen.md
    #[arg(long, conflicts_with_all = ["dedup", "compress", "file"])]
    table: bool,
    /// A file to look at instead of seeded data; - for stdin
    #[arg(value_name = "FILE", conflicts_with_all = ["seed", "dedup", "compress"])]
    file: Option<PathBuf>,
}

const KIB: usize = 1 << 10;

/// Settings, and by which granules they are examined.
const TABLE: &[(Option<&str>, Option<&str>, &[usize])] = &[
    (None, None, &[4]),
    (None, Some("1.5"), &[4, 128]),
    (None, Some("2"), &[4, 16, 128]),
    (None, Some("10"), &[4, 128]),
    (Some("2"), None, &[4]),
    (Some("2.5@16KiB"), None, &[16]),
    (Some("2@128KiB"), Some("2"), &[128]),
];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, error)) => {
            eprintln!("measure: {error}");
            ExitCode::from(code)
        }
    }
}

/// Wrong usage is 2, anything that fails is 1.
fn run(arguments: &Arguments) -> Result<(), (u8, String)> {
    let failed = |error: io::Error| (1, error.to_string());
    let size = usize::from(arguments.size) << 20;
    if arguments.table {
        return table(arguments.seed, size);
    }
    if let Some(path) = &arguments.file {
        let bytes = read(path, size)
            .map_err(|error| (1, format!("cannot read {}: {error}", path.display())))?;
        let name = format!("{}, {} bytes", path.display(), bytes.len());
        return show(&name, &bytes).map_err(failed);
    }
    let data = data_of(arguments.seed, arguments.dedup, arguments.compress)?;
    let mut bytes = vec![0; size];
    data.fill(0, &mut bytes);
    let name = format!("{} by {}, {size} bytes", data.identity(), data.path());
    show(&name, &bytes).map_err(failed)
}

fn data_of(
    seed: u64,
    dedup: Option<Dedup>,
    compress: Option<Compress>,
) -> Result<Data, (u8, String)> {
    Data::new(&Settings {
        seed,
        dedup,
        compress,
    })
    .map_err(|error| (2, error.to_string()))
}

/// The first `most` bytes, or all if there are fewer.
fn read(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path)?)
    };
    let mut bytes = Vec::new();
    input.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn show(name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{name}")?;
    writeln!(
        out,
        "granule   granules  different  dedup  lz4: all    least     most  zstd: all    least     most"
    )?;
    for granule in [4 * KIB, 16 * KIB, 128 * KIB] {
        let redundancy = measure(bytes, granule);
        let zstd = zstd_ratios(bytes, granule)?;
        let columns = |ratios: Ratios| {
            format!(
                "{:8.3} {:8.3} {:8.3}",
                ratios.all, ratios.least, ratios.most
            )
        };
        writeln!(
            out,
            "{:>3} KiB {:>10} {:>10} {:>6.3}  {}   {}",
            granule / KIB,
            redundancy.granules,
            redundancy.different,
            redundancy.dedup(),
            columns(redundancy.lz4),
            columns(zstd)
        )?;
    }
    Ok(())
}

fn table(seed: u64, size: usize) -> Result<(), (u8, String)> {
    let failed = |error: io::Error| (1, error.to_string());
    let mut out = io::stdout().lock();
    let mut bytes = vec![0; size];
    for (dedup, compress, granules) in TABLE {
        let unreadable = |error: dgen::data::SettingsError| (1, error.to_string());
        let data = data_of(
            seed,
            dedup.map(Dedup::from_str).transpose().map_err(unreadable)?,
            compress
                .map(Compress::from_str)
                .transpose()
                .map_err(unreadable)?,
        )?;
        data.fill(0, &mut bytes);
        for (number, granule) in granules.iter().enumerate() {
            let settings_text = if number == 0 {
                format!(" {} ", settings_text(*dedup, *compress))
            } else {
                " ".to_owned()
            };
            let redundancy = measure(&bytes, granule * KIB);
            let zstd = zstd_ratios(&bytes, granule * KIB).map_err(failed)?;
            let ratios = |ratios: Ratios| {
                format!("{:.3} {:.3} {:.3}", ratios.all, ratios.least, ratios.most)
            };
            writeln!(
                out,
                "|{settings_text}| {granule} KiB | {} of {} | {} | {} |",
                group_thousands(redundancy.different),
                group_thousands(redundancy.granules),
                ratios(redundancy.lz4),
                ratios(zstd)
            )
            .map_err(failed)?;
        }
    }
    Ok(())
}

fn settings_text(dedup: Option<&str>, compress: Option<&str>) -> String {
    let parts: Vec<_> = [("dedup", dedup), ("compress", compress)]
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value?)))
        .collect();
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(", ")
    }
}

/// Five digits and more with a space between thousands.
fn group_thousands(number: u64) -> String {
    if number < 10_000 {
        number.to_string()
    } else {
        format!("{} {:03}", number / 1000, number % 1000)
    }
}

/// At level 3, which is zstd's own default.
fn zstd_ratios(bytes: &[u8], granule: usize) -> io::Result<Ratios> {
    let mut compressor = zstd::bulk::Compressor::new(3)?;
    let mut failed = None;
    let redundancy = ratios(bytes, granule, |piece| match compressor.compress(piece) {
        Ok(compressed) => compressed.len(),
        Err(error) => {
            failed = Some(error);
            piece.len()
        }
    });
    failed.map_or(Ok(redundancy), Err)
}

//! Makes seeded data and looks at their bytes: what was asked, what is there.
//!
//! `cargo run --release -p dgen --example measure -- --dedup 2 --compress 2`

use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Parser;
use dgen::data::{Compress, Data, Dedup, Measured, Ratios, Settings, measure, ratios};

/// Make seeded data and count what they are: different granules, and how far each compresses alone
#[derive(Debug, Parser)]
struct Arguments {
    /// Bytes to look at, in MiB
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
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let settings = Settings {
        seed: arguments.seed,
        dedup: arguments.dedup,
        compress: arguments.compress,
    };
    let shown = Data::new(&settings)
        .map_err(|error| (2, error.to_string()))
        .and_then(|data| {
            show(&data, usize::from(arguments.size) << 20).map_err(|error| (1, error.to_string()))
        });
    match shown {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, error)) => {
            eprintln!("measure: {error}");
            ExitCode::from(code)
        }
    }
}

fn show(data: &Data, size: usize) -> io::Result<()> {
    let mut bytes = vec![0; size];
    data.fill(0, &mut bytes);
    let mut out = io::stdout().lock();
    writeln!(out, "{} by {}, {size} bytes", data.identity(), data.path())?;
    writeln!(
        out,
        "granule   granules  different  dedup  lz4: all    least     most  zstd: all    least     most"
    )?;
    for granule in [4 << 10, 16 << 10, 128 << 10] {
        let found: Measured = measure(&bytes, granule);
        let zstd = zstd_ratios(&bytes, granule)?;
        let columns = |ratios: Ratios| {
            format!(
                "{:8.3} {:8.3} {:8.3}",
                ratios.all, ratios.least, ratios.most
            )
        };
        writeln!(
            out,
            "{:>3} KiB {:>10} {:>10} {:>6.3}  {}   {}",
            granule >> 10,
            found.granules,
            found.different,
            found.dedup(),
            columns(found.lz4),
            columns(zstd)
        )?;
    }
    Ok(())
}

/// At level 3, which is zstd's own default.
fn zstd_ratios(bytes: &[u8], granule: usize) -> io::Result<Ratios> {
    let mut compressor = zstd::bulk::Compressor::new(3)?;
    let mut failed = None;
    let found = ratios(bytes, granule, |piece| match compressor.compress(piece) {
        Ok(compressed) => compressed.len(),
        Err(error) => {
            failed = Some(error);
            piece.len()
        }
    });
    failed.map_or(Ok(found), Err)
}

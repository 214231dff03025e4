//! `dgen run read`: one file, once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use dgen::read::{self, ACCESSES, BACKENDS, Stats};
use dgen::write::{DIRECTS, direct_named};
use worker::answer::{self, Answer, Outcome};
use worker::exit::Failure;

use super::write::{cached, latency, owned, phases};
use super::{known, names, parse_size};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// In which order
    #[arg(long, default_value = "sequential", value_parser = names(ACCESSES.iter().map(|access| (access.name, access.about))))]
    access: String,
    /// By which calls
    #[arg(long, default_value = "pread", value_parser = names(BACKENDS.iter().map(|backend| (backend.name, backend.about))))]
    backend: String,
    /// Whether the page cache is passed by
    #[arg(long, default_value = "off", value_parser = names(DIRECTS.iter().map(|(_, name, about)| (*name, *about))))]
    direct: String,
    /// Size of a block: bytes, or with KiB, MiB, GiB; a multiple of 4096
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_size)]
    buffer: u64,
    /// The most blocks that one thread has under way
    #[arg(long, value_name = "N", default_value = "4")]
    depth: NonZeroUsize,
    /// Threads
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Determines the order of random access
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// The file to read
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let buffer = usize::try_from(options.buffer)
        .ok()
        .and_then(NonZeroUsize::new)
        .ok_or_else(|| Failure::Usage("--buffer is at least 4096 bytes".to_owned()))?;
    let task = read::Options {
        access: known(read::access(&options.access), "access", &options.access)?,
        backend: known(read::backend(&options.backend), "backend", &options.backend)?,
        buffer_bytes: buffer,
        depth: options.depth,
        threads: options.threads,
        direct: known(direct_named(&options.direct), "direct", &options.direct)?,
        seed: options.seed,
    };
    let stats = read::read_file(&options.file, &task).map_err(|error| {
        if error.is_usage() {
            Failure::Usage(error.to_string())
        } else {
            Failure::Work(error.to_string())
        }
    })?;
    answer::deliver(outcome(stats, options))
        .map_err(|error| Failure::Work(format!("cannot append the answer line: {error}")))?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn outcome(stats: Stats, options: &Options) -> Outcome {
    let mut metrics = BTreeMap::from([
        ("achieved_depth", stats.achieved_depth),
        ("buffer_bytes", options.buffer as f64),
        ("depth", options.depth.get() as f64),
        ("elapsed_s", stats.elapsed_s),
        ("first_done_s", stats.first_done_s),
        ("operations", stats.operations as f64),
        ("repeated", stats.repeated as f64),
        ("short", stats.short as f64),
    ]);
    metrics.extend(latency(&stats.latency));
    metrics.extend(cached(stats.cached_bytes_before, stats.cached_bytes_after));
    Outcome {
        answer: Answer {
            count: stats.bytes,
            digest: stats.digest,
            more: BTreeMap::from([("blocks".to_owned(), stats.blocks)]),
        },
        effective: owned(stats.effective),
        threads: stats.threads,
        phases: phases(&stats.phases_s),
        bytes: stats.bytes,
        metrics: owned(metrics),
        notes: stats.notes,
    }
}

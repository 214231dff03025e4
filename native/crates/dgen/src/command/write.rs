//! `dgen run write`: one file, once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use dgen::write::strategy::Driver;
use dgen::write::{
    self, DIRECTS, DURABILITIES, Durability, LatencySeconds, Stats, WriteError, python,
};
use worker::answer::{self, Answer, Outcome};
use worker::exit::Failure;
use worker::phases::Phases;

use super::knobs::{Contents, Rate};
use super::{fio, known, names, parse_size};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    contents: Contents,
    /// By which calls [default: pwrite for single-buffer and threads, else uring]
    #[arg(long, value_parser = names(sink::MODES.iter().map(|mode| (mode.name, mode.about))))]
    backend: Option<String>,
    /// Whether the page cache is passed by
    #[arg(long, default_value = "off", value_parser = names(DIRECTS.iter().map(|(_, name, about)| (*name, *about))))]
    direct: String,
    /// When written data must be on the disk: none, end-fsync, fdatasync, fdatasync:N, dsync
    #[arg(long, default_value = "none", value_parser = durability)]
    durability: Durability,
    /// Whether pages are dropped from the cache once they are written
    #[arg(long, default_value = "off", value_parser = names(super::describe::DONTCACHE.iter().copied()))]
    dontcache: String,
    /// Reserve the blocks of the disk before the first write (fallocate)
    #[arg(long)]
    reserve: bool,
    /// Processors to run the threads on, in turn, such as 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cpus: Vec<usize>,
    /// Slow the generation down to so many bytes per second, such as 3GiB, or to a multiple of the rate in --tuning, such as 1.5x
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,
    /// Bytes, exactly; or with KiB, MiB, GiB
    #[arg(long, value_parser = parse_size)]
    size: u64,
    /// Files over which the size is split, called FILE.0, FILE.1, … if there are several
    #[arg(long, value_name = "N", default_value = "1")]
    files: NonZeroUsize,
    /// The file to write; one that exists is replaced
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

fn durability(name: &str) -> Result<Durability, String> {
    write::durability_named(name).ok_or_else(|| {
        let known: Vec<_> = DURABILITIES.iter().map(|(_, name, _)| *name).collect();
        format!("write {} or fdatasync:N", known.join(", "))
    })
}

pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let strategy = options.contents.strategy()?;
    let backend = match &options.backend {
        Some(name) => known(sink::mode(name), "backend", name)?,
        None => strategy.default_backend(),
    };
    let sizes = options.contents.sizes()?;
    let job = write::Options {
        strategy,
        backend,
        size: options.size,
        files: options.files,
        buffer_bytes: sizes.buffer_bytes,
        buffers: sizes.buffers,
        depth: sizes.depth,
        threads: sizes.threads,
        direct: known(
            write::direct_named(&options.direct),
            "direct",
            &options.direct,
        )?,
        durability: options.durability,
        dontcache: options.dontcache == "on",
        reserve: options.reserve,
        processors: options.cpus,
        rate: options
            .rate
            .map(|rate| options.contents.bytes_per_s(rate))
            .transpose()?,
        settings: options.contents.settings(),
    };
    if strategy.driver != Driver::Own && options.files.get() > 1 {
        return Err(Failure::Usage(format!("{} writes one file", strategy.name)));
    }
    match strategy.driver {
        Driver::Own => {}
        Driver::Python => {
            let mut command =
                python::command(&job, &options.file).map_err(|error| failure(&error))?;
            let error = command.exec();
            return Err(Failure::Work(format!("cannot start Python: {error}")));
        }
        Driver::Fio => return fio::run(&job, &options.file),
    }
    let stats = write::write_file(&options.file, &job, &mut |_| ControlFlow::Continue(()))
        .map_err(|error| failure(&error))?;
    answer::deliver(outcome(stats, sizes.depth.get()))
        .map_err(|error| Failure::Work(format!("cannot append the answer line: {error}")))?;
    Ok(())
}

pub(super) fn failure(error: &WriteError) -> Failure {
    if error.is_usage() {
        return Failure::Usage(error.to_string());
    }
    Failure::Work(format!("cannot write {error}"))
}

fn outcome(stats: Stats, depth: usize) -> Outcome {
    let metrics = metrics(&stats, depth);
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
        metrics,
        notes: stats.notes,
    }
}

pub(super) fn owned<T>(map: BTreeMap<&'static str, T>) -> BTreeMap<String, T> {
    map.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

pub(super) fn phases(seconds: &BTreeMap<&'static str, f64>) -> Phases {
    let mut phases = Phases::default();
    for (name, &seconds) in seconds {
        phases.add(name, Duration::from_secs_f64(seconds));
    }
    phases
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
fn metrics(stats: &Stats, depth: usize) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::from([
        ("achieved_depth", stats.achieved_depth),
        ("buffer_bytes", stats.buffer_bytes as f64),
        ("buffers", stats.buffers as f64),
        ("depth", depth as f64),
        ("elapsed_s", stats.elapsed_s),
        ("files", stats.files as f64),
        ("filled_bytes", stats.filled_bytes as f64),
        ("first_done_s", stats.first_done_s),
        ("operations", stats.operations as f64),
        ("repeated", stats.repeated as f64),
        ("short", stats.short as f64),
        ("synced_s", stats.synced_s),
    ]);
    metrics.extend(latency(&stats.latency));
    metrics.extend(cached(stats.cached_bytes_before, stats.cached_bytes_after));
    owned(metrics)
}

pub(super) fn latency(latency: &LatencySeconds) -> [(&'static str, f64); 5] {
    [
        ("latency_p50_s", latency.p50),
        ("latency_p90_s", latency.p90),
        ("latency_p99_s", latency.p99),
        ("latency_p999_s", latency.p999),
        ("latency_max_s", latency.max),
    ]
}

/// Omits values that the kernel does not report.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
pub(super) fn cached(
    before: Option<u64>,
    after: Option<u64>,
) -> impl Iterator<Item = (&'static str, f64)> {
    [
        ("cached_bytes_before", before),
        ("cached_bytes_after", after),
    ]
    .into_iter()
    .filter_map(|(name, bytes)| Some((name, bytes? as f64)))
}

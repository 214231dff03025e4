//! `dgen run write`: one file, once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use dgen::write::strategy::Driver;
use dgen::write::{self, DIRECTS, DURABILITIES, Direct, Durability, PAGES, Pages, Stats, python};
use sink::Mode;
use worker::answer::{self, Answer, Outcome};
use worker::command_line::{Named, named, one_of};
use worker::exit::Failure;
use worker::metrics;
use worker::phases::Phases;
use worker::size::parse as parse_size;

use super::knobs::{Contents, Rate};
use super::metrics::METRICS;
use super::{failure, fio};

#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    contents: Contents,
    /// By which calls
    ///
    /// Default: pwrite for single-buffer and threads, else uring.
    #[arg(long, value_parser = one_of(sink::MODES, |mode| (mode.name, mode.about)))]
    backend: Option<&'static Mode>,
    /// Pages of the buffers
    #[arg(long, default_value = "huge", value_parser = named(PAGES))]
    pages: Pages,
    /// Whether the page cache is passed by
    #[arg(long, default_value = "off", value_parser = named(DIRECTS))]
    direct: Direct,
    /// When written data must be on the disk: none, end-fsync, fdatasync, fdatasync:N, dsync
    #[arg(long, default_value = "none", value_parser = durability)]
    durability: Durability,
    /// Whether written pages are dropped from the page cache
    #[arg(long, default_value = "off", action = ArgAction::Set, value_parser = named(DONTCACHE))]
    dontcache: bool,
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

/// Values of the axis `dontcache`.
static DONTCACHE: &[Named<bool>] = &[
    (false, "off", "written pages stay in the page cache"),
    (
        true,
        "on",
        "RWF_DONTCACHE: pages are dropped once they are written; refused where it cannot be had",
    ),
];

/// Parses a value of `--durability`.
pub(super) fn durability(name: &str) -> Result<Durability, String> {
    write::durability_named(name).ok_or_else(|| {
        let known: Vec<_> = DURABILITIES.iter().map(|(_, name, _)| *name).collect();
        format!("write {} or fdatasync:N", known.join(", "))
    })
}

pub(crate) fn run(options: Options) -> Result<(), Failure> {
    let strategy = options.contents.strategy;
    let sizes = options.contents.sizes()?;
    let job = write::Options {
        strategy,
        backend: options
            .backend
            .unwrap_or_else(|| strategy.default_backend()),
        size: options.size,
        files: options.files,
        buffer_bytes: sizes.buffer_bytes,
        buffers: sizes.buffers,
        depth: sizes.depth,
        threads: sizes.threads,
        pages: options.pages,
        direct: options.direct,
        durability: options.durability,
        dontcache: options.dontcache,
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
            let mut command = python::command(&job, &options.file).map_err(failure("write"))?;
            let error = command.exec();
            return Err(Failure::Work(format!("cannot start Python: {error}")));
        }
        Driver::Fio => return fio::run(&job, &options.file),
    }
    let stats = write::write_file(&options.file, &job, &mut |_| ControlFlow::Continue(()))
        .map_err(failure("write"))?;
    answer::deliver(outcome(stats))
}

fn outcome(stats: Stats) -> Outcome {
    let metrics = metrics::values(METRICS, &stats);
    let mut phases = Phases::default();
    for (name, &seconds) in &stats.phases_s {
        phases.add(name, Duration::from_secs_f64(seconds));
    }
    Outcome {
        answer: Answer {
            count: stats.bytes,
            digest: stats.digest,
            more: BTreeMap::from([("blocks".to_owned(), stats.evidence.blocks)]),
        },
        effective: stats.effective,
        threads: stats.evidence.writers,
        phases,
        bytes: stats.bytes,
        metrics,
        notes: stats.evidence.notes,
    }
}

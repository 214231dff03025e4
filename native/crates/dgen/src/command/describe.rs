//! Description of this worker.

use std::cell::OnceCell;
use std::path::Path;

use clap::{Args, Command};
use dgen::write::strategy::{Driver, STRATEGIES};
use dgen::write::{DURABILITIES, Stats};
use worker::command_line;
use worker::describe::{Axis, Description, Direction, Metric, Unit, Value};

use super::write::Options;

/// Describes the worker for the current folder: features that its file system lacks are unavailable.
pub(crate) fn describe() -> Description {
    let here = Path::new(".");
    // The strategies in Python need the same interpreter, which is started once.
    let python = OnceCell::new();
    let mut axes = command_line::axes(&Options::augment_args(Command::new("write")));
    for (name, axis) in &mut axes {
        for (index, value) in axis.values.iter_mut().enumerate() {
            let strategy = STRATEGIES.get(index);
            value.unavailable = match (name.as_str(), value.name.as_str()) {
                ("backend", _) => (sink::MODES[index].probe)(),
                ("direct", "require") => sink::why_not_direct(here),
                ("dontcache", "on") => sink::why_not_dontcache(here),
                ("strategy", _) => strategy.and_then(|strategy| match strategy.driver {
                    Driver::Python => python.get_or_init(|| strategy.why_unavailable()).clone(),
                    _ => strategy.why_unavailable(),
                }),
                _ => None,
            };
        }
    }
    let durability = Axis {
        about: "when written data must be on the disk".to_owned(),
        values: DURABILITIES
            .iter()
            .map(|(_, name, about)| Value::available(name, about))
            .collect(),
    };
    axes.insert("durability".to_owned(), durability);
    let metrics = METRICS
        .iter()
        .map(|of| Metric::new(of.name, of.unit, of.direction, of.about));
    Description::new("dgen", env!("CARGO_PKG_VERSION"), axes, metrics.collect())
}

/// A metric, and its value after a write; `None` if the kernel does not report it.
pub(crate) struct Observed {
    pub(crate) name: &'static str,
    about: &'static str,
    unit: Unit,
    direction: Direction,
    pub(crate) of: fn(&Stats) -> Option<f64>,
}

/// Defines one function for each kind of metric.
macro_rules! kinds {
    ($($kind:ident: $unit:ident, $direction:ident;)*) => {
        $(const fn $kind(
            name: &'static str,
            about: &'static str,
            of: fn(&Stats) -> Option<f64>,
        ) -> Observed {
            let (unit, direction) = (Unit::$unit, Direction::$direction);
            Observed { name, about, unit, direction, of }
        })*
    };
}

kinds! {
    bytes: Bytes, None;
    count: Count, None;
    events: Count, Lower;
    seconds: S, Lower;
}

pub(crate) static METRICS: &[Observed] = &[
    count(
        "achieved_depth",
        "blocks under way, mean over the elapsed time",
        |of| Some(of.achieved_depth),
    ),
    bytes("buffer_bytes", "bytes of a buffer", |of| {
        whole(of.buffer_bytes as u64)
    }),
    count("buffers", "buffers that were filled", |of| {
        whole(of.evidence.buffers as u64)
    }),
    bytes(
        "cached_bytes_after",
        "bytes of the file in the page cache afterwards",
        |of| of.cached_bytes_after.and_then(whole),
    ),
    bytes(
        "cached_bytes_before",
        "bytes of the replaced file in the page cache before writing",
        |of| of.cached_bytes_before.and_then(whole),
    ),
    count(
        "depth",
        "the most blocks that one thread may have under way",
        |of| whole(of.depth as u64),
    ),
    seconds(
        "elapsed_s",
        "from the first contents to the last completion",
        |of| Some(of.elapsed_s),
    ),
    count("files", "files written", |of| whole(of.files as u64)),
    bytes("filled_bytes", "bytes of contents produced", |of| {
        whole(of.evidence.filled_bytes)
    }),
    seconds(
        "first_done_s",
        "from the first contents to the first completion",
        |of| Some(of.first_done_s),
    ),
    seconds("latency_max_s", "longest time of a block under way", |of| {
        Some(of.latency.max)
    }),
    seconds("latency_p50_s", "time of a block under way, median", |of| {
        Some(of.latency.p50)
    }),
    seconds(
        "latency_p90_s",
        "time of a block under way, 90th percentile",
        |of| Some(of.latency.p90),
    ),
    seconds(
        "latency_p999_s",
        "time of a block under way, 99.9th percentile",
        |of| Some(of.latency.p999),
    ),
    seconds(
        "latency_p99_s",
        "time of a block under way, 99th percentile",
        |of| Some(of.latency.p99),
    ),
    count("operations", "operations that completed", |of| {
        whole(of.evidence.operations)
    }),
    events(
        "repeated",
        "completions that asked for a repetition",
        |of| whole(of.evidence.repeated),
    ),
    events(
        "short",
        "completions with fewer bytes than asked for",
        |of| whole(of.evidence.short),
    ),
    seconds(
        "synced_s",
        "from the first contents until the file was synced as asked",
        |of| Some(of.synced_s),
    ),
];

#[expect(
    clippy::cast_precision_loss,
    clippy::unnecessary_wraps,
    reason = "exact below 2^53; the shape of a metric"
)]
fn whole(number: u64) -> Option<f64> {
    Some(number as f64)
}

//! Metrics of `dgen run write`.

use dgen::write::Stats;
use worker::describe::{Direction, Unit};

/// A metric, and its value after a write; `None` if the kernel does not report it.
pub(crate) struct ResultMetric {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) unit: Unit,
    pub(crate) direction: Direction,
    pub(crate) of: fn(&Stats) -> Option<f64>,
}

/// Defines one function for each kind of metric.
macro_rules! kinds {
    ($($kind:ident: $unit:ident, $direction:ident;)*) => {
        $(const fn $kind(
            name: &'static str,
            about: &'static str,
            of: fn(&Stats) -> Option<f64>,
        ) -> ResultMetric {
            let (unit, direction) = (Unit::$unit, Direction::$direction);
            ResultMetric { name, about, unit, direction, of }
        })*
    };
}

kinds! {
    bytes: Bytes, None;
    count: Count, None;
    events: Count, Lower;
    seconds: S, Lower;
}

pub(crate) static METRICS: &[ResultMetric] = &[
    count(
        "achieved_depth",
        "blocks under way, mean over the elapsed time",
        |of| Some(of.achieved_depth),
    ),
    bytes("buffer_bytes", "bytes of a buffer", |of| {
        to_float(of.buffer_bytes as u64)
    }),
    count("buffers", "buffers that were filled", |of| {
        to_float(of.evidence.buffers as u64)
    }),
    bytes(
        "cached_bytes_after",
        "bytes of the file in the page cache afterwards",
        |of| of.cached_bytes_after.and_then(to_float),
    ),
    bytes(
        "cached_bytes_before",
        "bytes of the replaced file in the page cache before writing",
        |of| of.cached_bytes_before.and_then(to_float),
    ),
    count(
        "depth",
        "the most blocks that one thread may have under way",
        |of| to_float(of.depth as u64),
    ),
    seconds(
        "elapsed_s",
        "from the first contents to the last completion",
        |of| Some(of.elapsed_s),
    ),
    count("files", "files written", |of| to_float(of.files as u64)),
    bytes("filled_bytes", "bytes of contents produced", |of| {
        to_float(of.evidence.filled_bytes)
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
        to_float(of.evidence.operations)
    }),
    events(
        "repeated",
        "completions that asked for a repetition",
        |of| to_float(of.evidence.repeated),
    ),
    events(
        "short",
        "completions with fewer bytes than asked for",
        |of| to_float(of.evidence.short),
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
fn to_float(number: u64) -> Option<f64> {
    Some(number as f64)
}

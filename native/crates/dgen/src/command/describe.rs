//! Description of this worker.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use dgen::write::strategy::{Driver, STRATEGIES};
use dgen::write::{DIRECTS, DURABILITIES, Direct};
use worker::describe::{Axis, Description, Direction, Metric, Unit, Value};

/// Values of the axis `dontcache`.
pub(crate) const DONTCACHE: &[(&str, &str)] = &[
    ("off", "written pages stay in the page cache"),
    (
        "on",
        "RWF_DONTCACHE: pages are dropped once they are written; refused where it cannot be had",
    ),
];

/// Describes the worker for the current folder: features that its file system lacks are unavailable.
pub(crate) fn describe() -> Description {
    let here = Path::new(".");
    let listed = |values: &[(&str, &str)]| -> Vec<Value> {
        values
            .iter()
            .map(|(name, about)| Value::available(name, about))
            .collect()
    };
    let value = |name: &str, about: &str, unavailable| Value {
        name: name.to_owned(),
        about: about.to_owned(),
        unavailable,
        limited: None,
    };
    // The strategies in Python need the same interpreter, which is started once.
    let python = OnceCell::new();
    let strategies = STRATEGIES.iter().map(|strategy| {
        let reason = if strategy.driver == Driver::Python {
            python.get_or_init(|| strategy.why_unavailable()).clone()
        } else {
            strategy.why_unavailable()
        };
        value(strategy.name, strategy.about, reason)
    });
    let backends = sink::MODES
        .iter()
        .map(|mode| value(mode.name, mode.about, (mode.probe)()));
    let directs = DIRECTS.iter().map(|(direct, name, about)| {
        let required = *direct == Direct::Require;
        let reason = required.then(|| sink::why_not_direct(here)).flatten();
        value(name, about, reason)
    });
    let dontcaches = DONTCACHE.iter().map(|(name, about)| {
        let reason = (*name == "on")
            .then(|| sink::why_not_dontcache(here))
            .flatten();
        value(name, about, reason)
    });
    let durabilities: Vec<_> = DURABILITIES
        .iter()
        .map(|(_, name, about)| (*name, *about))
        .collect();
    let axes = [
        ("backend", "by which calls", backends.collect()),
        (
            "direct",
            "whether the page cache is passed by",
            directs.collect(),
        ),
        (
            "dontcache",
            "whether written pages are dropped from the page cache",
            dontcaches.collect(),
        ),
        (
            "durability",
            "when written data must be on the disk",
            listed(&durabilities),
        ),
        (
            "strategy",
            "when contents are produced and who writes them",
            strategies.collect(),
        ),
    ];
    let mut axes: BTreeMap<_, _> = axes
        .into_iter()
        .map(|(name, about, values)| {
            let about = about.to_owned();
            (name.to_owned(), Axis { about, values })
        })
        .collect();
    axes.insert("allocator".to_owned(), worker::allocator::axis());
    Description {
        protocol: worker::PROTOCOL,
        name: "dgen".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        features: Vec::new(),
        allocator: worker::allocator::observe(),
        axes,
        metrics: metrics(),
    }
}

fn metrics() -> Vec<Metric> {
    let bytes = |name, about| metric(name, Unit::Bytes, Direction::None, about);
    let count = |name, about| metric(name, Unit::Count, Direction::None, about);
    let events = |name, about| metric(name, Unit::Count, Direction::Lower, about);
    let seconds = |name, about| metric(name, Unit::S, Direction::Lower, about);
    vec![
        count(
            "achieved_depth",
            "blocks under way, mean over the elapsed time",
        ),
        bytes("buffer_bytes", "bytes of a buffer"),
        count("buffers", "buffers that were filled"),
        bytes(
            "cached_bytes_after",
            "bytes of the file in the page cache afterwards",
        ),
        bytes(
            "cached_bytes_before",
            "bytes of the replaced file in the page cache before writing",
        ),
        count(
            "depth",
            "the most blocks that one thread may have under way",
        ),
        seconds(
            "elapsed_s",
            "from the first contents to the last completion",
        ),
        count("files", "files written"),
        bytes("filled_bytes", "bytes of contents produced"),
        seconds(
            "first_done_s",
            "from the first contents to the first completion",
        ),
        seconds("latency_max_s", "longest time of a block under way"),
        seconds("latency_p50_s", "time of a block under way, median"),
        seconds(
            "latency_p90_s",
            "time of a block under way, 90th percentile",
        ),
        seconds(
            "latency_p999_s",
            "time of a block under way, 99.9th percentile",
        ),
        seconds(
            "latency_p99_s",
            "time of a block under way, 99th percentile",
        ),
        count("operations", "operations that completed"),
        events("repeated", "completions that asked for a repetition"),
        events("short", "completions with fewer bytes than asked for"),
        seconds(
            "synced_s",
            "from the first contents until the file was synced as asked",
        ),
    ]
}

fn metric(name: &str, unit: Unit, direction: Direction, about: &str) -> Metric {
    Metric {
        name: name.to_owned(),
        unit,
        direction,
        about: about.to_owned(),
    }
}

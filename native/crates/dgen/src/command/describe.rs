//! What this worker is.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use dgen::read::{ACCESSES, BACKENDS};
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

/// Name, unit, direction and meaning of every metric.
const METRICS: &[(&str, Unit, Direction, &str)] = &[
    (
        "achieved_depth",
        Unit::Count,
        Direction::None,
        "blocks under way, mean over the elapsed time",
    ),
    (
        "buffer_bytes",
        Unit::Bytes,
        Direction::None,
        "bytes of a buffer",
    ),
    (
        "buffers",
        Unit::Count,
        Direction::None,
        "buffers that were filled",
    ),
    (
        "cached_bytes_after",
        Unit::Bytes,
        Direction::None,
        "bytes of the file in the page cache afterwards",
    ),
    (
        "cached_bytes_before",
        Unit::Bytes,
        Direction::None,
        "bytes of the file that stood there before in the page cache",
    ),
    (
        "depth",
        Unit::Count,
        Direction::None,
        "the most blocks that one thread may have under way",
    ),
    (
        "elapsed_s",
        Unit::S,
        Direction::Lower,
        "from the first contents or request to the last completion",
    ),
    ("files", Unit::Count, Direction::None, "files written"),
    (
        "filled_bytes",
        Unit::Bytes,
        Direction::None,
        "bytes of contents produced",
    ),
    (
        "first_done_s",
        Unit::S,
        Direction::Lower,
        "from the first contents or request to the first completion",
    ),
    (
        "latency_max_s",
        Unit::S,
        Direction::Lower,
        "longest time of a block under way",
    ),
    (
        "latency_p50_s",
        Unit::S,
        Direction::Lower,
        "time of a block under way, median",
    ),
    (
        "latency_p90_s",
        Unit::S,
        Direction::Lower,
        "time of a block under way, 90th percentile",
    ),
    (
        "latency_p999_s",
        Unit::S,
        Direction::Lower,
        "time of a block under way, 99.9th percentile",
    ),
    (
        "latency_p99_s",
        Unit::S,
        Direction::Lower,
        "time of a block under way, 99th percentile",
    ),
    (
        "operations",
        Unit::Count,
        Direction::None,
        "operations that completed",
    ),
    (
        "repeated",
        Unit::Count,
        Direction::Lower,
        "completions that asked for a repetition",
    ),
    (
        "short",
        Unit::Count,
        Direction::Lower,
        "completions with fewer bytes than asked for",
    ),
    (
        "synced_s",
        Unit::S,
        Direction::Lower,
        "from the first contents until the file was synced as asked",
    ),
];

/// Where it is asked is where it will write: what the file system there cannot do is unavailable.
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
        .map(|mode| value(mode.name, mode.about, (mode.probe)()))
        .chain(
            BACKENDS
                .iter()
                .filter(|backend| sink::mode(backend.name).is_none())
                .map(|backend| value(backend.name, backend.about, (backend.probe)())),
        );
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
    let accesses: Vec<_> = ACCESSES
        .iter()
        .map(|access| (access.name, access.about))
        .collect();
    let axes = [
        ("access", "in which order a file is read", listed(&accesses)),
        (
            "backend",
            "by which calls; pwrite writes, pread reads, the others do both",
            backends.collect(),
        ),
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
    METRICS
        .iter()
        .map(|&(name, unit, direction, about)| Metric {
            name: name.to_owned(),
            unit,
            direction,
            about: about.to_owned(),
        })
        .collect()
}

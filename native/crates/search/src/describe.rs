//! Description of this worker.

use search::{engine, fold, job, parser};
use worker::describe::{Axis, Description, Direction, Metric, Unit, Value};

use crate::arguments::{OUTPUTS, PREFILTERS};

pub(crate) fn describe() -> Description {
    let engines: Vec<_> = engine::ENGINES
        .iter()
        .map(|engine| (engine.name, engine.about))
        .collect();
    let parsers: Vec<_> = parser::PARSERS
        .iter()
        .map(|parser| (parser.name, parser.about))
        .collect();
    let folds: Vec<_> = fold::FOLDS
        .iter()
        .map(|(_, name, about)| (*name, *about))
        .collect();
    let readings: Vec<_> = job::READINGS
        .iter()
        .map(|(_, name, about)| (*name, *about))
        .collect();
    let listed = [
        (
            "channel",
            "how results of an asynchronous engine are handed on",
            job::CHANNELS,
        ),
        (
            "concurrency",
            "files that an asynchronous engine searches at one time",
            job::CONCURRENCY,
        ),
        ("engine", "who does the work", &engines),
        (
            "fold",
            "how literals are compared; the answers are the same",
            &folds,
        ),
        (
            "line-buffer",
            "whether a line gets a buffer of its own",
            job::LINE_BUFFERS,
        ),
        ("output", "where the list goes", OUTPUTS),
        ("parser", "who reads a line", &parsers),
        (
            "prefilter",
            "whether lines that cannot match are left out before they are parsed",
            PREFILTERS,
        ),
        ("reading", "how bytes come in", &readings),
    ];
    let described = |about: &str, values: &[(&str, &str)]| Axis {
        about: about.to_owned(),
        values: values
            .iter()
            .map(|(name, about)| Value::available(name, about))
            .collect(),
    };
    let mut axes: std::collections::BTreeMap<_, _> = listed
        .into_iter()
        .map(|(name, about, values)| (name.to_owned(), described(about, values)))
        .collect();
    if let Some(axis) = axes.get_mut("parser") {
        for (value, parser) in axis.values.iter_mut().zip(parser::PARSERS) {
            value.limited = (parser.simd)().limited();
        }
    }
    axes.insert("allocator".to_owned(), worker::allocator::axis());
    Description {
        protocol: worker::PROTOCOL,
        name: "search".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        features: worker::allocator::features().map(str::to_owned).collect(),
        allocator: worker::allocator::observe(),
        axes,
        metrics: METRICS
            .iter()
            .map(|(name, unit, direction, about)| Metric {
                name: (*name).to_owned(),
                unit: *unit,
                direction: *direction,
                about: (*about).to_owned(),
            })
            .collect(),
    }
}

static METRICS: &[(&str, Unit, Direction, &str)] = &[
    (
        "bad_lines",
        Unit::Count,
        Direction::None,
        "lines that are not what they must be, among those parsed",
    ),
    (
        "buffer_peak",
        Unit::Bytes,
        Direction::None,
        "the largest buffer that lines were read into",
    ),
    ("files", Unit::Count, Direction::None, "files searched"),
    (
        "files_whole",
        Unit::Count,
        Direction::None,
        "files that tokio-hybrid read in one piece",
    ),
    (
        "in_flight_peak",
        Unit::Count,
        Direction::None,
        "files, or pieces of files, searched at one time, at most",
    ),
    (
        "lines",
        Unit::Count,
        Direction::None,
        "lines, blank ones included",
    ),
    (
        "lines_copied",
        Unit::Count,
        Direction::None,
        "lines that were copied into an allocation of their own",
    ),
    (
        "lines_judged",
        Unit::Count,
        Direction::None,
        "lines that serde-json judged because the chosen parser refused them",
    ),
    (
        "lines_parsed",
        Unit::Count,
        Direction::None,
        "lines given to the parser",
    ),
    (
        "pieces",
        Unit::Count,
        Direction::None,
        "files, or pieces of files, that were one piece of work each",
    ),
    (
        "reads",
        Unit::Count,
        Direction::Lower,
        "reads that the engine asked for",
    ),
    (
        "texts_folded",
        Unit::Count,
        Direction::Lower,
        "texts folded by Unicode's full table",
    ),
    (
        "threads_alive",
        Unit::Count,
        Direction::None,
        "threads of the process when the search ended, idle ones and the first one included",
    ),
    (
        "threads_blocking",
        Unit::Count,
        Direction::None,
        "of these, threads of tokio's or smol's pool for calls that block",
    ),
    (
        "threads_executor",
        Unit::Count,
        Direction::None,
        "of these, threads of rayon's pool, tokio's workers, or threads of smol's executor",
    ),
];

//! Description of this worker.

use clap::{Args, Command};
use worker::command_line;
use worker::describe::{Description, Direction, Metric, Unit};

use crate::arguments::Options;

pub(crate) fn describe() -> Description {
    let mut axes = command_line::axes(&Options::augment_args(Command::new("run")));
    for (name, axis) in &mut axes {
        for (index, value) in axis.values.iter_mut().enumerate() {
            value.unavailable = match name.as_str() {
                "io" => (source::MODES[index].probe)(),
                "madvise" => (source::ADVICE[index].probe)(),
                _ => None,
            };
        }
    }
    let metrics = vec![
        Metric::new(
            "carry_peak_bytes",
            Unit::Bytes,
            Direction::None,
            "most bytes carried from a block to the next, because no safe cut was found",
        ),
        Metric::new(
            "read_calls",
            Unit::Count,
            Direction::Lower,
            "read(2) calls on the inputs",
        ),
        Metric::new(
            "ring_completions",
            Unit::Count,
            Direction::None,
            "operations that an io_uring completed",
        ),
    ];
    let mut described = Description::new("tally", env!("CARGO_PKG_VERSION"), axes, metrics);
    if cfg!(feature = "test-swap-io") {
        described.features.push("test-swap-io".to_owned());
    }
    described
}

//! Description of this worker.

use clap::{Args, Command};
use tally::job::Count;
use worker::describe::Description;
use worker::{command_line, metrics};

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
    let metrics = metrics::describe(METRICS);
    let mut described = Description::new("tally", env!("CARGO_PKG_VERSION"), axes, metrics);
    if cfg!(feature = "test-swap-io") {
        described.features.push("test-swap-io".to_owned());
    }
    described
}

worker::metrics! { Count {
    "carry_peak_bytes": Bytes None, |of| of.carry_peak,
        "most bytes carried from a block to the next, because no safe cut was found";
    "read_calls": Count Lower, |of| of.read_calls, "read(2) calls on the inputs";
    "ring_completions": Count None, |of| of.ring_completions, "operations that an io_uring completed";
} }

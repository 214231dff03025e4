//! Description of this worker.

use std::cell::OnceCell;
use std::path::Path;

use clap::{Args, Command};
use dgen::write::DURABILITIES;
use dgen::write::strategy::{Driver, STRATEGIES};
use worker::describe::{Axis, Description, Value};
use worker::{command_line, metrics};

use super::metrics::METRICS;
use super::write::Options;

/// Describes the worker for the current folder: features that its file system lacks are unavailable.
pub(crate) fn describe() -> Description {
    let here = Path::new(".");
    // The strategies in Python need the same interpreter, which is started once.
    let python = OnceCell::new();
    let mut axes = command_line::axes(&Options::augment_args(Command::new("write")));
    for (name, axis) in &mut axes {
        for (index, value) in axis.values.iter_mut().enumerate() {
            value.unavailable = match (name.as_str(), value.name.as_str()) {
                ("backend", _) => (sink::MODES[index].probe)(),
                ("direct", "require") => sink::why_not_direct(here),
                ("dontcache", "on") => sink::why_not_dontcache(here),
                ("pages", "huge") => sink::why_no_huge_pages(),
                ("strategy", _) => {
                    let strategy = STRATEGIES[index];
                    match strategy.driver {
                        Driver::Python => python.get_or_init(|| strategy.why_unavailable()).clone(),
                        _ => strategy.why_unavailable(),
                    }
                }
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
    let metrics = metrics::describe(METRICS);
    Description::new("dgen", env!("CARGO_PKG_VERSION"), axes, metrics)
}

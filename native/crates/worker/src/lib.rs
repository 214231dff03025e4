//! The worker protocol of benchctl, small enough that any program can adopt it.
//!
//! A worker does three things: it prints a [`describe::Description`] when asked to `describe`, it does its work
//! once when asked to `run`, and then it hands a [`answer::Outcome`] to [`answer::deliver`].
//! The page `docs/reference/worker-protocol.md` is the contract; the golden pair in `tests/fixtures/protocol` is
//! read by this crate's tests and by benchctl's.
//!
//! A whole worker:
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use worker::answer::{self, Answer, Outcome};
//! use worker::describe::Description;
//! use worker::exit::Failure;
//! use worker::phases::Phases;
//!
//! fn describe() -> Description {
//!     Description::new("sum", "1.0.0", BTreeMap::new(), Vec::new())
//! }
//!
//! fn run() -> Result<(), Failure> {
//!     let mut phases = Phases::default();
//!     let sum: u64 = phases.time("sum", || (1..=1000).sum());
//!     answer::deliver(Outcome {
//!         answer: Answer { count: 1000, digest: sum.to_string(), more: BTreeMap::new() },
//!         effective: BTreeMap::new(),
//!         threads: 1,
//!         phases,
//!         bytes: 0,
//!         metrics: BTreeMap::new(),
//!         notes: Vec::new(),
//!     })
//! }
//!
//! assert!(describe().to_json().starts_with("{\"protocol\":1,"));
//! assert!(run().is_ok());
//! ```

pub mod allocator;
pub mod answer;
pub mod command_line;
pub mod describe;
#[cfg(target_os = "linux")]
pub mod direct;
pub mod exit;
pub mod io_uring;
pub mod mapped;
pub mod metrics;
pub mod phases;
pub mod recognition;
pub mod size;
pub mod usage;

use std::collections::BTreeMap;
use std::fmt::Write;

use describe::{Axis, Description, Metric};

/// The protocol that this crate speaks.
pub const PROTOCOL: u32 = 1;

// Not in `describe`, whose types the axis `allocator` is made of.
impl Description {
    /// Describes the worker `name` with its `axes`, to which the axis `allocator` is added.
    #[must_use]
    pub fn new(
        name: &str,
        version: &str,
        mut axes: BTreeMap<String, Axis>,
        metrics: Vec<Metric>,
    ) -> Self {
        axes.insert("allocator".to_owned(), allocator::axis());
        Self {
            protocol: PROTOCOL,
            name: name.to_owned(),
            version: version.to_owned(),
            features: allocator::features().map(str::to_owned).collect(),
            allocator: allocator::observe(),
            axes,
            metrics,
        }
    }
}

/// The bytes in lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

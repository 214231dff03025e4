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
//! use worker::phases::Phases;
//!
//! fn describe() -> Description {
//!     Description {
//!         protocol: worker::PROTOCOL,
//!         name: "sum".to_owned(),
//!         version: "1.0.0".to_owned(),
//!         features: Vec::new(),
//!         allocator: worker::allocator::observe(),
//!         axes: BTreeMap::from([("allocator".to_owned(), worker::allocator::axis())]),
//!         metrics: Vec::new(),
//!     }
//! }
//!
//! fn run() -> std::io::Result<()> {
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
//!     })?;
//!     Ok(())
//! }
//!
//! assert!(describe().to_json().starts_with("{\"protocol\":1,"));
//! assert!(run().is_ok());
//! ```

pub mod allocator;
pub mod answer;
pub mod describe;
pub mod exit;
pub mod mapped;
pub mod phases;
pub mod size;
pub mod usage;

/// The protocol that this crate speaks.
pub const PROTOCOL: u32 = 1;

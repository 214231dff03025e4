//! The worker protocol of benchctl, small enough that any program can adopt it.
//!
//! A worker does three things: it prints a [`describe::Description`] when asked to `describe`, it does its work
//! once when asked to `run`, and then it hands a [`answer::Outcome`] to [`answer::deliver`].
//! The page `docs/reference/worker-protocol.md` is the contract; the golden pair in `tests/fixtures/protocol` is
//! read by this crate's tests and by benchctl's.

pub mod allocator;
pub mod answer;
pub mod describe;
pub mod exit;
pub mod phases;
pub mod usage;

/// The protocol that this crate speaks.
pub const PROTOCOL: u32 = 1;

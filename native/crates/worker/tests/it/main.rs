//! Integration tests of the protocol. One program holds them all, so that it is linked once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` or error stops at once"
)]

#[path = "../needs/mod.rs"]
mod needs;
mod protocol;
mod without;

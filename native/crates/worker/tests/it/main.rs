//! Integration tests of the protocol. They are one program, which is linked once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` or error stops at once"
)]

#[path = "../needs/mod.rs"]
mod needs;
mod protocol;
mod without;

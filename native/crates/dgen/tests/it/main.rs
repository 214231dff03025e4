//! Integration tests of dgen. They are one program, which is linked once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` or error stops at once"
)]

mod data;
mod data_measured;
mod faults;
mod files;
mod fio;
#[path = "../../../worker/tests/needs/mod.rs"]
mod needs;
mod receipt;
mod sessions;
mod texts;
mod writing;

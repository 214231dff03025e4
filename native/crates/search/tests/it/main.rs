//! Integration tests of search. They are one program, which is linked once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` or error stops at once"
)]

mod binary;
mod conformance;
mod oracle;
mod properties;

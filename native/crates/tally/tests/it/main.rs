//! Integration tests of tally. They are one program, which is linked once. With the feature `test-swap-io`,
//! which replaces a mode on purpose, it contains only the test of that.
#![expect(
    clippy::unwrap_used,
    reason = "a test that meets an unexpected `None` or error stops at once"
)]

#[cfg(not(feature = "test-swap-io"))]
mod answers;
#[cfg(not(feature = "test-swap-io"))]
mod conformance;
#[cfg(not(feature = "test-swap-io"))]
#[path = "../../../worker/tests/needs/mod.rs"]
mod needs;
#[cfg(not(feature = "test-swap-io"))]
mod receipt;
#[cfg(all(
    not(feature = "test-swap-io"),
    target_os = "linux",
    target_arch = "x86_64"
))]
mod refused;
#[cfg(feature = "test-swap-io")]
mod swapped;

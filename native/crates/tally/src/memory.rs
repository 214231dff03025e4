//! Memory that grows with the input. Running out of it is an ordinary failure of a run, and must not look like a defect.

use std::io::{self, Write};
use std::process;
use std::sync::Once;

use worker::exit;

/// Reserves room for `additional` more items, or ends the process with an error message.
///
/// Ends it from here, because the tables grow inside loops that run for every word and have no way to fail.
pub(crate) fn reserve<T>(items: &mut Vec<T>, additional: usize) {
    if items.try_reserve(additional).is_err() {
        exit_out_of_memory(
            items
                .len()
                .saturating_add(additional)
                .saturating_mul(size_of::<T>()),
        );
    }
}

/// Appends `more` to `bytes`.
pub(crate) fn append(bytes: &mut Vec<u8>, more: &[u8]) {
    reserve(bytes, more.len());
    bytes.extend_from_slice(more);
}

#[cold]
fn exit_out_of_memory(bytes: usize) -> ! {
    /// If several threads run out of memory, one reports it and the others wait here for the end.
    static REPORT: Once = Once::new();
    REPORT.call_once(|| {
        let _ = writeln!(
            io::stderr(),
            "tally: out of memory: {bytes} bytes in one piece cannot be had"
        );
        process::exit(exit::FAILED.into())
    });
    process::exit(exit::FAILED.into())
}

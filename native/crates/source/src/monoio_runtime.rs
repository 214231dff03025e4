//! Shared code of the two `monoio` modes: the runtime on the `io_uring` driver, and the proof that
//! the driver read.
//!
//! `monoio` is built without its other driver: there is nothing that it could fall back to.

use std::future::Future;
use std::io;

use monoio::{IoUringDriver, Runtime, RuntimeBuilder};

use crate::{Evidence, ring};

/// Completions in the runtime's own ring, by the kernel's account of that descriptor.
pub(crate) const COMPLETIONS: &str = "monoio_ring_completions";

/// Bytes that came from `read` calls of the thread instead of the ring, by the kernel's account of the thread.
pub(crate) const BY_READ_CALLS: &str = "monoio_read_call_bytes";

/// Submission entries: the least that `monoio` takes.
const ENTRIES: u32 = 256;

fn build() -> io::Result<Runtime<IoUringDriver>> {
    RuntimeBuilder::<IoUringDriver>::new()
        .with_entries(ENTRIES)
        .build()
}

pub(crate) fn probe() -> Option<String> {
    match ring::built(build) {
        Ok((runtime, _)) => {
            ring::closed(runtime);
            None
        }
        Err(error) => Some(ring::unavailable(&error)),
    }
}

/// Runs `work` on its own runtime, and notes how many completions its ring got.
///
/// # Errors
/// `io_uring` cannot be set up, or `work` failed.
pub(crate) fn block_on<T>(
    evidence: &mut Evidence,
    work: impl AsyncFnOnce(&mut Evidence) -> io::Result<T>,
) -> io::Result<T> {
    let (mut runtime, descriptor) = ring::built(build)
        .map_err(|error| io::Error::new(error.kind(), ring::unavailable(&error)))?;
    let result = runtime.block_on(work(evidence));
    if let Some(count) = descriptor.and_then(ring::completions) {
        evidence.facts.insert(COMPLETIONS, count);
    }
    ring::closed(runtime);
    result
}

/// Awaits `reading`, and notes the bytes that came from `read` calls meanwhile: none, if the ring read.
pub(crate) async fn watched<T>(evidence: &mut Evidence, reading: impl Future<Output = T>) -> T {
    let before = ring::bytes_of_read_calls();
    let result = reading.await;
    if let (Some((before, own)), Some((after, _))) = (before, ring::bytes_of_read_calls()) {
        let bytes = after.saturating_sub(before + own);
        *evidence.facts.entry(BY_READ_CALLS).or_default() += bytes;
    }
    result
}

/// Returns whether `evidence` contains only facts of `monoio`, at least `least` completions, and no
/// bytes read by another call.
pub(crate) fn read_by_ring(evidence: &Evidence, least: u64) -> bool {
    let fact = |name| evidence.facts.get(name).copied();
    evidence
        .facts
        .keys()
        .all(|name| [COMPLETIONS, BY_READ_CALLS].contains(name))
        && fact(COMPLETIONS).is_some_and(|count| count >= least)
        && fact(BY_READ_CALLS).unwrap_or(0) == 0
        && evidence.read_calls == 0
        && evidence.mapped_bytes == 0
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// An asynchronous function around an ordinary read, which the evidence must not accept.
    #[test]
    fn an_ordinary_read_inside_the_runtime_is_detected() {
        if !crate::needs::can_have("io_uring", probe()) {
            return;
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 5000]).unwrap();
        let mut evidence = Evidence::default();
        block_on(&mut evidence, async |evidence| {
            let reading = async {
                let mut contents = Vec::new();
                std::fs::File::open(file.path())?.read_to_end(&mut contents)?;
                io::Result::Ok(contents)
            };
            watched(evidence, reading).await
        })
        .unwrap();
        assert_eq!(
            evidence.facts.get(BY_READ_CALLS).copied().unwrap_or(5000),
            5000
        );
        assert_eq!(evidence.facts.get(COMPLETIONS).copied().unwrap_or(0), 0);
        assert!(!read_by_ring(&evidence, 1));
    }
}

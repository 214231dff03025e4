//! An `io_uring` of one thread, set up as well as the kernel allows.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, cqueue, opcode};

use crate::{Fault, Writer};

/// Returns the reason why no ring is available, or `None`.
#[must_use]
pub fn why_unavailable() -> Option<String> {
    IoUring::new(2)
        .err()
        .map(|error| worker::io_uring::unavailable(&error))
}

/// Refusals in a row, with nothing taken and nothing completed between them, after which a ring counts as stuck.
const MAX_RETRIES: u32 = 10_000;

/// Number of refusals that are retried without a pause, because most are temporary.
const IMMEDIATE_RETRIES: u32 = 100;

/// Pause before each later retry, so that a kernel short of memory has about a second to free some.
const PAUSE: Duration = Duration::from_micros(100);

/// Counter of successive temporary refusals, which limits the retries.
#[derive(Debug, Default)]
pub(crate) struct RetryLimit {
    count: u32,
}

impl RetryLimit {
    /// Returns whether the operation with this outcome must be repeated. Fails for an error that is permanent, or after
    /// [`MAX_RETRIES`] temporary ones.
    pub(crate) fn should_retry(&mut self, outcome: io::Result<usize>) -> Result<bool, Fault> {
        match outcome {
            Ok(_) => {
                self.reset();
                Ok(false)
            }
            // Interrupted, or the kernel is short of memory or wants its completions seen first.
            Err(error)
                if self.count < MAX_RETRIES
                    && matches!(
                        error.raw_os_error(),
                        Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
                    ) =>
            {
                self.count += 1;
                Ok(true)
            }
            Err(error) => Err(Fault::during("submit to io_uring")(error)),
        }
    }

    /// After a completion.
    pub(crate) fn reset(&mut self) {
        self.count = 0;
    }

    fn pause(&self) {
        if self.count > IMMEDIATE_RETRIES {
            thread::sleep(PAUSE);
        }
    }
}

/// A ring of one thread, set up as well as the kernel allows.
pub(crate) struct Ring {
    uring: IoUring,
    retries: RetryLimit,
    registered_file: bool,
    registered_buffers: bool,
    in_flight: usize,
}

/// Operations of a ring; tests inject faults here.
pub(crate) trait Operations: Sized {
    /// Opens a ring for `depth` operations of the calling thread on the file of `writer`, with its buffers registered if
    /// possible. Each step that the kernel refuses is skipped and noted. Fails if no ring is available.
    fn open(writer: &Writer<'_>, depth: usize, notes: &mut Vec<String>) -> Result<Self, Fault>;

    /// Operations that the ring takes at once.
    fn entries(&self) -> usize;

    /// Operations that were pushed and whose completion was not seen.
    fn in_flight(&self) -> usize;

    /// Pushes a write of `bytes` at `offset`; `index` is their buffer in the registered pool.
    ///
    /// # Safety
    /// `bytes` stay valid and unchanged until the completion with `key` was seen.
    unsafe fn push(
        &mut self,
        file: &File,
        bytes: &[u8],
        index: usize,
        offset: u64,
        flags: i32,
        key: u64,
    ) -> Result<(), Fault>;

    /// Submits the pushed operations to the kernel and waits for `completions` completions. `false` if it must be repeated.
    /// Fails if the kernel does not take operations any more, or refused for too long.
    fn enter(&mut self, completions: usize) -> Result<bool, Fault>;

    /// The next completion that is there: its key and the bytes, or the error.
    fn reap(&mut self) -> Option<(u64, io::Result<usize>)>;

    /// Waits for everything in flight. `false` if the ring is stuck before.
    fn drain(&mut self) -> bool {
        while self.in_flight() > 0 {
            if self.enter(1).is_err() {
                return false;
            }
            while self.reap().is_some() {}
        }
        true
    }
}

/// Returns whether `error` permits a degraded set-up, with a note.
fn degrades(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ENOMEM
                | libc::EPERM
                | libc::ENOSYS
                | libc::EINVAL
                | libc::EFAULT
                | libc::EOPNOTSUPP
        )
    )
}

impl Operations for Ring {
    fn open(writer: &Writer<'_>, depth: usize, notes: &mut Vec<String>) -> Result<Self, Fault> {
        let unavailable = |error| Fault::Unavailable(worker::io_uring::unavailable(&error));
        let entries = u32::try_from(depth).unwrap_or(u32::MAX).max(1);
        let tuned = IoUring::builder()
            .setup_clamp()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .build(entries);
        let uring = match tuned {
            Ok(uring) => uring,
            Err(error) if degrades(&error) => {
                let plain = IoUring::builder().setup_clamp().build(entries);
                notes.push(format!(
                    "io_uring without SINGLE_ISSUER and DEFER_TASKRUN: {error}"
                ));
                plain.map_err(unavailable)?
            }
            Err(error) => return Err(unavailable(error)),
        };
        let submitter = uring.submitter();
        let file = submitter.register_files(&[writer.file().as_raw_fd()]);
        let buffers = writer.buffers.pool().map(|pool| {
            let parts: Vec<_> = (0..pool.count())
                .map(|slot| libc::iovec {
                    iov_base: pool.buffer(slot).as_ptr().cast_mut().cast(),
                    iov_len: pool.stride(),
                })
                .collect();
            // SAFETY: the pool outlives the ring: both belong to the writer's call, and the ring is dropped first. The
            // kernel pins the pages, so they stay theirs even if that were wrong.
            unsafe { submitter.register_buffers(&parts) }
        });
        let mut registered = |what, outcome: io::Result<()>| {
            if let Err(error) = &outcome {
                notes.push(format!("io_uring without {what}: {error}"));
            }
            outcome.is_ok()
        };
        Ok(Self {
            registered_file: registered("a registered file", file),
            registered_buffers: buffers
                .is_some_and(|outcome| registered("registered buffers", outcome)),
            uring,
            retries: RetryLimit::default(),
            in_flight: 0,
        })
    }

    fn entries(&self) -> usize {
        self.uring.params().sq_entries() as usize
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    unsafe fn push(
        &mut self,
        file: &File,
        bytes: &[u8],
        index: usize,
        offset: u64,
        flags: i32,
        key: u64,
    ) -> Result<(), Fault> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let index = u16::try_from(index)
            .ok()
            .filter(|_| self.registered_buffers);
        /// Builds the write: the constructors are generic over the kind of descriptor.
        macro_rules! write_to {
            ($file:expr) => {
                match index {
                    Some(index) => opcode::WriteFixed::new($file, bytes.as_ptr(), length, index)
                        .offset(offset)
                        .rw_flags(flags)
                        .build(),
                    None => opcode::Write::new($file, bytes.as_ptr(), length)
                        .offset(offset)
                        .rw_flags(flags)
                        .build(),
                }
            };
        }
        let entry = if self.registered_file {
            write_to!(Fixed(0))
        } else {
            write_to!(Fd(file.as_raw_fd()))
        };
        // SAFETY: the caller keeps the bytes.
        unsafe { self.uring.submission().push(&entry.user_data(key)) }
            .map_err(|full| Fault::during("queue a write")(io::Error::other(full)))?;
        self.in_flight += 1;
        Ok(())
    }

    fn enter(&mut self, completions: usize) -> Result<bool, Fault> {
        let outcome = self.uring.submit_and_wait(completions);
        let retry = self.retries.should_retry(outcome)?;
        if retry {
            self.retries.pause();
        }
        Ok(!retry)
    }

    fn reap(&mut self) -> Option<(u64, io::Result<usize>)> {
        let entry: cqueue::Entry = self.uring.completion().next()?;
        self.in_flight -= 1;
        self.retries.reset();
        let outcome = usize::try_from(entry.result())
            .map_err(|_| io::Error::from_raw_os_error(-entry.result()));
        Some((entry.user_data(), outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: i32) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(code))
    }

    #[test]
    fn temporary_refusals_are_retried_while_there_is_progress() {
        for code in [libc::EINTR, libc::EAGAIN, libc::EBUSY] {
            let mut retries = RetryLimit::default();
            for round in 0..4 {
                for _ in 0..MAX_RETRIES {
                    assert!(retries.should_retry(refusal(code)).unwrap());
                }
                if round % 2 == 0 {
                    assert!(!retries.should_retry(Ok(1)).unwrap());
                } else {
                    retries.reset();
                }
            }
        }
    }

    #[test]
    fn too_many_temporary_refusals_are_an_error() {
        for code in [libc::EINTR, libc::EAGAIN, libc::EBUSY] {
            let mut retries = RetryLimit::default();
            let error = (0..=MAX_RETRIES).find_map(|_| retries.should_retry(refusal(code)).err());
            let message = error.unwrap().to_string();
            assert!(message.contains(&format!("os error {code}")), "{message}");
            // Draining the ring afterwards does not begin to count again.
            assert!(retries.should_retry(refusal(code)).is_err());
        }
    }

    #[test]
    fn a_permanent_refusal_is_an_error_at_once() {
        assert!(
            RetryLimit::default()
                .should_retry(refusal(libc::EBADF))
                .is_err()
        );
    }
}

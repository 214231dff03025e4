//! Requests to the kernel by an `io_uring`, set up as well as the kernel allows: what is below the loop of `uring`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::ring;

/// A requested read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadRequest {
    /// Number of the buffer, and name of the request.
    pub(crate) slot: usize,
    /// Offset inside that buffer.
    pub(crate) address: *mut u8,
    pub(crate) length: u32,
    /// Offset in the file.
    pub(crate) offset: u64,
}

/// Something that takes reads and completes them later, in any order.
pub(crate) trait Requests {
    /// Records a read.
    ///
    /// # Safety
    /// The bytes at its address are not touched, moved or freed before its completion was seen.
    unsafe fn push(&mut self, request: ReadRequest) -> io::Result<()>;

    /// Submits the pushed operations to the kernel, waits for `completions`, and returns how many
    /// the kernel took.
    fn enter(&mut self, completions: usize) -> io::Result<usize>;

    /// Whether a completion is available.
    fn has_completion(&mut self) -> bool;

    /// The slot of a completed read, and its result: bytes, or a negative errno.
    fn next_completion(&mut self) -> Option<(usize, i32)>;
}

/// The real one.
pub(crate) struct UringRequests {
    /// `None` only while it is dropped.
    ring: Option<IoUring>,
    descriptor: types::Fd,
    pub(crate) registered: bool,
}

impl UringRequests {
    /// For reads of `file` into `buffers`, which are registered if the kernel lets them. What it refuses is noted.
    ///
    /// # Safety
    /// The buffers are neither moved, grown nor freed as long as this lives.
    pub(crate) unsafe fn open<'buffers>(
        file: &File,
        buffers: impl ExactSizeIterator<Item = &'buffers mut [u8]>,
        notes: &mut Vec<String>,
    ) -> io::Result<Self> {
        let entries = u32::try_from(buffers.len()).unwrap_or(u32::MAX);
        let ((ring, degraded), _) = ring::create(|| set_up(entries))
            .map_err(|error| io::Error::new(error.kind(), worker::io_uring::unavailable(&error)))?;
        notes.extend(degraded);
        let vectors: Vec<_> = buffers
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: buffer.len(),
            })
            .collect();
        // SAFETY: the caller keeps the buffers where they are until `drop` has unregistered them.
        let registered = unsafe { ring.submitter().register_buffers(&vectors) };
        if let Err(error) = &registered {
            notes.push(format!("io_uring without registered buffers: {error}"));
        }
        Ok(Self {
            ring: Some(ring),
            descriptor: types::Fd(file.as_raw_fd()),
            registered: registered.is_ok(),
        })
    }

    fn ring(&mut self) -> io::Result<&mut IoUring> {
        self.ring
            .as_mut()
            .ok_or_else(|| io::Error::other("the ring is closed"))
    }
}

impl Requests for UringRequests {
    unsafe fn push(&mut self, request: ReadRequest) -> io::Result<()> {
        let ReadRequest {
            slot,
            address,
            length,
            offset,
        } = request;
        let entry = if self.registered {
            let number = u16::try_from(slot).unwrap_or(u16::MAX);
            opcode::ReadFixed::new(self.descriptor, address, length, number)
                .offset(offset)
                .build()
        } else {
            opcode::Read::new(self.descriptor, address, length)
                .offset(offset)
                .build()
        };
        let entry = entry.user_data(slot as u64);
        // SAFETY: the caller leaves the buffer alone until its completion.
        unsafe { self.ring()?.submission().push(&entry) }
            .map_err(|_| io::Error::other("the submission queue is full"))
    }

    fn enter(&mut self, completions: usize) -> io::Result<usize> {
        self.ring()?.submit_and_wait(completions)
    }

    fn has_completion(&mut self) -> bool {
        self.ring
            .as_mut()
            .is_some_and(|ring| !ring.completion().is_empty())
    }

    fn next_completion(&mut self) -> Option<(usize, i32)> {
        let done = self.ring.as_mut()?.completion().next()?;
        Some((
            usize::try_from(done.user_data()).unwrap_or(0),
            done.result(),
        ))
    }
}

impl Drop for UringRequests {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.take() {
            if self.registered {
                // The kernel frees an instance later; the locked memory goes back now.
                let _ = ring.submitter().unregister_buffers();
            }
            ring::close(ring);
        }
    }
}

/// One instance of `io_uring`, with the first flags that the kernel takes, and the errors of those it did not take.
pub(crate) fn set_up(entries: u32) -> io::Result<(IoUring, Vec<String>)> {
    let attempts: [(&str, &dyn Fn() -> io::Result<IoUring>); 3] = [
        ("SINGLE_ISSUER and DEFER_TASKRUN", &|| {
            IoUring::builder()
                .setup_single_issuer()
                .setup_defer_taskrun()
                .build(entries)
        }),
        ("COOP_TASKRUN", &|| {
            IoUring::builder().setup_coop_taskrun().build(entries)
        }),
        ("no flag", &|| IoUring::builder().build(entries)),
    ];
    first_that_works(&attempts)
}

/// Returns the first success, with a note for each failure before it. Only an errno about the flags
/// or about memory is a reason to try the next; otherwise the last error is returned.
fn first_that_works<T>(
    attempts: &[(&str, &dyn Fn() -> io::Result<T>)],
) -> io::Result<(T, Vec<String>)> {
    let mut notes = Vec::new();
    let mut last = None;
    for (name, attempt) in attempts {
        match attempt() {
            Ok(made) => return Ok((made, notes)),
            Err(error) => {
                let errno = Errno::from_io_error(&error);
                let degrades = matches!(errno, Some(Errno::INVAL | Errno::NOMEM));
                notes.push(format!("io_uring without {name}: {error}"));
                last = Some(error);
                if !degrades {
                    break;
                }
            }
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("nothing was tried")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(errno: i32) -> impl Fn() -> io::Result<u8> {
        move || Err(io::Error::from_raw_os_error(errno))
    }

    #[test]
    fn flags_that_the_kernel_does_not_know_are_left_out_and_named() {
        let (unknown, memory) = (fails(22), fails(12));
        let (made, notes) =
            first_that_works(&[("A", &unknown), ("B", &memory), ("C", &|| Ok(3))]).unwrap();
        assert_eq!(made, 3);
        assert_eq!(
            notes,
            [
                "io_uring without A: Invalid argument (os error 22)",
                "io_uring without B: Cannot allocate memory (os error 12)"
            ]
        );
    }

    #[test]
    fn a_forbidden_set_up_is_not_retried_with_other_flags() {
        for errno in [1, 38] {
            let forbidden = fails(errno);
            let error = first_that_works(&[("A", &forbidden), ("B", &|| panic!("tried again"))])
                .unwrap_err();
            assert_eq!(error.raw_os_error(), Some(errno));
        }
    }
}

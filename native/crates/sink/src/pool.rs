//! Memory that the kernel may read for writes while the program continues.

use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Fault;

/// Buffers of one size, each beginning on a page: enough for any `O_DIRECT`.
#[derive(Debug)]
pub struct Pool {
    start: NonNull<u8>,
    stride: usize,
    count: usize,
    kept: AtomicBool,
}

// SAFETY: the pool owns its mapping; shared references only read it, and writing takes a unique one.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

const PAGE: usize = 4096;

impl Pool {
    /// Maps `count` buffers of at least `bytes`. Memory is taken when it is first touched.
    ///
    /// # Errors
    /// So much memory is unavailable.
    pub fn new(bytes: NonZeroUsize, count: NonZeroUsize) -> Result<Self, Fault> {
        let too_much = || {
            Fault::Unavailable(format!(
                "{count} buffers of {bytes} bytes are more than memory can hold"
            ))
        };
        let stride = bytes
            .get()
            .checked_next_multiple_of(PAGE)
            .ok_or_else(too_much)?;
        let whole = stride.checked_mul(count.get()).ok_or_else(too_much)?;
        // SAFETY: an anonymous mapping at an address that the kernel chooses overlaps no other
        // memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                whole,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            let source = io::Error::last_os_error();
            return Err(Fault::Unavailable(format!(
                "{count} buffers of {bytes} bytes cannot be had: {source}"
            )));
        }
        // Large pages make filling and pinning cheaper. Advice only: without them the pool is the same.
        // SAFETY: the range is the mapping just made.
        let _ = unsafe { libc::madvise(start, whole, libc::MADV_HUGEPAGE) };
        let start = NonNull::new(start.cast()).ok_or_else(too_much)?;
        Ok(Self {
            start,
            stride,
            count: count.get(),
            kept: AtomicBool::new(false),
        })
    }

    /// Number of buffers.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of each buffer: the requested size, rounded up to whole pages.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    fn at(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.count, "slot {slot} of a pool of {}", self.count);
        // SAFETY: `slot` is below the count, so the offset is inside the mapping.
        unsafe { self.start.as_ptr().add(slot * self.stride) }
    }

    /// The buffer in `slot`.
    ///
    /// # Panics
    /// There is no such slot.
    #[must_use]
    pub fn buffer(&self, slot: usize) -> &[u8] {
        // SAFETY: the mapping has `stride` bytes from there, and writing them takes `&mut self`.
        unsafe { std::slice::from_raw_parts(self.at(slot), self.stride) }
    }

    /// The buffer in `slot`, to be filled. Only these bytes are borrowed as far as memory goes: the kernel may read the
    /// other buffers meanwhile.
    ///
    /// # Panics
    /// There is no such slot.
    pub fn buffer_mut(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: the mapping has `stride` bytes from there, and `self` is borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.at(slot), self.stride) }
    }

    /// All buffers, to be filled by several threads.
    pub(crate) fn buffers_mut(&mut self) -> impl Iterator<Item = &mut [u8]> {
        // SAFETY: the mapping has `stride * count` bytes, and `self` is borrowed uniquely.
        let whole = unsafe {
            std::slice::from_raw_parts_mut(self.start.as_ptr(), self.stride * self.count)
        };
        whole.chunks_mut(self.stride)
    }

    /// Leaks the memory: the kernel may still read it, and there is no way to know when it stops.
    pub fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if !self.kept.load(Ordering::Relaxed) {
            // SAFETY: the mapping was made with this length, and no reference outlives the pool.
            let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.stride * self.count) };
        }
    }
}

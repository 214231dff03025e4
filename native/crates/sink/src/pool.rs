//! Memory that the kernel may read for writes while the program continues.

use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Fault;
use crate::pages::{HUGE, Pages};

/// Buffers of one size, each beginning on a page: enough for any `O_DIRECT`.
#[derive(Debug)]
pub struct Pool {
    start: NonNull<u8>,
    /// Bytes of the mapping.
    length: usize,
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
    /// Maps `count` buffers of at least `bytes`. Memory is taken when it is first touched. Without huge pages, or if the
    /// kernel has none left, the pool has pages of 4 KiB ([`crate::resident`] shows it).
    ///
    /// # Errors
    /// So much memory is unavailable.
    pub fn new(bytes: NonZeroUsize, count: NonZeroUsize, pages: Pages) -> Result<Self, Fault> {
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
        // A huge page begins at a multiple of its size, where older kernels do not begin a mapping.
        let (length, spare) = match pages {
            Pages::Huge => (whole.checked_next_multiple_of(HUGE), HUGE),
            Pages::Small => (Some(whole), 0),
        };
        let length = length.ok_or_else(too_much)?;
        let mapped = length.checked_add(spare).ok_or_else(too_much)?;
        // SAFETY: an anonymous mapping at an address that the kernel chooses overlaps no other
        // memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
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
        let before = match pages {
            Pages::Huge => start.align_offset(HUGE).min(spare),
            Pages::Small => 0,
        };
        // SAFETY: `before` is at most `spare`, so the first of the remaining bytes and their end are in the mapping.
        let (first, end) = unsafe { (start.add(before), start.add(before + length)) };
        for (unused, bytes) in [(start, before), (end, spare - before)] {
            if bytes > 0 {
                // SAFETY: whole pages of the mapping just made, and outside the pool.
                let _ = unsafe { libc::munmap(unused, bytes) };
            }
        }
        // Huge pages make filling and pinning cheaper. Advice only: without them the pool is the same.
        // SAFETY: the range is what is left of the mapping just made.
        let _ = unsafe { libc::madvise(first, length, pages.advice()) };
        let start = NonNull::new(first.cast()).ok_or_else(too_much)?;
        Ok(Self {
            start,
            length,
            stride,
            count: count.get(),
            kept: AtomicBool::new(false),
        })
    }

    /// Addresses of the pool.
    #[must_use]
    pub fn addresses(&self) -> Range<usize> {
        let start = self.start.as_ptr() as usize;
        start..start + self.length
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
            let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::nonzero;

    #[test]
    fn huge_pages_begin_at_a_multiple_of_their_size_and_are_whole() {
        for (bytes, count, length) in [(1, 1, HUGE), (PAGE, 3, HUGE), (HUGE + 1, 2, 3 * HUGE)] {
            let mut pool = Pool::new(nonzero(bytes), nonzero(count), Pages::Huge).unwrap();
            let addresses = pool.addresses();
            assert_eq!((addresses.start % HUGE, addresses.len()), (0, length));
            // Its last byte is mapped, and the buffers do not overlap.
            for slot in 0..count {
                pool.buffer_mut(slot).fill(1 + u8::try_from(slot).unwrap());
            }
            for slot in 0..count {
                let byte = 1 + u8::try_from(slot).unwrap();
                assert!(pool.buffer(slot).iter().all(|&other| other == byte));
            }
        }
    }

    #[test]
    fn small_pages_take_no_more_than_the_buffers() {
        let mut pool = Pool::new(nonzero(5000), nonzero(300), Pages::Small).unwrap();
        assert_eq!(pool.addresses().len(), 300 * 2 * PAGE);
        (0..300).for_each(|slot| pool.buffer_mut(slot).fill(1));
        let found = crate::resident(std::slice::from_ref(&pool.addresses())).unwrap();
        assert_eq!(found.huge_bytes, 0);
        assert!(found.bytes >= 300 * 2 * PAGE as u64, "{found:?}");
    }
}

//! `uring`: several reads in flight in an `io_uring`, into registered buffers, delivered in order.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::{Evidence, Mode, Options, Source, Visit, ring};

pub(crate) static MODE: Mode = Mode {
    name: "uring",
    about: "io_uring: up to 8 reads of the block size in flight into registered buffers",
    whole: false,
    streams: false,
    probe,
    matches,
    source: &Uring,
};

/// Reads in flight, unless their buffers would take more than [`MOST_BYTES`]; never fewer than two.
const DEPTH: usize = 8;
const MOST_BYTES: usize = 8 << 20;

/// The most that one request asks for: a length is a `u32`, and the kernel stops at 2 GiB anyway.
const MOST_PER_REQUEST: usize = 1 << 30;

/// Refusals in a row, without any completion between them, after which waiting is given up.
const PATIENCE: u32 = 10_000;

const COMPLETIONS: &str = "uring_completions";
const BYTES: &str = "uring_bytes";
const MOST_IN_FLIGHT: &str = "uring_most_in_flight";
const REGISTERED: &str = "uring_registered_buffers";
const FACTS: [&str; 4] = [COMPLETIONS, BYTES, MOST_IN_FLIGHT, REGISTERED];

fn probe() -> Option<String> {
    match ring::built(|| set_up(2)) {
        Ok((ring, _)) => {
            ring::closed(ring);
            None
        }
        Err(error) => Some(ring::unavailable(&error)),
    }
}

fn matches(evidence: &Evidence) -> bool {
    let fact = |name| evidence.facts.get(name).copied().unwrap_or(0);
    evidence.facts.keys().all(|name| FACTS.contains(name))
        && fact(COMPLETIONS) > 0
        && fact(BYTES) >= evidence.bytes
        && evidence.read_calls == 0
        && evidence.mapped_bytes == 0
        && evidence.largest_block_bytes <= evidence.block_bytes
}

struct Uring;

impl Source for Uring {
    fn visit_blocks(
        &self,
        file: &File,
        options: &Options,
        evidence: &mut Evidence,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let size = file.metadata()?.len();
        let mut reads = Reads::new(file, options.block_bytes, &mut evidence.notes)?;
        let outcome = reads.run(size, visit);
        evidence.facts.insert(COMPLETIONS, reads.completions);
        evidence.facts.insert(BYTES, reads.bytes);
        evidence
            .facts
            .insert(MOST_IN_FLIGHT, reads.most_in_flight as u64);
        evidence
            .facts
            .insert(REGISTERED, u64::from(reads.registered));
        outcome
    }
}

/// One instance of `io_uring`, with the first flags that the kernel takes, and the errors of those it did not take.
fn set_up(entries: u32) -> io::Result<(IoUring, Vec<String>)> {
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

/// The first success, with a note for each failure before it. Only an errno that speaks of the flags or of memory is a
/// reason to try the next; the last error stands.
fn first_that_works<T>(
    attempts: &[(&str, &dyn Fn() -> io::Result<T>)],
) -> io::Result<(T, Vec<String>)> {
    let mut notes = Vec::new();
    let mut last = None;
    for (name, attempt) in attempts {
        match attempt() {
            Ok(made) => return Ok((made, notes)),
            Err(error) => {
                let degrades = [Errno::INVAL, Errno::NOMEM]
                    .iter()
                    .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
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

/// One buffer and the request that fills it.
struct Slot {
    buffer: Vec<u8>,
    /// Where the buffer starts in the file.
    offset: u64,
    filled: usize,
    in_flight: bool,
    /// The file ended here.
    ended: bool,
}

/// Requests in flight. The kernel writes into a slot's buffer while its request is in flight; nothing else touches it
/// then, and `drop` waits for every request before a buffer is freed.
struct Reads {
    /// `None` only while it is dropped.
    ring: Option<IoUring>,
    descriptor: types::Fd,
    slots: Vec<Slot>,
    registered: bool,
    in_flight: usize,
    /// Pushed, and not yet handed to the kernel.
    waiting: usize,
    completions: u64,
    bytes: u64,
    most_in_flight: usize,
}

impl Reads {
    fn new(file: &File, block: usize, notes: &mut Vec<String>) -> io::Result<Self> {
        let depth = (MOST_BYTES / block).clamp(2, DEPTH);
        // Tried first: running out of memory must be an error with a path, not an abort.
        Vec::<u8>::new().try_reserve_exact(block.saturating_mul(depth))?;
        let slots: Vec<_> = (0..depth)
            .map(|_| Slot {
                buffer: vec![0; block],
                offset: 0,
                filled: 0,
                in_flight: false,
                ended: false,
            })
            .collect();
        let entries = u32::try_from(depth).unwrap_or(u32::MAX);
        let ((ring, degraded), _) = ring::built(|| set_up(entries))
            .map_err(|error| io::Error::new(error.kind(), ring::unavailable(&error)))?;
        notes.extend(degraded);
        let mut reads = Self {
            ring: Some(ring),
            descriptor: types::Fd(file.as_raw_fd()),
            slots,
            registered: false,
            in_flight: 0,
            waiting: 0,
            completions: 0,
            bytes: 0,
            most_in_flight: 0,
        };
        match reads.register() {
            Ok(()) => reads.registered = true,
            Err(error) => notes.push(format!("io_uring without registered buffers: {error}")),
        }
        Ok(reads)
    }

    fn register(&mut self) -> io::Result<()> {
        let vectors: Vec<_> = self
            .slots
            .iter_mut()
            .map(|slot| libc::iovec {
                iov_base: slot.buffer.as_mut_ptr().cast(),
                iov_len: slot.buffer.len(),
            })
            .collect();
        let Some(ring) = &self.ring else {
            return Ok(());
        };
        // SAFETY: the buffers are neither moved, grown nor freed before `drop` has unregistered them.
        unsafe { ring.submitter().register_buffers(&vectors) }
    }

    fn run(&mut self, size: u64, visit: &mut Visit<'_>) -> io::Result<()> {
        let block = self.slots[0].buffer.len() as u64;
        let depth = self.slots.len();
        let (mut next, mut head, mut tail) = (0, 0, 0);
        loop {
            // What stands behind the end by the file's own account is asked for last, and alone: the read that
            // returns nothing is what ends the file, whatever its size was said to be.
            while tail - head < depth && (next < size || tail == head) {
                let slot = &mut self.slots[tail % depth];
                (slot.offset, slot.filled, slot.ended) = (next, 0, false);
                self.request(tail % depth)?;
                next += block;
                tail += 1;
            }
            if self.waiting * 2 >= depth {
                self.enter(0)?;
            }
            self.reap()?;
            while self.slots[head % depth].in_flight {
                self.enter(1)?;
                self.reap()?;
            }
            let slot = &self.slots[head % depth];
            let full = &slot.buffer[..slot.filled];
            if (!full.is_empty() && visit(full).is_break()) || slot.ended {
                return Ok(());
            }
            head += 1;
        }
    }

    /// Asks for what is missing of a slot.
    fn request(&mut self, index: usize) -> io::Result<()> {
        let slot = &mut self.slots[index];
        let room = &mut slot.buffer[slot.filled..];
        let length = u32::try_from(room.len().min(MOST_PER_REQUEST)).unwrap_or(u32::MAX);
        let offset = slot.offset + slot.filled as u64;
        let address = room.as_mut_ptr();
        let entry = if self.registered {
            let number = u16::try_from(index).unwrap_or(u16::MAX);
            opcode::ReadFixed::new(self.descriptor, address, length, number)
                .offset(offset)
                .build()
        } else {
            opcode::Read::new(self.descriptor, address, length)
                .offset(offset)
                .build()
        };
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let entry = entry.user_data(index as u64);
        // SAFETY: the buffer is not touched before its completion (`in_flight`), and freed only after all of them
        // (`drop`); the file is open as long as `run` borrows it.
        unsafe { ring.submission().push(&entry) }
            .map_err(|_| io::Error::other("the submission queue is full"))?;
        slot.in_flight = true;
        self.in_flight += 1;
        self.waiting += 1;
        Ok(())
    }

    /// Hands the pushed requests to the kernel, and waits for `completions` of them.
    fn enter(&mut self, completions: usize) -> io::Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
        let mut patience = PATIENCE;
        loop {
            match ring.submit_and_wait(completions) {
                Ok(taken) => {
                    self.waiting -= taken.min(self.waiting);
                    return Ok(());
                }
                Err(error) => {
                    patience -= 1;
                    let passing = [Errno::INTR, Errno::AGAIN, Errno::BUSY]
                        .iter()
                        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
                    // A full completion queue is emptied by the caller.
                    if !ring.completion().is_empty() {
                        return Ok(());
                    }
                    if !passing || patience == 0 {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Takes note of every completion, and asks again for what came short.
    fn reap(&mut self) -> io::Result<()> {
        loop {
            let Some(done) = self.ring.as_mut().and_then(|ring| ring.completion().next()) else {
                return Ok(());
            };
            self.completions += 1;
            self.in_flight -= 1;
            let index = usize::try_from(done.user_data()).unwrap_or(0);
            let slot = &mut self.slots[index];
            slot.in_flight = false;
            match usize::try_from(done.result()) {
                Ok(0) => slot.ended = true,
                Ok(count) => {
                    slot.filled += count;
                    self.bytes += count as u64;
                    if slot.filled < slot.buffer.len() {
                        self.request(index)?;
                    }
                }
                Err(_) => {
                    let errno = Errno::from_raw_os_error(done.result().wrapping_neg());
                    if errno != Errno::INTR && errno != Errno::AGAIN {
                        return Err(errno.into());
                    }
                    self.request(index)?;
                }
            }
        }
    }
}

impl Drop for Reads {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.enter(1).is_err() {
                // The kernel may still write into the buffers: they are given up.
                std::mem::forget(std::mem::take(&mut self.slots));
                break;
            }
            while let Some(_done) = self.ring.as_mut().and_then(|ring| ring.completion().next()) {
                self.in_flight -= 1;
            }
        }
        if let Some(ring) = self.ring.take() {
            if self.registered {
                // The kernel frees an instance later; the locked memory goes back now.
                let _ = ring.submitter().unregister_buffers();
            }
            ring::closed(ring);
        }
    }
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
    fn what_is_forbidden_is_not_tried_in_another_way() {
        for errno in [1, 38] {
            let forbidden = fails(errno);
            let error = first_that_works(&[("A", &forbidden), ("B", &|| panic!("tried again"))])
                .unwrap_err();
            assert_eq!(error.raw_os_error(), Some(errno));
        }
    }

    #[test]
    fn several_reads_are_in_flight_and_no_more_than_the_bound() {
        if probe().is_some() {
            return;
        }
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        for (block, most) in [(1000, 8), (4 << 20, 1), (64 << 10, 8)] {
            let mut evidence = Evidence::default();
            let options = Options {
                block_bytes: block,
                ..Options::default()
            };
            Uring
                .visit_blocks(&file, &options, &mut evidence, &mut |_| {
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            assert_eq!(evidence.facts[MOST_IN_FLIGHT], most, "{block}");
            assert_eq!(evidence.facts[BYTES], 1 << 20);
        }
    }
}

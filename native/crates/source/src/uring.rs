//! `uring`: several reads in flight in an `io_uring`, into registered buffers, delivered in order.

use std::fs::File;
use std::io;

use rustix::io::Errno;

use crate::ring::URING_COMPLETIONS;
use crate::uring_requests::{ReadRequest, Requests, UringRequests, set_up};
use crate::{BlockCallback, Evidence, Mode, Options, check_memory, ring};

pub(crate) static MODE: Mode = Mode {
    name: "uring",
    about: "io_uring: up to 8 reads of the block size in flight into registered buffers",
    whole: false,
    streams: false,
    probe,
    matches,
    read,
};

/// Reads in flight, unless their buffers would take more than [`MAX_BYTES`]; never fewer than two.
const DEPTH: usize = 8;
const MAX_BYTES: usize = 8 << 20;

/// The most that one request asks for: a length is a `u32`, and the kernel stops at 2 GiB anyway.
const MAX_REQUEST_BYTES: usize = 1 << 30;

/// Refusals in a row, without any completion between them, after which waiting is given up.
const MAX_RETRIES: u32 = 10_000;

const BYTES: &str = "uring_bytes";
const MAX_IN_FLIGHT: &str = "uring_most_in_flight";
const REGISTERED_BUFFERS: &str = "uring_registered_buffers";
const FACTS: [&str; 4] = [URING_COMPLETIONS, BYTES, MAX_IN_FLIGHT, REGISTERED_BUFFERS];

fn probe() -> Option<String> {
    match ring::create(|| set_up(2)) {
        Ok((ring, _)) => {
            ring::close(ring);
            None
        }
        Err(error) => Some(worker::io_uring::unavailable(&error)),
    }
}

fn matches(evidence: &Evidence) -> bool {
    evidence.has_only(&FACTS)
        && evidence.fact(URING_COMPLETIONS) > 0
        && evidence.fact(BYTES) >= evidence.bytes
        && evidence.blocks_are_bounded()
}

fn read(
    file: &File,
    options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    let size = file.metadata()?.len();
    let mut slots = slots(options.block_bytes)?;
    let buffers = slots.iter_mut().map(|slot| &mut slot.buffer[..]);
    // SAFETY: the buffers stay in their slots, and `Reads` drops the requests before the slots.
    let requests = unsafe { UringRequests::open(file, buffers, &mut evidence.notes) }?;
    let mut reads = Reads::new(requests, slots);
    let outcome = reads.run(size, on_block);
    evidence.facts.insert(URING_COMPLETIONS, reads.completions);
    evidence.facts.insert(BYTES, reads.bytes);
    evidence
        .facts
        .insert(MAX_IN_FLIGHT, reads.max_in_flight as u64);
    evidence
        .facts
        .insert(REGISTERED_BUFFERS, u64::from(reads.requests.registered));
    outcome
}

/// One buffer and the request that fills it.
#[derive(Default)]
struct Slot {
    buffer: Vec<u8>,
    /// Offset of the buffer in the file.
    offset: u64,
    filled: usize,
    in_flight: bool,
    /// The file ended here.
    at_end: bool,
}

/// Requests in flight. The kernel writes into a slot's buffer while its request is in flight; nothing else touches it
/// then, and `drop` waits for every request before a buffer is freed.
struct Reads<R: Requests> {
    requests: R,
    slots: Vec<Slot>,
    in_flight: usize,
    /// Pushed, and not yet handed to the kernel.
    waiting: usize,
    completions: u64,
    bytes: u64,
    max_in_flight: usize,
}

/// Buffers of `block` bytes each.
fn slots(block: usize) -> io::Result<Vec<Slot>> {
    let depth = (MAX_BYTES / block).clamp(2, DEPTH);
    check_memory(block.saturating_mul(depth))?;
    Ok((0..depth)
        .map(|_| Slot {
            buffer: vec![0; block],
            ..Slot::default()
        })
        .collect())
}

impl<R: Requests> Reads<R> {
    fn new(requests: R, slots: Vec<Slot>) -> Self {
        Self {
            requests,
            slots,
            in_flight: 0,
            waiting: 0,
            completions: 0,
            bytes: 0,
            max_in_flight: 0,
        }
    }

    fn run(&mut self, size: u64, on_block: &mut BlockCallback<'_>) -> io::Result<()> {
        let block = self.slots[0].buffer.len() as u64;
        let depth = self.slots.len();
        let (mut next, mut head, mut tail) = (0, 0, 0);
        loop {
            // The read after the reported end of the file is submitted last and alone: a read that
            // returns nothing marks the end of the file, whatever its reported size is.
            while tail - head < depth && (next < size || tail == head) {
                let slot = &mut self.slots[tail % depth];
                (slot.offset, slot.filled, slot.at_end) = (next, 0, false);
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
            if (!full.is_empty() && on_block(full).is_break()) || slot.at_end {
                return Ok(());
            }
            head += 1;
        }
    }

    /// Asks for what is missing of a slot.
    fn request(&mut self, index: usize) -> io::Result<()> {
        let slot = &mut self.slots[index];
        let room = &mut slot.buffer[slot.filled..];
        let length = u32::try_from(room.len().min(MAX_REQUEST_BYTES)).unwrap_or(u32::MAX);
        let offset = slot.offset + slot.filled as u64;
        let address = room.as_mut_ptr();
        let request = ReadRequest {
            slot: index,
            address,
            length,
            offset,
        };
        // SAFETY: the buffer is not touched before its completion (`in_flight`), and freed only after all of them
        // (`drop`); the file is open as long as `run` is called with it.
        unsafe { self.requests.push(request) }?;
        slot.in_flight = true;
        self.in_flight += 1;
        self.waiting += 1;
        Ok(())
    }

    /// Hands the pushed requests to the kernel, and waits for `completions` of them.
    fn enter(&mut self, completions: usize) -> io::Result<()> {
        self.max_in_flight = self.max_in_flight.max(self.in_flight);
        let mut retries_left = MAX_RETRIES;
        loop {
            match self.requests.enter(completions) {
                Ok(taken) => {
                    self.waiting -= taken.min(self.waiting);
                    return Ok(());
                }
                Err(error) => {
                    retries_left -= 1;
                    let errno = Errno::from_io_error(&error);
                    let temporary = matches!(errno, Some(Errno::INTR | Errno::AGAIN | Errno::BUSY));
                    // A full completion queue is emptied by the caller.
                    if self.requests.has_completion() {
                        return Ok(());
                    }
                    if !temporary || retries_left == 0 {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Records every completion, and asks again for what came short.
    fn reap(&mut self) -> io::Result<()> {
        loop {
            let Some((index, result)) = self.requests.next_completion() else {
                return Ok(());
            };
            self.completions += 1;
            self.in_flight -= 1;
            let slot = &mut self.slots[index];
            slot.in_flight = false;
            match usize::try_from(result) {
                Ok(0) => slot.at_end = true,
                Ok(count) => {
                    slot.filled += count;
                    self.bytes += count as u64;
                    if slot.filled < slot.buffer.len() {
                        self.request(index)?;
                    }
                }
                Err(_) => {
                    let errno = Errno::from_raw_os_error(result.wrapping_neg());
                    if errno != Errno::INTR && errno != Errno::AGAIN {
                        return Err(errno.into());
                    }
                    self.request(index)?;
                }
            }
        }
    }
}

impl<R: Requests> Drop for Reads<R> {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.enter(1).is_err() {
                // The kernel may still write into the buffers: they are given up.
                std::mem::forget(std::mem::take(&mut self.slots));
                break;
            }
            while self.requests.next_completion().is_some() {
                self.in_flight -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_reads_are_in_flight_and_no_more_than_the_bound() {
        if !crate::needs::can_have("io_uring", probe()) {
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
            read(&file, &options, &mut evidence, &mut |_| {
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(evidence.facts[MAX_IN_FLIGHT], most, "{block}");
            assert_eq!(evidence.facts[BYTES], 1 << 20);
        }
    }

    /// A kernel that completes in a scripted way, last request first.
    struct ScriptedKernel<'file> {
        contents: &'file [u8],
        pushed: Vec<ReadRequest>,
        taken: Vec<ReadRequest>,
        /// Results of the next calls of `enter`, then of the next reads.
        enters: Vec<i32>,
        results: Vec<Result<usize, i32>>,
    }

    impl Requests for ScriptedKernel<'_> {
        unsafe fn push(&mut self, request: ReadRequest) -> io::Result<()> {
            self.pushed.push(request);
            Ok(())
        }

        fn enter(&mut self, _completions: usize) -> io::Result<usize> {
            if let Some(errno) = self.enters.pop() {
                return Err(io::Error::from_raw_os_error(errno));
            }
            let taken = self.pushed.len();
            self.taken.append(&mut self.pushed);
            Ok(taken)
        }

        fn has_completion(&mut self) -> bool {
            !self.taken.is_empty()
        }

        fn next_completion(&mut self) -> Option<(usize, i32)> {
            let request = self.taken.pop()?;
            let most = match self.results.pop().unwrap_or(Ok(usize::MAX)) {
                Ok(most) => most,
                Err(errno) => return Some((request.slot, -errno)),
            };
            let at = usize::try_from(request.offset).unwrap();
            let rest = self.contents.get(at..).unwrap_or_default();
            let count = rest.len().min(request.length as usize).min(most);
            // SAFETY: the address has room for `length` bytes, and no other code uses them before
            // this completion.
            unsafe { std::ptr::copy_nonoverlapping(rest.as_ptr(), request.address, count) };
            Some((request.slot, i32::try_from(count).unwrap()))
        }
    }

    fn read_scripted(
        contents: &[u8],
        enters: Vec<i32>,
        results: Vec<Result<usize, i32>>,
    ) -> (io::Result<()>, Vec<u8>) {
        let requests = ScriptedKernel {
            contents,
            pushed: Vec::new(),
            taken: Vec::new(),
            enters,
            results,
        };
        let mut reads = Reads::new(requests, slots(100).unwrap());
        let mut read = Vec::new();
        let outcome = reads.run(contents.len() as u64, &mut |block| {
            read.extend_from_slice(block);
            std::ops::ControlFlow::Continue(())
        });
        (outcome, read)
    }

    #[test]
    fn short_late_and_interrupted_completions_lose_nothing_and_keep_the_order() {
        let contents: Vec<u8> = (0..=250).cycle().take(2345).collect();
        let interrupted = [
            Ok(1),
            Err(libc::EINTR),
            Ok(99),
            Err(libc::EAGAIN),
            Ok(50),
            Ok(1),
            Ok(7),
        ];
        let enters = vec![libc::EINTR, libc::EAGAIN, libc::EBUSY];
        let (outcome, read) = read_scripted(&contents, enters, interrupted.repeat(9));
        outcome.unwrap();
        assert!(read == contents);
    }

    #[test]
    fn a_failed_completion_is_an_error_after_the_bytes_before_it() {
        let contents = [7; 1000];
        let (outcome, read) = read_scripted(&contents, Vec::new(), vec![Err(libc::EIO)]);
        assert_eq!(outcome.unwrap_err().raw_os_error(), Some(libc::EIO));
        assert!(read.len() < contents.len());
    }

    #[test]
    fn retries_end_if_the_kernel_keeps_refusing() {
        let refusals = vec![libc::EAGAIN; 3 * MAX_RETRIES as usize];
        let (outcome, _) = read_scripted(&[7; 1000], refusals, Vec::new());
        assert_eq!(outcome.unwrap_err().raw_os_error(), Some(libc::EAGAIN));
    }
}

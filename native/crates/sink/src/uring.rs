//! `uring`: several blocks under way at once in an `io_uring`.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Instant;

use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, cqueue, opcode, squeue};

use crate::writer::Buffers;
use crate::{Block, Evidence, Fault, Mode, Piece, Pool, Sink, Step, Submit, Writer};

pub(crate) static MODE: Mode = Mode {
    name: "uring",
    about: "io_uring, as many writes under way as the depth allows, registered buffers and file",
    direct: true,
    maps: false,
    queues: true,
    probe: why_unavailable,
    matches,
    sink: &Queue,
};

/// Why no ring can be had, or `None`.
#[must_use]
pub fn why_unavailable() -> Option<String> {
    IoUring::new(2)
        .err()
        .map(|error| format!("io_uring_setup failed: {error}"))
}

/// A ring of one thread, set up as well as the kernel allows.
pub struct Ring {
    uring: IoUring,
    registered_file: bool,
    registered_buffers: bool,
    /// Operations that were pushed and whose completion was not seen.
    pub in_flight: usize,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Ring")
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

/// What a degraded set-up is worth a note for.
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

impl Ring {
    /// A ring for `depth` operations of the calling thread on `file`, with the buffers of `pool` registered if possible.
    /// Each step that the kernel refuses is left out and noted.
    ///
    /// # Errors
    /// No ring at all can be had.
    pub fn open(
        depth: usize,
        file: &impl AsRawFd,
        pool: Option<&Pool>,
        notes: &mut Vec<String>,
    ) -> Result<Self, Fault> {
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
                let plain = IoUring::builder()
                    .setup_clamp()
                    .build(entries)
                    .map_err(|error| {
                        Fault::Unavailable(format!("io_uring cannot be had here: {error}"))
                    })?;
                notes.push(format!(
                    "io_uring without SINGLE_ISSUER and DEFER_TASKRUN: {error}"
                ));
                plain
            }
            Err(error) => {
                return Err(Fault::Unavailable(format!(
                    "io_uring cannot be had here: {error}"
                )));
            }
        };
        let mut opened = Self {
            uring,
            registered_file: false,
            registered_buffers: false,
            in_flight: 0,
        };
        match opened.uring.submitter().register_files(&[file.as_raw_fd()]) {
            Ok(()) => opened.registered_file = true,
            Err(error) => notes.push(format!("io_uring without a registered file: {error}")),
        }
        if let Some(pool) = pool {
            match opened.register(pool) {
                Ok(()) => opened.registered_buffers = true,
                Err(error) => notes.push(format!("io_uring without registered buffers: {error}")),
            }
        }
        Ok(opened)
    }

    fn register(&self, pool: &Pool) -> io::Result<()> {
        let parts: Vec<_> = (0..pool.count())
            .map(|slot| libc::iovec {
                iov_base: pool.buffer(slot).as_ptr().cast_mut().cast(),
                iov_len: pool.stride(),
            })
            .collect();
        // SAFETY: the pool outlives the ring: both belong to the writer's call, and the ring is dropped first. The
        // kernel pins the pages, so they stay theirs even if that were wrong.
        unsafe { self.uring.submitter().register_buffers(&parts) }
    }

    /// Operations that the ring takes at once.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.uring.params().sq_entries() as usize
    }

    /// Pushes a write of `bytes` at `offset`; `index` is their buffer in the registered pool.
    ///
    /// # Safety
    /// `bytes` stay valid and unchanged until the completion with `key` was seen.
    unsafe fn push_write(
        &mut self,
        file: &impl AsRawFd,
        bytes: &[u8],
        index: usize,
        offset: u64,
        flags: i32,
        key: u64,
    ) -> Result<(), Fault> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let fd = Fd(file.as_raw_fd());
        let plain = |target: squeue::Entry| target.user_data(key);
        let entry = match (
            self.registered_buffers.then(|| u16::try_from(index)),
            self.registered_file,
        ) {
            (Some(Ok(index)), true) => {
                opcode::WriteFixed::new(Fixed(0), bytes.as_ptr(), length, index)
                    .offset(offset)
                    .rw_flags(flags)
                    .build()
            }
            (Some(Ok(index)), false) => opcode::WriteFixed::new(fd, bytes.as_ptr(), length, index)
                .offset(offset)
                .rw_flags(flags)
                .build(),
            (_, true) => opcode::Write::new(Fixed(0), bytes.as_ptr(), length)
                .offset(offset)
                .rw_flags(flags)
                .build(),
            (_, false) => opcode::Write::new(fd, bytes.as_ptr(), length)
                .offset(offset)
                .rw_flags(flags)
                .build(),
        };
        // SAFETY: the caller keeps the bytes.
        unsafe { self.push(&plain(entry)) }
    }

    /// Pushes a read into `room` at `offset`.
    ///
    /// # Errors
    /// The queue is full, which its owner prevents.
    ///
    /// # Safety
    /// `room` stays valid and untouched until the completion with `key` was seen.
    pub unsafe fn push_read(
        &mut self,
        file: &impl AsRawFd,
        room: &mut [u8],
        offset: u64,
        key: u64,
    ) -> Result<(), Fault> {
        let length = u32::try_from(room.len()).unwrap_or(u32::MAX);
        let entry = if self.registered_file {
            opcode::Read::new(Fixed(0), room.as_mut_ptr(), length)
                .offset(offset)
                .build()
        } else {
            opcode::Read::new(Fd(file.as_raw_fd()), room.as_mut_ptr(), length)
                .offset(offset)
                .build()
        };
        // SAFETY: the caller keeps the room.
        unsafe { self.push(&entry.user_data(key)) }
    }

    /// # Safety
    /// What `entry` points to stays valid until its completion was seen.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> Result<(), Fault> {
        // SAFETY: as the caller promises.
        unsafe { self.uring.submission().push(entry) }
            .map_err(|full| Fault::of("queue a write")(io::Error::other(full)))?;
        self.in_flight += 1;
        Ok(())
    }

    /// Hands what was pushed to the kernel and waits for `wanted` completions. `false` if it must be repeated.
    ///
    /// # Errors
    /// The kernel does not take operations any more.
    pub fn enter(&mut self, wanted: usize) -> Result<bool, Fault> {
        match self.uring.submit_and_wait(wanted) {
            Ok(_) => Ok(true),
            // Interrupted, or the kernel is short of memory or wants its completions seen first.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EINTR | libc::EAGAIN | libc::EBUSY)
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(Fault::of("submit to io_uring")(error)),
        }
    }

    /// The next completion that is there: its key and the bytes, or the error.
    pub fn reap(&mut self) -> Option<(u64, io::Result<usize>)> {
        let entry: cqueue::Entry = self.uring.completion().next()?;
        self.in_flight -= 1;
        let outcome = usize::try_from(entry.result())
            .map_err(|_| io::Error::from_raw_os_error(-entry.result()));
        Some((entry.user_data(), outcome))
    }

    /// Waits until the kernel uses no buffer any more. `false` if that cannot be known: the buffers must then be kept.
    #[must_use]
    pub fn drain(&mut self) -> bool {
        while self.in_flight > 0 {
            if self.enter(1).is_err() {
                return false;
            }
            while self.reap().is_some() {}
        }
        true
    }
}

struct Queue;

impl Sink for Queue {
    fn write(&self, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let depth = writer.job.depth.get().min(writer.slots());
        let mut notes = Vec::new();
        let ring = Ring::open(depth, writer.file(), writer.pool(), &mut notes)?;
        if ring.entries() < depth {
            notes.push(format!(
                "a depth of {} instead of {depth}: io_uring takes no more",
                ring.entries()
            ));
        }
        writer.evidence.notes.append(&mut notes);
        let depth = depth.min(ring.entries());
        let mut turns = Loop {
            ring,
            depth,
            under_way: vec![None; writer.slots()],
            free: (0..writer.slots()).rev().collect(),
            ready: VecDeque::new(),
            pushed: 0,
        };
        let outcome = turns.run(writer);
        if outcome.is_err() && !turns.ring.drain() {
            // Giving the memory back now could let the kernel write somebody else's bytes.
            match &writer.buffers {
                Buffers::Own(pool) => pool.keep(),
                Buffers::Shared(pool) => pool.keep(),
                Buffers::None => {}
            }
        }
        outcome
    }
}

/// A block in a slot.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    block: Block,
    piece: Piece,
    since: Instant,
}

struct Loop {
    ring: Ring,
    depth: usize,
    under_way: Vec<Option<UnderWay>>,
    /// Slots that hold nothing, the one last used on top: its bytes are most likely still in the processor's cache.
    free: Vec<usize>,
    /// Slots with contents that wait for room in the queue.
    ready: VecDeque<usize>,
    /// Operations in the queue that the kernel was not told of.
    pushed: usize,
}

impl Loop {
    /// One thread fills and submits while the kernel writes.
    fn run(&mut self, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let mut more = true;
        loop {
            self.reap(writer)?;
            if writer.is_stopped() {
                more = false;
                self.forget_ready();
            }
            if more
                && !writer.sync_is_due()
                && let Some(slot) = self.free.pop()
            {
                if let Some(block) = writer.next() {
                    self.prepare(writer, block, slot);
                } else {
                    self.free.push(slot);
                    more = false;
                }
            }
            if writer.sync_is_due() {
                if self.ring.in_flight == 0 {
                    writer.sync()?;
                    continue;
                }
                self.enter(writer, 1)?;
                continue;
            }
            while self.ring.in_flight < self.depth
                && let Some(slot) = self.ready.pop_front()
            {
                self.push(writer, slot)?;
            }
            let can_fill = more && !self.free.is_empty();
            if self.ring.in_flight == 0 && self.ready.is_empty() && !can_fill {
                return Ok(());
            }
            match writer.job.submit {
                Submit::Each if can_fill => {
                    if self.pushed > 0 {
                        self.enter(writer, 0)?;
                    }
                }
                // Goes on pushing until the queue is full, and then waits.
                Submit::WhenFull if can_fill && self.ring.in_flight < self.depth => {}
                _ => self.enter(writer, 1)?,
            }
        }
    }

    fn prepare(&mut self, writer: &mut Writer<'_>, block: Block, slot: usize) {
        writer.prepare(block, slot);
        self.under_way[slot] = Some(UnderWay {
            block,
            piece: Piece::new(block.offset, writer.padded(block)),
            since: Instant::now(),
        });
        self.ready.push_back(slot);
    }

    fn forget_ready(&mut self) {
        while let Some(slot) = self.ready.pop_front() {
            self.under_way[slot] = None;
            self.free.push(slot);
        }
    }

    fn push(&mut self, writer: &mut Writer<'_>, slot: usize) -> Result<(), Fault> {
        let Some(under_way) = &mut self.under_way[slot] else {
            return Ok(());
        };
        if under_way.piece.start == 0 {
            under_way.since = Instant::now();
        }
        let UnderWay { block, piece, .. } = *under_way;
        let index = writer.index_of(block, slot);
        let bytes = &writer.bytes(block, slot)[piece.start..piece.start + piece.operation()];
        let flags = if writer.job.dontcache {
            libc::RWF_DONTCACHE
        } else {
            0
        };
        // SAFETY: a slot is filled only while it is free, which it becomes when its completion was seen; the pool
        // lives until the ring is drained, or is kept for ever.
        unsafe {
            self.ring.push_write(
                writer.file(),
                bytes,
                index,
                piece.offset,
                flags,
                slot as u64,
            )
        }?;
        self.pushed += 1;
        Ok(())
    }

    fn enter(&mut self, writer: &mut Writer<'_>, wanted: usize) -> Result<(), Fault> {
        let start = Instant::now();
        if self.pushed > 0 {
            writer.submitted(self.pushed, self.ring.in_flight, start);
        }
        if self.ring.enter(wanted)? {
            self.pushed = 0;
        }
        let spent = start.elapsed();
        if wanted == 0 {
            writer.evidence.times.submit += spent;
        } else {
            writer.evidence.times.wait += spent;
        }
        Ok(())
    }

    fn reap(&mut self, writer: &mut Writer<'_>) -> Result<(), Fault> {
        while let Some((key, outcome)) = self.ring.reap() {
            let slot = usize::try_from(key).unwrap_or(usize::MAX);
            let Some(under_way) = self.under_way.get_mut(slot).and_then(Option::as_mut) else {
                return Err(Fault::of("read a completion")(io::Error::other(
                    "io_uring completed an operation that was not submitted",
                )));
            };
            let (offset, asked) = (under_way.piece.offset, under_way.piece.operation());
            writer.evidence.operations += 1;
            if let Ok(written) = outcome {
                writer.evidence.ring_bytes += written as u64;
                writer.evidence.short += u64::from(written < asked);
                writer.evidence.dontcache += u64::from(writer.job.dontcache);
            }
            match under_way
                .piece
                .advance(outcome, writer.target().alignment)?
            {
                Step::Repeat => {
                    writer.evidence.repeated += 1;
                    self.ready.push_front(slot);
                }
                Step::Rest { written } => {
                    writer.landed(offset, written);
                    self.ready.push_front(slot);
                }
                Step::Done { written } => {
                    let since = under_way.since;
                    writer.landed(offset, written);
                    writer.finished(since);
                    self.under_way[slot] = None;
                    self.free.push(slot);
                }
            }
        }
        Ok(())
    }
}

fn matches(evidence: &Evidence) -> bool {
    evidence.call_bytes == 0
        && evidence.mapped_bytes == 0
        && evidence.ring_bytes >= evidence.written_bytes
}

//! The loops of `pwrite` and `uring` on calls and completions that are interrupted, come late, short and out of order,
//! which no file system does on demand. What does get written, gets written for true.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;

use crate::positioned::positioned;
use crate::ring::{Operations, RetryLimit};
use crate::tests::{contents, expected_bytes, job, nonzero, write_file};
use crate::{Direct, Fault, Job, Mode, Split, Submit, Writer, pwrite, uring, write};

/// Alignment of direct writes in the tests.
const SECTOR: usize = 512;

thread_local! {
    /// Writes that this thread tried; each test has its own threads.
    static ATTEMPTS: Cell<u64> = const { Cell::new(0) };
}

/// The outcomes in turn. A short direct write reports an end inside a sector, whose bytes it did not write.
fn faulty_write(file: &File, bytes: &[u8], offset: u64, flags: libc::c_int) -> io::Result<usize> {
    let tried = ATTEMPTS.replace(ATTEMPTS.get() + 1);
    let half = bytes.len() / 2;
    match tried % 5 {
        0 => Err(io::Error::from_raw_os_error(libc::EINTR)),
        2 => Err(io::Error::from_raw_os_error(libc::EAGAIN)),
        1 | 3 if half > SECTOR => {
            // SAFETY: F_GETFL takes no pointer.
            let state = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
            if state & libc::O_DIRECT == 0 {
                return positioned(file, &bytes[..half | 1], offset, flags);
            }
            let whole = half - half % SECTOR;
            positioned(file, &bytes[..whole], offset, flags).map(|written| written + 300)
        }
        _ => positioned(file, bytes, offset, flags),
    }
}

/// A simulated ring. The last pushed operation completes first.
struct FaultyRing {
    pushed: Vec<Operation>,
    submitted: Vec<Operation>,
    entered: u64,
}

struct Operation {
    file: File,
    start: *const u8,
    length: usize,
    offset: u64,
    flags: i32,
    key: u64,
}

impl Operations for FaultyRing {
    fn open(_: &Writer<'_>, _: usize, _: &mut Vec<String>) -> Result<Self, Fault> {
        Ok(Self {
            pushed: Vec::new(),
            submitted: Vec::new(),
            entered: 0,
        })
    }

    fn entries(&self) -> usize {
        64
    }

    fn in_flight(&self) -> usize {
        self.pushed.len() + self.submitted.len()
    }

    unsafe fn push(
        &mut self,
        file: &File,
        bytes: &[u8],
        _: usize,
        offset: u64,
        flags: i32,
        key: u64,
    ) -> Result<(), Fault> {
        self.pushed.push(Operation {
            file: file.try_clone().unwrap(),
            start: bytes.as_ptr(),
            length: bytes.len(),
            offset,
            flags,
            key,
        });
        Ok(())
    }

    fn enter(&mut self, completions: usize) -> Result<bool, Fault> {
        self.entered += 1;
        if self.entered.is_multiple_of(3) {
            return Ok(false);
        }
        self.submitted.append(&mut self.pushed);
        assert!(
            completions <= self.submitted.len(),
            "waits for what never completes"
        );
        Ok(true)
    }

    fn reap(&mut self) -> Option<(u64, io::Result<usize>)> {
        let operation = self.submitted.pop()?;
        // SAFETY: the bytes were slices when they were pushed, and the loop keeps them until now.
        let bytes = unsafe { std::slice::from_raw_parts(operation.start, operation.length) };
        let outcome = faulty_write(&operation.file, bytes, operation.offset, operation.flags);
        Some((operation.key, outcome))
    }

    fn drain(&mut self) -> bool {
        self.pushed.clear();
        self.submitted.clear();
        true
    }
}

impl Drop for FaultyRing {
    fn drop(&mut self) {
        let left = self.in_flight();
        assert!(
            left == 0 || std::thread::panicking(),
            "{left} writes still under way"
        );
    }
}

fn with_faults(of: &Mode, write: crate::Write) -> &'static Mode {
    Box::leak(Box::new(Mode {
        name: of.name,
        about: of.about,
        direct: of.direct,
        maps: of.maps,
        queues: of.queues,
        probe: || None,
        matches: of.matches,
        write,
    }))
}

pub(crate) fn modes() -> [&'static Mode; 2] {
    [
        with_faults(&pwrite::MODE, |writer| pwrite::write(writer, faulty_write)),
        with_faults(&uring::MODE, uring::write::<FaultyRing>),
    ]
}

#[test]
fn every_byte_is_written_once_despite_interrupted_and_short_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for mode in modes() {
        for (writers, split) in [(1, Split::Next), (3, Split::Next), (3, Split::Parts)] {
            for submit in [Submit::Each, Submit::WhenFull] {
                for direct in [Direct::Off, Direct::Try] {
                    for size in [1, 8193, 40 * 8192 + 4321] {
                        let job = Job {
                            writers: nonzero(writers),
                            split,
                            submit,
                            direct,
                            ..job(size)
                        };
                        let done = write_file(&path, mode, &job).unwrap();
                        let what = format!("{} {job:?}", mode.name);
                        assert!(
                            fs::read(&path).unwrap() == expected_bytes(size, u64::MAX),
                            "{what}"
                        );
                        assert!(done.extents[0].are_whole(size), "{what}");
                        let evidence = &done.evidence;
                        assert!(evidence.repeated > 0, "{what}");
                        assert!(evidence.short > 0 || size < 40 * 8192, "{what}");
                        assert_eq!(
                            evidence.operations,
                            evidence.blocks + evidence.repeated + evidence.short,
                            "{what}"
                        );
                    }
                }
            }
        }
    }
}

fn breaks(file: &File, bytes: &[u8], offset: u64, flags: libc::c_int) -> io::Result<usize> {
    if offset >= 10 * 8192 {
        return Err(io::Error::from_raw_os_error(libc::EIO));
    }
    faulty_write(file, bytes, offset, flags)
}

#[test]
fn an_error_after_short_writes_names_its_offset_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mode = with_faults(&pwrite::MODE, |writer| pwrite::write(writer, breaks));
    let error = write(&path, mode, &job(40 * 8192), &contents, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write at offset 81920: Input/output error (os error 5)"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A ring on which every completion is an error.
struct FailingRing(FaultyRing);

impl Operations for FailingRing {
    fn open(writer: &Writer<'_>, depth: usize, notes: &mut Vec<String>) -> Result<Self, Fault> {
        FaultyRing::open(writer, depth, notes).map(Self)
    }

    fn entries(&self) -> usize {
        self.0.entries()
    }

    fn in_flight(&self) -> usize {
        self.0.in_flight()
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
        // SAFETY: as the caller promises.
        unsafe { self.0.push(file, bytes, index, offset, flags, key) }
    }

    fn enter(&mut self, completions: usize) -> Result<bool, Fault> {
        self.0.enter(completions)
    }

    fn reap(&mut self) -> Option<(u64, io::Result<usize>)> {
        let operation = self.0.submitted.pop()?;
        Some((
            operation.key,
            Err(io::Error::from_raw_os_error(libc::ENOSPC)),
        ))
    }

    fn drain(&mut self) -> bool {
        self.0.drain()
    }
}

/// Nothing is in flight when the buffers are freed: `FaultyRing` asserts it when it is dropped.
#[test]
fn a_failed_completion_ends_the_queue_with_nothing_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mode = with_faults(&uring::MODE, uring::write::<FailingRing>);
    let full = Job {
        submit: Submit::WhenFull,
        ..job(40 * 8192)
    };
    let error = write_file(&path, mode, &full).unwrap_err().to_string();
    assert!(error.contains("at offset "), "{error}");
    assert!(error.contains("No space left"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A ring that takes a few operations, and then neither takes nor completes anything any more.
struct StuckRing {
    ring: FaultyRing,
    retries: RetryLimit,
}

/// Address, length and place in the file of what `StuckRing` was given last.
static LAST_PUSH: Mutex<Option<(usize, usize, u64)>> = Mutex::new(None);

/// Submissions that `StuckRing` takes.
const ACCEPTED_SUBMISSIONS: u64 = 4;

impl Operations for StuckRing {
    fn open(writer: &Writer<'_>, depth: usize, notes: &mut Vec<String>) -> Result<Self, Fault> {
        Ok(Self {
            ring: FaultyRing::open(writer, depth, notes)?,
            retries: RetryLimit::default(),
        })
    }

    fn entries(&self) -> usize {
        self.ring.entries()
    }

    fn in_flight(&self) -> usize {
        self.ring.in_flight()
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
        *LAST_PUSH.lock().unwrap() = Some((bytes.as_ptr() as usize, bytes.len(), offset));
        // SAFETY: as the caller promises.
        unsafe { self.ring.push(file, bytes, index, offset, flags, key) }
    }

    fn enter(&mut self, completions: usize) -> Result<bool, Fault> {
        if self.ring.entered < ACCEPTED_SUBMISSIONS {
            return self.ring.enter(completions);
        }
        self.retries
            .should_retry(Err(io::Error::from_raw_os_error(libc::EAGAIN)))
            .map(|retry| !retry)
    }

    fn reap(&mut self) -> Option<(u64, io::Result<usize>)> {
        if self.ring.entered < ACCEPTED_SUBMISSIONS {
            return self.ring.reap();
        }
        None
    }
}

impl Drop for StuckRing {
    fn drop(&mut self) {
        assert!(self.in_flight() > 0, "nothing was left under way");
        self.ring.drain();
    }
}

/// The kernel may still read buffers that it did not return, so their memory must not be reused.
#[test]
fn a_queue_that_is_stuck_ends_with_the_refusal_and_keeps_its_buffers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mode = with_faults(&uring::MODE, uring::write::<StuckRing>);
    for submit in [Submit::Each, Submit::WhenFull] {
        let stuck = Job {
            submit,
            ..job(40 * 8192)
        };
        let error = write_file(&path, mode, &stuck).unwrap_err().to_string();
        assert!(error.contains("cannot submit to io_uring"), "{error}");
        assert!(error.contains("os error 11"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let (address, length, offset) = LAST_PUSH.lock().unwrap().take().unwrap();
        let (mut kept, mut right) = (vec![0; length], vec![0; length]);
        // Read as another process would: memory that was freed is an error, not a signal.
        let memory = File::open("/proc/self/mem").unwrap();
        memory.read_exact_at(&mut kept, address as u64).unwrap();
        contents(offset, &mut right);
        assert!(kept == right, "{submit:?}");
    }
}

//! Runs the writers of a job, asks the caller now and then whether to go on, and brings the file to its end.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::blocks::{self, Cursor};
use crate::target::Target;
use crate::writer::{Buffers, Shared, Writer};
use crate::{
    Contents, Durability, Evidence, Extents, Fault, Fill, Job, Mode, Pool, Progress, affinity,
    nowhere,
};

/// Between two calls of the progress function.
const TICK: Duration = Duration::from_millis(50);

/// More threads than any processor has; starting many more takes longer than writing.
const MOST_WRITERS: usize = 4096;

/// Bytes that are filled beforehand between two looks at whether to stop.
const PORTION: usize = 4 << 20;

/// What was written, and what was seen on the way.
#[derive(Clone, Debug)]
pub struct Done {
    /// Size of the file after closing, as its name tells it; of a job without a file, the bytes produced.
    pub size: u64,
    /// Bytes of the file that completions reported; of a job without a file, the bytes produced.
    pub extents: Extents,
    /// What the writers left behind.
    pub evidence: Evidence,
    /// When the first contents were begun.
    pub started: Instant,
    /// Opening the file, removing what stood there, reserving space.
    pub opening: Duration,
    /// From the first contents to the last completion.
    pub elapsed: Duration,
    /// From the first contents until the file was on the disk, as far as that was asked for.
    pub synced: Duration,
    /// Cutting off padding, naming and closing.
    pub closing: Duration,
}

/// Writes the file at `path`. It has no name until it is whole; what stood there is removed first.
///
/// # Errors
/// Options contradict each other, or something was refused, or `progress` ended the writing. No file has the name then.
pub fn write(
    path: &Path,
    mode: &'static Mode,
    job: &Job,
    fill: &Fill<'_>,
    progress: &mut Progress<'_>,
) -> Result<Done, Fault> {
    check(mode, job)?;
    if i64::try_from(job.size).is_err() {
        return Err(Fault::Contradiction(format!(
            "a file of {} bytes is more than the system can address",
            job.size
        )));
    }
    let opening = Instant::now();
    let target = Target::create(path, mode, job)?;
    if job.reserve {
        target.reserve(job.size)?;
    }
    if mode.maps {
        target.extend(job.size)?;
    }
    let started = Instant::now();
    let mut done = crew(mode, job, Some(&target), fill, progress, started)?;
    done.opening = started - opening;
    let whole = done.extents.within(job.size);
    if !whole.are_whole(job.size) {
        return Err(Fault::NotWhole {
            written: whole.bytes(),
            twice: whole.twice(),
            size: job.size,
        });
    }
    done.extents = whole;
    finish(target, job, &mut done)?;
    Ok(done)
}

/// Produces the contents of a job and writes them nowhere.
///
/// # Errors
/// Memory cannot be had, or `progress` ended it.
pub fn discard(job: &Job, fill: &Fill<'_>, progress: &mut Progress<'_>) -> Result<Done, Fault> {
    check(&nowhere::MODE, job)?;
    let mut done = crew(&nowhere::MODE, job, None, fill, progress, Instant::now())?;
    done.size = done.extents.bytes();
    done.synced = done.elapsed;
    Ok(done)
}

fn check(mode: &Mode, job: &Job) -> Result<(), Fault> {
    if let Some(reason) = (mode.probe)() {
        return Err(Fault::Unavailable(format!(
            "{} cannot run here: {reason}",
            mode.name
        )));
    }
    if mode.maps && !job.block_bytes.get().is_multiple_of(4096) {
        return Err(Fault::Contradiction(format!(
            "a buffer of {} bytes is no multiple of 4096, which mapping needs",
            job.block_bytes
        )));
    }
    if mode.maps && job.dontcache {
        return Err(Fault::Contradiction(
            "stores into a mapping cannot carry RWF_DONTCACHE".to_owned(),
        ));
    }
    if job.depth.get() > 32_768 {
        return Err(Fault::Contradiction(format!(
            "a depth of {} is more than 32768",
            job.depth
        )));
    }
    if job.writers.get() > MOST_WRITERS {
        return Err(Fault::Contradiction(format!(
            "{} threads are more than {MOST_WRITERS}",
            job.writers
        )));
    }
    Ok(())
}

fn crew(
    mode: &'static Mode,
    job: &Job,
    target: Option<&Target>,
    fill: &Fill<'_>,
    progress: &mut Progress<'_>,
    started: Instant,
) -> Result<Done, Fault> {
    let shared = Shared::default();
    let mut evidence = Evidence::default();
    let pool = match job.contents {
        Contents::PerBlock => None,
        Contents::Before => {
            let mut pool = Pool::new(job.block_bytes, job.buffers)?;
            fill_pool(&mut pool, job, fill, &shared, progress, &mut evidence)?;
            Some(pool)
        }
    };
    let cursors = blocks::cursors(job);
    let work = |index: usize| {
        let cursor: &Cursor = &cursors[index % cursors.len()];
        let buffers = match &pool {
            Some(pool) => Buffers::Shared(pool),
            None if mode.maps => Buffers::None,
            None => Buffers::Own(Pool::new(job.block_bytes, share(job))?),
        };
        let mut writer = Writer::new(job, target, cursor, fill, &shared, buffers);
        place(&mut writer, index);
        mode.sink.write(&mut writer)?;
        Ok(writer.conclude())
    };
    for left in run(job.writers.get(), &work, &shared, progress)? {
        evidence.merge(left);
    }
    if let Some(target) = target {
        evidence.direct = target.direct;
        evidence.dsync |= target.dsync;
        evidence.notes.extend(target.notes.iter().cloned());
    }
    let extents = shared
        .extents
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let elapsed = evidence
        .last_done
        .map_or(Duration::ZERO, |last| last - started);
    Ok(Done {
        size: 0,
        extents,
        evidence,
        started,
        opening: Duration::ZERO,
        elapsed,
        synced: Duration::ZERO,
        closing: Duration::ZERO,
    })
}

/// Buffers of each writer: its share, and at least one.
fn share(job: &Job) -> NonZeroUsize {
    NonZeroUsize::new(job.buffers.get() / job.writers.get()).unwrap_or(NonZeroUsize::MIN)
}

/// Binds the calling writer to its processor, if it has one, and says where it runs.
fn place(writer: &mut Writer<'_>, index: usize) {
    let processors = &writer.job.processors;
    if processors.is_empty() {
        return;
    }
    let asked = processors[index % processors.len()];
    let bound = affinity::bind(asked);
    let notes = &mut writer.evidence.notes;
    match (bound, affinity::place()) {
        (Ok(()), Some((processor, node))) => notes.push(format!(
            "writer {index} runs on processor {processor} of memory node {node}"
        )),
        (Ok(()), None) => notes.push(format!(
            "writer {index} was bound to processor {asked}; where it runs is not told"
        )),
        (Err(error), _) => notes.push(format!(
            "writer {index} could not be bound to processor {asked}: {error}"
        )),
    }
}

/// Fills every buffer once, block i into buffer i, with all writers.
fn fill_pool(
    pool: &mut Pool,
    job: &Job,
    fill: &Fill<'_>,
    shared: &Shared,
    progress: &mut Progress<'_>,
    evidence: &mut Evidence,
) -> Result<(), Fault> {
    let block = job.block_bytes.get();
    // One long list of portions, so that a single large buffer is filled by all writers too.
    let mut portions: Vec<_> = pool
        .buffers_mut()
        .enumerate()
        .flat_map(|(index, buffer)| {
            let offset = (index as u64) * (block as u64);
            let length = usize::try_from(job.size.saturating_sub(offset)).unwrap_or(usize::MAX);
            let (contents, _) = buffer.split_at_mut(block.min(length));
            contents
                .chunks_mut(PORTION)
                .enumerate()
                .map(move |(part, room)| (offset + (part * PORTION) as u64, room))
        })
        .collect();
    let filled: u64 = portions.iter().map(|(_, room)| room.len() as u64).sum();
    let each = portions.len().div_ceil(job.writers.get()).max(1);
    let parts: Vec<_> = portions
        .chunks_mut(each)
        .map(std::sync::Mutex::new)
        .collect();
    let work = |index: usize| {
        let start = Instant::now();
        let mut share = parts[index]
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for (offset, room) in share.iter_mut() {
            if shared.stop.load(Ordering::Relaxed) {
                break;
            }
            fill(*offset, room);
        }
        Ok(start.elapsed())
    };
    for spent in run(parts.len(), &work, shared, progress)? {
        evidence.times.generate += spent;
    }
    evidence.filled_bytes = filled;
    evidence.buffers = usize::try_from(blocks::count(job))
        .unwrap_or(usize::MAX)
        .min(job.buffers.get());
    evidence.last_fill = Some(Instant::now());
    Ok(())
}

/// Runs `work` on `threads` threads. The calling thread asks `progress` meanwhile: only it may be Python's main thread.
fn run<T: Send>(
    threads: usize,
    work: &(dyn Fn(usize) -> Result<T, Fault> + Sync),
    shared: &Shared,
    progress: &mut Progress<'_>,
) -> Result<Vec<T>, Fault> {
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for index in 0..threads {
            let sender = sender.clone();
            let spawned = std::thread::Builder::new()
                .name(format!("writer-{index}"))
                .spawn_scoped(scope, move || {
                    let outcome = work(index);
                    if outcome.is_err() {
                        // The others need not go on for a file that will not be.
                        shared.stop.store(true, Ordering::Relaxed);
                    }
                    // Nobody listens any more only if the caller panicked.
                    let _ = sender.send(outcome);
                });
            if let Err(error) = spawned {
                shared.stop.store(true, Ordering::Relaxed);
                return Err(Fault::of("start a thread")(error));
            }
        }
        drop(sender);
        let (mut results, mut fault, mut stopped) = (Vec::with_capacity(threads), None, false);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(Ok(result)) => results.push(result),
                Ok(Err(error)) => fault = fault.or(Some(error)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    if !stopped
                        && progress(shared.done.load(Ordering::Relaxed)) == ControlFlow::Break(())
                    {
                        stopped = true;
                        shared.stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
        match fault {
            Some(fault) => Err(fault),
            None if stopped => Err(Fault::Stopped),
            None => Ok(results),
        }
    })
}

/// Cuts, syncs, names and closes the file.
fn finish(target: Target, job: &Job, done: &mut Done) -> Result<(), Fault> {
    let start = Instant::now();
    target.cut(job.size)?;
    let cut = start.elapsed();
    let syncs = matches!(
        job.durability,
        Durability::EndFsync | Durability::Fdatasync(_)
    );
    if syncs {
        let start = Instant::now();
        target.file().sync_all().map_err(Fault::of("sync"))?;
        done.evidence.times.sync += start.elapsed();
        done.evidence.syncs_after += 1;
    }
    done.synced = done.started.elapsed();
    let start = Instant::now();
    done.size = target.finish(job.durability != Durability::None)?;
    done.closing = cut + start.elapsed();
    if done.size != job.size {
        return Err(Fault::NotWhole {
            written: done.size,
            twice: 0,
            size: job.size,
        });
    }
    Ok(())
}

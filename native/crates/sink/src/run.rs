//! Runs the writers of a job, asks the caller now and then whether to go on, and brings the file to its end.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::blocks;
use crate::checks::{check, check_mode};
use crate::files::{self, fault_in_file};
use crate::target::{Target, reserve};
use crate::writer::{Buffers, Share, Shared, Writer};
use crate::{
    Contents, Done, Evidence, Extents, Fault, Fill, Job, Mode, Pool, Progress, Resident, Write,
    affinity, pages,
};

/// Between two calls of the progress function.
const TICK: Duration = Duration::from_millis(50);

/// Bytes that are filled beforehand between two looks at whether to stop.
const PORTION: usize = 4 << 20;

/// Writes the file at `path`, or the files whose names begin with it. A file gets its name only
/// when all are complete; previous files are removed first.
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
    check_mode(mode, job)?;
    files::check_dontcache(path, job)?;
    let opening = Instant::now();
    let targets = files::create(path, mode, job)?;
    for target in &targets {
        if job.reserve {
            // A full disk is then known before the first write.
            reserve(target.file(), 0, target.size)
                .map_err(fault_in_file(job, &target.requested))?;
        }
        if mode.maps {
            target
                .extend()
                .map_err(fault_in_file(job, &target.requested))?;
        }
    }
    let started = Instant::now();
    let (mut done, pools) = run_writers(
        mode.write, mode.maps, job, &targets, fill, progress, started,
    )?;
    done.opening = started - opening;
    for (extents, target) in done.extents.iter_mut().zip(&targets) {
        *extents = extents.within(target.size);
        if !extents.are_whole(target.size) {
            return Err(fault_in_file(job, &target.requested)(Fault::NotWhole {
                written: extents.bytes(),
                twice: extents.twice(),
                size: target.size,
            }));
        }
    }
    files::finish(targets, job, &mut done)?;
    done.evidence.resident = memory_of(&pools);
    Ok(done)
}

/// Produces the contents of a job and discards them.
///
/// # Errors
/// Memory is unavailable, or `progress` ended it.
pub fn discard(job: &Job, fill: &Fill<'_>, progress: &mut Progress<'_>) -> Result<Done, Fault> {
    check(job)?;
    let discard = |writer: &mut Writer<'_>| {
        let slots = writer.slots();
        let mut slot = 0;
        while let Some(block) = writer.next() {
            let since = Instant::now();
            writer.prepare(block, slot);
            slot = (slot + 1) % slots;
            writer.note_discarded(block);
            writer.note_finished(since);
        }
        Ok(())
    };
    let (mut done, pools) = run_writers(discard, false, job, &[], fill, progress, Instant::now())?;
    done.size = done.extents.iter().map(Extents::bytes).sum();
    done.synced = done.elapsed;
    done.evidence.resident = memory_of(&pools);
    Ok(done)
}

/// Writes with all writers, and returns their buffers too: to look at and to free them takes time, which must not be
/// before the end of the last sync.
fn run_writers(
    write: Write,
    maps: bool,
    job: &Job,
    targets: &[Target],
    fill: &Fill<'_>,
    progress: &mut Progress<'_>,
    started: Instant,
) -> Result<(Done, Vec<Pool>), Fault> {
    let shared = Shared::default();
    let mut evidence = Evidence::default();
    let pool = match job.contents {
        Contents::PerBlock => None,
        Contents::Before => {
            let mut pool = Pool::new(job.block_bytes, job.buffers, job.pages)?;
            fill_pool(&mut pool, job, fill, &shared, progress, &mut evidence)?;
            Some(pool)
        }
    };
    let lanes = job.writers.min(job.files).get();
    let parts = shares(job, targets, lanes);
    let work = |index: usize| {
        let buffers = match &pool {
            Some(pool) => Buffers::Shared(pool),
            None if maps => Buffers::None,
            None => Buffers::Own(Pool::new(job.block_bytes, buffers_of_each(job), job.pages)?),
        };
        let lane = parts.iter().skip(index % lanes).step_by(lanes);
        let mut evidence = Evidence::default();
        evidence
            .notes
            .extend(affinity::place(&job.processors, index)?);
        one_after_the_other(
            write,
            job,
            lane,
            index / lanes,
            fill,
            &shared,
            buffers,
            evidence,
        )
    };
    let mut pools = Vec::new();
    for (left, buffers) in run_threads("writer", job.writers.get(), &work, &shared, progress)? {
        evidence.merge(left);
        if let Buffers::Own(buffers) = buffers {
            pools.push(buffers);
        }
    }
    evidence.direct = !targets.is_empty() && targets.iter().all(|target| target.direct);
    for target in targets {
        evidence.dsync |= target.dsync;
        evidence.note(target.notes.clone());
    }
    let extents = parts
        .into_iter()
        .map(|share| {
            share
                .extents
                .into_inner()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
        })
        .collect();
    let elapsed = evidence
        .last_done
        .map_or(Duration::ZERO, |last| last - started);
    pools.extend(pool);
    let done = Done {
        size: 0,
        extents,
        evidence,
        started,
        opening: Duration::ZERO,
        elapsed,
        synced: Duration::ZERO,
        closing: Duration::ZERO,
    };
    Ok((done, pools))
}

/// The files of a job. Of `lanes` lanes, file i is in lane i modulo their number, and so is writer i; the writers of a
/// lane write its files one after the other.
fn shares<'run>(job: &Job, targets: &'run [Target], lanes: usize) -> Vec<Share<'run>> {
    (0..job.files.get())
        .map(|index| {
            let writers = (job.writers.get() - index % lanes).div_ceil(lanes);
            let size = files::size_of(job.size, job.files, index);
            Share {
                target: targets.get(index),
                base: (index as u64).wrapping_mul(job.stride),
                cursors: blocks::cursors(job, size, writers),
                extents: Mutex::default(),
            }
        })
        .collect()
}

/// Writes with one of the writers of a lane, the `number`th, and adds its evidence to `evidence`.
#[expect(
    clippy::too_many_arguments,
    reason = "what a writer of a file is made of"
)]
fn one_after_the_other<'run>(
    write: Write,
    job: &'run Job,
    lane: impl Iterator<Item = &'run Share<'run>>,
    number: usize,
    fill: &'run Fill<'run>,
    shared: &'run Shared,
    mut buffers: Buffers<'run>,
    mut evidence: Evidence,
) -> Result<(Evidence, Buffers<'run>), Fault> {
    let since = Instant::now();
    for share in lane {
        let cursor = &share.cursors[number % share.cursors.len()];
        let mut writer = Writer::new(job, share, cursor, fill, shared, buffers);
        if let Err(fault) = write(&mut writer) {
            return Err(match share.target {
                Some(target) => fault_in_file(job, &target.requested)(fault),
                None => fault,
            });
        }
        let left;
        (left, buffers) = writer.conclude();
        let most = evidence.buffers.max(left.buffers);
        evidence.merge(left);
        // The same thread and the same buffers, file after file.
        evidence.writers = evidence.writers.min(1);
        evidence.buffers = most;
    }
    evidence.times.rest = since.elapsed().saturating_sub(evidence.times.sum());
    Ok((evidence, buffers))
}

/// Memory of the buffers of all writers.
fn memory_of(pools: &[Pool]) -> Option<Resident> {
    let ranges: Vec<_> = pools.iter().map(Pool::addresses).collect();
    if ranges.is_empty() {
        return None;
    }
    pages::resident(&ranges)
}

/// Buffers of each writer: its share, and at least one.
fn buffers_of_each(job: &Job) -> NonZeroUsize {
    NonZeroUsize::new(job.buffers.get() / job.writers.get()).unwrap_or(NonZeroUsize::MIN)
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
        // The writer of this number notes where it runs.
        affinity::place(&job.processors, index)?;
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
    for spent in run_threads("writer", parts.len(), &work, shared, progress)? {
        evidence.times.generate += spent;
    }
    evidence.filled_bytes = filled;
    evidence.buffers = usize::try_from(blocks::count(job, job.size))
        .unwrap_or(usize::MAX)
        .min(job.buffers.get());
    evidence.last_fill = Some(Instant::now());
    Ok(())
}

/// Runs `work` on `threads` threads, which are called `name` and their number. The calling thread asks `progress`
/// meanwhile: only it may be Python's main thread. Returns the results as they came in.
///
/// # Errors
/// A thread cannot be started, `work` failed, or `progress` ended it. `shared.stop` is set then.
pub fn run_threads<T: Send>(
    name: &str,
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
                .name(format!("{name}-{index}"))
                .spawn_scoped(scope, move || {
                    let outcome = work(index);
                    if outcome.is_err() {
                        // The others need not go on for a file that will not be.
                        shared.stop.store(true, Ordering::Relaxed);
                    }
                    // The receiver is gone only if the caller panicked.
                    let _ = sender.send(outcome);
                });
            if let Err(error) = spawned {
                shared.stop.store(true, Ordering::Relaxed);
                return Err(Fault::during("start a thread")(error));
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

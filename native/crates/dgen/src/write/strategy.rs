//! When contents are produced and who writes them: one entry of [`STRATEGIES`] each, as it differs from streaming.

use std::num::NonZeroUsize;

use sink::{Contents, Durability, Evidence, Fault, Job, Mode, Split, Submit};
use worker::recognition;

use super::programs::{fio_engine, why_no_fio, why_no_python};

/// A value of the axis `strategy`.
#[derive(Debug)]
pub struct Strategy {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Whether the strategy writes a file.
    pub writes: bool,
    /// Whether the strategy writes the contents of a pool repeatedly, so that the file repeats.
    pub recycles: bool,
    /// Implementation. [`super::write_file`] accepts only drivers inside this process.
    pub driver: Driver,
    /// The default backend.
    backend: &'static str,
    /// Reason why the strategy is unavailable with a backend, or `None`.
    pub refuses: fn(&Mode) -> Option<&'static str>,
    /// Changes a job of streaming into its own.
    pub(super) shape: fn(&mut Job) -> Result<(), Fault>,
    /// Whether `Evidence` of that job matches this strategy.
    pub(super) matches: fn(&Evidence, &Job) -> bool,
}

/// Implementation that fills the buffers and writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Threads of this process.
    Own,
    /// A script in Python, which replaces the worker ([`super::python`]).
    Python,
    /// fio, which the worker starts ([`super::fio`]).
    Fio,
}

/// A small pool whose buffers are filled again as soon as completions free them.
pub const STREAMING: Strategy = Strategy {
    name: "streaming",
    about: "fills and submits while the kernel writes; completions free the buffers of a small pool; threads take the next block in turn",
    writes: true,
    recycles: false,
    driver: Driver::Own,
    backend: "uring",
    refuses: |_| None,
    shape: |_| Ok(()),
    matches: |evidence, job| generates_between(evidence, job) && first_batch(evidence) <= 1,
};

/// No thread of this process can run what another program does.
const ELSEWHERE: Strategy = Strategy {
    shape: |_| {
        Err(Fault::Contradiction(
            "this strategy is another program's, which only `dgen run write` starts".to_owned(),
        ))
    },
    matches: |_, _| false,
    ..STREAMING
};

/// As an application in Python would write.
const PYTHON: Strategy = Strategy {
    driver: Driver::Python,
    backend: "pwrite",
    refuses: |mode| (mode.name != "pwrite").then_some("Python writes by pwrite"),
    ..ELSEWHERE
};

/// Every strategy, in the order in which help and `describe` list them.
pub static STRATEGIES: &[&Strategy] = &[
    &Strategy {
        name: "generate-only",
        about: "fills the buffers again and again and writes nothing; the file is not touched",
        writes: false,
        backend: "pwrite",
        matches: |evidence, job| evidence.written_bytes == 0 && evidence.filled_bytes >= job.size,
        ..STREAMING
    },
    &Strategy {
        name: "write-only",
        about: "fills a pool of buffers once and writes it over and over, so the file repeats",
        recycles: true,
        shape: |job| {
            job.contents = Contents::Before;
            Ok(())
        },
        matches: |evidence, job| {
            let pool = (job.block_bytes.get() as u64).saturating_mul(job.buffers.get() as u64);
            evidence.generated_first()
                && evidence.filled_bytes <= pool
                && evidence.written_bytes >= job.size
        },
        ..STREAMING
    },
    &Strategy {
        name: "single-buffer",
        about: "produces the whole file in one buffer, then writes it",
        backend: "pwrite",
        refuses: |mode| {
            mode.maps
                .then_some("contents are produced in the mapping, never beforehand")
        },
        // `write(2)` stops at 2 147 479 552 bytes, so it is a loop.
        shape: |job| {
            check_one_file(job)?;
            let whole = usize::try_from(job.size).map_err(|_| too_large(job))?;
            // A direct write has whole multiples of the alignment, and no alignment is more than a page.
            let whole = whole
                .max(1)
                .checked_next_multiple_of(4096)
                .ok_or_else(|| too_large(job))?;
            job.block_bytes = NonZeroUsize::new(whole).unwrap_or(NonZeroUsize::MIN);
            job.buffers = NonZeroUsize::MIN;
            job.contents = Contents::Before;
            Ok(())
        },
        matches: |evidence, job| {
            generates_first(evidence, job) && evidence.buffers <= 1 && evidence.blocks <= 1
        },
        ..STREAMING
    },
    &Strategy {
        name: "pregenerated-uring",
        about: "produces all blocks in buffers of their own, then writes them by io_uring",
        refuses: |mode| (mode.name != "uring").then_some("this strategy is io_uring's"),
        shape: |job| {
            job.buffers = blocks(job)?;
            job.contents = Contents::Before;
            Ok(())
        },
        matches: |evidence, job| {
            generates_first(evidence, job) && evidence.ring_bytes >= evidence.written_bytes
        },
        ..STREAMING
    },
    &Strategy {
        name: "late-submit",
        about: "produces blocks until the queue is full, and only then submits and waits",
        refuses: |mode| mode.maps.then_some("a mapping has no queue to fill"),
        shape: |job| {
            job.submit = Submit::WhenFull;
            Ok(())
        },
        matches: |evidence, job| {
            let queue = job
                .depth
                .get()
                .min(job.buffers.get() / job.writers.get())
                .max(1);
            // A block that a sync would come too late for is not begun.
            let batch = match job.durability {
                Durability::Fdatasync(every) => queue.min(usize::try_from(every).unwrap_or(queue)),
                _ => queue,
            };
            // Of several threads or files, one at least finds its share of the blocks.
            let turns = evidence.writers.max(job.files.get());
            let share = evidence.blocks / turns.max(1) as u64;
            let at_once = evidence.blocks <= (queue * turns) as u64;
            (generates_between(evidence, job) || at_once)
                && evidence.filled_bytes >= job.size
                && first_batch(evidence) as u64 >= share.min(batch as u64)
        },
        ..STREAMING
    },
    &STREAMING,
    &Strategy {
        name: "threads",
        about: "each thread fills and writes a part of the file of its own",
        backend: "pwrite",
        shape: |job| {
            job.split = Split::Parts;
            Ok(())
        },
        matches: |evidence, job| {
            generates_between(evidence, job) && first_batch(evidence) <= 1 && evidence.jumps == 0
        },
        ..STREAMING
    },
    &Strategy {
        name: "python-loop",
        about: "a loop in Python: fills a buffer through the extension, then writes it, one after the other",
        ..PYTHON
    },
    &Strategy {
        name: "python-threads",
        about: "threads in Python: one fills the buffers of a pool through the extension, others write them",
        ..PYTHON
    },
    &Strategy {
        name: "fio",
        about: "fio writes: the same block, depth, threads, direct and syncs, its buffers refilled for every block with contents of its own",
        driver: Driver::Fio,
        refuses: |mode| {
            fio_engine(mode)
                .is_none()
                .then_some("fio's job has uring or pwrite")
        },
        ..ELSEWHERE
    },
];

/// The strategy named `name`.
#[must_use]
pub fn strategy(name: &str) -> Option<&'static Strategy> {
    STRATEGIES.iter().copied().find(|known| known.name == name)
}

impl Strategy {
    /// Returns whether the strategy requires `io_uring`.
    #[must_use]
    pub fn needs_ring(&self) -> bool {
        self.writes
            && sink::MODES
                .iter()
                .all(|mode| mode.queues == (self.refuses)(mode).is_none())
    }

    /// Returns the reason why the strategy cannot run here, or `None`.
    #[must_use]
    pub fn why_unavailable(&self) -> Option<String> {
        match self.driver {
            Driver::Python => why_no_python(),
            Driver::Fio => why_no_fio(),
            Driver::Own => self.needs_ring().then(sink::why_no_ring).flatten(),
        }
    }

    /// The default backend.
    ///
    /// # Panics
    /// Never: a test asks every strategy.
    #[must_use]
    pub fn default_backend(&self) -> &'static Mode {
        sink::mode(self.backend).expect("strategies name backends of the registry")
    }
}

/// The name of the strategy that left `evidence`: `requested`, if it can be, else the first of the registry that can.
pub(super) fn judge(requested: &Strategy, evidence: &Evidence, job: &Job) -> &'static str {
    recognition::actual(
        requested,
        STRATEGIES,
        |strategy| (strategy.matches)(evidence, job),
        |strategy| strategy.name,
    )
}

/// Refuses several files, for strategies that keep the whole contents in memory.
fn check_one_file(job: &Job) -> Result<(), Fault> {
    if job.files.get() > 1 {
        return Err(Fault::Contradiction(
            "this strategy keeps the whole file in memory and can write only one file".to_owned(),
        ));
    }
    Ok(())
}

/// Blocks of the file, and at least one.
fn blocks(job: &Job) -> Result<NonZeroUsize, Fault> {
    check_one_file(job)?;
    let blocks = job.size.div_ceil(job.block_bytes.get() as u64);
    usize::try_from(blocks)
        .map(|blocks| NonZeroUsize::new(blocks).unwrap_or(NonZeroUsize::MIN))
        .map_err(|_| too_large(job))
}

fn too_large(job: &Job) -> Fault {
    Fault::Unavailable(format!("{} bytes do not fit in memory", job.size))
}

/// Returns whether all contents were produced once and before the first write.
fn generates_first(evidence: &Evidence, job: &Job) -> bool {
    evidence.generated_first() && evidence.filled_bytes >= job.size
}

/// Whether contents were produced while others were written. A file of no more blocks than threads shows nothing else.
fn generates_between(evidence: &Evidence, job: &Job) -> bool {
    evidence.filled_bytes >= job.size
        && (!evidence.generated_first() || evidence.blocks <= evidence.writers as u64)
}

/// The most blocks that were filled before the first submission.
fn first_batch(evidence: &Evidence) -> usize {
    evidence.first_batch.map_or(0, |(_, many)| many)
}

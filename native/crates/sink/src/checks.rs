//! Checks of a job before anything is opened.

use crate::files::MAX_FILES;
use crate::{Fault, Job, Mode, affinity};

/// More threads than any processor has; starting many more takes longer than writing.
const MAX_WRITERS: usize = 4096;

/// Blocks that a queue of the kernel takes.
const MAX_DEPTH: usize = 32_768;

pub(crate) fn check_mode(mode: &Mode, job: &Job) -> Result<(), Fault> {
    if let Some(reason) = (mode.probe)() {
        let name = mode.name;
        return Err(Fault::Unavailable(format!(
            "{name} cannot run here: {reason}"
        )));
    }
    if mode.maps && !job.block_bytes.get().is_multiple_of(4096) {
        return Err(Fault::Contradiction(format!(
            "a buffer of {} bytes is no multiple of 4096, which mapping needs",
            job.block_bytes
        )));
    }
    if mode.maps && job.dontcache {
        let reason = "stores into a mapping cannot use RWF_DONTCACHE".to_owned();
        return Err(Fault::Contradiction(reason));
    }
    if i64::try_from(job.size).is_err() {
        return Err(Fault::Contradiction(format!(
            "a file of {} bytes is more than the system can address",
            job.size
        )));
    }
    check(job)
}

pub(crate) fn check(job: &Job) -> Result<(), Fault> {
    for (what, number, most) in [
        ("threads", job.writers, MAX_WRITERS),
        ("files", job.files, MAX_FILES),
    ] {
        if number.get() > most {
            return Err(Fault::Contradiction(format!(
                "{number} {what} are more than {most}"
            )));
        }
    }
    if job.depth.get() > MAX_DEPTH {
        return Err(Fault::Contradiction(format!(
            "a depth of {} is more than {MAX_DEPTH}",
            job.depth
        )));
    }
    affinity::check(&job.processors, job.writers.get())
}

//! `pread`: positioned reads, one at a time.

use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use sink::Pool;

use super::backend::{Backend, Evidence, Task};
use super::{ReadError, unavailable};

pub(super) static BACKEND: Backend = Backend {
    name: "pread",
    about: "pread(2), one read at a time",
    direct: true,
    probe: || None,
    matches: |evidence| {
        evidence.ring_bytes == 0
            && evidence.mapped_bytes == 0
            && evidence.call_bytes >= evidence.bytes
    },
    read,
};

fn read(task: &Task<'_>, evidence: &mut Evidence) -> Result<(), ReadError> {
    let mut pool = Pool::new(task.options.buffer_bytes, NonZeroUsize::MIN)
        .map_err(|fault| unavailable(&fault))?;
    while let Some(wanted) = task.take(evidence) {
        let since = Instant::now();
        let buffer = &mut pool.buffer_mut(0)[..task.room(wanted.length)];
        let mut have = 0;
        while have < wanted.length {
            let asked = buffer.len() - have;
            let at = wanted.offset + have as u64;
            let outcome = task.file.read_at(&mut buffer[have..], at);
            evidence.operations += 1;
            match outcome {
                Ok(0) => {
                    return Err(ReadError::Ended {
                        path: task.path.to_owned(),
                        offset: at,
                    });
                }
                Ok(count) => {
                    evidence.call_bytes += count as u64;
                    evidence.short += u64::from(count < asked.min(wanted.length - have));
                    have = if task.direct && have + count < wanted.length {
                        // A direct read goes on at a multiple of the alignment.
                        have + count - (have + count) % super::PAGE
                    } else {
                        have + count
                    };
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                    evidence.repeated += 1;
                }
                Err(error) => return Err(ReadError::of(task.path, Some(at))(error)),
            }
        }
        evidence.read += since.elapsed();
        let have = have.min(wanted.length);
        evidence.finish(wanted, &pool.buffer(0)[..have], since);
    }
    Ok(())
}

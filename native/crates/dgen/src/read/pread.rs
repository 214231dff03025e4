//! `pread`: positioned reads, one at a time.

use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;

use sink::Pool;

use super::backend::{Backend, Evidence, Task};
use super::piece::Piece;
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
        let mut piece = Piece::new(wanted);
        let buffer = &mut pool.buffer_mut(0)[..task.room(wanted.length)];
        loop {
            let outcome = task.file.read_at(&mut buffer[piece.have..], piece.offset());
            evidence.call_bytes += *outcome.as_ref().unwrap_or(&0) as u64;
            if piece.advance(task, outcome, evidence)? {
                break;
            }
        }
        evidence.read += piece.since.elapsed();
        evidence.finish(wanted, &pool.buffer(0)[..wanted.length], piece.since);
    }
    Ok(())
}

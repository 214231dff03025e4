//! `mmap`: the file mapped into memory, read by page faults.

use std::fs::File;
use std::io::{self, Read};

use memmap2::{Advice, Mmap};

use crate::{Evidence, Mode, Options, Source, Visit};

pub(crate) static MODE: Mode = Mode {
    name: "mmap",
    about: "the file mapped into memory, with sequential advice",
    whole: true,
    streams: false,
    probe: || None,
    matches,
    source: &Mapped,
};

struct Mapped;

impl Source for Mapped {
    fn visit_blocks(
        &self,
        file: &File,
        _options: &Options,
        _evidence: &mut Evidence,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        if file.metadata()?.len() == 0 {
            // Files of /proc say that they are empty; an empty answer for them would be wrong.
            if (&mut &*file).read(&mut [0])? > 0 {
                return Err(io::Error::other(
                    "the file has contents but no size: it cannot be mapped",
                ));
            }
            return Ok(());
        }
        // SAFETY: the map is only read, as bytes that are checked where they are used. A file that another process
        // truncates meanwhile ends this one by SIGBUS: inputs of a measurement are pinned, so it is not guarded.
        let map = unsafe { Mmap::map(file) }?;
        map.advise(Advice::Sequential)?;
        let _ = visit(&map);
        Ok(())
    }
}

pub(crate) fn matches(evidence: &Evidence) -> bool {
    evidence.facts.is_empty()
        && evidence.read_calls == 0
        && evidence.blocks <= 1
        && evidence.mapped_bytes == evidence.bytes
}

//! The whole file in one buffer: produced, then written. `write(2)` stops at 2 147 479 552 bytes, so it is a loop.

use std::num::NonZeroUsize;

use sink::Contents;

use super::{Driver, Strategy, of_one_file, produced_first, takes_no_mapping, too_large};

pub(super) static STRATEGY: Strategy = Strategy {
    name: "single-buffer",
    about: "produces the whole file in one buffer, then writes it",
    writes: true,
    recycles: false,
    driver: Driver::Own,
    backend: "pwrite",
    refuses: takes_no_mapping,
    shape: |job| {
        of_one_file(job)?;
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
        produced_first(evidence, job) && evidence.buffers <= 1 && evidence.blocks <= 1
    },
};

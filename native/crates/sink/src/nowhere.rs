//! Contents are produced and go nowhere: how fast the producing alone is. No mode of writing, so not in the registry.

use std::time::Instant;

use crate::{Evidence, Fault, Mode, Sink, Writer};

pub(crate) static MODE: Mode = Mode {
    name: "none",
    about: "nothing is written",
    direct: false,
    maps: false,
    queues: false,
    probe: || None,
    matches: |evidence: &Evidence| evidence.written_bytes == 0,
    sink: &Nowhere,
};

struct Nowhere;

impl Sink for Nowhere {
    fn write(&self, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let slots = writer.slots();
        let mut slot = 0;
        while let Some(block) = writer.next() {
            let since = Instant::now();
            writer.prepare(block, slot);
            slot = (slot + 1) % slots;
            writer.produced(block);
            writer.finished(since);
        }
        Ok(())
    }
}

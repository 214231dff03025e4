//! A sink that discards: measures producing the contents alone. It is no way of writing, so it is not in the registry.

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
    sink: &NullSink,
};

struct NullSink;

impl Sink for NullSink {
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

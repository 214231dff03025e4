//! Test double: called `mmap`, runs `read`. Its receipt must say `read`.

use crate::{Mode, mmap, read};

pub(crate) static MODE: Mode = Mode {
    name: mmap::MODE.name,
    about: mmap::MODE.about,
    whole: false,
    streams: mmap::MODE.streams,
    probe: mmap::MODE.probe,
    matches: mmap::matches,
    source: &read::Blocks,
};

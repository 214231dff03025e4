//! `mmap`: the file mapped into memory, read by page faults.

use std::fs::{self, File};
use std::io::{self, Read};

use memmap2::{Mmap, MmapOptions};
use worker::recognition;

use crate::{BlockCallback, Evidence, Mode, Options, wrong_size};

pub(crate) static MODE: Mode = Mode {
    name: "mmap",
    about: "the file mapped into memory, with the advice of --madvise",
    whole: true,
    streams: false,
    probe: || None,
    matches,
    read,
};

/// A value of the axis `madvise`: the advice to the kernel on a mapping.
#[derive(Debug)]
pub struct Advice {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Reason why the advice is unavailable here, or `None`.
    pub probe: fn() -> Option<String>,
    /// Maps a file that is not empty, and gives the advice.
    map: fn(&File) -> io::Result<Mmap>,
    /// Whether a fresh mapping in `/proc/self/smaps` was given this advice.
    matches: fn(&MappingState) -> bool,
}

/// Every advice, in the order in which help and `describe` list them.
pub static ADVICE: &[&Advice] = &[&SEQUENTIAL, &NONE, &POPULATE, &HUGEPAGE];

pub(crate) static SEQUENTIAL: Advice = Advice {
    name: "sequential",
    about: "MADV_SEQUENTIAL: read ahead more, drop pages soon",
    probe: || None,
    map: |file| map_with_advice(file, memmap2::Advice::Sequential),
    matches: |state| state.has("sr"),
};

static NONE: Advice = Advice {
    name: "none",
    about: "no advice",
    probe: || None,
    map,
    matches: |state| !state.has("sr") && !state.has("hg") && state.resident < state.size,
};

static POPULATE: Advice = Advice {
    name: "populate",
    about: "MAP_POPULATE: every page mapped before the first is used",
    probe: || None,
    map: |file| {
        // SAFETY: as in `map`.
        unsafe { MmapOptions::new().populate().map(file) }
    },
    matches: |state| state.resident == state.size,
};

static HUGEPAGE: Advice = Advice {
    name: "hugepage",
    about: "MADV_HUGEPAGE: read ahead and map in huge pages where the file system has them",
    probe: || {
        let tried = File::open("/proc/self/exe")
            .and_then(|file| map_with_advice(&file, memmap2::Advice::HugePage));
        tried
            .err()
            .map(|error| format!("madvise(MADV_HUGEPAGE) on a mapped file: {error}"))
    },
    map: |file| map_with_advice(file, memmap2::Advice::HugePage),
    matches: |state| state.has("hg"),
};

fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is only read, as bytes that are checked where they are used. If another process truncates the
    // file meanwhile, the program's handler (`worker::mapped`) ends it with an error.
    unsafe { Mmap::map(file) }
}

fn map_with_advice(file: &File, advice: memmap2::Advice) -> io::Result<Mmap> {
    let map = map(file)?;
    map.advise(advice)?;
    Ok(map)
}

fn read(
    file: &File,
    options: &Options,
    evidence: &mut Evidence,
    on_block: &mut BlockCallback<'_>,
) -> io::Result<()> {
    if file.metadata()?.len() == 0 {
        // An empty answer would be wrong.
        if (&mut &*file).read(&mut [0])? > 0 {
            return Err(wrong_size(0));
        }
        return Ok(());
    }
    let map = (options.advice.map)(file)?;
    evidence.advice = actual_advice(map.as_ptr() as usize, options.advice);
    let _ = on_block(&map);
    // Bytes that were truncated inside the last page, or truncated and rewritten, were read as
    // zeros without a signal.
    if file.metadata()?.len() != map.len() as u64 {
        return Err(wrong_size(map.len() as u64));
    }
    Ok(())
}

fn matches(evidence: &Evidence) -> bool {
    evidence.facts.is_empty()
        && evidence.read_calls == 0
        && evidence.blocks <= 1
        && evidence.mapped_bytes == evidence.bytes
}

/// The mapping as the kernel shows it, before any page of it was used.
#[derive(Default)]
struct MappingState {
    flags: Vec<String>,
    size: u64,
    resident: u64,
}

impl MappingState {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

/// The advice that the fresh mapping at `address` shows: `requested`, if it can be, else the first that fits.
fn actual_advice(address: usize, requested: &'static Advice) -> Option<&'static str> {
    let state = mapping_state(address)?;
    Some(recognition::actual(
        requested,
        ADVICE,
        |advice| (advice.matches)(&state),
        |advice| advice.name,
    ))
}

fn mapping_state(address: usize) -> Option<MappingState> {
    // Names of files need not be UTF-8.
    let smaps = fs::read("/proc/self/smaps").ok()?;
    let smaps = String::from_utf8_lossy(&smaps);
    let start = format!("{address:x}-");
    let mut lines = smaps.lines().skip_while(|line| !line.starts_with(&start));
    lines.next()?;
    let mut state = MappingState::default();
    for line in lines {
        let (key, value) = line.split_once(':')?;
        let kibibytes = || value.split_ascii_whitespace().next()?.parse().ok();
        match key {
            "Size" => state.size = kibibytes()?,
            "Rss" => state.resident = kibibytes()?,
            "VmFlags" => {
                state.flags = value.split_ascii_whitespace().map(str::to_owned).collect();
                return Some(state);
            }
            _ => {}
        }
    }
    None
}

//! `mmap`: the file mapped into memory, read by page faults.

use std::fs::{self, File};
use std::io::{self, Read};

use memmap2::{Mmap, MmapOptions};

use crate::{Evidence, Mode, Options, Visit, changed, sizeless};

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
    matches: fn(&Seen) -> bool,
}

/// Every advice, in the order in which help and `describe` list them.
pub static ADVICE: &[&Advice] = &[&SEQUENTIAL, &NONE, &POPULATE, &HUGEPAGE];

pub(crate) static SEQUENTIAL: Advice = Advice {
    name: "sequential",
    about: "MADV_SEQUENTIAL: read ahead more, drop pages soon",
    probe: || None,
    map: |file| advised(file, memmap2::Advice::Sequential),
    matches: |seen| seen.has("sr"),
};

static NONE: Advice = Advice {
    name: "none",
    about: "no advice",
    probe: || None,
    map,
    matches: |seen| !seen.has("sr") && !seen.has("hg") && seen.resident < seen.size,
};

static POPULATE: Advice = Advice {
    name: "populate",
    about: "MAP_POPULATE: every page mapped before the first is used",
    probe: || None,
    map: |file| {
        // SAFETY: as in `map`.
        unsafe { MmapOptions::new().populate().map(file) }
    },
    matches: |seen| seen.resident == seen.size,
};

static HUGEPAGE: Advice = Advice {
    name: "hugepage",
    about: "MADV_HUGEPAGE: read ahead and map in huge pages where the file system has them",
    probe: || {
        let tried =
            File::open("/proc/self/exe").and_then(|file| advised(&file, memmap2::Advice::HugePage));
        tried
            .err()
            .map(|error| format!("madvise(MADV_HUGEPAGE) on a mapped file: {error}"))
    },
    map: |file| advised(file, memmap2::Advice::HugePage),
    matches: |seen| seen.has("hg"),
};

fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is only read, as bytes that are checked where they are used. If another process truncates the
    // file meanwhile, the program's handler (`worker::mapped`) ends it with an error.
    unsafe { Mmap::map(file) }
}

fn advised(file: &File, advice: memmap2::Advice) -> io::Result<Mmap> {
    let map = map(file)?;
    map.advise(advice)?;
    Ok(map)
}

fn read(
    file: &File,
    options: &Options,
    evidence: &mut Evidence,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    if file.metadata()?.len() == 0 {
        // An empty answer would be wrong.
        if (&mut &*file).read(&mut [0])? > 0 {
            return Err(sizeless());
        }
        return Ok(());
    }
    let map = (options.advice.map)(file)?;
    evidence.advice = observed(map.as_ptr() as usize, options.advice);
    let _ = visit(&map);
    // Bytes that were truncated inside the last page, or truncated and rewritten, were read as
    // zeros without a signal.
    if file.metadata()?.len() != map.len() as u64 {
        return Err(changed());
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
struct Seen {
    flags: Vec<String>,
    size: u64,
    resident: u64,
}

impl Seen {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

/// The advice that the fresh mapping at `address` shows: `asked`, if it can be, else the first that fits.
fn observed(address: usize, asked: &'static Advice) -> Option<&'static str> {
    let seen = seen(address)?;
    if (asked.matches)(&seen) {
        return Some(asked.name);
    }
    let shown = ADVICE.iter().find(|advice| (advice.matches)(&seen));
    Some(shown.map_or("unknown", |advice| advice.name))
}

fn seen(address: usize) -> Option<Seen> {
    // Names of files need not be UTF-8.
    let smaps = fs::read("/proc/self/smaps").ok()?;
    let smaps = String::from_utf8_lossy(&smaps);
    let start = format!("{address:x}-");
    let mut lines = smaps.lines().skip_while(|line| !line.starts_with(&start));
    lines.next()?;
    let mut seen = Seen {
        flags: Vec::new(),
        size: 0,
        resident: 0,
    };
    for line in lines {
        let (key, value) = line.split_once(':')?;
        let kibibytes = || value.split_ascii_whitespace().next()?.parse().ok();
        match key {
            "Size" => seen.size = kibibytes()?,
            "Rss" => seen.resident = kibibytes()?,
            "VmFlags" => {
                seen.flags = value.split_ascii_whitespace().map(str::to_owned).collect();
                return Some(seen);
            }
            _ => {}
        }
    }
    None
}

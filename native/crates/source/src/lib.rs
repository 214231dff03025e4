//! Ways to read an input. A mode is one file with its name, its behaviour and how it is recognised, and one line in
//! [`MODES`].
//!
//! A mode pushes borrowed blocks to its caller. Modes that have the whole input at once
//! ([`Mode::whole`]) push it as one block, so a caller may split it among threads without copying;
//! the others push blocks of bounded size, and a caller that hands them on copies them.
//!
//! [`Reader::for_each_block`] derives the actual mode from [`Evidence`], not from the requested mode.

mod direct;
mod evidence;
mod mmap;
mod monoio;
#[cfg(test)]
#[path = "../../worker/tests/needs/mod.rs"]
mod needs;
mod read;
mod ring;
mod slurp;
#[cfg(test)]
mod tests;
mod uring;
mod uring_requests;

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::path::PathBuf;

pub(crate) use evidence::CountingReader;
pub use evidence::Evidence;
pub use mmap::{ADVICE, Advice};

/// Callback for each block; `Break` ends the reading without error.
pub type BlockCallback<'run> = dyn FnMut(&[u8]) -> ControlFlow<()> + 'run;

/// Pushes the blocks of an open input, from its start to its end, to the callback, and records the calls in the evidence.
/// Fails if mapping or reading failed.
pub type Read = fn(&File, &Options, &mut Evidence, &mut BlockCallback<'_>) -> io::Result<()>;

/// A value of the axis `io`.
#[derive(Debug)]
pub struct Mode {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Whether the input arrives as one block.
    pub whole: bool,
    /// Whether it can read standard input and pipes.
    pub streams: bool,
    /// Reason why the mode cannot run here, or `None`.
    pub probe: fn() -> Option<String>,
    /// Whether `Evidence` of one input matches this mode.
    pub matches: fn(&Evidence) -> bool,
    /// The behaviour.
    pub read: Read,
}

/// Every mode, in the order in which help and `describe` list them.
pub static MODES: &[&Mode] = &[
    &read::MODE,
    &slurp::MODE,
    #[cfg(not(feature = "test-swap-io"))]
    &mmap::MODE,
    // Test double: called `mmap`, runs `read`. Its receipt must say `read`.
    #[cfg(feature = "test-swap-io")]
    &Mode {
        whole: false,
        read: read::read,
        ..mmap::MODE
    },
    &direct::MODE,
    &uring::MODE,
    &monoio::SLURP,
    &monoio::CHUNKED,
];

/// The mode named `name`.
#[must_use]
pub fn mode(name: &str) -> Option<&'static Mode> {
    MODES.iter().copied().find(|mode| mode.name == name)
}

/// Knobs of reading.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Size of a block for the modes that read in blocks; at least 1.
    pub block_bytes: usize,
    /// The `madvise` value for a mapping.
    pub advice: &'static Advice,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            block_bytes: 64 << 10,
            advice: &mmap::SEQUENTIAL,
        }
    }
}

/// Origin of the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input, written `-`.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Input {
    /// `-` is standard input, anything else a path.
    #[must_use]
    pub fn from_argument(argument: PathBuf) -> Self {
        if argument.as_os_str() == "-" {
            Self::Stdin
        } else {
            Self::File(argument)
        }
    }

    fn open(&self) -> io::Result<File> {
        match self {
            // A duplicate, because closing the original would close it for the whole process.
            Self::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            Self::File(path) => File::open(path),
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => formatter.write_str("standard input"),
            Self::File(path) => write!(formatter, "{}", path.display()),
        }
    }
}

/// Observed properties of reading one input.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Name of the mode that the evidence shows; `unknown` if the evidence matches no mode.
    pub mode: &'static str,
    /// Evidence of the mode.
    pub evidence: Evidence,
    /// Stated fallbacks: the mode could not read this kind of input, or did without something that it has elsewhere.
    pub notes: Vec<String>,
}

/// An input that is open and the mode that will read it.
#[derive(Debug)]
pub struct Reader {
    file: File,
    mode: &'static Mode,
    note: Option<String>,
}

/// Opens `input` for `mode`. Standard input and pipes are read in blocks if `mode` cannot stream,
/// and the result of reading says so. Standard input counts as a stream even if it comes from a
/// file, because a part may already have been read.
///
/// # Errors
/// The input cannot be opened.
pub fn open(mode: &'static Mode, input: &Input) -> io::Result<Reader> {
    let file = input.open()?;
    let kind = file.metadata()?.file_type();
    // Each mode would refuse it in its own words.
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let streams = *input == Input::Stdin || !kind.is_file();
    if mode.streams || !streams {
        return Ok(Reader {
            file,
            mode,
            note: None,
        });
    }
    let note = format!(
        "{input} is a stream: read in blocks instead of {}",
        mode.name
    );
    Ok(Reader {
        file,
        mode: &read::MODE,
        note: Some(note),
    })
}

/// Returns the error for a file whose contents are not as long as the `size` that it had at first. Files such as those
/// of `/proc` have contents and report a size of 0.
fn wrong_size(size: u64) -> io::Error {
    io::Error::other(if size == 0 {
        "the file has contents but says that its size is 0: only modes that read in blocks can read it"
    } else {
        "the file changed its size while it was read"
    })
}

/// Fails if there is no memory of so many bytes. Tried first: running out of memory must be an error with a path, not
/// an abort. The memory is not touched, and given back.
fn check_memory(bytes: usize) -> io::Result<()> {
    Vec::<u8>::new().try_reserve_exact(bytes)?;
    Ok(())
}

/// Returns memory of so many bytes, all zero.
fn memory_for(bytes: usize) -> io::Result<Vec<u8>> {
    check_memory(bytes)?;
    Ok(vec![0; bytes])
}

/// Returns the size of a file that is read into memory whole.
fn size_of(file: &File) -> io::Result<usize> {
    usize::try_from(file.metadata()?.len())
        .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "larger than the address space"))
}

impl Reader {
    /// Whether the input arrives as one block, which a caller may split without copying.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.mode.whole
    }

    /// Reads to the end, pushing the blocks to `on_block`. The result contains the actual mode.
    ///
    /// # Errors
    /// Mapping or reading failed.
    pub fn for_each_block(
        self,
        options: &Options,
        on_block: &mut BlockCallback<'_>,
    ) -> io::Result<Observation> {
        let mut evidence = Evidence::default();
        let mut statistics = evidence::BlockStatistics::new(&self.file)?;
        let options = Options {
            block_bytes: options.block_bytes.max(1),
            ..*options
        };
        (self.mode.read)(&self.file, &options, &mut evidence, &mut |block| {
            statistics.note(block);
            on_block(block)
        })?;
        statistics.conclude(options, &mut evidence);
        Ok(Observation {
            mode: evidence.judge(self.mode),
            notes: self
                .note
                .into_iter()
                .chain(evidence.notes.drain(..))
                .collect(),
            evidence,
        })
    }
}

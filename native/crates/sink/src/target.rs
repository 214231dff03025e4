//! The file that is written: how it is opened, what the descriptor turned out to be, and how it gets its name.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::direct::alignment;
use crate::tmpfile::{folder, link, open_unnamed};
use crate::{Fault, Job, Mode};

/// Whether to bypass the page cache (`O_DIRECT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direct {
    /// Written through the page cache.
    Off,
    /// Passed by where the file system does that, else a note says why not.
    Try,
    /// Passed by, or an error.
    Require,
}

/// When written data must be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Whenever the kernel likes.
    None,
    /// `fsync` after the last write.
    EndFsync,
    /// `fdatasync` each time that a writer has finished so many blocks, with none in flight, and
    /// `fsync` at the end.
    Fdatasync(u64),
    /// Before each write returns: `O_DSYNC`.
    Dsync,
}

/// An open file without its name.
#[derive(Debug)]
pub(crate) struct Target {
    file: Option<File>,
    /// Requested path.
    pub(crate) requested: PathBuf,
    /// Path with links resolved.
    pub(crate) path: PathBuf,
    /// Bytes that it will have.
    pub(crate) size: u64,
    /// The name that marks the file as partial, where there are no unnamed files.
    partial: Option<PathBuf>,
    /// Bytes to whose multiples direct writes are aligned; 1 through the cache.
    pub(crate) alignment: usize,
    /// Actual state of the descriptor.
    pub(crate) direct: bool,
    pub(crate) dsync: bool,
    pub(crate) notes: Vec<String>,
}

impl Target {
    /// Opens a file of `size` bytes for `path`. An unavailable feature is refused before anything
    /// is touched.
    pub(crate) fn open(requested: &Path, mode: &Mode, job: &Job, size: u64) -> Result<Self, Fault> {
        let path = resolve(requested)?;
        let mut notes = Vec::new();
        let mut flags = 0;
        if job.durability == Durability::Dsync && mode.direct {
            flags |= libc::O_DSYNC;
        }
        let wanted = match (job.direct, mode.direct) {
            (Direct::Off, _) => false,
            (_, true) => true,
            (Direct::Try, false) => {
                notes.push(format!("{} writes through the page cache", mode.name));
                false
            }
            (Direct::Require, false) => {
                return Err(Fault::Contradiction(format!(
                    "{} cannot write past the page cache",
                    mode.name
                )));
            }
        };
        if wanted {
            match Self::direct(requested, &path, flags, job, size) {
                Err(fault) if job.direct == Direct::Try => {
                    notes.push(format!("written through the page cache: {fault}"));
                }
                outcome => return outcome,
            }
        }
        Self::create(requested, path, size, flags, notes).map_err(Fault::during("create"))
    }

    /// Opens a file that passes the page cache by.
    fn direct(
        requested: &Path,
        path: &Path,
        flags: libc::c_int,
        job: &Job,
        size: u64,
    ) -> Result<Self, Fault> {
        let flags = flags | libc::O_DIRECT;
        let mut target = Self::create(requested, path.to_owned(), size, flags, Vec::new())
            .map_err(Fault::during("open with O_DIRECT"))?;
        let (memory, offset) = alignment(target.file()).map_err(Fault::Unavailable)?;
        if !target.direct {
            return Err(Fault::Unavailable(
                "O_DIRECT was accepted and is not set on the descriptor".to_owned(),
            ));
        }
        if memory > 4096 {
            return Err(Fault::Unavailable(format!(
                "O_DIRECT wants buffers aligned to {memory} bytes here"
            )));
        }
        if !job.block_bytes.get().is_multiple_of(offset) {
            return Err(Fault::Contradiction(format!(
                "a buffer of {} bytes is no multiple of {offset}, which O_DIRECT needs here",
                job.block_bytes
            )));
        }
        target.alignment = offset;
        Ok(target)
    }

    /// Creates the file without its name, and reads back the flags of its descriptor.
    fn create(
        requested: &Path,
        path: PathBuf,
        size: u64,
        flags: libc::c_int,
        mut notes: Vec<String>,
    ) -> io::Result<Self> {
        let (file, partial) = open_unnamed(&path, flags, &mut notes)?;
        // SAFETY: F_GETFL takes no pointer.
        let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
        let target = Self {
            file: Some(file),
            requested: requested.to_owned(),
            path,
            size,
            partial,
            alignment: 1,
            direct: flags & libc::O_DIRECT != 0,
            dsync: flags & libc::O_DSYNC != 0,
            notes,
        };
        if flags < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(target)
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        self.file.as_ref().expect("open until it is finished")
    }

    /// Gives the file its size before it is mapped. Holes take no space.
    pub(crate) fn extend(&self) -> Result<(), Fault> {
        self.file()
            .set_len(self.size)
            .map_err(Fault::during("set the size of"))
    }

    /// Cuts off padding. Nothing is written after this.
    pub(crate) fn cut(&self) -> Result<(), Fault> {
        let now = self
            .file()
            .metadata()
            .map_err(Fault::during("look at"))?
            .len();
        if now == self.size {
            return Ok(());
        }
        self.extend()
    }

    /// Gives the file its name, closes it, and returns its size, read back by name.
    pub(crate) fn finish(mut self) -> Result<u64, Fault> {
        let file = self.file.take().expect("finished once");
        match &self.partial {
            None => link(&file, &self.path).map_err(Fault::during("give the name to"))?,
            Some(partial) => fs::rename(partial, &self.path).map_err(Fault::during("rename"))?,
        }
        self.partial = None;
        let named = close(file)
            .map_err(Fault::during("close"))
            .and_then(|()| fs::metadata(&self.path).map_err(Fault::during("look at")));
        match named {
            Ok(metadata) => Ok(metadata.len()),
            Err(fault) => {
                // The data may not be there: a file that looks complete would be a lie.
                let _ = fs::remove_file(&self.path);
                Err(fault)
            }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = fs::remove_file(partial);
        }
    }
}

/// Syncs the folder of `path`, after which the name is on the disk.
///
/// # Errors
/// The folder cannot be opened or synced.
pub fn sync_folder(path: &Path) -> Result<(), Fault> {
    File::open(folder(path))
        .and_then(|folder| folder.sync_all())
        .map_err(Fault::during("sync the folder of"))
}

/// Reserves blocks of the disk for `length` bytes from `offset`.
pub(crate) fn reserve(file: &File, offset: u64, length: u64) -> Result<(), Fault> {
    if length == 0 {
        return Ok(());
    }
    let (Ok(from), Ok(bytes)) = (libc::off_t::try_from(offset), libc::off_t::try_from(length))
    else {
        return Err(Fault::Contradiction(format!(
            "a file of {length} bytes is more than the system can address"
        )));
    };
    loop {
        // SAFETY: fallocate takes no pointer.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, from, bytes) } == 0 {
            return Ok(());
        }
        let source = io::Error::last_os_error();
        if source.kind() != io::ErrorKind::Interrupted {
            return Err(Fault::at("reserve disk space", offset)(source));
        }
    }
}

/// Removes the file that a new one replaces, if there is one.
///
/// # Errors
/// The file cannot be removed.
pub fn remove_previous(path: &Path) -> Result<(), Fault> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Fault::during("replace")(error))
        }
        _ => Ok(()),
    }
}

/// Where the file will stand, with links followed, also those that lead to no file yet. What is no file, or may not be
/// replaced, is refused.
///
/// # Errors
/// A file is impossible at that path.
pub fn resolve(path: &Path) -> Result<PathBuf, Fault> {
    let path = match fs::canonicalize(path) {
        Ok(path) => path,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return resolve_missing(path),
        Err(error) => return Err(Fault::during("look at")(error)),
    };
    let metadata = fs::metadata(&path).map_err(Fault::during("look at"))?;
    if !metadata.is_file() {
        return Err(Fault::Contradiction(
            "only a regular file is replaced, and this is not one".to_owned(),
        ));
    }
    // A file that may not be written is not to be replaced either.
    OpenOptions::new()
        .write(true)
        .open(&path)
        .map_err(Fault::during("open"))?;
    Ok(path)
}

/// Linux has the same limit on links.
const LINKS: usize = 40;

fn resolve_missing(path: &Path) -> Result<PathBuf, Fault> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(leads_to) => path = folder(&path).join(leads_to),
            // The path does not exist or is not a link.
            Err(_) => break,
        }
    }
    let name = path.as_os_str().as_bytes();
    if path.file_name().is_none() || name.ends_with(b"/") || name.ends_with(b"/.") {
        return Err(Fault::Contradiction(
            "this names a folder that does not exist".to_owned(),
        ));
    }
    Ok(path)
}

/// Closes `file` and returns the error of the system, which dropping it would ignore.
fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor was just taken out of its owner, so it is open and closed once.
    if unsafe { libc::close(file.into_raw_fd()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

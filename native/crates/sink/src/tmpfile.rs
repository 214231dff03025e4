//! Files without a name (`O_TMPFILE`), or with a name that marks them as partial where the file system has none of those.

use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file without a name in the folder of `path`; else, with a note, one whose name marks it as
/// partial.
pub(crate) fn open_unnamed(
    path: &Path,
    flags: libc::c_int,
    notes: &mut Vec<String>,
) -> io::Result<(File, Option<PathBuf>)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let refused = match options
        .clone()
        .custom_flags(flags | libc::O_TMPFILE)
        .open(folder(path))
    {
        Ok(file) => return Ok((file, None)),
        Err(error) => error,
    };
    // EISDIR: a kernel or file system that does not know the flag sees an attempt to write a folder.
    if !matches!(
        refused.raw_os_error(),
        Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOSYS | libc::EINVAL)
    ) {
        return Err(refused);
    }
    let (file, partial) = create_partial(path, options.custom_flags(flags))?;
    notes.push(format!(
        "written under a partial name, no unnamed files here: {refused}"
    ));
    Ok((file, Some(partial)))
}

/// Bytes of the longest name that any of the common file systems takes.
const MAX_NAME: usize = 255;

/// Names to try: a writer that was killed leaves its partial file, and numbers of processes come again.
const ATTEMPTS: u32 = 1000;

/// Creates a file next to `path` with a new name that marks it as partial.
///
/// # Errors
/// The folder takes no file.
pub fn create_partial(path: &Path, options: &mut OpenOptions) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut attempt = 0;
    loop {
        let number = match attempt {
            0 => String::new(),
            again => format!("-{again}"),
        };
        let suffix = format!(".{}{number}.partial", std::process::id());
        let kept = &name[..name.len().min(MAX_NAME - suffix.len())];
        let partial = path.with_file_name(OsStr::from_bytes(&[kept, suffix.as_bytes()].concat()));
        match options.create_new(true).open(&partial) {
            Ok(file) => return Ok((file, partial)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => {
                attempt += 1;
            }
            Err(error) => {
                // Where O_DIRECT is refused, the kernel has created the file before.
                if error.kind() != io::ErrorKind::AlreadyExists {
                    let _ = std::fs::remove_file(&partial);
                }
                return Err(error);
            }
        }
    }
}

/// Gives an unnamed file its name.
pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: both strings end with zero and live across the call.
    let failed = unsafe {
        libc::linkat(
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::AT_SYMLINK_FOLLOW,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns the folder that contains `path`.
#[must_use]
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_the_last_of_the_names_remains() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for _ in 0..=ATTEMPTS {
            create_partial(&path, OpenOptions::new().write(true)).unwrap();
        }
        let error = create_partial(&path, OpenOptions::new().write(true)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        let last = format!("file.{}-{ATTEMPTS}.partial", std::process::id());
        assert!(path.with_file_name(last).exists());
    }
}

//! Sessions into a folder, with its digest.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use worker::hex;

use super::Sessions;
use crate::writer::{ProgressReport, WriteSummary};

/// Writes the files below `folder`, which must not exist. The digest is SHA-256 over what
/// `cd FOLDER && find * -type f | LC_ALL=C sort | xargs sha256sum` prints. `progress` gets the bytes written so far about
/// every 8 MiB and at the end; its error ends the writing.
///
/// # Errors
/// The folder exists, a file cannot be written, or `progress` failed. What was written so far is removed.
pub fn write_folder<E: From<io::Error>>(
    sessions: &Sessions,
    folder: &Path,
    progress: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<WriteSummary, E> {
    fs::create_dir(folder)?;
    let written = write(sessions, folder, progress);
    if written.is_err() {
        // The returned error is that of the write, not of the removal.
        let _ = fs::remove_dir_all(folder);
    }
    written
}

fn write<E: From<io::Error>>(
    sessions: &Sessions,
    folder: &Path,
    progress: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<WriteSummary, E> {
    let mut report = ProgressReport::new(progress);
    let mut files = sessions.files();
    files.sort_by(|left, right| left.name.cmp(&right.name));
    let mut all = Sha256::new();
    for session in &files {
        let path = folder.join(&session.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = File::create_new(&path)?;
        let mut hash = Sha256::new();
        sessions.write::<E>(session, &mut |piece| {
            hash.update(piece);
            file.write_all(piece)?;
            report.add(piece.len())
        })?;
        all.update(format!("{}  {}\n", hex(&hash.finalize()), session.name));
    }
    report.finish(all)
}

//! `monoio-slurp`: `monoio::fs::read`, the whole file by `io_uring`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::{Evidence, Mode, Options, Source, Visit, changed, monoio_runtime, sizeless};

pub(crate) static MODE: Mode = Mode {
    name: "monoio-slurp",
    about: "monoio::fs::read: the whole file in one buffer, on monoio's io_uring driver",
    whole: true,
    streams: false,
    probe: monoio_runtime::probe,
    matches,
    source: &Slurp,
};

struct Slurp;

impl Source for Slurp {
    fn visit_blocks(
        &self,
        file: &File,
        _options: &Options,
        evidence: &mut Evidence,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let metadata = file.metadata()?;
        let size = usize::try_from(metadata.len()).map_err(|_| {
            io::Error::new(io::ErrorKind::FileTooLarge, "larger than the address space")
        })?;
        // Tried first: running out of memory must be an error with a path, not an abort.
        Vec::<u8>::new().try_reserve_exact(size)?;
        // The call takes a path; this one leads to the open file, even if its name is gone or is another file's now.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let contents = monoio_runtime::block_on(evidence, async |evidence| {
            let contents = monoio_runtime::watched(evidence, monoio::fs::read(&path)).await?;
            // `fs::read` takes the size of the file at its word, and files of /proc say that they are empty.
            let again = monoio::fs::File::open(&path).await?;
            let (behind, _) = again.read_at(vec![0; 1], contents.len() as u64).await;
            let behind = behind?;
            again.close().await?;
            if contents.len() < size || behind > 0 {
                return Err(if size == 0 { sizeless() } else { changed() });
            }
            Ok(contents)
        })?;
        if !contents.is_empty() {
            let _ = visit(&contents);
        }
        Ok(())
    }
}

/// Every open, read and close is a separate completion: at least 5 for a file with contents, and 4 for
/// an empty one.
fn matches(evidence: &Evidence) -> bool {
    evidence.blocks <= 1
        && monoio_runtime::read_by_ring(evidence, if evidence.bytes > 0 { 5 } else { 4 })
}

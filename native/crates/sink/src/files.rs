//! The files of a job: what each is called, how long it is, and how all of them come to their names.

use std::collections::HashSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::direct::why_not_dontcache;
use crate::target::{Target, remove_previous, resolve, sync_folder};
use crate::tmpfile::folder;
use crate::{Done, Durability, Fault, Job, Mode};

/// The most files of a job. All are open until the last is written, so limits of the system may come first.
pub const MAX_FILES: usize = 1 << 16;

/// Files begin and end at multiples of this, but for the end of the last: direct writes then need no padding.
const PAGE: u64 = 4096;

/// Returns the path of file `index` of `files`: `path` itself if it is the only one.
#[must_use]
pub fn path_of(path: &Path, files: NonZeroUsize, index: usize) -> PathBuf {
    if files.get() == 1 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{index}"));
    PathBuf::from(name)
}

/// Bytes of file `index`, when `size` bytes are split over `files` as evenly as whole pages can be.
#[must_use]
pub fn size_of(size: u64, files: NonZeroUsize, index: usize) -> u64 {
    let pages = u128::from(size.div_ceil(PAGE));
    let edge = |index: usize| {
        let page = pages * index as u128 / files.get() as u128;
        u64::try_from(page * u128::from(PAGE)).map_or(size, |edge| edge.min(size))
    };
    edge(index + 1) - edge(index)
}

/// Refuses `RWF_DONTCACHE` if a folder of the files, with links resolved, does not support it. The test writes, so it is
/// made once per folder, and before anything is timed.
pub(crate) fn check_dontcache(path: &Path, job: &Job) -> Result<(), Fault> {
    if !job.dontcache {
        return Ok(());
    }
    let mut folders = HashSet::new();
    for index in 0..job.files.get() {
        let path = path_of(path, job.files, index);
        let resolved = resolve(&path).map_err(fault_in_file(job, &path))?;
        let folder = folder(&resolved);
        if folders.insert(folder.to_owned())
            && let Some(reason) = why_not_dontcache(folder)
        {
            return Err(fault_in_file(job, &path)(Fault::Unavailable(reason)));
        }
    }
    Ok(())
}

/// Opens the files, without names, and removes the files that they replace once all are open.
pub(crate) fn create(path: &Path, mode: &Mode, job: &Job) -> Result<Vec<Target>, Fault> {
    let mut targets = Vec::with_capacity(job.files.get());
    for index in 0..job.files.get() {
        let path = path_of(path, job.files, index);
        let size = size_of(job.size, job.files, index);
        let target = Target::open(&path, mode, job, size).map_err(fault_in_file(job, &path))?;
        targets.push(target);
    }
    for target in &targets {
        remove_previous(&target.path).map_err(fault_in_file(job, &target.requested))?;
    }
    Ok(targets)
}

/// Says which file a fault is of, if there are several.
pub(crate) fn fault_in_file(job: &Job, path: &Path) -> impl FnOnce(Fault) -> Fault {
    let several = (job.files.get() > 1).then(|| path.to_owned());
    |fault| match several {
        Some(path) => Fault::In {
            path,
            fault: Box::new(fault),
        },
        None => fault,
    }
}

/// Cuts, syncs, names and closes the files, and syncs their folder. Each name is given at once, but not all of them
/// together: if one cannot be given, those that were are taken away.
pub(crate) fn finish(targets: Vec<Target>, job: &Job, done: &mut Done) -> Result<(), Fault> {
    let start = Instant::now();
    for target in &targets {
        target
            .cut()
            .map_err(fault_in_file(job, &target.requested))?;
    }
    let cut = start.elapsed();
    let syncs = matches!(
        job.durability,
        Durability::EndFsync | Durability::Fdatasync(_)
    );
    if syncs {
        let start = Instant::now();
        for target in &targets {
            let synced = target.file().sync_all().map_err(Fault::during("sync"));
            synced.map_err(fault_in_file(job, &target.requested))?;
            done.evidence.syncs_after += 1;
        }
        done.evidence.times.sync += start.elapsed();
    }
    let start = Instant::now();
    let mut named = Vec::with_capacity(targets.len());
    let outcome = name_all(targets, job, &mut named).and_then(|size| {
        done.size = size;
        done.closing = cut + start.elapsed();
        // All are in one folder, which is synced when it has the last of their names.
        match named.last() {
            Some(last) if job.durability != Durability::None => {
                let start = Instant::now();
                sync_folder(last).map_err(fault_in_file(job, last))?;
                done.evidence.times.sync += start.elapsed();
                done.synced = done.started.elapsed();
            }
            _ => done.synced = done.elapsed,
        }
        Ok(())
    });
    if outcome.is_err() {
        for path in named {
            // The set must not look complete. The returned error is the original one.
            let _ = fs::remove_file(path);
        }
    }
    outcome
}

/// Names all files and returns their total size, read back by name. `named` receives the paths of
/// the named files.
fn name_all(targets: Vec<Target>, job: &Job, named: &mut Vec<PathBuf>) -> Result<u64, Fault> {
    let mut whole = 0;
    for target in targets {
        let (requested, path, size) = (target.requested.clone(), target.path.clone(), target.size);
        let written = target.finish().map_err(fault_in_file(job, &requested))?;
        named.push(path);
        if written != size {
            return Err(fault_in_file(job, &requested)(Fault::NotWhole {
                written,
                twice: 0,
                size,
            }));
        }
        whole += written;
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_requested_total_size_and_begin_on_pages() {
        for size in [
            0,
            1,
            4095,
            4096,
            4097,
            1 << 20,
            (1 << 40) + 12_345,
            u64::MAX,
        ] {
            for files in [1, 2, 3, 7, 1000] {
                let files = NonZeroUsize::new(files).unwrap();
                let sizes: Vec<_> = (0..files.get())
                    .map(|index| size_of(size, files, index))
                    .collect();
                let whole: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
                assert_eq!(whole, u128::from(size));
                let odd = sizes.iter().filter(|size| !size.is_multiple_of(PAGE));
                assert!(odd.count() <= 1);
                let (least, most) = (sizes.iter().min(), sizes.iter().max());
                assert!(most.unwrap() - least.unwrap() <= 2 * PAGE, "{sizes:?}");
            }
        }
    }

    #[test]
    fn one_file_has_the_name_and_several_have_a_number_appended() {
        let two = NonZeroUsize::new(2).unwrap();
        let path = |files, index| path_of(Path::new("a/b.c"), files, index);
        assert_eq!(path(NonZeroUsize::MIN, 0), Path::new("a/b.c"));
        assert_eq!(path(two, 1), Path::new("a/b.c.1"));
    }
}

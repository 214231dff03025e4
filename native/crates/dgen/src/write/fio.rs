//! The equivalent fio job, for comparison with an independent program: the same block size, depth,
//! threads, direct I/O, syncs, registered buffers and registered file, with new contents for every
//! block. fio chooses the contents, so only the size of the file can be compared.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use sink::{Direct, Durability, Fault};

use super::programs::{fio_engine, installed_fio};
use super::{FileError, Options, cached_bytes};

mod account;

pub use account::Account;

/// Result of a fio job, from fio's report and from the file.
#[derive(Clone, Debug)]
pub struct Report {
    /// fio's figures.
    pub account: Account,
    /// Removing the previous file.
    pub opening: Duration,
    /// fio's process, from its start to its end.
    pub process: Duration,
    /// Naming the file, and syncing its folder.
    pub closing: Duration,
    /// Bytes of the previous file in the page cache.
    pub cached_bytes_before: Option<u64>,
    /// Bytes of the file in the page cache afterwards.
    pub cached_bytes_after: Option<u64>,
    /// Fallbacks, each with its cause.
    pub notes: Vec<String>,
}

/// Lets fio write the file at `path`, replacing an existing file. It is written under a name that
/// marks it as partial.
///
/// # Errors
/// The options ask for what fio's job has not, or fio cannot run, or did not write the whole file. No file has the name
/// then.
pub fn write_file(path: &Path, options: &Options) -> Result<Report, FileError> {
    run(path, options).map_err(|fault| FileError::new(path, fault))
}

fn run(path: &Path, options: &Options) -> Result<Report, Fault> {
    let engine = check(options)?;
    let program = installed_fio()
        .ok_or_else(|| Fault::Unavailable("cannot run: fio is not installed".to_owned()))?;
    let cached_bytes_before = cached_bytes(path);
    let start = Instant::now();
    let path = sink::resolve(path)?;
    let folder = sink::folder(&path);
    // fio itself makes folders that are missing.
    fs::metadata(folder).map_err(Fault::during("create"))?;
    let mut notes = Vec::new();
    let direct = is_direct(options.direct, folder, &mut notes)?;
    let partial = Partial::next_to(&path)?;
    sink::remove_previous(&path)?;
    let words = arguments(options, direct, &partial.0)?;
    let (account, process) = write(&program, &words, engine, &partial, &mut notes)?;
    // Attempts that registered nothing and wrote nothing belong to what came before.
    let opening = start.elapsed().saturating_sub(process);
    if account.bytes != options.size {
        return Err(incomplete(account.bytes, options.size));
    }
    let named = Instant::now();
    fs::rename(&partial.0, &path).map_err(Fault::during("rename"))?;
    if options.durability != Durability::None {
        sink::sync_folder(&path)?;
    }
    let bytes = fs::metadata(&path).map_err(Fault::during("look at"))?.len();
    if bytes != options.size {
        // A file that looks complete would be a lie.
        let _ = fs::remove_file(&path);
        return Err(incomplete(bytes, options.size));
    }
    Ok(Report {
        account,
        opening,
        process,
        closing: named.elapsed(),
        cached_bytes_before,
        cached_bytes_after: cached_bytes(&path),
        notes,
    })
}

/// Options of fio for the features that dgen requests of a ring, and the note if a feature is
/// unavailable.
const REGISTRATIONS: [(&[&str], &str); 3] = [
    (&["--fixedbufs", "--registerfiles"], ""),
    (&["--registerfiles"], "registered buffers"),
    (&[], "registered buffers and file"),
];

/// Runs fio, and returns its report with the elapsed time of its process. If the kernel refuses a
/// registration, fio fails. It is then started again without that registration, with a note, as
/// dgen does.
fn write(
    program: &Path,
    words: &[String],
    engine: &str,
    partial: &Partial,
    notes: &mut Vec<String>,
) -> Result<(Account, Duration), Fault> {
    let attempts = if engine == "io_uring" {
        &REGISTRATIONS[..]
    } else {
        &REGISTRATIONS[2..]
    };
    let engine_option = format!("--ioengine={engine}");
    let mut refused = None;
    for (index, (registered, without)) in attempts.iter().enumerate() {
        // fio knows the options of an engine after its name, and those before the name of a job are
        // for all jobs.
        let words = [engine_option.as_str()]
            .into_iter()
            .chain(registered.iter().copied())
            .chain(words.iter().map(String::as_str));
        let begun = Instant::now();
        let output = start_and_wait(program, words)?;
        let process = begun.elapsed();
        match account::read(&output) {
            // Without a ring at all the last attempt says so.
            Err(account::ReportError::Setup(reason)) if index + 1 < attempts.len() => {
                refused = Some(reason);
                // One of several threads may have begun to write.
                partial.empty()?;
            }
            Err(failed) => return Err(failed.into()),
            Ok(account) => {
                if let Some(reason) = refused {
                    notes.push(format!("fio without {without}: {reason}"));
                }
                return Ok((account, process));
            }
        }
    }
    unreachable!("the last attempt returns")
}

/// fio's engine, if its job can be what the options say.
fn check(options: &Options) -> Result<&'static str, Fault> {
    let name = options.strategy.name;
    let refuse = |reason: String| Err(Fault::Contradiction(format!("{name} {reason}")));
    let Some(engine) = fio_engine(options.backend) else {
        return refuse(format!(
            "with {}: its job has uring or pwrite",
            options.backend.name
        ));
    };
    let block = options.buffer_bytes.get() as u64;
    if options.size == 0 || !options.size.is_multiple_of(block) {
        return refuse(format!(
            "writes whole blocks, and {} bytes are no multiple of {block}",
            options.size
        ));
    }
    for (requested, option) in [
        (options.dontcache, "--dontcache on"),
        (!options.processors.is_empty(), "--cpus"),
        (options.rate.is_some(), "--rate"),
        (options.settings.dedup.is_some(), "--dedup"),
        (options.settings.compress.is_some(), "--compress"),
    ] {
        if requested {
            return refuse(format!("has no {option}"));
        }
    }
    if let Some(reason) = (options.backend.probe)() {
        return Err(Fault::Unavailable(format!(
            "{name} with {} cannot run here: {reason}",
            options.backend.name
        )));
    }
    Ok(engine)
}

fn is_direct(requested: Direct, folder: &Path, notes: &mut Vec<String>) -> Result<bool, Fault> {
    match (requested, sink::why_not_direct(folder)) {
        (Direct::Off, _) => Ok(false),
        (Direct::Try | Direct::Require, None) => Ok(true),
        (Direct::Try, Some(reason)) => {
            notes.push(format!("written through the page cache: {reason}"));
            Ok(false)
        }
        (Direct::Require, Some(reason)) => Err(Fault::Unavailable(reason)),
    }
}

fn arguments(options: &Options, direct: bool, partial: &Path) -> Result<Vec<String>, Fault> {
    let name = partial.to_str().ok_or_else(|| {
        Fault::Contradiction("fio takes only names of files that are text".to_owned())
    })?;
    let mut words = vec![
        // fio splits a file name at colons into several names.
        format!("--filename={}", name.replace(':', "\\:")),
        "--rw=write".to_owned(),
        format!("--bs={}", options.buffer_bytes),
        format!("--iodepth={}", options.depth),
        "--thread".to_owned(),
        format!("--direct={}", u8::from(direct)),
        "--refill_buffers".to_owned(),
        format!("--randseed={}", options.settings.seed),
        format!(
            "--fallocate={}",
            if options.reserve { "native" } else { "none" }
        ),
        "--lat_percentiles=1".to_owned(),
        "--clat_percentiles=0".to_owned(),
        "--percentile_list=50:90:99:99.9".to_owned(),
        "--eta=never".to_owned(),
        // With the histograms: those of several threads are added up.
        "--output-format=json+".to_owned(),
    ];
    match options.durability {
        Durability::None => {}
        Durability::EndFsync => words.push("--end_fsync=1".to_owned()),
        Durability::Fdatasync(every) => {
            words.extend([format!("--fdatasync={every}"), "--end_fsync=1".to_owned()]);
        }
        Durability::Dsync => words.push("--sync=dsync".to_owned()),
    }
    words.extend(shares(options));
    Ok(words)
}

/// A part of the file for each thread, in whole blocks; the first get one more where they do not come out even.
fn shares(options: &Options) -> Vec<String> {
    let block = options.buffer_bytes.get() as u64;
    let (blocks, threads) = (options.size / block, options.threads.get() as u64);
    let (each, longer) = (blocks / threads, blocks % threads);
    let mut offset = 0;
    let mut words = Vec::new();
    for (jobs, length) in [(longer, each + 1), (threads - longer, each)] {
        let share = length * block;
        if jobs > 0 && share > 0 {
            words.extend([
                "--name=dgen".to_owned(),
                format!("--numjobs={jobs}"),
                format!("--size={share}"),
                format!("--offset={offset}"),
                format!("--offset_increment={share}"),
            ]);
        }
        offset += jobs * share;
    }
    words
}

/// Runs fio to its end. Ctrl-C goes to both: fio ends its job, and then it is seen that the file is not whole.
fn start_and_wait<'word>(
    program: &Path,
    words: impl Iterator<Item = &'word str>,
) -> Result<Output, Fault> {
    // SAFETY: ignoring a signal runs no code of ours.
    let before = unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null());
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            // A job without anybody who waits for it would go on loading the disk.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            Ok(())
        });
    }
    let output = command.output().map_err(Fault::during("start fio for"));
    // SAFETY: as it was before.
    unsafe { libc::signal(libc::SIGINT, before) };
    output
}

fn incomplete(written: u64, size: u64) -> Fault {
    Fault::NotWhole {
        written,
        twice: 0,
        size,
    }
}

/// A file that is not whole yet: removed, unless it was renamed.
struct Partial(PathBuf);

impl Partial {
    fn next_to(path: &Path) -> Result<Self, Fault> {
        // The name must be new. If the folder refuses new files, the error is that of the system.
        let (_, partial) = sink::create_partial(path, File::options().write(true))
            .map_err(Fault::during("create"))?;
        Ok(Self(partial))
    }

    fn empty(&self) -> Result<(), Fault> {
        File::options()
            .write(true)
            .truncate(true)
            .open(&self.0)
            .map(drop)
            .map_err(Fault::during("empty"))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

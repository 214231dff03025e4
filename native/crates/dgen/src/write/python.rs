//! The strategies in Python: the worker replaces itself by an interpreter that runs the script
//! `examples/python_writer.py`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sink::{Direct, Durability, Fault};

use super::programs::interpreter;
use super::{FileError, Options, name_of_direct, name_of_durability, name_of_pages};

const SCRIPT: &str = include_str!("../../examples/python_writer.py");

/// Returns the command that writes the file at `path` in Python.
///
/// # Errors
/// The strategies in Python do not support one of the options, no interpreter is named, or no file can
/// be written there.
pub fn command(options: &Options, path: &Path) -> Result<Command, FileError> {
    let failed = |fault| FileError::new(path, fault);
    let name = options.strategy.name;
    if let Some(option) = unsupported_option(options) {
        let message = format!("{name} does not support {option}");
        return Err(failed(Fault::Contradiction(message)));
    }
    options.check_rate().map_err(failed)?;
    let python = interpreter()
        .map_err(|reason| failed(Fault::Unavailable(format!("{name} cannot run: {reason}"))))?;
    let file = sink::resolve(path).map_err(failed)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let settings = &options.settings;
    let words = serde_json::json!({
        "strategy": name,
        "size": options.size,
        "buffer": options.buffer_bytes,
        "buffers": options.buffers,
        "threads": options.threads,
        "pages": name_of_pages(options.pages),
        "direct": name_of_direct(options.direct),
        "bypass_cache": match options.direct {
            Direct::Off => false,
            Direct::Try => sink::why_not_direct(folder).is_none(),
            Direct::Require => true,
        },
        "durability": name_of_durability(options.durability),
        "rate": options.rate,
        "data": {
            "seed": settings.seed,
            "dedup": settings.dedup.map(|dedup| dedup.to_string()),
            "compress": settings.compress.map(|compress| compress.to_string()),
        },
        "started": seconds_of_monotonic_clock(),
    });
    let mut command = Command::new(python);
    // With -P, a file `queue.py` next to the data is not imported.
    command
        .args(["-P", "-c", SCRIPT, &words.to_string()])
        .arg(file);
    Ok(command)
}

/// The time by the clock of Python's `time.monotonic`.
fn seconds_of_monotonic_clock() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a value that lives across the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u32::try_from(now.tv_nsec).unwrap_or(0);
    Duration::new(seconds, nanoseconds).as_secs_f64()
}

fn unsupported_option(options: &Options) -> Option<String> {
    if options.backend.name != "pwrite" {
        return Some(format!("--backend {}", options.backend.name));
    }
    if !matches!(options.durability, Durability::None | Durability::EndFsync) {
        return Some(format!(
            "--durability {}",
            name_of_durability(options.durability)
        ));
    }
    [
        (options.dontcache, "--dontcache on"),
        (options.reserve, "--reserve"),
        (!options.processors.is_empty(), "--cpus"),
    ]
    .into_iter()
    .find_map(|(given, option)| given.then(|| option.to_owned()))
}

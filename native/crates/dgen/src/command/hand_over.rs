//! From `dgen run write` to the Python that drives the strategy, in this same process.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use dgen::write::{Durability, Options, WriteError, name_of_direct, name_of_durability, python};
use worker::exit::Failure;

use super::write::failure;

/// Replaces this process by the Python of the strategy, with everything spelled out, so that no default and no unit is
/// known twice. Returns only if that cannot be done.
pub(crate) fn to_python(options: &Options, file: &Path) -> Failure {
    let name = options.strategy.name;
    if let Some(reason) = (options.strategy.refuses)(options.backend) {
        let backend = options.backend.name;
        return Failure::Usage(format!("{name} with {backend}: {reason}"));
    }
    for (asked, option) in [
        (options.dontcache, "--dontcache on"),
        (options.reserve, "--reserve"),
        (!options.processors.is_empty(), "--cpus"),
    ] {
        if asked {
            return Failure::Usage(format!("{name} has no {option}"));
        }
    }
    // One side knows where a file may stand.
    let path = match sink::resolve(file) {
        Ok(path) => path,
        Err(fault) => {
            let path = file.to_owned();
            return failure(&WriteError::Fault { path, fault });
        }
    };
    match python::command() {
        Ok(mut command) => {
            spell_out(&mut command, options, &path);
            let error = command.exec();
            Failure::Work(format!("{name}: cannot start Python: {error}"))
        }
        Err(reason) => Failure::Work(format!("{name} cannot run here: {reason}")),
    }
}

fn spell_out(command: &mut Command, options: &Options, file: &Path) {
    let mut option = |name: &str, value: String| {
        command.arg(name).arg(value);
    };
    option("--strategy", options.strategy.name.to_owned());
    option("--size", options.size.to_string());
    option("--buffer", options.buffer_bytes.to_string());
    option("--buffers", options.buffers.to_string());
    option("--depth", options.depth.to_string());
    option("--threads", options.threads.to_string());
    option("--direct", name_of_direct(options.direct).to_owned());
    option("--durability", name_of_durability(options.durability));
    if let Durability::Fdatasync(every) = options.durability {
        option("--sync-every", every.to_string());
    }
    option("--seed", options.settings.seed.to_string());
    if let Some(dedup) = options.settings.dedup {
        option("--dedup", dedup.to_string());
    }
    if let Some(compress) = options.settings.compress {
        option("--compress", compress.to_string());
    }
    option("--handed-over", monotonic_ns().to_string());
    command.arg("--").arg(file);
}

/// The clock that both read, so that Python can say how long it took to start.
fn monotonic_ns() -> i64 {
    // SAFETY: `timespec` is a plain C struct of integers, for which all zeros is a valid value.
    let mut now: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is valid for one `timespec` and lives across the call, which fails for unknown clocks alone.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

//! The programs that write for some strategies, and the reasons why they are unavailable.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sink::Mode;

/// Environment variable with the absolute path of the interpreter, set by benchctl to its own. The path
/// is not resolved, because an interpreter finds the packages of its virtual environment by it.
const PYTHON: &str = "BENCHCTL_PYTHON";

/// The reason why no strategy in Python can run here, or `None`. Starts the interpreter once.
pub(super) fn why_no_python() -> Option<String> {
    let python = match interpreter() {
        Ok(python) => python,
        Err(reason) => return Some(reason),
    };
    let name = Path::new(&python).display().to_string();
    let started = Command::new(&python)
        .args(["-P", "-c", "import bench_framework.dgen"])
        .stdin(Stdio::null())
        .output();
    let output = match started {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output,
        Err(error) => return Some(format!("{name} does not start: {error}")),
    };
    // A traceback ends with the error's type and message.
    let traceback = String::from_utf8_lossy(&output.stderr).into_owned();
    let error = traceback.lines().last().unwrap_or_default();
    Some(format!(
        "{name} cannot import bench_framework.dgen: {error}"
    ))
}

/// The interpreter that the environment names.
pub(super) fn interpreter() -> Result<OsString, String> {
    let python = env::var_os(PYTHON).unwrap_or_default();
    let path = Path::new(&python);
    if path.is_absolute() && path.is_file() {
        return Ok(python);
    }
    Err(format!(
        "{PYTHON} is \"{}\", not the absolute path of a Python",
        path.display()
    ))
}

/// fio's name of a backend, if its job can have it.
pub(super) fn fio_engine(mode: &Mode) -> Option<&'static str> {
    match mode.name {
        "uring" => Some("io_uring"),
        "pwrite" => Some("psync"),
        _ => None,
    }
}

/// Returns the reason why fio cannot run here, or `None`. Without a ring it can write with `pwrite`.
pub(super) fn why_no_fio() -> Option<String> {
    installed_fio()
        .is_none()
        .then(|| "fio is not installed".to_owned())
}

/// The first executable file of that name in `PATH`.
pub(super) fn installed_fio() -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join("fio"))
        .find(|file| {
            fs::metadata(file)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
}

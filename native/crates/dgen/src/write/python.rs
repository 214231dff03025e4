//! The Python that drives some strategies: where it is, and whether it can.

use std::env;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Names the interpreter: an absolute path, set by benchctl to its own. It is not resolved, because an interpreter finds
/// the packages of its virtual environment by the path that it was started by.
pub const PYTHON: &str = "BENCHCTL_PYTHON";

/// The module that drives them.
const MODULE: &str = "bench_framework.dgen_strategies";

/// How long the interpreter may take to import it; benchctl gives `describe` ten seconds in all.
const PATIENCE: Duration = Duration::from_secs(6);

/// The command that runs the module, without its arguments.
///
/// # Errors
/// No interpreter is named, or there is none of that name.
pub fn command() -> Result<Command, String> {
    let mut command = Command::new(interpreter()?);
    // Without -P the present folder would come first: a file `queue.py` beside the data would be imported.
    command.args(["-P", "-m", MODULE]);
    Ok(command)
}

/// Why no strategy can be driven by Python, or `None`. Starts the interpreter once.
#[must_use]
pub fn why_unavailable() -> Option<String> {
    let python = match interpreter() {
        Ok(python) => python,
        Err(reason) => return Some(reason),
    };
    let name = Path::new(&python).display().to_string();
    let started = Command::new(&python)
        .args(["-P", "-c", &format!("import {MODULE}.__main__")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return Some(format!("{name} does not start: {error}")),
    };
    match wait(&mut child) {
        Some(status) if status.success() => None,
        Some(status) => Some(format!(
            "{name} cannot import {MODULE}: {}",
            last_line(&mut child).unwrap_or_else(|| status.to_string())
        )),
        None => Some(format!(
            "{name} did not import {MODULE} within {} s",
            PATIENCE.as_secs()
        )),
    }
}

fn interpreter() -> Result<OsString, String> {
    let named = env::var_os(PYTHON)
        .filter(|path| !path.is_empty())
        .ok_or_else(|| format!("{PYTHON} names no Python; benchctl sets it"))?;
    let path = Path::new(&named);
    if !path.is_absolute() || !path.is_file() {
        return Err(format!(
            "{PYTHON} is {}, which is no absolute path of a file",
            path.display()
        ));
    }
    Ok(named)
}

/// The status with which `child` ended by itself; one that takes too long is killed.
fn wait(child: &mut Child) -> Option<ExitStatus> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            // It may have ended just now; either way it is gone after this.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// What a traceback ends with: the name of the error and its words.
fn last_line(child: &mut Child) -> Option<String> {
    let mut text = Vec::new();
    // A traceback of an import is far below what a pipe holds, so the child never waited for us.
    child
        .stderr
        .take()?
        .take(1 << 16)
        .read_to_end(&mut text)
        .ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}
